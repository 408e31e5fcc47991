"""The calibration suite: every claim whose rate is promised, measured by simulation; fails where one leaves its band.

Every module `calibration_*.py` of this folder that has ``rows(quick)`` takes part. Prints a table, writes it into the
section "Claims" of docs/results/calibration.md (between two comments; all else stays as it is) and ends with status 1
where a measured rate lies outside what its promise and the simulation's own error allow. ``--quick`` takes minutes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "results" / "calibration.md"
HEADING = "## Claims"
BEGIN, END = "<!-- claims: written by perf/calibrate.py -->", "<!-- end of claims -->"
PROCESSES = 2

# What was measured before these claims were mended, by how a claim's name begins.
BEFORE = {
    "judge: three random explainers, 1 input": "56%",
    "judge: three random explainers, 2 inputs": "49%",
    "judge: three random explainers, 4 inputs": "33%",
    "judge: three random explainers, 5 inputs": "at most 0.9%",
    "judge: perfect explainers": "100% at 4 inputs, 69% at 5",
    "staining, five models, three equal explainers, 20 planted stains": "20%",
    "staining, five models, three equal explainers, 20 stains of nine words": "40%",
    "staining, the same, 10 stains of nine words": "48%",
    "staining, one model, three equal explainers, 20 stains of nine words": "8 to 14%",
    "staining, one difference between two explainers": "6 to 11%; 17% where one fails on few words",
    "staining, five models, three equal explainers: a test of average ranks": "100%",
    "rationale: interval over 3 targets": "19%, one is shown",
    "rationale: interval over 5 targets": "34 to 50%",
    "rationale: 'hardly ever errs' said at a true 3%": "31 to 35%",
    "joint report: rank correlation at ±1": "always shown, [+1.00, +1.00], never right",
    "within people: practice claimed as an effect; two rows of six": "17%, warned of and still claimed",
    "within people: practice claimed as an effect; two rows of six, each other's reverse": "–",
}


def modules(folder: Path) -> list[str]:
    """Names of the modules that have rows."""
    names = sorted(path.stem for path in folder.glob("calibration_*.py"))
    # Read, not imported: a module is imported by the process that runs it.
    return [name for name in names if "\ndef rows(" in (folder / f"{name}.py").read_text(encoding="utf-8")]


def measured(folder: str, name: str, quick: bool) -> tuple[str, list[tuple[object, ...]], float]:
    """The rows of one module as plain values, and the seconds that they took."""
    started = time.perf_counter()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    found = [tuple(row) for row in importlib.import_module(name).rows(quick)]
    return name, found, time.perf_counter() - started


def gathered(folder: Path, quick: bool) -> list[tuple[object, ...]]:
    """The rows of all modules, in the order of their names; progress goes to standard error."""
    names = modules(folder)
    found: dict[str, list[tuple[object, ...]]] = {}
    with ProcessPoolExecutor(PROCESSES) as pool:
        for done in as_completed([pool.submit(measured, str(folder), name, quick) for name in names]):
            name, rows, seconds = done.result()
            found[name] = rows
            print(f"{len(found)} of {len(names)}: {name}, {seconds:.0f} s", file=sys.stderr, flush=True)
    return [row for name in names for row in found[name]]


def before(claim: str) -> str:
    """What was measured before, of the longest name that the claim begins with; a dash if that is not known."""
    known = [name for name in BEFORE if claim.startswith(name)]
    return BEFORE[max(known, key=len)] if known else "–"


def table(rows: Sequence[tuple[object, ...]]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| claim | promised | before | measured, per cent | allowed | simulated runs |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {claim} | {promised} | {before(str(claim))} | {measured:.1f} | {low:.1f} to {high:.1f} | {runs:,} |"
        for claim, promised, measured, runs, low, high in rows
    ]
    return "\n".join(lines)


def outside(rows: Sequence[tuple[object, ...]]) -> list[str]:
    """A line for each rate that left its band."""
    return [
        f"{claim}: {measured:.1f}% of {runs:,} runs, allowed {low:.1f} to {high:.1f}% ({promised})."
        for claim, promised, measured, runs, low, high in rows
        if not low <= measured <= high
    ]


def written(page: str, rows: Sequence[tuple[object, ...]]) -> str:
    """The page with the table between its two comments; the section is added at the end if there is none."""
    body = f"{BEGIN}\n\n{table(rows)}\n\n{END}"
    if BEGIN in page and END in page:
        start, stop = page.index(BEGIN), page.index(END) + len(END)
        return f"{page[:start]}{body}{page[stop:]}"
    about = (
        "Every claim whose rate is promised, from generators that are not those of the estimators. *Before* is what was\n"
        "found before the claim was mended, by other simulations than these, so that it tells the size of the fault and is not to be\n"
        "compared digit by digit; *allowed* is the promise with three standard errors of the simulation, which is wide where runs are\n"
        "few. Made, and checked, by `make calibration`, which fails where a rate leaves what is allowed; the table has the number of\n"
        "runs that it was last made with."
    )
    return f"{page.rstrip()}\n\n{HEADING}\n\n{about}\n\n{body}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, writes, and says which rates left their bands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer simulated runs: a few minutes")
    parser.add_argument("--folder", type=Path, default=HERE, help="of the modules calibration_*.py")
    parser.add_argument("--page", type=Path, default=PAGE, help="whose section Claims is written")
    asked = parser.parse_args(arguments)
    rows = gathered(asked.folder, asked.quick)
    print(table(rows))
    page = asked.page.read_text(encoding="utf-8") if asked.page.exists() else ""
    asked.page.write_text(written(page, rows), encoding="utf-8")
    left = outside(rows)
    for line in left:
        print(f"Outside its band: {line}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
