"""How long verax.judge takes in a fresh process, on a DataFrame with categories and missing values.

600 rows; 16 numbers, four of them with gaps; six columns of the type category. 50 rows are judged with five explainers,
without a limit of time; seconds of the processor of one thread, with what judge itself imports and the reading of
compiled loops, without the fit. Prints one row of a table for each model and goal.

    python perf/judge_frames.py [MODEL GOAL]    # such as: lightgbm three classes; all without
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from typing import Any

MODELS = ("histograms", "lightgbm", "xgboost", "catboost")
GOALS = ("two classes", "three classes", "number")


def table() -> tuple[Any, Any]:
    """The frame, and what its labels are made of."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{place}": rng.normal(size=600) for place in range(16)})
    for place in range(4):
        frame.loc[rng.random(600) < 0.2, f"x{place}"] = np.nan
    for place in range(6):
        frame[f"c{place}"] = pd.Categorical(rng.choice(list("abcdefgh")[: 2 + place], 600))
    score = frame.x5 + 2 * frame.x6 * (frame.c3 == "a") + frame.x7.abs() + (frame.c5 == "b") * 1.5
    return frame, score - frame.x1.fillna(1)


def make(model: str, number: bool) -> Any:
    """An unfitted model; CatBoost with statistics of single categories, since others are asked row by row."""
    if model == "histograms":
        from sklearn import ensemble

        kind = "HistGradientBoosting"
        made = getattr(ensemble, kind + ("Regressor" if number else "Classifier"))
        return made(categorical_features="from_dtype", random_state=0)
    if model == "lightgbm":
        import lightgbm

        return (lightgbm.LGBMRegressor if number else lightgbm.LGBMClassifier)(verbose=-1, n_jobs=1)
    if model == "xgboost":
        import xgboost

        return (xgboost.XGBRegressor if number else xgboost.XGBClassifier)(enable_categorical=True, n_jobs=1)
    import catboost

    return (catboost.CatBoostRegressor if number else catboost.CatBoostClassifier)(
        iterations=100,
        cat_features=[f"c{place}" for place in range(6)],
        max_ctr_complexity=1,
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
    )


def judge(model: str, goal: str) -> None:
    """One row of the table."""
    import pandas as pd

    import verax

    frame, score = table()
    number = goal == "number"
    labels = score if number else pd.qcut(score, 2 if goal.startswith("two") else 3, labels=False)
    fitted = make(model, number).fit(frame, labels)
    explainers = ["lime", "shap", "greedy", "random", "greedy-path" if number else "anchor"]
    begun = time.process_time()
    verax.judge(fitted, frame[:50], explainers, reference=frame, progress=False, seconds=None)
    print(f"| {model} | {goal} | {time.process_time() - begun:.1f} s |", flush=True)


def main() -> None:
    if len(sys.argv) > 1:
        warnings.simplefilter("ignore")
        judge(sys.argv[1], " ".join(sys.argv[2:]))
        return
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    print("| model | predicts | judge |\n|---|---|---|", flush=True)
    for model in MODELS:
        for goal in GOALS:
            subprocess.run(
                [sys.executable, __file__, model, *goal.split()], env=os.environ | one_thread, check=True
            )


if __name__ == "__main__":
    main()
