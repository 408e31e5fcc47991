"""Writes docs/results/measures.md from finished runs of `verax bench measures`.

    verax bench measures --stains 20 --out runs/measures
    python perf/measures_results.py runs/measures [runs/measures-adult ...] [--replaced runs/another]

Nothing is computed: the findings are read from the runs' folders. With --replaced the table on other replacements is taken
from another run, whose state and size are said.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from verax.benchmarks.measures.findings import ABOVE, ORDER, TAIL, MeasuresFindings
from verax.reporting.measures_and_students import HOW_MEASURES, measures_tables
from verax.results.tables import to_markdown
from verax.text import counted, listed, percent

PAGE = Path(__file__).parents[1] / "docs" / "results" / "measures.md"


def size(found) -> str:
    """How much a run rests on."""
    left_out = f", {len(found.left_out)} left out because they did not" if found.left_out else ""
    return (
        f"{counted(found.stains, 'planted reason')} with {listed(found.models)}: {counted(found.cells, 'model')} that "
        f"learnt the reason{left_out}."
    )


def made_by(folder: Path) -> str:
    """The command of a run, and when."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    spec = manifest["spec"]
    return (
        f"`verax bench {spec['benchmark']} --stains {spec['stains']} --inputs {spec['inputs']} --samples {spec['samples']}`, "
        f"{str(manifest.get('finished', ''))[:10]}, verax {manifest.get('versions', {}).get('verax', '')}".rstrip(
            ", "
        )
    )


def pilot(found: MeasuresFindings, folder: Path) -> list[str]:
    """What became of the two findings of a pilot with four stains: monotonicity is backwards; LIME above the oracle."""
    lines = ["## The pilot's two findings", ""]
    for label in ("monotonicity", "monotonicity(steps=True)", "monotonicity-correlation"):
        taus = [
            f"{model} {row.estimate:+.2f}"
            for model in found.models
            if (row := found.row(label, ORDER, model)) is not None
        ]
        whole = found.row(label, ORDER)
        if whole is not None and whole.low is not None:
            lines.append(
                f"- `{label}`: tau {whole.estimate:+.2f} ({whole.low:+.2f} to {whole.high:+.2f}) over all models; "
                f"{', '.join(taus)}."
            )
    for model in ("tree",):
        by = {
            label: (
                row.estimate,
                (tail.estimate if (tail := found.row(label, f"{TAIL}: lime", model)) else None),
            )
            for label in found.measures
            if (row := found.row(label, f"{ABOVE}: lime", model)) is not None
        }
        often = [f"`{label}` ({percent(share)})" for label, (share, _) in by.items() if share > 0.5]
        seldom = [f"`{label}` ({percent(share)})" for label, (share, _) in by.items() if share <= 0.5]
        wrongly = [
            f"`{label}` ({percent(tail)})"
            for label, (_, tail) in by.items()
            if tail is not None and tail > 0.5
        ]
        lines += [
            f"- LIME scores above the oracle on a {model} in most stains by {listed(often)}; not so by {listed(seldom)}.",
            f"- Beside itself with the true reasons put first, LIME is preferred on a {model} on most inputs by "
            f"{listed(wrongly) if wrongly else 'no measure'}.",
        ]
    lines.append(counted_inputs(folder))
    return [*lines, ""]


def counted_inputs(folder: Path) -> str:
    """On how many inputs of a tree LIME does not name the reasons first, and what two measures say there, by reason."""
    import pandas as pd

    rows = pd.read_parquet(folder / "results.parquet").query("model == 'tree' and absent == ''")
    place = ["dataset", "stain", "reason", "input"]
    said = []
    for measure, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
        own = rows[rows["measure"] == measure]
        lime = own[own["explainer"] == "lime"].set_index(place)
        truer = own[own["explainer"] == "oracle, then lime"].set_index(place)
        some = (truer["truth"] - lime["truth"]) > 1e-9
        gap = sign * (lime["value"] - truer["value"])[some]
        wins = (gap > 1e-9) + 0.5 * (gap.abs() <= 1e-9)
        by = wins.groupby(level="reason").agg(["mean", "size"])
        said.append(
            f"`{measure}` prefers LIME on "
            + ", ".join(
                f"{percent(one['mean'])} of {one['size']:.0f} ({reason})" for reason, one in by.iterrows()
            )
        )
    return (
        f"- That rests on {int(some.sum())} inputs of trees: {'; '.join(said)}. A likely cause, not tested: of a reason that takes two words, the "
        "second changes nothing once the first is gone, so that measures which remove words one after the other like some "
        "third word better."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--replaced", type=Path)
    asked = parser.parse_args()
    first = MeasuresFindings.read(asked.folders[0])
    lines = [
        "# Which measures can be believed",
        "",
        "Automatic measures of explanations beside the truth, on models with planted reasons; "
        "[how it is done](../measures.md). This page is written by `perf/measures_results.py` from stored runs.",
        "",
        *(f"- {sentence}" for sentence in first.sentences),
        "",
        *pilot(first, asked.folders[0]),
    ]
    for folder in asked.folders:
        found = MeasuresFindings.read(folder)
        lines += [f"## {listed(found.spec['datasets'])}", "", f"{size(found)} {made_by(folder)}.", ""]
        if folder != asked.folders[0]:
            lines += [*(f"- {sentence}" for sentence in found.sentences), ""]
        lines += [to_markdown(table) for table in measures_tables(found)]
    if asked.replaced:
        found = MeasuresFindings.read(asked.replaced)
        lines += [
            "## Other things in the place of absent words",
            "",
            f"{size(found)} {made_by(asked.replaced)}.",
            "",
        ]
        lines += [to_markdown(table) for table in measures_tables(found) if table.key == "replaced"]
    lines += ["## How it was computed", "", HOW_MEASURES, ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
