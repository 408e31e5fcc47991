"""Writes docs/results/measures.md from finished runs of `verax bench measures`.

    verax bench measures --stains 20 --out runs/measures
    python perf/measures_results.py runs/measures [runs/measures-adult ...]

Nothing is computed: the runs are read from their folders.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import verax
from verax.report.measures.measures_tables import HOW, tables
from verax.report.study.study_tables import to_markdown
from verax.text import counted, listed

PAGE = Path(__file__).parents[1] / "docs" / "results" / "measures.md"


def read(folder: Path, workflow):
    """A finished run, from its folder."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    spec = {key: value for key, value in manifest["spec"].items() if key not in ("benchmark", "methods")}
    return workflow(spec=spec, out=folder), manifest


def size(found) -> str:
    return (
        f"{counted(found.stains, 'planted reason')} with {listed(found.models)}: {counted(found.cells, 'model')} that learnt its "
        f"reason" + (f", {len(found.left_out)} left out because they did not." if found.left_out else ".")
    )


def section(title: str, run) -> list[str]:
    found = run.findings
    lines = [f"## {title}", "", size(found), ""]
    lines += [f"- {sentence}" for sentence in found.sentences] + [""]
    for table in tables(found):
        lines += [to_markdown(table)]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    asked = parser.parse_args()
    lines = [
        "# Which measures can be believed",
        "",
        "Automatic measures of explanations beside the truth, on models with planted reasons; "
        "[how it is done](../measures.md). This page is written by `perf/measures_results.py` from stored runs.",
        "",
    ]
    head = Path(__file__).with_name("measures_results_head.md")
    if head.exists():
        lines += [head.read_text(encoding="utf-8").strip(), ""]
    for folder in asked.folders:
        run, manifest = read(folder, verax.bench_measures)
        lines += section(f"{listed(manifest['spec']['datasets'])}", run)
    lines += ["## How it was computed", "", HOW, ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
