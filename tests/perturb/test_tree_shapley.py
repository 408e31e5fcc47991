"""Exact Shapley values of trees, against their definition on trees that are walked in plain Python."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import shap
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import verax
from perturb.test_background_trees import MODELS, by_enumeration, fitted, frame_of, table
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.perturb import leaf_sums, path_for
from verax.perturb.masks import all_masks
from verax.perturb.shapley import interactions_from_all, shapley_from_all

lightgbm = pytest.importorskip("lightgbm")
catboost = pytest.importorskip("catboost")


def walked(game, row, other, present):
    """The summed leaves of a row whose absent features are another row's, or go both ways if that is None."""
    trees, cover = game.ensemble.trees, game.ensemble.cover

    def value(node):
        if trees.left[node] < 0:
            return trees.values[node]
        column = trees.column[node]
        feature = game.owner[column]
        if other is None and feature >= 0 and not present[feature]:
            left, right = trees.left[node], trees.right[node]
            total = cover[left] + cover[right]
            share = cover[left] / total if total > 0 else 0.5
            return share * value(left) + (1 - share) * value(right)
        given = row[column] if other is None or (feature >= 0 and present[feature]) else other[column]
        left = trees.missing_left[node] if np.isnan(given) else given <= trees.threshold[node]
        return value(trees.left[node] if left else trees.right[node])

    return game.ensemble.base + sum(value(root) for root in trees.roots)


def all_values(game, row, others):
    return np.array(
        [
            np.mean([walked(game, row, other, present) for other in others], axis=0)
            for present in all_masks(game.n_features).rows()
        ]
    )


def interactions(values, n):
    """From their definition: half of what two features add together beyond what each adds alone."""
    from itertools import combinations
    from math import factorial

    pairs = np.zeros((n, n))
    for one, two in combinations(range(n), 2):
        others = [other for other in range(n) if other not in (one, two)]
        for size in range(n - 1):
            weight = factorial(size) * factorial(n - size - 2) / (2 * factorial(n - 1))
            for some in combinations(others, size):
                rest = sum(1 << other for other in some)
                a, b = 1 << one, 1 << two
                pairs[one, two] += weight * (
                    values[rest | a | b] - values[rest | a] - values[rest | b] + values[rest]
                )
        pairs[two, one] = pairs[one, two]
    return pairs


@pytest.mark.parametrize("most_cells", [leaf_sums.MOST_CELLS, 0])
@pytest.mark.parametrize("name", MODELS)
def test_sums_over_leaves_have_the_values_of_the_definition(name, most_cells, monkeypatch):
    """By tables of leaves, and walked row against row; for two classes, and for three."""
    monkeypatch.setattr(leaf_sums, "MOST_CELLS", most_cells)
    n_classes = 2 if "monotone" in name else 3
    model, rows = fitted(name, n_classes)
    game = path_for(model).game
    game = type(game)(game.ensemble, game.owner, game.n_features, game.background[:4])
    read = path_for(model).trees.read(rows)[:1]
    for others, (found, pairs), plain in (
        (game.background, game.against_background(read, interactions=True), game.against_background(read)),
        ([None], game.along_paths(read, interactions=True), game.along_paths(read)),
    ):
        np.testing.assert_allclose(plain[0], found, rtol=0, atol=1e-11)
        values = all_values(game, read[0], others)
        for output in range(values.shape[1]):
            expected = by_enumeration(values[:, output], 5)
            np.testing.assert_allclose(found[0, output], expected, rtol=0, atol=1e-9)
            expected = interactions(values[:, output], 5)
            np.testing.assert_allclose(pairs[0, output], expected, rtol=0, atol=1e-9)


def twelve_columns():
    """Numbers with gaps, and categories: more of them than a frame of five columns has."""
    rng = np.random.default_rng(5)
    first = frame_of(table(300, 0))
    first.loc[first["kind"].isna(), "kind"] = "a"
    numbers = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("pqrstu"))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    frame = pd.concat([first, numbers], axis=1)
    frame["town"] = pd.Categorical(rng.choice(["A", "B", "C", "D"], 300))
    score = (
        frame["x"].fillna(1)
        + numbers.fillna(0.5).sum(axis=1)
        + 2 * (frame["town"] == "B") * (frame["switch"])
    )
    return frame, (score > score.median()).to_numpy(dtype=int)


TWELVE = {
    "histograms": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=10),
    "lightgbm": lambda: lightgbm.LGBMClassifier(
        n_estimators=10, verbose=-1, n_jobs=1, min_data_per_group=5, cat_smooth=1
    ),
    "catboost": lambda: catboost.CatBoostClassifier(
        iterations=10, depth=4, cat_features=["kind", "switch", "town"], max_ctr_complexity=1, verbose=0,
        allow_writing_files=False, thread_count=1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TWELVE)
