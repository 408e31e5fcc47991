"""Models of tables beside the packages lime, shap and anchor-exp, and how long judging takes.

One process, each pair of opponents in turns, the same background rows and the same number of samples for both. With the
threads that libraries take by default, medians of seconds; with --one-thread of one thread's processor time, which other
work on the machine disturbs little.

    python perf/tables.py [--one-thread] [--rows 10] [--repeats 5] [--models histograms,lightgbm] [--no-judge]

Prints a table of models: milliseconds for so many rows and, in brackets, how many times as long the package takes. "exact,
rows" is output="raw" against 100 background rows beside TreeExplainer with the same ones, "exact, paths" is
background="paths" beside TreeExplainer without background rows; its check of sums is off in both, as is ours along paths
(against background rows ours is on); each call gets rows that were not explained before. A package that
fails has its reason. "greedy" has no package beside it. "anchors" is one row on either side, both at precision 0.95, and their
numbers of rows asked differ, since each search stops when it is sure. "path" is what perturbed rows go through. "judge" is verax.judge on 50 rows with five explainers, in seconds, after a first call.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable

# Libraries read these when they are loaded, so this is asked before the other options.
ONE_THREAD = "--one-thread" in sys.argv
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    if ONE_THREAD:
        os.environ[variable] = "1"
clock = time.process_time if ONE_THREAD else time.perf_counter

sys.path.pop(0)  # this folder, whose anchor.py has the name of a package

import numpy as np
import shap
from anchor.anchor_tabular import AnchorTabularExplainer
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import verax
from verax.perturb import path_for
from verax.perturb.paths.tables import TablePath, background_rows

MODELS: dict[str, Callable[[], object]] = {
    "histograms": lambda: HistGradientBoostingClassifier(random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(random_state=0),
    "lightgbm": lambda: LGBMClassifier(verbose=-1, n_jobs=1 if ONE_THREAD else None),
    "xgboost": lambda: XGBClassifier(n_jobs=1 if ONE_THREAD else None),
    "catboost": lambda: CatBoostClassifier(
        iterations=100, verbose=0, allow_writing_files=False, thread_count=1 if ONE_THREAD else -1
    ),
    "forest": lambda: RandomForestClassifier(random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(random_state=0),
    "adaboost": lambda: AdaBoostClassifier(random_state=0),
    "logistic pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}
JUDGED = ["lime", "shap", "greedy", "anchor", "random"]
SAMPLES = 2_000


def in_turns(
    ours: Callable[[int], object],
    theirs: Callable[[int], object] | None,
    repeats: int,
    reason: Exception | None = None,
    times: int = 1,
) -> str:
    """Our median in milliseconds, and how many times as long the other takes; each call is given its number.

    Where the other is given one of so many rows only, it counts ``times`` as long.

    A package that fails is told with its reason (``reason``: why there are no calls to it); an error of ours is raised.
    """
    taken: dict[str, list[float]] = {"ours": [], "theirs": []}
    for number in range(repeats + 1):
        for name, call in (("ours", ours), ("theirs", theirs)):
            if call is None:
                continue
            begun = clock()
            try:
                call(number)
            except Exception as error:
                if name == "ours":
                    raise
                theirs, reason = None, error
                continue
            if number:  # the first call compiles and prepares
                taken[name].append(clock() - begun)
    own = float(np.median(taken["ours"])) or 1e-9
    if not taken["theirs"]:
        return f"{1000 * own:.1f} (fails: {_why(reason)})"
    return f"{1000 * own:.1f} ({times * float(np.median(taken['theirs'])) / own:.1f}x)"


def _why(reason: Exception | None) -> str:
    """A package's error in a cell of a table: its kind and its first line."""
    if reason is None:
        return "no call"
    first = (str(reason).strip().splitlines() or [""])[0].replace("|", "/")
    return f"{type(reason).__name__}: {first[:80]}"


def measure(name: str, rows: int, repeats: int, judged: bool) -> list[str]:
    table, labels = load_breast_cancer(return_X_y=True)
    fitted = MODELS[name]().fit(table, labels)
    model = verax.as_model(fitted, reference=table)
    background = background_rows(model)

    def some(number: int) -> np.ndarray:
        return table[number * rows : (number + 1) * rows]

    lime_package = LimeTabularExplainer(table, discretize_continuous=True, random_state=0)
    lime = verax.explainer("lime", samples=SAMPLES)
    cells = [
        in_turns(
            lambda number: lime.explain(model, some(number)),
            lambda number: [
                lime_package.explain_instance(row, fitted.predict_proba, num_features=30, num_samples=SAMPLES)
                for row in some(number)
            ],
            repeats,
        )
    ]
    kernel_package = shap.KernelExplainer(lambda given: fitted.predict_proba(given)[:, 1], background)
    kernel = verax.explainer("shap", route="kernel", samples=500)
    cells.append(
        in_turns(
            lambda number: kernel.explain(model, some(number), [1] * rows),
            lambda number: kernel_package.shap_values(some(number)[:1], nsamples=500, silent=True),
            max(1, repeats // 2),
            times=rows,
        )
    )
    for options, package in (
        ({}, {"data": background, "feature_perturbation": "interventional"}),
        ({"background": "paths"}, {}),
    ):
        if name == "logistic pipeline":
            cells.append("")
            continue
        exact = verax.explainer("shap", output="raw", **options)
        reason = None
        try:
            tree_package = shap.TreeExplainer(fitted, **package)
        except Exception as error:
            tree_package, reason = None, error
        cells.append(
            in_turns(
                lambda number, exact=exact: exact.explain(model, some(number), [1] * rows),
                None
                if tree_package is None
                else lambda number, package=tree_package: package.shap_values(
                    some(number), check_additivity=False
                ),
                repeats,
                reason,
            )
        )
    greedy = verax.explainer("greedy")
    own = in_turns(lambda number: greedy.explain(model, some(number)), None, repeats)
    cells.append(own.partition(" ")[0])
    anchors = verax.explainer("anchor")
    anchor_package = AnchorTabularExplainer(
        ["malignant", "benign"], [f"x{number}" for number in range(table.shape[1])], table
    )
    cells.append(
        in_turns(
            lambda number: anchors.explain(model, some(number)[:1]),
            lambda number: anchor_package.explain_instance(some(number)[0], fitted.predict, threshold=0.95),
            max(1, repeats // 2),
        )
    )
    path = path_for(model)
    assert isinstance(path, TablePath)
    cells.insert(0, "trees" if path.trees is not None else "columns" if path.columns is not None else "rows")
    if judged:
        verax.judge(fitted, table[100:103], JUDGED, reference=table, progress=False)
        begun = clock()
        verax.judge(fitted, table[:50], JUDGED, reference=table, progress=False, seconds=None)
        cells.append(f"{clock() - begun:.1f} s")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one-thread", action="store_true")
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--no-judge", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    titles = [
        "path",
        "lime",
        "kernel",
        "exact, rows",
        "exact, paths",
        "greedy",
        "anchors",
        *(() if given.no_judge else ("judge",)),
    ]
    print(f"| model, {given.rows} rows | " + " | ".join(titles) + " |")
    print("|" + "---|" * (len(titles) + 1))
    for name in given.models.split(","):
        cells = measure(name, given.rows, given.repeats, not given.no_judge)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
