"""L2X and INVASE on the four synthetic tasks of L2X, with the papers' settings: the median rank of the true features.

    python perf/selection.py l2x 3 >> out; python perf/selection.py invase 1 xor "orange skin" >> out

All four tasks unless some are named. A training of INVASE takes six minutes of a processor.

Each line is a training: method, task, seed, the mean over 1,000 fresh rows of the median rank, the share of rows in
which no other feature ranks before a true one, minutes. The best possible mean is (k + 1) / 2.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import torch

import verax
from selection_tasks import TASKS, make_task, median_ranks

torch.set_num_threads(1)
ROWS = {"l2x": 100_000, "invase": 10_000}
FRESH = 1_000


def run(method: str, name: str, seed: int) -> dict[str, object]:
    task, fresh = make_task(name, ROWS[method], seed), make_task(name, FRESH, 1_000 + seed)
    options = {"k": task.k} if method == "l2x" else {}
    explainer = verax.explainer(method, seed=seed, activation=task.activation, **options)
    started = time.perf_counter()
    found = explainer.explain(task.model, fresh.rows)
    ranks = median_ranks(found, fresh.true)
    named = [
        set(each.ranking()[: task.k]) == set(true)
        for each, true in zip(found, fresh.true.tolist(), strict=True)
    ]
    return {
        "method": method,
        "task": name,
        "seed": seed,
        "best": (task.k + 1) / 2,
        "median rank": float(ranks.mean()),
        "all true first": float(np.mean(named)),
        "selected": float(np.mean([len(each.details["selected"]) for each in found])),
        "minutes": (time.perf_counter() - started) / 60,
    }


def main() -> None:
    method, seeds = sys.argv[1], int(sys.argv[2])
    for seed in range(seeds):
        for name in sys.argv[3:] or TASKS:
            print(json.dumps(run(method, name, seed)), flush=True)


if __name__ == "__main__":
    main()
