"""Anchors: the rule that is there is found, precision is what is promised, and odd inputs have defined answers."""

from __future__ import annotations

import json
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import verax
from helpers import fitted, make_texts
from verax.benchmarks.staining.jobs import score
from verax.data.table import Column, Schema
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import Anchor, Explanation, Rule
from verax.explain.anchor import search
from verax.explain.anchor.samples import RemovedWords
from verax.explain.anchor.table_rows import TableRows
from verax.explain.checks import check_explainer
from verax.explain.description import describe


def package(name: str):
    """A module of anchor-exp, whose name a script in perf/ has too."""
    paths = [path for path in sys.path if not (Path(path) / "anchor.py").is_file()]
    if "anchor" not in sys.modules:
        spec = PathFinder.find_spec("anchor", paths)
        if spec is None:
            pytest.skip("anchor-exp is not installed")
        sys.modules["anchor"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["anchor"])
    return pytest.importorskip(f"anchor.{name}")


def needs_both(texts):
    """Positive where "good" and "film" both occur."""
    positive = np.array([float({"good", "film"} <= set(split_words(text).words)) for text in texts])
    return np.stack([1 - positive, positive], axis=1)


def needs_two_columns(rows):
    """Yes where the first column is above 0.5 and the second is category 1."""
    positive = ((rows[:, 0] > 0.5) & (rows[:, 1] == 1)).astype(float)
    return np.stack([1 - positive, positive], axis=1)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.choice([0.1, 0.4, 0.9], 600), rng.integers(3, size=600), rng.random(600)], axis=1)
    schema = Schema((Column("size"), Column("colour", ("red", "green", "blue")), Column("noise")))
    return verax.as_model(needs_two_columns, class_names=("no", "yes"), schema=schema, reference=rows)


@pytest.fixture(scope="module")
def reviews_model():
    texts, _ = make_texts(400, seed=2)
    return verax.as_model(fitted(LogisticRegression()), reference=texts)


def test_it_keeps_the_contract():
    check_explainer(Anchor(words="removed"))


def test_similar_words_keep_the_contract(reviews_model):
    texts = make_texts(6, seed=8)[0]
    explainer = Anchor()
    together = explainer.explain(reviews_model, texts)
    assert together == [explainer.explain(reviews_model, [text])[0] for text in texts]
    assert together == explainer.explain(reviews_model, texts[::-1])[::-1]
    assert {rule.details["path"] for rule in together} == {"words replaced by similar ones"}
    for rule in together:
        assert Explanation.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize("beam", [1, 4])
def test_the_rule_of_a_text_model_is_found(beam):
    model = verax.as_model(needs_both, class_names=("no", "yes"))
    text = "a good old film about a very good friend of mine"
    rule = Anchor(words="removed", beam=beam).explain(model, [text])[0]
    assert set(rule.named) == {"good", "film"}
    assert rule.reached
    assert rule.precision == 1.0
    assert 0.95 <= rule.lowest < 1.0
    assert rule.coverage == pytest.approx(0.25, abs=0.05)  # two words, each there half of the time
    assert [step.conditions for step in rule.steps] == [(), rule.conditions[:1], rule.conditions]
    assert rule.ranking()[:2] == list(rule.conditions)
    assert sorted(rule.ranking()) == list(range(len(rule.features)))


def test_the_rule_of_a_table_model_is_found(table):
    rule = Anchor().explain(table, np.array([[0.9, 1.0, 0.3]]))[0]
    assert set(rule.named) == {"size > 0.40", "colour = green"} or set(rule.named) == {
        "0.40 < size <= 0.90",
        "colour = green",
    }
    assert rule.reached
    assert rule.precision == 1.0
    held = (table.reference[:, 0] > 0.5) & (table.reference[:, 1] == 1)
    assert rule.coverage == pytest.approx(held.mean())


def test_the_package_finds_the_same_rule(table):
    tabular = package("anchor_tabular")
    names = {1: ["red", "green", "blue"]}
    explainer = tabular.AnchorTabularExplainer(
        ["no", "yes"], ["size", "colour", "noise"], table.reference, names
    )
    row = np.array([0.9, 1.0, 0.3])
    theirs = explainer.explain_instance(row, lambda rows: needs_two_columns(rows).argmax(axis=1))
    ours = Anchor().explain(table, row[None])[0]
    assert set(theirs.features()) == set(ours.conditions) == {0, 1}


def upper(shares, levels):
    """The highest share is 1 less the lowest of the rest."""
    return 1.0 - search.lower(1.0 - shares, levels)


