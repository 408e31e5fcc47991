"""False claims and coverage of comparisons within people on simulated studies, in the designs of the examples.

2,000 studies a line without any effect, and as many in which the first method adds 8 points. Prints the table of
docs/results/calibration/within.csv, and writes it there if all lines were asked for.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from scipy import stats

from csv_tables import write_table
from verax.stats.crossed.claims import Claims
from verax.stats.crossed.within import (
    ConditionResponses,
    condition_means,
    difference_claims,
    person_differences,
)
from verax.stats.power import Design, Spreads, binomial_interval, simulate
from verax.stats.tests.multiplicity import holm
from verax.studies.definition.spec import StudySpec, read_study_spec
from verax.studies.planning.planned_study import planning_of, question_of, share_of, sized, values_of
from verax.studies.planning.power import People, shown_conditions

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
OUT = ROOT / "docs" / "results" / "calibration" / "within.csv"
GROUP = 250
EFFECT = 8.0
SEED = 20267
# What the columns of the table are called, in the order in which they are measured.
HEADS = (
    "**method**, 5% promised",
    "**another condition**",
    "**family, Holm**",
    "people only",
    "answers as if independent",
    "**interval holds 0**, no effect",
    "**interval holds 8**",
    "8 found, uncorrected",
)
MEANS = 300  # studies of which the means of conditions are estimated, one at a time
WIDE = Spreads(0.9, 1.5, 0.6, 0.8)
NARROW = Spreads(0.3, 0.5, 0.1, 0.2, pair=0.0)
# Example, people in each row, spreads, and how they are called.
LINES = (
    ("reverse-turing", 1, None, ""),
    ("reverse-turing", 2, None, ""),
    ("reverse-turing", 5, None, "the paper's size"),
    ("reverse-turing", 5, WIDE, "people and items differ more"),
    ("reverse-turing", 5, NARROW, "people and items differ less"),
    ("reverse-turing", 5, Spreads(item_method=0.6), "items suit one method"),
    ("reverse-turing", 20, None, ""),
    ("model-choice", 3, None, ""),
    ("class-from-evidence", 1, None, ""),
    ("class-from-evidence", 3, None, ""),
    ("class-from-evidence", 3, WIDE, "people and items differ more"),
    ("class-from-evidence", 3, Spreads(item_method=0.6), "items suit one method"),
    ("class-from-evidence", 10, None, ""),
    ("uncertain-case", 3, None, ""),
)


@dataclass(frozen=True, eq=False)
class Answers:
    """Simulated studies of one design, and what is compared in them: the method, the reference and the others."""

    rows: ConditionResponses
    method: int
    reference: int
    others: tuple[int, ...]


def answers(
    spec: StudySpec, effect: float, spreads: Spreads | None, studies: int, seed: list[int]
) -> Answers:
    """Studies in which the first method has an effect in points, or hundredths of the score."""
    question, planning = question_of(spec), planning_of(spec)
    names = [condition.name for condition in spec.conditions]
    shown = shown_conditions(spec)
    design = Design((len(shown),), shown.shape[1], People().right(planning))
    drawn = simulate(design, share_of(effect, planning), spreads, studies, np.random.SeedSequence(seed))
    method, reference = names.index(question.method), names.index(question.reference or "")
    places = tuple(range(len(names)))
    rows = ConditionResponses(
        tuple(range(len(shown))),
        tuple(range(shown.shape[1])),
        places,
        shown,
        values_of(drawn, shown, method, planning),
    )
    return Answers(rows, method, reference, tuple(set(places) - {method, reference}))


def measured(spec: StudySpec, spreads: Spreads | None, studies: int, seed: int) -> dict[str, tuple[int, int]]:
    """How many of how many studies."""
    counts: dict[str, list[bool]] = {}

    def add(name: str, events: np.ndarray) -> None:
        counts.setdefault(name, []).extend(events.tolist())

    for group in range(-(-studies // GROUP)):
        many = min(GROUP, studies - group * GROUP)
        null = answers(spec, 0.0, spreads, many, [seed, group])
        first = difference_claims(null.rows, null.method, null.reference)
        add("method", first.p <= 0.05)
        all_p = [first.p]
        for other in null.others:
            all_p.append(difference_claims(null.rows, other, null.reference).p)
            add("other", all_p[-1] <= 0.05)
        add("family", np.array([min(holm(row)) <= 0.05 for row in np.stack(all_p, axis=1)]))
        each = person_differences(null.rows, null.method, null.reference)
        add("people only", stats.ttest_1samp(each, 0, axis=1, nan_policy="omit").pvalue <= 0.05)
        add("answers", _answers_p(null) <= 0.05)
        add("coverage", _holds(first, 0.0))
        helped = answers(spec, EFFECT, spreads, many, [seed, group, 1])
        claim = difference_claims(helped.rows, helped.method, helped.reference)
        add("coverage of 8", _holds(claim, EFFECT / 100))
        add("power", claim.p <= 0.05)
    return {name: (int(sum(events)), len(events)) for name, events in counts.items()}


def _answers_p(drawn: Answers) -> np.ndarray:
    """The test that takes every answer as independent."""
    first, second = (
        np.where(drawn.rows.condition == place, drawn.rows.value, np.nan).reshape(len(drawn.rows.value), -1)
        for place in (drawn.method, drawn.reference)
    )
    return np.asarray(stats.ttest_ind(first, second, axis=1, nan_policy="omit", equal_var=False).pvalue)


def _holds(claim: Claims, truth: float) -> np.ndarray:
    low, high = claim.interval()
    return np.asarray((low <= truth) & (truth <= high))


def means_covered(spec: StudySpec, studies: int, seed: int) -> tuple[int, int]:
    """How often the interval of the mean under the reference holds the truth; one study at a time."""
    held = []
    planning = planning_of(spec)
    right = People().right(planning)
    truth = (2 * right - 1) / (2 * share_of(100.0, planning)) if planning.graded else right
    for number in range(studies):
        drawn = answers(spec, 0.0, None, 1, [seed, number])
        mean = condition_means(drawn.rows)[drawn.reference]
        held.append(mean.low is not None and mean.high is not None and mean.low <= truth <= mean.high)
    return sum(held), studies


def written(count: tuple[int, int]) -> str:
    """A rate in per cent with its interval."""
    events, of = count
    low, high = binomial_interval(events, of)
    return f"{100 * events / of:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--only", default="", help="part of a line's name")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    start = time.perf_counter()
    columns = ("method", "other", "family", "people only", "answers", "coverage", "coverage of 8", "power")
    lines = [["design", "people x items", *HEADS]]
    print(f"| {' | '.join(lines[0])} |")
    for place, (name, each, spreads, title) in enumerate(LINES):
        if asked.only not in name:
            continue
        spec = sized(read_study_spec(EXAMPLES / f"{name}.toml"), each)
        people, items = shown_conditions(spec).shape
        counts = measured(spec, spreads, asked.studies, asked.seed + place)
        cells = [written(counts[key]) if key in counts else "-" for key in columns]
        lines.append([f"{name}{', ' + title if title else ''}", f"{people} x {items}", *cells])
        print(f"| {' | '.join(lines[-1])} |", flush=True)
    if not asked.only:
        write_table(asked.out, lines)
    for name in ("reverse-turing", "class-from-evidence"):
        if asked.only in name:
            covered = means_covered(
                read_study_spec(EXAMPLES / f"{name}.toml"), min(MEANS, asked.studies), asked.seed
            )
            print(f"mean of one condition, {name}: {written(covered)} covered")
    print(f"{time.perf_counter() - start:.0f} seconds")


if __name__ == "__main__":
    main()
