"""The calibration suite: every claim whose rate is promised, measured by simulation; fails where one leaves its band.

Every module `calibration_*.py` of this folder that has ``rows(quick)`` takes part. Prints a table, writes it as
docs/results/calibration/claims.csv and its summary into the page beside (between two comments; all else stays as it is), and
ends with status 1 where a measured rate lies outside what its promise and the simulation's own error allow. ``--quick`` takes
minutes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from csv_tables import write_table

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "results" / "calibration.md"
HEADING = "## Claims"
BEGIN, END = "<!-- claims: written by perf/calibrate.py -->", "<!-- end of claims -->"
PROCESSES = 2
HEAD = ("claim", "promised", "measured, per cent", "allowed", "simulated runs")


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


def lines(rows: Sequence[tuple[object, ...]]) -> list[tuple[str, ...]]:
    """The rows as they are shown."""
    return [
        (str(claim), str(promised), f"{measured:.1f}", f"{low:.1f} to {high:.1f}", f"{runs:,}")
        for claim, promised, measured, runs, low, high in rows
    ]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def summary(shown: Sequence[Sequence[str]]) -> str:
    """A line for each area: how many rates were simulated, how many stay in their bands, the worst false claim."""
    areas: dict[str, list[Sequence[str]]] = {}
    for row in shown:
        areas.setdefault(re.split(r"[:,]", row[0])[0], []).append(row)
    found = []
    for area, own in areas.items():
        within = [low <= float(row[2]) <= high for row in own for low, high in [_ends(row[3])]]
        small = [float(row[2]) for row in own if re.match(r"(at most 5%|5% at the most)", row[1])]
        found.append((area, str(len(own)), str(sum(within)), f"{max(small):.1f}" if small else "–"))
    return table(
        ("area", "rates", "within their bands", "highest rate where at most 5% is promised, %"), found
    )


def _ends(allowed: str) -> tuple[float, float]:
    low, high = allowed.split(" to ")
    return float(low), float(high)


def outside(rows: Sequence[tuple[object, ...]]) -> list[str]:
    """A line for each rate that left its band."""
    return [
        f"{claim}: {measured:.1f}% of {runs:,} runs, allowed {low:.1f} to {high:.1f}% ({promised})."
        for claim, promised, measured, runs, low, high in rows
        if not low <= measured <= high
    ]


def written(page: str, shown: Sequence[Sequence[str]]) -> str:
    """The page with the summary between its two comments; the section is added at the end if there is none."""
    body = f"{BEGIN}\n\n{summary(shown)}\n\n{END}"
    if BEGIN in page and END in page:
        start, stop = page.index(BEGIN), page.index(END) + len(END)
        return f"{page[:start]}{body}{page[stop:]}"
    return f"{page.rstrip()}\n\n{HEADING}\n\n{body}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, writes, and says which rates left their bands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer simulated runs: a few minutes")
    parser.add_argument("--folder", type=Path, default=HERE, help="of the modules calibration_*.py")
    parser.add_argument("--page", type=Path, default=PAGE, help="whose section Claims is written")
    asked = parser.parse_args(arguments)
    rows = gathered(asked.folder, asked.quick)
    shown = lines(rows)
    print(table(HEAD, shown))
    write_table(asked.page.with_suffix("") / "claims.csv", [HEAD, *shown])
    page = asked.page.read_text(encoding="utf-8") if asked.page.exists() else ""
    asked.page.write_text(written(page, shown), encoding="utf-8")
    left = outside(rows)
    for line in left:
        print(f"Outside its band: {line}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
