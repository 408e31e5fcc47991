"""False claims, coverage and power of the estimators on simulated studies; writes docs/results/calibration/between.csv.

2,000 studies without any effect per size, and as many in which one method adds 8 points. ``--quick`` uses 100. Every
group of studies has a seed of its own, so that results do not depend on the number of processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from scipy.special import stdtr

from csv_tables import stacked, tables_of, write_table
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Stratum, components
from verax.stats.power import Design, Spreads, simulate
from verax.stats.responses import responses
from verax.stats.tests.multiplicity import holm, many_to_one_p
from verax.stats.thresholds import SUSPECT_RATIO

GROUP = 50
REPLICATES = 499
EFFECT = 0.08
SEED = 20241
OUT = Path(__file__).resolve().parents[1] / "docs" / "results" / "calibration" / "between.csv"

# The paper's size is two domains with their own people and items, each analysed alone.
PAPER = {"tests": 2, "halves": 0.5}
SIZES = {
    "paper": (Design((5, 4, 4, 4, 3), 64, **PAPER), Design((4, 4, 4, 4, 3), 64, **PAPER)),
    "5 x 20 x 32": (Design((20,) * 5, 32),),
    "5 x 8 x 16": (Design((8,) * 5, 16),),
}
UNEQUAL = Spreads(person_change=(0.9, 0.2, 0.2, 0.2, 0.2))

# Each measurement is a list with one number per study: the share of its tests, intervals or families with the event.
Measured = dict[str, np.ndarray]


@dataclass(frozen=True)
class Task:
    """One group of studies of one size under one truth."""

    size: str
    truth: str
    group: int
    boots: bool
    linear: int


def parts_of(drawn):
    people = np.arange(len(drawn.method))
    return components([Stratum(people, drawn.change)], drawn.method, 5)


def seed_of(task, domain):
    numbers = {"none": 0, "effect": 1, "unequal": 2}
    return np.random.SeedSequence(
        [SEED, list(SIZES).index(task.size), numbers[task.truth], task.group, domain]
    )


def run(task: Task) -> tuple[Task, Measured, float]:
    """All measurements of a group; domains of one study are averaged."""
    started = time.perf_counter()
    measure = {"none": no_effect, "effect": one_effect, "unequal": unequal}[task.truth]
    events_of: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    for number, design in enumerate(SIZES[task.size]):
        for name, events in measure(design, seed_of(task, number), task).items():
            events_of[name].append(np.asarray(events, dtype=float).reshape(len(events), -1).mean(axis=1))
    return (
        task,
        {name: np.mean(each, axis=0) for name, each in events_of.items()},
        time.perf_counter() - started,
    )


def no_effect(design, seed, task) -> Measured:
    drawn = simulate(design, 0.0, studies=GROUP, seed=seed)
    parts = parts_of(drawn)
    change = [claims.change(parts, m) for m in range(5)]
    fixed = [claims.change(parts, m, "fixed") for m in range(5)]
    contrast = [claims.contrast(parts, m, 0) for m in range(1, 5)]
    p = np.stack([claim.p for claim in change], axis=1)
    p_contrast = np.stack([claim.p for claim in contrast], axis=1)
    measured = {
        "default": p <= 0.05,
        "default, width": np.stack([np.subtract(*claim.interval()[::-1]) for claim in change], axis=1),
        "pooled variance": np.stack([claims.change(parts, m, variance="pooled").p for m in range(5)], axis=1)
        <= 0.05,
        "fixed items": np.stack([claim.p for claim in fixed], axis=1) <= 0.05,
        "fixed items, these items": np.stack(
            [outside(claim, drawn.item_change[:, m]) for m, claim in enumerate(fixed)], axis=1
        ),
        "contrast": p_contrast <= 0.05,
        "mean": claims.overall(parts).p <= 0.05,
        "mean, fixed items": claims.overall(parts, "fixed").p <= 0.05,
        "rows": row_p(drawn) <= 0.05,
        "five": (p <= 0.05).any(axis=1),
        "five, Holm": np.array([(holm(row) <= 0.05).any() for row in p]),
        "four with control": (p_contrast <= 0.05).any(axis=1),
        "four with control, Dunnett": dunnett_claims(parts, contrast),
    }
    if task.boots:
        measured |= bootstrap(drawn, seed)
    if task.group < task.linear:
        measured["linear mixed model"] = np.stack([linear_p(drawn, study) for study in range(GROUP)]) <= 0.05
    return measured


def one_effect(design, seed, task) -> Measured:
    drawn = simulate(design, EFFECT, studies=GROUP, seed=seed)
    parts = parts_of(drawn)
    change, contrast = claims.change(parts, 0), claims.contrast(parts, 0, 1)
    measured = {
        "default, power": change.p <= 0.05,
        "default, missed": outside(change, EFFECT),
        "contrast, power": contrast.p <= 0.05,
        "contrast, missed": outside(contrast, EFFECT),
    }
    if task.boots:
        boots = bootstrap(drawn, seed, methods=1)
        measured["pigeonhole, power"] = boots["pigeonhole"]
    return measured


def unequal(design, seed, _task) -> Measured:
    drawn = simulate(design, 0.0, UNEQUAL, GROUP, seed)
    parts = parts_of(drawn)
    default, pooled = claims.change(parts, 0), claims.change(parts, 0, variance="pooled")
    named = parts.variance[:, 0, 0] / parts.pooled > SUSPECT_RATIO
    return {
        "default": default.p <= 0.05,
        "pooled": pooled.p <= 0.05,
        "named": named,
        "unnamed": (pooled.p <= 0.05) & ~named,
    }


def outside(claim, truth) -> np.ndarray:
    low, high = claim.interval()
    return (low > truth) | (high < truth)


def row_p(drawn) -> np.ndarray:
    """The paired t test over all rows of a method, as if they were independent."""
    columns = []
    for m in range(5):
        values = drawn.change[:, drawn.method == m].reshape(len(drawn.change), -1)
        count = (~np.isnan(values)).sum(axis=1)
        t = np.nanmean(values, axis=1) / np.sqrt(np.nanvar(values, axis=1, ddof=1) / count)
        columns.append(2 * stdtr(count - 1, -np.abs(t)))
    return np.stack(columns, axis=1)


def dunnett_claims(parts, contrast) -> np.ndarray:
    """Whether any of the contrasts with method 0 stays after Dunnett's correction; only the smallest p can."""
    shared = claims.change(parts, 0, "fixed").variance
    claimed = []
    for study in range(GROUP):
        loadings = np.sqrt([min(shared[study] / claim.variance[study], 0.9999) for claim in contrast])
        best = min(contrast, key=lambda claim, study=study: claim.p[study])
        claimed.append(
            best.p[study] <= 0.05
            and many_to_one_p(best.estimate[study] / best.se[study], loadings, best.df[study]) <= 0.05
        )
    return np.array(claimed)