def test_bounds_are_those_of_the_package():
    base = package("anchor_base").AnchorBaseBeam
    shares, levels = np.array([0.0, 0.3, 0.95, 1.0]), np.array([0.02, 0.1, 0.01, 0.05])
    for share, level, low, high in zip(
        shares, levels, search.lower(shares, levels), upper(shares, levels), strict=True
    ):
        assert low == pytest.approx(base.dlow_bernoulli(share, level), abs=2e-5)
        assert high == pytest.approx(base.dup_bernoulli(share, level), abs=2e-5)
    assert search.search_level(20, 3, 0.1) == pytest.approx(base.compute_beta(20, 3, 0.1))


def test_the_divergence_at_a_bound_is_the_level():
    shares, levels = np.meshgrid(np.linspace(0.02, 0.98, 25), np.geomspace(1e-4, 3.0, 25))
    for edge in (search.lower(shares, levels), upper(shares, levels)):
        divergence = shares * np.log(shares / edge) + (1 - shares) * np.log((1 - shares) / (1 - edge))
        # Within 1e-10 of 1 the divergence cannot be computed from the share.
        near = (edge > 1e-10) & (edge < 1 - 1e-4)
        np.testing.assert_allclose(divergence[near], levels[near], rtol=1e-6)
    edge = search.lower(shares, levels)
    assert search.divergence(shares[3, 4], edge[3, 4]) == pytest.approx(levels[3, 4])
    assert search.divergence(1.0, 0.95) == pytest.approx(-np.log(0.95))
    assert (edge < shares).all()
    assert (upper(shares, levels) > shares).all()
    assert search.lower(np.array([1.0]), np.array([0.05]))[0] == pytest.approx(np.exp(-0.05))
    assert search.lower(np.array([0.0]), np.array([0.05]))[0] == pytest.approx(0.0, abs=1e-9)


def test_coverage_is_the_share_of_examples_that_agree(table):
    near = TableRows(table, table.reference[:1], seed=0).neighbourhoods()[0]
    for conditions in [(), (0,), (1, 2), (0, 1, 2)]:
        assert near.coverage(conditions) == near.covered[list(conditions)].all(axis=0).mean()
        longer = [near.coverage((*conditions, feature)) for feature in range(3)]
        assert near.longer_coverage(conditions).tolist() == longer


def test_promised_precision_holds_on_fresh_samples(reviews_model):
    texts = make_texts(200, seed=11)[0]
    explainer = Anchor(words="removed", beam=1)
    rules = explainer.explain(reviews_model, texts)
    # Another seed: samples that the search has not seen.
    around = RemovedWords(reviews_model, texts, 0.5, seed=99)
    asks = [
        near.fresh_question(rule.conditions, np.arange(10_000))
        for near, rule in zip(around.neighbourhoods(), rules, strict=True)
    ]
    kept = [
        (classes == rule.target).mean() for classes, rule in zip(around.predict(asks), rules, strict=True)
    ]
    assert all(rule.reached for rule in rules)
    below = sum(share < 0.95 for share in kept)
    assert below <= explainer.delta * len(texts)
    # Not by being careless about length: without its last condition a rule is not as precise.
    longer = [rule for rule in rules if len(rule.conditions) > 0]
    assert len(longer) > 50
    assert np.mean([rule.steps[-2].precision for rule in longer]) < 0.95


def test_precision_holds_on_rows_of_a_table(table):
    rows = table.reference[:60]
    rules = Anchor(beam=1).explain(table, rows)
    around = TableRows(table, rows, seed=99)
    for near, rule in zip(around.neighbourhoods(), rules, strict=True):
        classes = around.predict([near.fresh_question(rule.conditions, np.arange(2_000))])[0]
        assert (classes == rule.target).mean() >= 0.95


def test_a_prediction_that_nothing_changes_has_an_empty_rule():
    model = verax.as_model(lambda texts: np.tile([0.1, 0.9], (len(texts), 1)), class_names=("no", "yes"))
    rule = Anchor(words="removed").explain(model, ["some words of any sort"])[0]
    assert rule.conditions == ()
    assert rule.reached
    assert rule.coverage == 1.0
    assert rule.precision == 1.0


