"""Writes docs/results/students.md from stored runs of `verax bench students`.

    make results-measures    # makes the two runs, and those of the page on measures, and writes both
    python perf/students_results.py runs/students/texts runs/students/long-texts

Every estimate of a run is kept in docs/results/students/ under the name of its folder, in the place of all that was kept there:
a page is of one state. Without folders it is written again from these files. Nothing is computed here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from measures_results import (
    DOCS,
    Kept,
    about_run,
    folded,
    forget,
    read_kept,
    rounded,
    sizes_table,
    table,
    write_kept,
)
from verax.benchmarks.planted_cells import ALL
from verax.benchmarks.students.findings import (
    ACCURACY,
    EVERY,
    GAIN,
    MIDDLE,
    OVER_SHUFFLED,
    TESTS,
    StudentsSummary,
    number_name,
)
from verax.benchmarks.students.jobs import CONTROLS, NONE, ORACLE, RANDOM, RANDOM_AGAIN
from verax.benchmarks.students.spec import StudentsSpec
from verax.phrases import say
from verax.text import listed

# Points that the planted reasons themselves must be worth, and the share of comparisons of equals that may claim something.
BAR, CLAIMS = 10.0, 0.05
WHERE = {"forward": "new", "counterfactual": "changed"}


def keep(folder: Path) -> None:
    """Stores a finished run."""
    found = StudentsSummary.read(folder)
    rows = [
        (row.method, row.measure, row.model, rounded(row.estimate), rounded(row.low), rounded(row.high), row.n,
         rounded(row.p_adjusted), "")
        for row in found.findings
    ]  # fmt: skip
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    about = about_run(folder, found) | {
        "students": found.students,
        "asked_sizes": manifest["spec"]["sizes"],
        "sizes": found.sizes,
        "methods": found.methods,
        "agreement": found.agreement,
        "a_a_claims": found.a_a_claims,
        "a_a_tests": found.a_a_tests,
    }
    write_kept(DOCS / "students", folder.name, about, rows)


def points(value: float | None) -> str:
    return "–" if value is None else f"{value:+.1f}".replace("-", "−")


def with_ends(run: Kept, method: str, name: str, model: str = ALL) -> str:
    """A number of points with its interval."""
    low, high = (run.number(method, name, model, end) for end in ("low", "high"))
    ends = "" if low is None or high is None else f" [{points(low)}, {points(high)}]"
    return points(run.number(method, name, model)) + ends


def ordered(run: Kept, test: str) -> list[str]:
    """The methods, the largest gain first."""
    name = number_name(GAIN, test, EVERY)
    return sorted(run.about["methods"], key=lambda one: -(run.number(one, name) or 0.0))


def named(run: Kept) -> str:
    """What a run's inputs are called."""
    return listed(run.about["datasets"])


def answer(runs: Sequence[Kept]) -> list[str]:
    """What a reader takes away."""
    lines = []
    for test in TESTS:
        name = number_name(GAIN, test, EVERY)
        said = []
        for run in runs:
            real = [one for one in ordered(run, test) if one not in CONTROLS]
            gains = [f"{one} {with_ends(run, one, name)}" for one in real]
            far = [one for one in real if not _overlap(run, one, real[0], name)]
            apart = f"; {listed(far)} less than {real[0]}" if far else ""
            said.append(
                f"on {named(run)} {listed(gains)}{apart}; the planted reasons themselves {with_ends(run, ORACLE, name)}"
            )
        lines.append(
            f"- **On {WHERE[test]} inputs** explanations are worth, in points of accuracy from {MIDDLE[0]} to {MIDDLE[1]} examples: "
            f"{'. '.join(one[0].upper() + one[1:] if place else one for place, one in enumerate(said))}."
        )
    if all(
        _overlap(run, one, ordered(run, test)[0], number_name(GAIN, test, EVERY))
        for run in runs
        for test in TESTS
        for one in run.about["methods"]
        if one not in CONTROLS
    ):
        lines.append("- **No explainer is told from another by it**: all of their intervals overlap.")
    for run in runs:
        if run.about["agreement"] is not None:
            lines.append(
                f"- On {named(run)} students agree on the order of methods with a mean tau of {run.about['agreement']:.2f}, over "
                f"{len(run.about['methods']) - 1} methods of which three are controls: too few to say that any student may stand for "
                "another."
            )
    return lines


def _overlap(run: Kept, one: str, other: str, name: str) -> bool:
    first, second = ([run.number(each, name, column=end) for end in ("low", "high")] for each in (one, other))
    if None in first or None in second:
        return True
    return bool(first[0] <= second[1] and second[0] <= first[1])  # type: ignore[operator]


def oracle_bar(run: Kept, test: str) -> str:
    """Whether the planted reasons are worth enough, over all sizes and at each."""
    sizes = [size for size in run.about["sizes"] if MIDDLE[0] <= size <= MIDDLE[1]]
    gains = {size: run.number(ORACLE, number_name(GAIN, test, EVERY, size)) for size in sizes}
    whole = run.number(ORACLE, number_name(GAIN, test, EVERY)) or 0.0
    below = []
    for size, gain in gains.items():
        if gain is not None and gain < BAR:
            alone = [
                run.number(NONE, number_name(ACCURACY, test, student, size))
                for student in run.about["students"]
            ]
            known = [value for value in alone if value is not None]
            without = (
                f", where students are right in {sum(known) / len(known):.0%} without any" if known else ""
            )
            below.append(f"only {points(gain)} at n = {size}{without}")
    holds = f"{'holds' if whole >= BAR else 'does not hold'} on average ({points(whole)})"
    return f"{holds}; {listed(below)}" if below else f"{holds} and at every size"


