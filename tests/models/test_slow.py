"""Slow functions: each row asked once, a limit, and how many rows before any is asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verax
from verax.models import KeptAnswers, rows_to_ask
from verax.models.slow import row_keys

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {"age": RNG.integers(20, 60, 60), "job": RNG.choice(["a", "b", "c"], 60), "pay": RNG.normal(size=60)}
)


class Slow:
    """Counts what it is asked, and never twice the same."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.seen += row_keys(rows)
        high = 1 / (1 + np.exp(-(rows["age"].to_numpy() - 40) / 10 - (rows["job"] == "a").to_numpy()))
        return np.column_stack([1 - high, high])


@pytest.mark.parametrize("name", ["lime(samples=100)", "shap", "greedy"])
def test_kept_answers_give_the_same_explanations_and_ask_each_row_once(name):
    slow = Slow()
    kept = KeptAnswers(slow)
    plain = verax.explainer(name.split("(")[0], **({"samples": 100} if "lime" in name else {}))
    mine = plain.explain(verax.as_model(kept, reference=ROWS), ROWS[:3])
    again = plain.explain(verax.as_model(kept, reference=ROWS), ROWS[:3])
    wanted = plain.explain(verax.as_model(Slow(), reference=ROWS), ROWS[:3])
    for one, two, three in zip(mine, again, wanted, strict=True):
        np.testing.assert_array_equal(one.scores, three.scores)
        np.testing.assert_array_equal(two.scores, three.scores)
    assert len(slow.seen) == len(set(slow.seen)) == kept.asked
    assert kept.kept >= kept.asked  # the second time everything was there


def test_a_limit_refuses_before_the_function_is_called():
    slow = Slow()
    model = verax.as_model(KeptAnswers(slow, most_rows=10), reference=ROWS)
    model.predict_proba(ROWS[:8])
    with pytest.raises(
        verax.VeraxError, match="3 more rows would be asked of the model after 8, and most_rows is 10"
    ):
        model.predict_proba(ROWS[:11])
    assert len(slow.seen) == 8
    model.predict_proba(ROWS[:8])  # what is known costs nothing
    with pytest.raises(verax.VeraxError, match="at least 1"):
        KeptAnswers(slow, most_rows=0)


def test_the_number_of_rows_is_said_before_they_are_asked():
    said: list[str] = []
    slow = Slow()

    def asked(rows: pd.DataFrame) -> np.ndarray:
        assert len(said) == 1
        return slow(rows)

    KeptAnswers(asked, tell=said.append)(ROWS.iloc[[0, 0, 1]])
    assert said == ["2 rows are asked of the model, 1 are known; 0 were asked before."]


def test_rows_are_counted_without_asking_and_exactly_where_a_method_does_not_look_at_answers():
    def never(rows: object) -> np.ndarray:
        raise AssertionError("asked")

    lime = verax.explainer("lime", samples=100)
    planned = rows_to_ask(lime, verax.as_model(never, reference=ROWS), ROWS[:3])
    kept = KeptAnswers(Slow())
    lime.explain(verax.as_model(kept, reference=ROWS), ROWS[:3], targets=[0, 0, 0])
    assert planned == kept.asked > 20
    with pytest.raises(verax.VeraxError, match="wrap its predict_proba"):
        rows_to_ask(lime, "no model", ROWS[:3])  # type: ignore[arg-type]


def test_rows_are_told_apart_by_kind_and_missing_values():
    frame = pd.DataFrame({"a": pd.Series([1, 1.0, True, "1", None, float("nan"), pd.NA], dtype=object)})
    assert len(set(row_keys(frame))) == 7
    assert row_keys(["a", "b"]) == ["a", "b"]
    assert len(set(row_keys(np.array([[0.0, np.nan], [0.0, np.nan], [1.0, np.nan]])))) == 2


def test_answers_of_another_number_than_rows_are_a_sentence():
    with pytest.raises(verax.VeraxError, match="asked about 2 rows and gave 1"):
        KeptAnswers(lambda rows: rows[:1])(np.array([[1.0], [2.0]]))