def test_nothing_to_change_is_said(reviews_model):
    # Words that no vector knows are never replaced; a column of one value never changes.
    rule = Anchor().explain(reviews_model, ["zzz qqq"])[0]
    assert (rule.conditions, rule.precision, rule.coverage) == ((), 1.0, 1.0)
    assert "nothing can be changed" in rule.details["reason"]
    empty = Anchor(words="removed").explain(reviews_model, [""])[0]
    assert "nothing can be changed" in empty.details["reason"]
    same = verax.as_model(
        lambda given: np.tile([0.3, 0.7], (len(given), 1)),
        class_names=("off", "on"),
        schema=Schema((Column("switch"),)),
        reference=np.ones((5, 1)),
    )
    assert "nothing can be changed" in Anchor().explain(same, np.ones((1, 1)))[0].details["reason"]
    # One training row, and the input is another.
    assert "reason" not in Anchor().explain(same, np.zeros((1, 1)))[0].details


def test_a_column_with_one_value_is_in_no_rule():
    rows = np.stack([np.ones(100), np.tile([0.0, 1.0], 50)], axis=1)
    model = verax.as_model(
        lambda given: np.stack([1 - given[:, 1], given[:, 1]], axis=1),
        class_names=("no", "yes"),
        schema=Schema((Column("same"), Column("other"))),
        reference=rows,
    )
    rule = Anchor().explain(model, rows[1:2])[0]
    assert rule.conditions == (1,)


def test_a_class_that_is_not_predicted_has_no_rule():
    model = verax.as_model(needs_both, class_names=("no", "yes"))
    rule = Anchor(words="removed").explain(model, ["a good film"], ["no"])[0]
    assert not rule.reached
    assert rule.precision == 0.0
    assert "predicts yes" in rule.details["reason"]


def test_a_small_budget_ends_the_search_and_says_so(reviews_model):
    text = make_texts(1, seed=3)[0][0]
    rule = Anchor(words="removed", most_samples=100).explain(reviews_model, [text])[0]
    assert not rule.reached
    assert "most_samples=100" in rule.details["reason"]
    # Half of them were kept back to tell how precise the rule is that is returned.
    assert rule.details["fresh samples"] == 50
    assert rule.cost.rows <= 101


def test_nothing_is_said_of_a_precision_that_nobody_looked_at(reviews_model):
    text = make_texts(1, seed=3)[0][0]
    for rule in (
        Anchor(words="removed", most_samples=1).explain(reviews_model, [text])[0],
        Anchor(words="removed").explain(
            verax.as_model(needs_both, class_names=("no", "yes")), ["a good film"], ["no"]
        )[0],
    ):
        assert not rule.measured
        lines = [part.text for part in describe(rule)]
        assert len(lines) == 2
        assert lines[0].startswith("No condition was found for the model predicting")
        assert lines[1] == f"Why: {rule.details['reason']}."
        assert "keep the prediction" not in rule._repr_html_()


def test_a_rule_that_is_not_precise_enough_says_how_precise_it_is_on_fresh_samples():
    """Whatever stays, three quarters keep the prediction: the rest changes in no way that a condition could hold."""
    rng = np.random.default_rng(0)
    reference = np.stack([rng.random(4000), rng.integers(3, size=4000)], axis=1)
    schema = Schema((Column("size"), Column("colour", ("red", "green", "blue"))))

    def answer(rows):
        yes = (np.floor(rows[:, 0] * 1e6) % 4 > 0).astype(float)
        return np.stack([1 - yes, yes], axis=1)

    model = verax.as_model(answer, class_names=("no", "yes"), schema=schema, reference=reference)
    rows = reference[answer(reference)[:, 1] == 1][:20]
    for rule in Anchor().explain(model, rows):
        assert not rule.reached
        assert rule.details["fresh samples"] >= 256
        # Five standard errors of a share of so many.
        error = np.sqrt(0.75 * 0.25 / rule.details["fresh samples"])
        assert rule.precision == pytest.approx(0.75, abs=5 * error + 0.03)
        assert 0.6 < rule.lowest < rule.precision


def test_where_all_training_rows_are_of_the_rows_own_bins_the_model_is_asked_all_the_same():
    """Four of five are 1, and quartiles make one bin of both values: no condition can be had, but 0 becomes 1."""
    reference = np.repeat([0.0, 1.0], [200, 800])[:, None]
    model = verax.as_model(
        lambda given: np.stack([1 - given[:, 0], given[:, 0]], axis=1),
        class_names=("off", "on"),
        schema=Schema((Column("switch"),)),
        reference=reference,
    )
    off, on = Anchor().explain(model, np.array([[0.0], [1.0]]))
    assert (off.conditions, off.reached) == ((), False)
    assert off.precision == pytest.approx(0.2, abs=0.08)
    assert (on.conditions, on.reached) == ((), False)
    assert on.precision == pytest.approx(0.8, abs=0.08)


