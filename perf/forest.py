"""SparseForest against scikit-learn's forest and tree: seconds, and whether they are statistically the same models.

Rotten Tomatoes (presence of words) and 2,000 texts of IMDb (presence and counts). Interleaved in one process, medians over
seeds, one thread, without the time of compiling. Statistics are means over the same seeds with their standard errors.
"""

from __future__ import annotations

import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.models import fit_vectorizer
from verax.models.forest import SparseForest

CELLS = (
    ("rotten-tomatoes", "presence", None),
    ("imdb", "presence", 2000),
    ("imdb", "counts", 2000),
)
MAKERS = {
    "forest": (
        lambda seed: RandomForestClassifier(random_state=seed, n_jobs=1),
        lambda seed: SparseForest(random_state=seed),
    ),
    "tree": (
        lambda seed: DecisionTreeClassifier(random_state=seed),
        lambda seed: SparseForest(1, max_features=None, bootstrap=False, random_state=seed),
    ),
}


def parts_of(name, words, size):
    data = verax.load_dataset(name)
    train, labels = list(data.train.inputs)[:size], np.asarray(data.train.labels)[:size]
    vectorizer = fit_vectorizer(train, words)
    test, truth = list(data.test.inputs)[:2000], np.asarray(data.test.labels)[:2000]
    return vectorizer.transform(train), labels, vectorizer.transform(test), truth


def trees_of(model):
    """Column, left and right child of each tree."""
    if isinstance(model, SparseForest):
        flat = model.flat_
        ends = np.append(flat.roots[1:], len(flat.column))
        return [
            (flat.column[a:b], np.where(flat.left[a:b] < 0, -1, flat.left[a:b] - a), flat.right[a:b] - a)
            for a, b in zip(flat.roots, ends, strict=True)
        ]
    found = model.estimators_ if hasattr(model, "estimators_") else [model]
    return [(one.tree_.feature, one.tree_.children_left, one.tree_.children_right) for one in found]


def depth_of(left, right):
    deepest, level = 0, np.zeros(1, dtype=int)
    while True:
        parents = level[left[level] >= 0]
        if not len(parents):
            return deepest
        level = np.concatenate([left[parents], right[parents]])
        deepest += 1


def measure(kind, parts, seeds):
    rows, labels, test_rows, truth = parts
    found = [
        {"fit": [], "predict": [], "accuracy": [], "nodes": [], "depth": [], "p": [], "usage": []}
        for _ in "so"
    ]
    MAKERS[kind][1](0).fit(rows[:100], labels[:100]).predict_proba(test_rows[:10])  # compiles
    for seed in range(seeds):
        for who, maker in enumerate(MAKERS[kind]):
            started = time.perf_counter()
            model = maker(seed).fit(rows, labels)
            fitted = time.perf_counter()
            probabilities = model.predict_proba(test_rows)[:, 1]
            entry = found[who]
            entry["fit"].append(fitted - started)
            entry["predict"].append(time.perf_counter() - fitted)
            entry["p"].append(probabilities)
            entry["accuracy"].append(np.mean((probabilities > 0.5) == truth))
            trees = trees_of(model)
            entry["nodes"].append(np.mean([len(column) for column, _, _ in trees]))
            entry["depth"].append(np.mean([depth_of(left, right) for _, left, right in trees]))
            columns = np.concatenate([column for column, _, _ in trees])
            entry["usage"].append(np.sqrt(np.bincount(columns[columns >= 0], minlength=rows.shape[1])))
    return found


def correlations(sk, own):
    """Mean correlation over pairs of seeds: scikit-learn's, ours, across."""
    table = np.corrcoef(sk + own)
    size = len(sk)
    pairs = np.triu_indices(size, 1)
    return table[:size, :size][pairs].mean(), table[size:, size:][pairs].mean(), table[:size, size:].mean()


def report(title, found):
    sk, own = found
    print(f"\n{title}")
    for what in ("fit", "predict"):
        before, after = np.median(sk[what]), np.median(own[what])
        print(f"  {what:>8}: {before:.3f} s -> {after:.3f} s, {before / after:.1f}x")
    for what in ("accuracy", "nodes", "depth"):
        means = [np.mean(one[what]) for one in (sk, own)]
        errors = [np.std(one[what], ddof=1) / np.sqrt(len(one[what])) for one in (sk, own)]
        print(f"  {what:>8}: {means[0]:.4g} ± {errors[0]:.2g} -> {means[1]:.4g} ± {errors[1]:.2g}")
    for what, name in (("p", "test probabilities"), ("usage", "how often columns are used (root)")):
        values = correlations(sk[what], own[what])
        print("  correlation of {}: sk-sk {:.3f}, own-own {:.3f}, sk-own {:.3f}".format(name, *values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    for name, words, size in CELLS:
        parts = parts_of(name, words, size)
        for kind in MAKERS:
            title = f"{name}, {words}, {kind}: {parts[0].shape[0]} rows x {parts[0].shape[1]} columns"
            report(title, measure(kind, parts, arguments.seeds))


if __name__ == "__main__":
    main()
