"""The logistic mixed model: against its likelihood written out and maximised by brute force, quadrature, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit

from verax.errors import VeraxError
from verax.stats.mixed.laplace import fit_logistic
from verax.stats.mixed.linear import Term


def data(seed, people=12, items=10, sds=(0.9, 0.7), effects=(0.4, 0.8), missing=0.1):
    """Answers of two methods: (correct, design, participant, item)."""
    rng = np.random.default_rng(seed)
    participant, item = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    method = participant % 2
    log_odds = (
        np.array(effects)[method]
        + rng.normal(0, sds[0], people)[participant]
        + rng.normal(0, sds[1], items)[item]
    )
    correct = (rng.random(len(item)) < expit(log_odds)).astype(float)
    kept = rng.random(len(item)) >= missing
    design = np.equal.outer(method, [0, 1]).astype(float)
    return correct[kept], design[kept], participant[kept], item[kept]


def intercepts(*groups):
    return [Term(group, np.ones(len(group))) for group in groups]


def laplace_written_out(point, correct, design, terms):
    """-log of Laplace's approximation, with plain Newton steps and dense matrices."""
    fixed, sds = point[: design.shape[1]], point[design.shape[1] :]
    random = np.hstack(
        [
            sd * np.equal.outer(term.group, np.unique(term.group)) * np.asarray(term.covariate)[:, None]
            for term, sd in zip(terms, sds, strict=True)
        ]
    )

    mode = np.zeros(random.shape[1])
    for _ in range(12):  # plain Newton: the penalised likelihood is concave
        share = expit(design @ fixed + random @ mode)
        hessian = random.T @ ((share * (1 - share))[:, None] * random) + np.eye(len(mode))
        mode = mode + np.linalg.solve(hessian, random.T @ (correct - share) - mode)
    log_odds = design @ fixed + random @ mode
    penalised = correct @ log_odds - np.logaddexp(0, log_odds).sum() - mode @ mode / 2
    return np.linalg.slogdet(hessian)[1] / 2 - penalised


@pytest.mark.parametrize("seed", range(2))
def test_equal_to_a_brute_force_maximum_of_the_likelihood_written_out(seed):
    correct, design, participant, item = data(seed, people=8, items=7)
    terms = intercepts(participant, item)
    found = fit_logistic(correct, design, terms)
    expected = minimize(
        laplace_written_out,
        [0.5, 0.5, 0.7, 0.7],
        (correct, design, terms),
        method="Nelder-Mead",
        options={"xatol": 1e-5, "fatol": 1e-9, "maxiter": 1000},
    )
    assert found.converged
    assert found.coefficients == pytest.approx(expected.x[:2], abs=1e-3)
    assert found.sds == pytest.approx(np.abs(expected.x[2:]), abs=2e-3)
    assert found.log_likelihood == pytest.approx(-expected.fun, abs=1e-6)


def test_slopes_and_intercepts_together_are_at_a_maximum_with_the_curvature_given():
    correct, design, participant, item = data(3, people=14, items=12)
    after = (np.arange(len(correct)) % 2).astype(float)
    design = np.column_stack([design, after])
    terms = [
        Term(group, covariate) for group in (participant, item) for covariate in (np.ones_like(after), after)
    ]
    found = fit_logistic(correct, design, terms)
    point = np.concatenate([found.coefficients, found.sds])
    best = laplace_written_out(point, correct, design, terms)
    assert found.log_likelihood == pytest.approx(-best, abs=1e-7)
    free = point != 0
    steps = np.eye(len(point)) * 0.01

    def at(move):
        return laplace_written_out(np.abs(point + move), correct, design, terms)

    for step in steps:
        assert min(at(step), at(-step)) >= best - 1e-9
    bend = np.array(
        [[(at(a + b) - at(a - b) - at(b - a) + at(-a - b)) / 4e-4 for b in steps[free]] for a in steps[free]]
    )
    expected = np.sqrt(np.diag(np.linalg.inv(bend)))
    assert np.sqrt(np.diag(found.covariance))[free] == pytest.approx(expected, rel=0.02)
    assert (found.covariance[~free] == 0).all()


def test_many_answers_of_each_person_make_laplace_the_integral_itself():
    rng = np.random.default_rng(5)
    people, answers = 15, 60
    counts = rng.binomial(answers, expit(0.5 + rng.normal(0, 1.0, people)))
    correct = (np.arange(answers) < counts[:, None]).astype(float).ravel()
    found = fit_logistic(
        correct, np.ones((people * answers, 1)), intercepts(np.repeat(np.arange(people), answers))
    )

    def exact(point):
        def likelihood(z, count):
            log_odds = point[0] + point[1] * z
            logs = count * log_odds - answers * np.logaddexp(0, log_odds) - z**2 / 2
            return np.exp(logs + answers * 0.6)

        return -sum(np.log(quad(likelihood, -6, 6, args=(count,), points=[0])[0]) for count in counts)

    expected = minimize(exact, [0.5, 1.0], method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6})
    assert found.coefficients[0] == pytest.approx(expected.x[0], abs=0.01)
    assert found.sds[0] == pytest.approx(expected.x[1], rel=0.01)


def test_without_any_differences_it_is_logistic_regression():
    correct, design, _, _ = data(7, people=40, items=20, sds=(0.0, 0.0), missing=0.0)
    # Rows dealt out so that every group has the same share of right answers.
    order = np.lexsort((correct, design[:, 1]))
    group = np.empty(len(correct), dtype=int)
    group[order] = np.arange(len(correct)) % 10
    found = fit_logistic(correct, design, intercepts(group))
    shares = [correct[design[:, m] == 1].mean() for m in (0, 1)]
    assert found.sds[0] == 0
    assert found.coefficients == pytest.approx(np.log(shares) - np.log1p(np.negative(shares)), abs=1e-4)
    n = design.sum(axis=0)
    error = 1 / np.sqrt(n * np.array(shares) * (1 - np.array(shares)))
    assert np.sqrt(np.diag(found.covariance))[:2] == pytest.approx(error, rel=1e-4)


def test_turning_right_and_wrong_around_turns_the_coefficients():
    correct, design, participant, item = data(8)
    one = fit_logistic(correct, design, intercepts(participant, item))
    other = fit_logistic(1 - correct, design, intercepts(participant, item))
    assert other.coefficients == pytest.approx(-one.coefficients, abs=1e-4)
    assert other.sds == pytest.approx(one.sds, abs=1e-3)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-7)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fit_logistic([1, 0, 2], np.ones((3, 1)), intercepts([0, 1, 1])), "entry 3 of 3 is 2"),
        (lambda: fit_logistic([1, 0], np.ones((3, 1)), intercepts([0, 1, 1])), "differ in length"),
        (lambda: fit_logistic([1, np.nan], np.ones((2, 1)), intercepts([0, 1])), "an answer is missing"),
        (lambda: fit_logistic([1, 0, 1], np.ones((3, 2)), intercepts([0, 1, 1])), "sums of others"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()
