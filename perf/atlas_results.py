"""Writes docs/results/atlas.md from the folder of a finished atlas.

    verax atlas --size small --out runs/atlas
    python perf/atlas_results.py runs/atlas

All findings are kept beside the page as docs/results/atlas/findings.csv, each with the command that makes it again.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verax.benchmarks.atlas.findings import AtlasCell, AtlasSummary
from verax.codec import decode
from verax.phrases import say
from verax.reporting.atlas import Timed, equal_time, pair_rows, shown
from verax.results.findings import FLOOR
from verax.run.manifest import MANIFEST
from verax.text import NOTHING
from verax.workflows.atlas import ALL_FAILED
from verax.workflows.atlas import Timed as Stored

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/results/atlas.md"
FOLDER = ROOT / "docs/results/atlas"
COLUMNS = ("benchmark", "model", "dataset", "method", "shown", "estimate", "low", "high", "p", "n", "command")


def main() -> None:
    """Reads the atlas, writes the page and what lies beside it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of the atlas")
    folder = parser.parse_args().folder
    summary = AtlasSummary.from_dict(json.loads((folder / "summary.json").read_bytes()))
    manifest = json.loads((folder / MANIFEST).read_bytes())
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "findings.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(map(row_of, summary.cells))
    stored = json.loads((folder / "timings.json").read_bytes())
    timings = [decode(Stored, one, "timings.json") for one in stored]
    PAGE.write_text(page_of(summary, timings, manifest), encoding="utf-8")
    print(summary.sentences[0])


