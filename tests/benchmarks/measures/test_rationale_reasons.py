"""Reasons that need no planting: the words that a rationale model selects, where nothing else does anything."""

import numpy as np
import pytest

import verax
from verax.benchmarks.measures.reasons import (
    ADVERSARY,
    CORRUPTED,
    ORACLE,
    ladder,
    selected,
    selects,
    trueness,
)
from verax.errors import VeraxError
from verax.models.capabilities import ask_for

MODEL = "rationale(epochs=2)"


@pytest.fixture(scope="module")
def found(reviews_csv):
    return selected({"name_or_path": reviews_csv, "seed": 0}, MODEL, stain_seed=0, inputs=6)


def test_only_rationale_models_bring_their_own_reasons():
    assert selects("rationale")
    assert selects(MODEL)
    assert not selects("logistic")


def test_what_is_no_reason_and_not_doubtful_does_nothing(found):
    assert found.problem == ""
    assert len(found.inputs) == len(found.wanted) == len(found.doubtful) >= 2
    selecting = ask_for(found.model, "selection", "test")
    rng = np.random.default_rng(0)
    for text, wanted, doubtful in zip(found.inputs, found.wanted, found.doubtful, strict=True):
        words = text.split()
        (chosen,) = selecting.select([text])
        assert set(wanted) | set(doubtful) == set(chosen.words)
        whole = found.model.predict_proba([text])[0]
        assert whole.argmax() == found.label
        others = [word for word in dict.fromkeys(words) if word not in chosen.words]
        gone = set(rng.choice(others, max(1, len(others) // 2), replace=False)) if others else set()
        fewer = " ".join(word for word in words if word not in gone)
        assert found.model.predict_proba([fewer])[0] == pytest.approx(whole, abs=1e-5)
        for word in wanted:
            without = " ".join(each for each in words if each != word)
            assert whole[found.label] - found.model.predict_proba([without])[0, found.label] >= 0.1 - 1e-6


def test_explanations_of_known_quality_leave_doubtful_words_alone(found):
    made = ladder(found)
    assert [trueness(one, own) for one, own in zip(made[ORACLE], found.wanted, strict=True)] == [1.0] * len(
        found.inputs
    )
    for name in (ADVERSARY, *CORRUPTED):
        for one, doubtful in zip(made[name], found.doubtful, strict=True):
            scores = dict(zip(one.features, one.scores.tolist(), strict=True))
            assert all(scores[word] == 0 for word in doubtful)


def test_a_run_has_rationale_models_beside_planted_ones(reviews_csv, tmp_path):
    spec = {
        "datasets": [reviews_csv],
        "models": ["logistic", MODEL],
        "explainers": [],
        "measures": ["comprehensiveness", "sufficiency(k=2)"],
        "stains": 1,
        "inputs": 6,
        "learnt": 0.5,
        "replaced": False,
    }
    run = verax.bench_measures(spec=spec, out=tmp_path / "run")
    assert run.summary.cells == 2
    assert set(run.results["reason"]) == {"and", "rationale"}
    assert run.summary.row("comprehensiveness", "order as the truth", MODEL).estimate > 0
    with pytest.raises(VeraxError, match="selects words of texts; leave it out"):
        verax.bench_measures("adult", spec=spec | {"datasets": ["adult"], "limit": 600}, out=tmp_path / "no")
