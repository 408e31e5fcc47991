"""Students: learners on problems whose answer is known, items, and a run from end to end."""

import json

import numpy as np
import pytest

import verax
from verax.benchmarks.measures.reasons import reasoned
from verax.benchmarks.students.jobs import CONTROLS, COUNTERFACTUAL, FORWARD, NONE, ORACLE, RANDOM
from verax.benchmarks.students.learners import (
    LEARNERS,
    Vocabulary,
    _coordinates,
    changed_items,
    importance,
    make_items,
)
from verax.benchmarks.students.spec import StudentsSpec
from verax.reporting.joint.evaluations import read_evaluations
from verax.results.findings import read_findings
from verax.stats.thresholds import ALPHA

SMALL = {
    "models": ["logistic"], "explainers": ["greedy"], "reasons": ["and"], "stains": 2, "sizes": [8, 16], "inputs": 12,
    "students": ["linear", "neighbour"], "learnt": 0.5,
}  # fmt: skip


def problem(n, seed):
    """Rows of 60 rare words, the first of which is the answer."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, 60)) < 0.25).astype(float)
    rows[:, 0] = rng.permutation(np.arange(n) % 2)
    return rows, rows[:, 0].astype(int)


@pytest.mark.parametrize("name", list(LEARNERS))
def test_a_student_learns_more_when_it_is_told_the_feature(name):
    tested, wanted = problem(200, 99)
    told = np.zeros(60)
    told[0] = 1.0
    without, with_it = [], []
    for seed in range(8):
        rows, answers = problem(16, seed)
        without.append(np.mean(LEARNERS[name](rows, answers, None, tested) == wanted))
        with_it.append(np.mean(LEARNERS[name](rows, answers, told, tested) == wanted))
    assert np.mean(with_it) > 0.95
    assert np.mean(with_it) >= np.mean(without)
    if name != "tree":  # which finds one feature by itself
        assert np.mean(with_it) > np.mean(without) + 0.1


@pytest.mark.parametrize("name", list(LEARNERS))
def test_a_student_that_is_told_nonsense_hardly_loses(name):
    tested, wanted = problem(200, 99)
    gains = []
    for seed in range(20):
        rows, answers = problem(24, seed)
        nonsense = np.random.default_rng(seed + 500).random(60)
        nonsense[0] = 0.0
        gains.append(
            np.mean(LEARNERS[name](rows, answers, nonsense, tested) == wanted)
            - np.mean(LEARNERS[name](rows, answers, None, tested) == wanted)
        )
    assert abs(np.mean(gains)) < 0.06


@pytest.mark.parametrize("name", list(LEARNERS))
def test_what_is_learnt_with_several_explanations_is_what_is_learnt_with_each(name):
    tested, _ = problem(50, 99)
    rows, answers = problem(16, 3)
    priors = [None, *np.random.default_rng(0).random((2, 60))]
    together = LEARNERS[name].with_each(rows, answers, priors, tested)
    for prior, found in zip(priors, together, strict=True):
        assert (found == LEARNERS[name](rows, answers, prior, tested)).all()


def test_coordinates_keep_all_products_and_point_the_way_of_their_largest_entry():
    rows, _ = problem(16, 3)
    tested, _ = problem(5, 4)
    seen, asked = _coordinates(rows, tested)
    assert seen.shape == (16, 16)
    assert seen @ seen.T == pytest.approx(rows @ rows.T)
    assert asked @ seen.T == pytest.approx(tested @ rows.T)
    assert (seen[np.abs(seen).argmax(axis=0), np.arange(16)] > 0).all()


def test_as_many_stains_as_usual_can_claim_something_of_every_method():
    usual = StudentsSpec()
    methods = len(CONTROLS) - 1 + len(usual.explainers)
    assert methods * 2.0 ** (1 - usual.stains) <= ALPHA
    assert methods * 2.0 ** (1 - 9) <= ALPHA < methods * 2.0 ** (1 - 8)  # what its sentence says


def test_importance_does_not_go_by_how_frequent_a_feature_is():
    rng = np.random.default_rng(0)
    present = (rng.random((400, 30)) < np.linspace(0.05, 0.9, 30)).astype(float)
    random = [row * rng.uniform(-1, 1, 30) for row in present]
    found = importance(random, present)
    assert abs(np.corrcoef(found, present.mean(axis=0))[0, 1]) < 0.5
    # Scores of one feature alone: it is all that matters, whatever the unit.
    told = [row * np.eye(30)[7] * 1000 for row in present]
    assert importance(told, present).argmax() == 7
    assert importance([np.zeros(30)] * 400, present).max() == 0.0


def test_linear_leaves_one_out_exactly():
    """The chosen penalty is the one with the smallest error when each example is really left out."""
    from verax.benchmarks.students.learners import PENALTIES

    rows, answers = problem(20, 3)
    signs = 2.0 * answers - 1

    def fitted(some, own, asked, penalty):
        centre, mean = some.mean(axis=0), own.mean()
        seen = some - centre
        weights = np.linalg.solve(seen.T @ seen + penalty * np.eye(some.shape[1]), seen.T @ (own - mean))
        return (asked - centre) @ weights + mean

    errors = [
        np.mean(
            [
                (
                    signs[out]
                    - fitted(np.delete(rows, out, 0), np.delete(signs, out), rows[out : out + 1], penalty)[0]
                )
                ** 2
                for out in range(20)
            ]
        )
        for penalty in PENALTIES
    ]
    best = PENALTIES[int(np.argmin(errors))]
    tested, _ = problem(50, 8)
    wanted = (fitted(rows, signs, tested, best) > 0).astype(int)
    assert (LEARNERS["linear"](rows, answers, None, tested) == wanted).all()


@pytest.fixture(scope="module")
def taught(reviews_csv):
    def make(reason, model):
        return reasoned(
            {"name_or_path": reviews_csv, "seed": 0}, reason, model,
            stain_seed=1, first_seed=0, inputs=1000, learnt=0.8, more=True,
        )  # fmt: skip

    return make


@pytest.mark.parametrize(
    ("reason", "model"), [("and", "logistic"), ("or", "logistic"), ("or", "tree"), ("negated", "logistic")]
)
def test_half_of_the_items_have_the_reason_and_a_part_is_not_enough(taught, reason, model):
    case = taught(reason, model)
    items = make_items(case)
    assert 0.25 < items.answers.mean() < 0.75
    assert (items.answers == (items.predicted == case.label)).all()
    words = case.wanted[0]
    for text, answer in zip(items.inputs, items.answers, strict=True):
        there = set(text.split())
        if reason == "and" and len(there & set(words)) < 2:
            assert answer == 0
        if reason == "or" and not there & set(words):
            assert answer == 0
        if reason == "negated" and there & set(case.excluded):
            assert answer == 0
    if reason == "or":
        # Some have one word, some the other, and the oracle names whichever is there.
        alone = [set(words) & set(text.split()) for text in items.inputs]
        assert {frozenset(one) for one in alone} == {frozenset(), *(frozenset([word]) for word in words)}
        assert [set(own) for own in items.wanted] == alone
    changed = changed_items(case, list(range(10)))
    assert len(changed) == 10
    lost = [not set(words) & set(text.split()) for text in changed.inputs]
    assert 1 <= sum(lost) <= 9
    assert not changed.answers[np.array(lost)].any()


def test_a_table_is_read_as_bins_of_columns(adult_part):
    bins, rows = adult_part
    vocabulary = Vocabulary.from_inputs(rows, bins)
    found = vocabulary.rows(rows)
    assert (found.sum(axis=1) == len(bins.schema.names)).all()
    assert set(vocabulary.names) == set(bins.schema.names)


@pytest.fixture(scope="module")
def adult_part():
    from verax.data import Bins

    data = verax.load_dataset("adult", limit=200)
    return Bins.learn(data.schema, data.train.inputs), data.train.inputs[:20]


@pytest.fixture(scope="module")
def run(reviews_csv, tmp_path_factory):
    return verax.bench_students(
        spec={"datasets": [reviews_csv], **SMALL}, out=tmp_path_factory.mktemp("students")
    )


def test_a_run_has_gains_accuracies_and_a_page(run):
    found = run.summary
    assert found.cells == 2
    summary = json.loads((run.folder / "summary.json").read_text())
    assert read_findings(summary, "here") == run.findings
    assert len({(row.method, row.measure, row.model) for row in run.findings}) == len(run.findings)
    page = (run.folder / "report.html").read_text()
    assert "Which explanations help a learner predict the model?" in page
    table = run.results.pivot_table(
        index=["stain", "student", "size", "test"], columns="method", values="accuracy"
    )
    gain = (table[ORACLE] - table[NONE]).mean()
    [row] = [
        row
        for row in found.findings
        if row.method == ORACLE
        and row.measure == "gain, forward, all students, n = 16 to 64"
        and row.model == "all"
    ]
    forward = table.query("test == @FORWARD and size == 16")
    assert row.estimate == pytest.approx(100 * (forward[ORACLE] - forward[NONE]).mean())
    assert gain > 0
    assert set(run.results["test"]) == {FORWARD, COUNTERFACTUAL}
    assert {RANDOM, "greedy", "shuffled"} <= set(run.results["method"])


def test_its_explainers_have_a_place_in_the_report_of_all_benchmarks(run):
    evaluations, notes = read_evaluations([run.folder])
    assert notes == []
    assert [one.measure for one in evaluations] == [
        f"gain, {test}, all students, n = 16 to 64" for test in (FORWARD, COUNTERFACTUAL)
    ]
    [greedy] = [one for one in evaluations[0].standings if one.explainer == "greedy"]
    assert greedy.estimate == pytest.approx(run.summary.value("greedy", evaluations[0].measure))
    assert greedy.sign == "open"  # two stains claim nothing
    assert {one.explainer for one in evaluations[0].standings} == {"random", "greedy"}


def test_a_finished_run_computes_nothing(run, reviews_csv, monkeypatch):
    monkeypatch.setattr("verax.benchmarks.students.jobs.reasoned", None)
    again = verax.bench_students(spec={"datasets": [reviews_csv], **SMALL}, out=run.folder)
    assert again.summary.to_dict() == run.summary.to_dict()


def test_sizes_with_too_few_inputs_are_left_out_and_said(reviews_csv, tmp_path):
    spec = SMALL | {"stains": 1, "sizes": [8, 4096], "students": ["linear"]}
    found = verax.bench_students(spec={"datasets": [reviews_csv], **spec}, out=tmp_path).summary
    assert found.sizes == [8]
    assert any("too few inputs" in one and "4096" in one for one in found.sentences)