def test_without_reference_texts_there_is_a_sentence():
    model = verax.as_model(needs_both, class_names=("no", "yes"))
    with pytest.raises(VeraxError, match=r"reference=texts"):
        Anchor().explain(model, ["a good film"])


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"precision": 1.0}, "precision=1.0 must lie between"),
        ({"tolerance": 0.95}, "tolerance"),
        ({"words": "other"}, "similar, removed"),
        ({"beam": 0}, "beam=0"),
        ({"most_conditions": 0}, "most_conditions=0"),
    ],
)
def test_parameters_that_cannot_be_are_sentences(parameters, sentence):
    with pytest.raises(VeraxError, match=sentence):
        Anchor(**parameters)


def test_a_rule_stands_in_a_staining_benchmark():
    model = verax.as_model(needs_both, class_names=("no", "yes"))
    rules = Anchor(words="removed").explain(model, ["a good old film about a friend"])
    scores = score(rules, [["good", "film"]], 1.0)
    assert scores.recall[0][:2] == [0.5, 1.0]


def test_a_rule_that_makes_no_sense_is_a_sentence():
    rule = Anchor(words="removed").explain(
        verax.as_model(needs_both, class_names=("no", "yes")), ["a good film"]
    )[0]
    broken = rule.to_dict() | {"conditions": [0, 0]}
    with pytest.raises(VeraxError, match="different numbers"):
        Explanation.from_dict(broken)
    with pytest.raises(VeraxError, match="'steps'"):
        Explanation.from_dict({"kind": "rule", "target": 0})
    assert isinstance(Explanation.from_dict(rule.to_dict()), Rule)


@pytest.mark.parametrize("value", [0.9, 0.7])
def test_no_row_is_asked_for_twice(value):
    """Whether the input's values are those of training rows, or its own."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    reference = np.stack([rng.choice([0.1, 0.4, 0.9], 600), rng.integers(3, size=600), np.ones(600)], axis=1)
    schema = Schema((Column("size"), Column("colour", ("red", "green", "blue")), Column("same")))
    asked = []

    def answer(rows):
        asked.extend(map(tuple, rows.tolist()))
        return needs_two_columns(rows)

    model = verax.as_model(answer, class_names=("no", "yes"), schema=schema, reference=reference)
    around = TableRows(model, np.array([[value, 1.0, 1.0]]), seed=0)
    near = around.neighbourhoods()[0]
    asked.clear()
    for conditions in ((), (0,), (0, 1)):
        question = near.fresh_question(conditions, np.arange(5000))
        classes = around.predict([question, question])
        rows = np.where(question.stays, question.pool.fixed[:5000], question.pool.rows[:5000])
        values = np.stack([seen[column] for seen, column in zip(around.values, rows.T, strict=True)], axis=1)
        expected = needs_two_columns(values).argmax(axis=1)
        assert all(np.array_equal(given, expected) for given in classes)
    assert len(asked) == len(set(asked)) <= 9
    assert around.costs() == [(len(asked), around.costs()[0][1])]


def test_more_rows_than_the_first_table_of_known_ones_holds():
    pytest.importorskip("numba")
    reference = np.random.default_rng(0).random((3000, 4))
    schema = Schema(tuple(Column(name) for name in "abcd"))

    def answer(rows):
        yes = (rows.sum(axis=1) > 2.0).astype(float)
        return np.stack([1 - yes, yes], axis=1)

    model = verax.as_model(answer, class_names=("no", "yes"), schema=schema, reference=reference)
    around = TableRows(model, reference[:8], seed=0)
    questions = [near.fresh_question((0, 2), np.arange(4096)) for near in around.neighbourhoods()]
    first = around.predict(questions)
    again = around.predict(questions)
    for question, once, twice in zip(questions, first, again, strict=True):
        rows = np.where(question.stays, question.pool.fixed, question.pool.rows)
        values = np.stack([seen[column] for seen, column in zip(around.values, rows.T, strict=True)], axis=1)
        assert np.array_equal(once, answer(values).argmax(axis=1))
        assert np.array_equal(once, twice)


def test_too_few_texts_to_learn_similar_words_from_are_told_what_to_do():
    few = verax.as_model(
        fitted(LogisticRegression()), class_names=("no", "yes"), reference=["a film", "no plot"]
    )
    with pytest.raises(VeraxError, match=r"from the model's 2 training texts, .* anchor\(vectors=minilm\)"):
        Anchor().explain(few, ["a good film"])
