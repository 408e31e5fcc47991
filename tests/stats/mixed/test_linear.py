"""The linear mixed model: against analysis of variance, statsmodels and the likelihood written out; singular fits."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.crossed.between import changes
from verax.stats.mixed.linear import fit_linear, linear_changes, linear_contrasts
from verax.stats.power import Design, simulate
from verax.stats.responses import responses


def crossed_data(seed, counts=(6, 6, 6), items=10, sds=(0.8, 0.6, 1.0), missing=0.0):
    """Values of participants on items with normal effects: (values, participant, item, method)."""
    rng = np.random.default_rng(seed)
    method = np.repeat(np.arange(len(counts)), counts)
    people = len(method)
    table = (
        method[:, None] / 2
        + rng.normal(0, sds[0], (people, 1))
        + rng.normal(0, sds[1], (1, items))
        + rng.normal(0, sds[2], (people, items))
    )
    kept = rng.random(table.size) >= missing
    columns = (
        table.ravel(),
        np.repeat(np.arange(people), items),
        np.tile(np.arange(items), people),
        np.repeat(method, items),
    )
    return tuple(column[kept] for column in columns)


def dummies(method):
    return np.equal.outer(method, np.arange(method.max() + 1)).astype(float)


def written_out(values, design, groups, sds, residual):
    """-2 times the restricted log-likelihood from the covariance of all values."""
    covariance = residual**2 * np.eye(len(values))
    for labels, sd in zip(groups, sds, strict=True):
        covariance += sd**2 * np.equal.outer(labels, labels)
    inverse = np.linalg.inv(covariance)
    information = design.T @ inverse @ design
    fixed = np.linalg.solve(information, design.T @ inverse @ values)
    rest = values - design @ fixed
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    free = len(values) - design.shape[1]
    return logs + rest @ inverse @ rest + free * np.log(2 * np.pi), fixed, np.linalg.inv(information)


def test_balanced_data_give_the_components_and_degrees_of_freedom_of_analysis_of_variance():
    values, person, item, method = crossed_data(0)
    n, k, people, items = 6, 3, 18, 10
    table = values.reshape(people, items)
    by_person, by_item = table.mean(axis=1), table.mean(axis=0)
    by_method = np.repeat(by_person.reshape(k, n).mean(axis=1), n)
    squares_person = items * ((by_person - by_method) ** 2).sum() / (k * (n - 1))
    squares_item = people * ((by_item - table.mean()) ** 2).sum() / (items - 1)
    rest = table - by_person[:, None] - by_item + table.mean()
    df_rest = (people - 1) * (items - 1)
    squares_rest = (rest**2).sum() / df_rest

    fitted = fit_linear(values, dummies(method), [person, item])
    components = [(squares_person - squares_rest) / items, (squares_item - squares_rest) / people]
    assert min(components) > 0
    assert fitted.sds**2 == pytest.approx(components, rel=1e-5)
    assert fitted.residual**2 == pytest.approx(squares_rest, rel=1e-5)
    assert fitted.coefficients == pytest.approx(by_person.reshape(k, n).mean(axis=1))

    variance = squares_person / (items * n) + (squares_item - squares_rest) / (people * items)
    parts = [
        (squares_person / (items * n), k * (n - 1)),
        (squares_item / (people * items), items - 1),
        (squares_rest / (people * items), df_rest),
    ]
    assert fitted.covariance[1, 1] == pytest.approx(variance, rel=1e-5)
    assert fitted.df([0, 1, 0]) == pytest.approx(variance**2 / sum(p**2 / df for p, df in parts), rel=1e-3)
    # Items cancel in a difference, and what is left is the t test of participants' means.
    assert fitted.df([1, -1, 0]) == pytest.approx(k * (n - 1), rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_statsmodels_with_missing_values(seed):
    formula = pytest.importorskip("statsmodels.formula.api")
    pandas = pytest.importorskip("pandas")
    values, person, item, method = crossed_data(seed, counts=(4, 7, 5), missing=0.15)
    frame = pandas.DataFrame({"y": values, "person": person, "item": item, "method": method, "all": 1})
    model = formula.mixedlm(
        "y ~ 0 + C(method)",
        frame,
        groups="all",
        re_formula="0",
        vc_formula={"a": "0 + C(person)", "b": "0 + C(item)"},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.fit(reml=True, method="powell", xtol=1e-10, ftol=1e-12, maxiter=2000)
    fitted = fit_linear(values, dummies(method), [person, item])
    found = np.append(fitted.sds**2, fitted.residual**2)
    assert found == pytest.approx(np.append(expected.vcomp, expected.scale), rel=1e-4)
    assert fitted.coefficients == pytest.approx(np.asarray(expected.fe_params), abs=1e-4)
    assert fitted.criterion == pytest.approx(-2 * expected.llf, abs=1e-4)


@pytest.mark.parametrize("sds", [(0.8, 0.6, 1.0), (0.0, 0.6, 1.0), (0.0, 0.0, 1.0)])
def test_no_other_standard_deviations_are_more_likely(sds):
    values, person, item, method = crossed_data(4, sds=sds, missing=0.1)
    design = dummies(method)
    fitted = fit_linear(values, design, [person, item])
    best, fixed, covariance = written_out(values, design, [person, item], fitted.sds, fitted.residual)
    assert fitted.criterion == pytest.approx(best, abs=1e-8)
    assert fitted.coefficients == pytest.approx(fixed)
    assert fitted.covariance == pytest.approx(covariance)
    for move in np.vstack([np.eye(3), -np.eye(3)]) * 0.02:
        at = np.abs(np.append(fitted.sds, fitted.residual) + move)
        assert written_out(values, design, [person, item], at[:2], at[2])[0] >= best - 1e-9


def test_one_grouping_without_differences_is_the_plain_t_test():
    # Values that alternate inside participants: less spread between participants than chance would give.
    method = np.repeat([0, 1], 12)
    values = np.tile([1.0, -1.0], 12) + method + np.repeat(np.arange(12), 2) / 1000
    fitted = fit_linear(values, dummies(method), [np.repeat(np.arange(12), 2)])
    assert fitted.sds[0] == 0
    expected = stats.ttest_ind(values[method == 1], values[method == 0])
    t = (fitted.coefficients[1] - fitted.coefficients[0]) / np.sqrt(
        np.array([-1, 1]) @ fitted.covariance @ np.array([-1, 1])
    )
    assert t == pytest.approx(expected.statistic, rel=1e-9)
    assert fitted.df([-1, 1]) == pytest.approx(22, rel=1e-3)


def study(counts=(12, 12), items=20, seed=1, effects=0.2):
    drawn = simulate(Design(counts, items), effects, seed=seed)
    people = len(drawn.method)
    return responses(
        np.repeat(np.arange(people), items),
        np.tile(np.arange(items), people),
        np.repeat(np.array(["lime", "none", "shap"])[drawn.method], items),
        drawn.post[0].ravel(),
        drawn.pre[0].ravel(),
    )


def test_it_agrees_with_the_crossed_estimator_on_studies():
    """The cross-check: over studies, estimates and errors of both go together."""
    pairs = [
        (linear, closed)
        for seed in range(12)
        for rows in [study(seed=seed)]
        for linear, closed in zip(linear_changes(rows), changes(rows), strict=True)
    ]
    assert np.mean([abs(a.estimate - b.estimate) for a, b in pairs]) < 0.002
    assert np.mean([a.se for a, _ in pairs]) == pytest.approx(np.mean([b.se for _, b in pairs]), rel=0.1)
    assert np.corrcoef([[a.p for a, _ in pairs], [b.p for _, b in pairs]])[0, 1] > 0.95


def test_contrasts_are_differences_and_singular_fits_are_named():
    rows = study(counts=(5, 5, 5), seed=2)
    lime, none, shap = linear_changes(rows)
    first, second = linear_contrasts(rows, [("lime", "none"), ("shap", "lime")])
    assert (first.name, first.estimate) == ("lime - none", pytest.approx(lime.estimate - none.estimate))
    assert second.estimate == pytest.approx(shap.estimate - lime.estimate)
    assert [one.name for one in linear_contrasts(rows)] == ["lime - none", "lime - shap", "none - shap"]


def test_a_method_without_scores_is_said_and_the_rest_estimated():
    rows = study(counts=(6, 6, 6))
    gone = replace(rows, post=np.where(rows.method == 2, np.nan, rows.post))
    lime, _, shap = linear_changes(gone)
    assert lime.p is not None
    assert (shap.estimate, shap.warnings) == (None, ("No response of shap has a score.",))
    assert [one.estimate is None for one in linear_contrasts(gone)] == [False, True, True]


def test_a_singular_fit_is_named():
    alternating = np.where(np.arange(20) % 2, 1.0, -1.0)
    rows = study(counts=(5, 5))
    noise = np.random.default_rng(0).normal(0, 0.3, (10, 20))
    # Every participant has the same mean: participants differ less than chance would make them.
    scores = alternating + noise - noise.mean(axis=1, keepdims=True)
    same = replace(rows, pre=np.zeros(200), post=scores.ravel())
    found = linear_changes(same)[0]
    assert found.warnings == ("The variance between participants is estimated as 0 (a singular fit).",)
    assert found.se > 0


def test_strata_have_their_own_means_and_items():
    one, two = study(seed=3), study(seed=4)
    columns = [
        np.concatenate([getattr(one, name), getattr(two, name)]) for name in ("item", "method", "post", "pre")
    ]
    people = np.concatenate([one.participant, two.participant + 100])
    both = responses(people, *columns, stratum=np.repeat(["a", "b"], len(one.post)))
    cells = np.concatenate([one.method, two.method + 2])
    known = ~np.isnan(both.value)
    items = np.concatenate([one.item, two.item + 100])
    fitted = fit_linear(both.value[known], dummies(cells[known]), [people[known], items[known]])
    found = linear_changes(both)[0]
    weights = np.array([0.5, 0, 0.5, 0])
    assert found.estimate == pytest.approx(weights @ fitted.coefficients)
    assert found.se == pytest.approx(np.sqrt(weights @ fitted.covariance @ weights))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fit_linear([1.0, 2.0], np.ones((2, 2)), [[0, 1]]), "2 rows are too few"),
        (lambda: fit_linear([1.0, 2.0, np.nan], np.ones((3, 1)), [[0, 1, 1]]), "a value is missing"),
        (lambda: fit_linear(np.ones(8), np.ones((8, 1)), [np.arange(8) // 2]), "do not vary"),
        (lambda: linear_contrasts(study(), [("lime", "lemon")]), "no method lemon"),
        (lambda: linear_changes(replace(study(), post=study().post * np.nan)), "None of the 480 responses"),
    ],
)
def test_bad_calls_get_a_sentence(call, sentence):
    with pytest.raises(VeraxError, match=sentence):
        call()