def row_of(cell: AtlasCell) -> tuple[object, ...]:
    """A finding as a line of the CSV file."""
    made = cell.finding

    def written(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    numbers = map(written, (made.estimate, made.low, made.high, made.p_adjusted))
    verdict = "control" if made.method == FLOOR else made.sign if made.compared_with else ""
    return (made.name, made.model, made.dataset, made.method, verdict, *numbers, made.n, cell.command)


def page_of(summary: AtlasSummary, timings: Sequence[Timed], manifest: dict[str, Any]) -> str:
    """The page: the answer, its table, each benchmark behind its title, what is open, and how it was made."""
    spec = summary.spec
    parts = [cell for cell in summary.cells if cell.finding.scope == "part"]
    given = spec.model_dump(exclude_defaults=True) | {"size": spec.size}
    options = " ".join(
        f"--{name} {','.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in given.items()
    )
    said = say(
        "atlas",
        "rests",
        runs=len({cell.run for cell in parts if cell.run}),
        methods=len({cell.finding.method for cell in summary.headline if cell.finding.method != FLOOR}),
        situations=len({(cell.finding.dataset, cell.finding.model) for cell in parts}),
        samples=spec.of_size("samples"),
    )
    lines = [
        "# The atlas: which explainer for which sort of model",
        "",
        f"**{summary.sentences[0]}**",
        "",
        f"{said} {say('atlas', 'how-read').partition(' Numbers in')[0]} In brackets 95% intervals. [How it is done](../atlas.md); all "
        "findings, each with the command that makes it again: [findings.csv](atlas/findings.csv).",
        "",
        "## Planted reasons",
        "",
        say("atlas", "about-planted"),
        "",
        *table(summary.headline),
        "",
        "## The other benchmarks",
        "",
        "Over all datasets; their claims, with those of planted reasons, are one family for each sort of model.",
    ]
    for test in spec.benchmarks:
        own = [
            cell for cell in summary.cells if cell.finding.name == test and cell.finding.scope == "overall"
        ]
        if own and test != "planted":
            name = say("atlas", f"test-{test}")
            lines += ["", '<details markdown="1">', f"<summary>{name[:1].upper()}{name[1:]}</summary>", ""]
            lines += [say("atlas", f"about-{test}"), "", *table(own), "", "</details>"]
    for made in summary.published:
        lines += ["", '<details markdown="1">', f"<summary>{made.paper}, {made.title}</summary>", ""]
        lines += [f"Published · ours. {' '.join(made.notes)} Again: `{made.command}`.", ""]
        lines += [f"| | {' | '.join(made.columns)} |", f"|---|{'---:|' * len(made.columns)}"]
        for heading, cells in made.rows:
            lines.append(
                f"| {heading} | {' | '.join(f'{one or NOTHING} · {ours or NOTHING}' for one, ours in cells)} |"
            )
        lines += ["", "</details>"]
    lines += ["", "## By sort of model", "", *(f"- {sentence}" for sentence in summary.sentences[1:])]
    lines += ["", "## At equal time", "", *time_lines(summary, timings)]
    lines += ["", "## What is open", "", *open_lines(summary), "", "## How it was made", "", "```sh"]
    lines += [f"verax atlas {options} --out runs/atlas", "python perf/atlas_results.py runs/atlas", "```", ""]
    lines += [made_with(manifest)]
    if summary.failures:
        lines += ["", *failed_lines(summary)]
    return "\n".join(lines) + "\n"


def table(cells: Sequence[AtlasCell]) -> list[str]:
    """Methods by sorts of models."""
    models = list(dict.fromkeys(cell.finding.model for cell in cells))
    methods = sorted(
        dict.fromkeys(cell.finding.method for cell in cells), key=lambda method: (method == FLOOR, method)
    )
    found = {(cell.finding.method, cell.finding.model): shown(cell) for cell in cells}
    rows = [["", *models], ["---"] * (1 + len(models))]
    for method in methods:
        own = [found.get((method, model)) for model in models]
        rows.append(
            [
                method,
                *("" if one is None else f"{one.mark} {one.number} {one.interval}".strip() for one in own),
            ]
        )
    return [f"| {' | '.join(row)} |" for row in rows]


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines behind a title."""
    return ['<details markdown="1">', f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def time_lines(summary: AtlasSummary, timings: Sequence[Timed]) -> list[str]:
    """Each explainer with the budget that fits into the time of the median explainer."""
    rows = equal_time([cell for cell in summary.cells if cell.finding.scope == "part"], timings)
    lines = [
        "| situation | explainer | planted reasons found, per cent | milliseconds |",
        "|---|---|---|---:|",
    ]
    lines += [
        f"| {row.situation} | {row.method} | {row.number} {row.interval} | {1000 * row.seconds:.2f} |"
        for row in rows
    ]
    return [say("atlas", "how-time"), "", *folded("By dataset and sort of model", lines)]


def open_lines(summary: AtlasSummary) -> list[str]:
    """How much more would decide what is open: methods beside chance, then pairs of those that find the reasons."""
    waiting = [
        cell for cell in summary.headline if cell.finding.sign == "open" and cell.finding.compared_with
    ]
    lines = [
        "Every explainer is told from chance, or shown to be no better, on every sort of model by planted reasons."
    ]
    if waiting:
        lines = [
            "Planted reasons in all with which a cell would probably (80%) be decided, if the difference is as large as it seems:",
            "",
        ]
    for cell in waiting:
        made = cell.finding
        needed = "more of the same promises nothing" if cell.needed is None else f"{cell.needed}"
        lines.append(f"- {made.model}, {made.method}: {needed} (so far {made.n})")
    if summary.undecided:
        heads = ["sort of model", "pair", "ahead by, points", "reasons so far", "reasons that would decide"]
        rows = [f"| {' | '.join(row)} |" for row in pair_rows(summary.undecided)]
        table = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *rows]
        open_ones = sum(not pair.alike and not pair.same for pair in summary.undecided)
        title = f"{len(summary.undecided)} pairs that are not told apart; of {open_ones} it matters which is better"
        lines += ["", say("atlas", "how-pairs"), "", *folded(title, table)]
    return lines


def failed_lines(summary: AtlasSummary) -> list[str]:
    """What failed, runs with the same sentence together."""
    found: dict[str, list[str]] = {}
    for failure in summary.failures:
        found.setdefault(failure.error, []).append(failure.job.removesuffix(f", {ALL_FAILED}"))
    return [f"- {', '.join(jobs)}: {error}" for error, jobs in found.items()]


def made_with(manifest: dict[str, Any]) -> str:
    """With what, where and when."""
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items() if version)
    machine = ", ".join(
        f"{name} {value}" for name, value in manifest["machine"].items() if value and name != "release"
    )
    begun, ended = (str(manifest[key])[:10] for key in ("started", "finished"))
    when = begun if begun == ended else f"{begun} to {ended}"
    return f"Versions: {versions}. Machine: {machine}. Run on {when}."


if __name__ == "__main__":
    main()