def random_bar(run: Kept, test: str) -> str:
    """Whether explanations that say nothing are worth nothing: by all students together, and by each."""
    names = [number_name(GAIN, test, student) for student in (EVERY, *run.about["students"])]
    off = [
        f"{name.split(', ')[2]}, {method} {with_ends(run, method, name)}"
        for name in names
        for method in (RANDOM, RANDOM_AGAIN)
        if (low := run.number(method, name, column="low")) is not None
        and (high := run.number(method, name, column="high")) is not None
        and not low <= 0 <= high
    ]
    whole = [one for one in off if one.startswith(EVERY)]
    both = listed([with_ends(run, method, names[0]) for method in (RANDOM, RANDOM_AGAIN)])
    return f"{'does not hold' if whole else 'holds'}: {both}" + (f"; not for {'; '.join(off)}" if off else "")


def equals_bar(run: Kept) -> str:
    """Whether two explanations that say nothing are told apart more often than the level of the test allows."""
    claims, tests = run.about["a_a_claims"], run.about["a_a_tests"]
    return f"{'holds' if claims <= CLAIMS * tests else 'does not hold'}: {claims} of {tests}"


def bars(runs: Sequence[Kept]) -> str:
    """The three things that must hold for the students to be of any use."""
    rows = [
        *(
            (
                f"the planted reasons are worth {BAR:.0f} points on {WHERE[test]} inputs, at n = {MIDDLE[0]} to {MIDDLE[1]}",
                *(oracle_bar(run, test) for run in runs),
            )
            for test in TESTS
        ),
        *(
            (
                f"random explanations are worth nothing on {WHERE[test]} inputs: the interval of all students holds 0",
                *(random_bar(run, test) for run in runs),
            )
            for test in TESTS
        ),
        (
            f"of comparisons of random explanations with other random ones at most {CLAIMS:.0%} claim a difference",
            *(equals_bar(run) for run in runs),
        ),
    ]
    return table(("bar", *(named(run) for run in runs)), rows)


def gains_table(run: Kept, test: str) -> str:
    name, over = number_name(GAIN, test, EVERY), number_name(OVER_SHUFFLED, test, EVERY)
    parts = [
        *((student, ALL) for student in run.about["students"]),
        *((EVERY, model) for model in run.about["models"]),
    ]
    return table(
        (
            "explanation",
            "gain [95% interval]",
            "over shuffled",
            *(student if model == ALL else model for student, model in parts),
        ),
        [
            (
                method,
                with_ends(run, method, name),
                points(run.number(method, over)),
                *(
                    points(run.number(method, number_name(GAIN, test, student), model))
                    for student, model in parts
                ),
            )
            for method in ordered(run, test)
        ],
    )


def curve_table(run: Kept, test: str, student: str) -> str:
    sizes = run.about["sizes"]
    alone = [run.number(NONE, number_name(ACCURACY, test, student, size)) for size in sizes]
    rows = [
        (method, *(points(run.number(method, number_name(GAIN, test, student, size))) for size in sizes))
        for method in ordered(run, test)
    ]
    if any(value is not None for value in alone):
        shown = ("–" if value is None else f"{100 * value:.0f}%" for value in alone)
        rows.insert(0, ("accuracy without any", *shown))
    return table(("explanation", *(f"n = {size}" for size in sizes)), rows)


def page(runs: Sequence[Kept]) -> str:
    """The whole page."""
    lines = [
        "# What students gain from explanations",
        "",
        "Learners that predict a model from a few examples, with explanations of them and without: [how it is done](../students.md). "
        "Written by `perf/students_results.py` from the stored runs below.",
        "",
        *answer(runs),
        "",
        "## Do the students work?",
        "",
        bars(runs),
        "",
        "A student by itself may gain or lose a little by explanations that say nothing: compare methods with random or shuffled "
        "explanations, not with none.",
        "",
        "## The runs",
        "",
        sizes_table(runs, "students"),
        "",
    ]
    for one in runs:
        every = StudentsSpec.model_fields["sizes"].default
        if lacking := [str(size) for size in every if size not in one.about["sizes"]]:
            lines += [f"Not measured on {named(one)}: n = {listed(lacking)}.", ""]
    for one in runs:
        for test in TESTS:
            title = f"{one.name}, {WHERE[test]} inputs"
            lines.append(
                folded(
                    f"{title}: gains from {MIDDLE[0]} to {MIDDLE[1]} examples, in points",
                    gains_table(one, test),
                )
            )
            curves = "\n\n".join(
                f"**{student}**\n\n{curve_table(one, test, student)}"
                for student in (EVERY, *one.about["students"])
            )
            lines.append(folded(f"{title}: gains by the number of examples, in points", curves))
    lines.append(folded("How it was computed", say("students", "how")))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument(
        "--beside", action="store_true", help="leave the stored runs of other names as they are"
    )
    given = parser.parse_args()
    folders = given.folders
    if folders and not given.beside:
        forget(DOCS / "students")
    for folder in folders:
        keep(folder)
    (DOCS / "students.md").write_text(page(read_kept(DOCS / "students")), encoding="utf-8")


if __name__ == "__main__":
    main()
