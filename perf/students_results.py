"""Writes docs/results/students.md from finished runs of `verax bench students`.

    verax bench students --stains 20 --out runs/students
    python perf/students_results.py runs/students

Nothing is computed: the runs are read from their folders.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import verax
from measures_results import read, size
from verax.report.measures.students_tables import HOW, tables
from verax.report.study.study_tables import to_markdown
from verax.text import listed

PAGE = Path(__file__).parents[1] / "docs" / "results" / "students.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    asked = parser.parse_args()
    lines = [
        "# What students gain from explanations",
        "",
        "Learners that predict a model from a few examples, with explanations of them and without; "
        "[how it is done](../students.md). This page is written by `perf/students_results.py` from stored runs.",
        "",
    ]
    head = Path(__file__).with_name("students_results_head.md")
    if head.exists():
        lines += [head.read_text(encoding="utf-8").strip(), ""]
    for folder in asked.folders:
        run, manifest = read(folder, verax.bench_students)
        lines += [f"## {listed(manifest['spec']['datasets'])}", "", size(run.findings), ""]
        lines += [f"- {sentence}" for sentence in run.findings.sentences] + [""]
        lines += [to_markdown(table) for table in tables(run.findings)]
    lines += ["## How it was computed", "", HOW, ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
