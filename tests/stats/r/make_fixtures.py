"""Makes hase2020.json and rank_tests.json beside this file with R and lme4: for developers who have them.

Run ``python tests/stats/r/make_fixtures.py``; on Debian R comes with ``apt-get install r-base-core r-cran-lme4``. The
ordinary tests read the stored files and need no R.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from verax.stats.resample import block_weights
from verax.stats.responses import coded

HERE = Path(__file__).parent
METHODS = 5
COLUMNS = ("participant", "item", "method", "pre_answers", "post_answers")
REPLICATES = 40
SEED = 0


def study(seed, people, items=64, share=0.85, spread=0.0, gain=0.0, shared_names=False):
    """Answers of a study in the paper's shape: columns participant, item, method, pre, post."""
    rng = np.random.default_rng(seed)
    difficulty, shift = rng.normal(0, 1, items), rng.normal(0, spread, METHODS)
    rows, number = [], 0
    for method, count in enumerate(people):
        for own in range(count):
            number += 1
            ability = rng.normal(0, 0.55)
            name = own + 1 if shared_names else number
            for item in np.flatnonzero(rng.random(items) < share):
                logit = 0.87 + ability + difficulty[item] + shift[method]
                pre, post = rng.random(2) < 1 / (1 + np.exp(-np.array([logit, logit + gain])))
                rows.append((name, int(item), method, int(pre), int(post)))
    return rows


def studies():
    """Three data sets; the last has the 39 tests and the 2,166 answers of the paper, and names shared by methods."""
    whole = study(7, (9, 8, 8, 8, 6), share=0.88, spread=0.15, gain=0.2, shared_names=True)
    return {
        "text": study(5, (5, 4, 4, 4, 3)),
        "tabular": study(6, (4, 4, 4, 4, 3), spread=0.4, gain=0.4),
        "whole": whole[:2166],
    }


def rank_samples():
    """Pairs of samples without ties, for which R's test and interval are exact."""
    rng = np.random.default_rng(11)
    sizes = ((3, 4), (5, 5), (6, 9), (12, 7), (20, 25), (40, 30))
    return [
        (rng.normal(0.5, 1, m).round(6).tolist(), rng.normal(0, 1.5, n).round(6).tolist()) for m, n in sizes
    ]


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        if header:
            writer.writerow(header)
        writer.writerows(rows)


def counts(rows, weights):
    """(replicates, methods, 3): answers, right before, right after."""
    methods, method = coded("method", [row[2] for row in rows])
    values = np.array([(1, row[3], row[4]) for row in rows])
    member = np.equal.outer(method, np.arange(len(methods)))
    return np.einsum("rn,nm,nk->rmk", weights, member, values).astype(int)


def main() -> None:
    """Writes the inputs, runs R, stores what it says."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), studies()
        drawn = {key: write_study(folder, key, rows) for key, rows in data.items()}
        for number, (first, second) in enumerate(rank_samples()):
            rows = [(1, value) for value in first] + [(2, value) for value in second]
            write_csv(folder / f"ranks_{number}.csv", ("sample", "value"), rows)
        command = ["Rscript", str(HERE / "make_fixtures.R"), str(folder)]
        versions = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        found = {key: read_study(folder, key, rows, drawn[key]) for key, rows in data.items()}
        ranks = np.loadtxt(folder / "ranks.csv", delimiter=",").tolist()
    fixture = {"versions": versions, "seed": SEED, "studies": found}
    (HERE / "hase2020.json").write_text(json.dumps(fixture, separators=(",", ":")) + "\n")
    keys = ("u", "p", "shift", "low", "high")
    tests = [
        {"first": first, "second": second, **dict(zip(keys, row, strict=True))}
        for (first, second), row in zip(rank_samples(), ranks, strict=True)
    ]
    (HERE / "rank_tests.json").write_text(json.dumps({"versions": versions, "tests": tests}) + "\n")
    print(versions)


def write_study(folder, key, rows):
    """Writes a study and its replicates for R; the weights of the replicates."""
    participant, item = (coded(COLUMNS[at], [row[at] for row in rows])[1] for at in (0, 1))
    weights = np.vstack(list(block_weights(participant, item, REPLICATES, SEED))).astype(int)
    write_csv(folder / f"data_{key}.csv", ("participant", "item", "method", "pre", "post"), rows)
    write_csv(folder / f"weights_{key}.csv", None, weights.tolist())
    return weights


def read_study(folder, key, rows, weights):
    """The study, its replicates' counts, and R's fits of them."""
    found = np.loadtxt(folder / f"pre_{key}.csv", delimiter=",").round(9)
    return {
        **{what: [row[at] for row in rows] for at, what in enumerate(COLUMNS)},
        "counts": counts(rows, weights).tolist(),
        "pre": listed(found[:, :METHODS]),
        "singular": found[:, METHODS].astype(int).tolist(),
        "post": listed(found[:, METHODS + 2 : 2 * METHODS + 2]),
        "careful_pre": listed(found[:, 2 * METHODS + 2 : 3 * METHODS + 2]),
        "careful_spread": found[:, -1].tolist(),
    }


def listed(table):
    """Rows for JSON, null for what R does not have."""
    return [[None if np.isnan(value) else value for value in row] for row in table.tolist()]


if __name__ == "__main__":
    main()