def test_twelve_columns_with_categories_and_missing_values(name):
    """Against the library's own answers to all 4,096 mixtures with each background row."""
    frame, labels = twelve_columns()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = TWELVE[name]().fit(frame, labels)
    model = verax.as_model(estimator, reference=frame[:8], schema=Schema.learn(frame))
    row = frame[100:101]
    encoded = model.schema.encode(row)
    masks = all_masks(12)
    mixtures = np.concatenate([np.where(masks.rows(), encoded, other) for other in model.reference])
    chances = model.predict_proba(mixtures)[:, 1].reshape(8, -1)
    odds = np.log(chances / (1 - chances)).mean(axis=0)
    for output, values in (("raw", odds), ("log-odds", odds), ("probability", chances.mean(axis=0))):
        (found,) = verax.explainer("shap", output=output, interactions=True).explain(model, row, [1])
        assert found.details["route"] == ("enumeration" if output == "probability" else "trees")
        np.testing.assert_allclose(found.scores, shapley_from_all(masks, values), rtol=0, atol=1e-8)
        pairs = np.array(found.details["interactions"])
        np.testing.assert_allclose(pairs.sum(axis=1), found.scores, rtol=0, atol=1e-12)
        off = ~np.eye(12, dtype=bool)
        np.testing.assert_allclose(pairs[off], interactions_from_all(values)[off], rtol=0, atol=1e-8)


@pytest.mark.parametrize("output", ["probability", "log-odds", "raw"])
def test_paths_of_the_trees_by_all_coalitions_and_as_sums(output):
    model, rows = fitted("histograms, categories")
    path = path_for(model)
    game = path.game
    (found, other) = verax.explainer("shap", output=output, background="paths").explain(model, rows, [1, 0])
    values = all_values(game, path.trees.read(rows)[0], [None])[:, 0]
    if output == "probability":
        values = 1 / (1 + np.exp(-values))
    assert found.details["route"] == ("paths, enumeration" if output == "probability" else "paths")
    np.testing.assert_allclose(found.scores, by_enumeration(values, 5), rtol=0, atol=1e-8)
    assert found.details["base"] == pytest.approx(values[0], abs=1e-9)
    assert other.target == 0
    mirrored = verax.explainer("shap", output=output, background="paths").explain(model, rows[1:], [1])[0]
    np.testing.assert_allclose(other.scores, -mirrored.scores, rtol=0, atol=1e-12)


def test_forests_agree_with_the_shap_package():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 6))
    forest = RandomForestClassifier(12, random_state=0).fit(rows, rows[:, 0] * rows[:, 1] + rows[:, 2] > 0)
    model = verax.as_model(forest, reference=rows[:50])
    package = shap.TreeExplainer(forest)
    found = verax.explainer("shap", background="paths", interactions=True).explain(model, rows[:3], [1] * 3)
    np.testing.assert_allclose(
        [one.scores for one in found], package.shap_values(rows[:3])[..., 1], rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        [one.details["interactions"] for one in found],
        package.shap_interaction_values(rows[:3])[..., 1],
        rtol=0,
        atol=1e-9,
    )


def test_columns_of_a_group_are_one_feature():
    model, rows = fitted("histograms")
    grouped = verax.as_model(model, groups={"both": ["x", "z"]})
    assert grouped.schema.features == ("both", "y", "kind", "switch")
    (found,) = verax.explainer("shap", output="raw").explain(grouped, rows[:1], [1])
    assert found.features == grouped.schema.features
    of_column = np.array([0, 1, 2, 0, 3])
    values = []
    for mask in all_masks(4).rows():
        mixed = model.predict_proba(np.where(mask[of_column], rows[0], model.reference))[:, 1]
        values.append(np.log(mixed / (1 - mixed)).mean())
    np.testing.assert_allclose(found.scores, by_enumeration(np.array(values), 4), rtol=0, atol=1e-9)


def test_what_cannot_be_had_is_said():
    model, rows = fitted("stacking")
    with pytest.raises(VeraxError, match="output='raw' is the sum"):
        verax.explainer("shap", output="raw").explain(model, rows)
    with pytest.raises(VeraxError, match="use background='rows'"):
        verax.explainer("shap", background="paths").explain(model, rows)
    many = Schema(tuple(Column(f"c{number}") for number in range(20)))
    wide = verax.as_model(
        lambda given: np.full((len(given), 2), 0.5), schema=many, reference=np.zeros((3, 20))
    )
    with pytest.raises(VeraxError, match="Interactions of 20 features are not sampled"):
        verax.explainer("shap", interactions=True).explain(wide, np.zeros((1, 20)))