def rows_of(drawn, study):
    people, items = drawn.pre.shape[1:]
    return responses(
        np.repeat(np.arange(people), items),
        np.tile(np.arange(items), people),
        np.repeat(drawn.method, items),
        drawn.post[study].ravel(),
        drawn.pre[study].ravel(),
    )


def bootstrap(drawn, seed, methods=5) -> Measured:
    from pigeonhole import pigeonhole

    first = int(seed.generate_state(1)[0])
    excluded, widths = [], []
    for study in range(GROUP):
        intervals = pigeonhole(rows_of(drawn, study), pairs=[], replicates=REPLICATES, seed=first + study)[
            :methods
        ]
        excluded.append([not interval.low <= 0 <= interval.high for interval in intervals])
        widths.append([interval.high - interval.low for interval in intervals])
    return {"pigeonhole": np.array(excluded), "pigeonhole, width": np.array(widths)}


def linear_p(drawn, study):
    from verax.stats.mixed.linear import linear_changes

    return [effect.p for effect in linear_changes(rows_of(drawn, study))]


def gather(tasks, jobs):
    """Runs the tasks and joins their studies, in order."""
    collected: defaultdict[tuple[str, str], dict[int, Measured]] = defaultdict(dict)
    started = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(run, task) for task in tasks]
        for done, future in enumerate(as_completed(waiting), 1):
            task, measured, _ = future.result()
            collected[task.size, task.truth][task.group] = measured
            spent = time.perf_counter() - started
            print(f"\r{done}/{len(tasks)} groups, {spent:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    joined = {}
    for key, groups in collected.items():
        names = groups[min(groups)]
        joined[key] = {
            name: np.concatenate([groups[g][name] for g in sorted(groups) if name in groups[g]])
            for name in names
        }
    return joined, time.perf_counter() - started


def cell(values, scale=100.0) -> str:
    """A share in per cent (or a width in points) with its 95% interval over studies."""
    mean, error = scale * values.mean(), scale * values.std(ddof=1) / np.sqrt(len(values))
    return f"{mean:.1f} [{max(mean - 1.96 * error, 0):.1f}, {min(mean + 1.96 * error, 100):.1f}]"


def table(title, names, measured, truth, flip=()) -> str:
    lines = [f"| {title} | " + " | ".join(SIZES) + " |", "|---" * (len(SIZES) + 1) + "|"]
    for label, name in names:
        cells = []
        for size in SIZES:
            values = measured[size, truth].get(name)
            cells.append("-" if values is None else cell(1 - values if name in flip else values))
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def found_tables(measured) -> list[list[list[str]]]:
    none = table(
        "false claims, per cent",
        [
            ("**default** (`crossed.changes`)", "default"),
            ("the same, pooled variance", "pooled variance"),
            ("linear mixed model, Satterthwaite", "linear mixed model"),
            ('participants only (`items="fixed"`), claim about other items', "fixed items"),
            ("participants only, claim about these items", "fixed items, these items"),
            ("rows as if independent (paired t)", "rows"),
            ("pigeonhole bootstrap, percentile", "pigeonhole"),
            ("**contrast** of two methods (`crossed.contrasts`)", "contrast"),
            ("**mean over methods** (`crossed.mean_change`)", "mean"),
            ("mean over methods, participants only", "mean, fixed items"),
        ],
        measured,
        "none",
    )
    families = table(
        "some false claim in the family, per cent",
        [
            ("five methods, not corrected", "five"),
            ("**five methods, Holm**", "five, Holm"),
            ("four methods with a control, not corrected", "four with control"),
            ("**four methods with a control, Dunnett**", "four with control, Dunnett"),
        ],
        measured,
        "none",
    )
    covered = table(
        "intervals that hold the truth, per cent",
        [("**default**, no effect", "default")],
        measured,
        "none",
        flip=("default",),
    )
    covered += "\n" + "\n".join(
        table(
            "",
            [("**default**, 8 points", "default, missed"), ("contrast, 8 points", "contrast, missed")],
            measured,
            "effect",
            flip=("default, missed", "contrast, missed"),
        ).split("\n")[2:]
    )
    power = table(
        "8 points found, per cent",
        [
            ("**default**", "default, power"),
            ("contrast of two methods", "contrast, power"),
            ("pigeonhole bootstrap, percentile", "pigeonhole, power"),
        ],
        measured,
        "effect",
    )
    widths = table(
        "width of the interval, points",
        [("**default**", "default, width"), ("pigeonhole bootstrap, percentile", "pigeonhole, width")],
        measured,
        "none",
    )
    unequal = table(
        "one method's participants vary more, per cent",
        [
            ("false claims, default (own variances)", "default"),
            ("false claims, pooled variances", "pooled"),
            ("pooled variances are warned of", "named"),
            ("pooled variances: false claim without the warning", "unnamed"),
        ],
        measured,
        "unequal",
    )
    return [table for text in (none, families, covered, power, widths, unequal) for table in tables_of(text)]


# What must come out, in per cent: (truth, measurement, lowest, highest).
GATES = (
    ("none", "default", 3.5, 6.0),
    ("none", "contrast", 3.5, 6.0),
    ("effect", "default, missed", 3.5, 6.0),
    ("none", "pigeonhole", 0.0, 1.5),
    ("none", "rows", 7.0, 100.0),
    ("none", "five, Holm", 0.0, 6.0),
    ("none", "four with control, Dunnett", 0.0, 6.0),
)


def outside_gates(measured) -> list[str]:
    """The measurements that are not where they must be."""
    return [
        f"{size}: {name} is {100 * measured[size, truth][name].mean():.2f}, not from {low} to {high}"
        for truth, name, low, high in GATES
        for size in SIZES
        if not low <= 100 * measured[size, truth][name].mean() <= high
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 studies")
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    studies = 100 if options.quick else options.studies
    groups = max(studies // GROUP, 1)
    linear = min(groups, 6)
    tasks = [
        Task(size, truth, group, True, linear)
        for group in range(groups)
        for size in SIZES
        for truth in ("none", "effect", "unequal")
    ]
    measured, seconds = gather(tasks, options.jobs)
    write_table(options.out, stacked(found_tables(measured)))
    print(f"{groups * GROUP:,} studies of each size, {seconds / 60:.0f} minutes")
    print(options.out)
    print("\n".join(outside_gates(measured)) or "All rates are where they must be.")


if __name__ == "__main__":
    main()
