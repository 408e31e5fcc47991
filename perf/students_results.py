"""Writes docs/results/students.md from finished runs of `verax bench students`.

    verax bench students --stains 20 --out runs/students
    python perf/students_results.py runs/students

Nothing is computed: the findings are read from the runs' folders.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measures_results import made_by, size
from verax.benchmarks.students.findings import EVERY, GAIN, TESTS, StudentsFindings, number_name
from verax.benchmarks.students.jobs import ORACLE, RANDOM, RANDOM_AGAIN
from verax.reporting.measures_and_students import HOW_STUDENTS, students_tables
from verax.results.tables import to_markdown
from verax.text import listed

PAGE = Path(__file__).parents[1] / "docs" / "results" / "students.md"


def bars(found: StudentsFindings) -> list[str]:
    """The three things that must hold for the students to be of any use."""
    lines = ["## Do the students work?", ""]
    for test in TESTS:
        sizes = [size for size in found.sizes if 16 <= size <= 64]
        gains = [
            f"{row.estimate:+.1f} at n = {size}"
            for size in sizes
            if (row := found.row(ORACLE, number_name(GAIN, test, EVERY, size))) is not None
        ]
        whole = found.row(ORACLE, number_name(GAIN, test, EVERY))
        if whole is None:
            continue
        held = "holds" if whole.estimate >= 10 else "does not hold"
        lines.append(
            f"- {test}: the oracle gains {whole.estimate:+.1f} points from 16 to 64 examples ({', '.join(gains)}); the bar "
            f"of 10 points {held}."
        )
        for method in (RANDOM, RANDOM_AGAIN):
            row = found.row(method, number_name(GAIN, test, EVERY))
            if row is not None and row.low is not None and row.high is not None:
                holds = "holds 0" if row.low <= 0 <= row.high else "does not hold 0"
                lines.append(
                    f"- {test}: {method} gains {row.estimate:+.1f} points ({row.low:+.1f} to {row.high:+.1f}); the interval "
                    f"{holds}."
                )
    off = [
        f"{test}, {student}, {method} ({row.estimate:+.1f} points, {row.low:+.1f} to {row.high:+.1f})"
        for test in TESTS
        for student in found.students
        for method in (RANDOM, RANDOM_AGAIN)
        if (row := found.row(method, number_name(GAIN, test, student))) is not None
        and row.low is not None
        and row.high is not None
        and not row.low <= 0 <= row.high
    ]
    if off:
        lines.append(
            "- Student by student random's interval does not hold 0 everywhere: "
            f"{'; '.join(off)}. Compare methods with random or shuffled explanations, not with none."
        )
    lines.append(
        f"- A/A: {found.a_a_claims} of {found.a_a_tests} comparisons claim a difference between random ones."
    )
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    asked = parser.parse_args()
    first = StudentsFindings.read(asked.folders[0])
    lines = [
        "# What students gain from explanations",
        "",
        "Learners that predict a model from a few examples, with explanations of them and without; "
        "[how it is done](../students.md). This page is written by `perf/students_results.py` from stored runs.",
        "",
        *(f"- {sentence}" for sentence in first.sentences),
        "",
        *bars(first),
    ]
    for folder in asked.folders:
        found = StudentsFindings.read(folder)
        lines += [f"## {listed(found.spec['datasets'])}", "", f"{size(found)} {made_by(folder)}.", ""]
        lines += [to_markdown(table) for table in students_tables(found)]
    lines += ["## How it was computed", "", HOW_STUDENTS, ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
