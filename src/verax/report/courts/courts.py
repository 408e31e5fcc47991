"""Every court that explainers stood in: folders of benchmark runs and of analysed studies as one plain form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any, Literal

from verax.errors import VeraxError
from verax.text import listed

Summary = Mapping[str, Any]
# The benchmark's ceiling reads the model itself, and "none" shows nothing: neither is an explainer on trial.
NOT_ON_TRIAL = ("ground-truth", "none")
FLOOR = "random"


@dataclass(frozen=True)
class Standing:
    """How one explainer did in one court.

    Attributes:
        explainer: its name without parameters, by which courts are matched.
        label: its name in that court.
        estimate, low, high: with a 95% interval; None where there is none.
        rests_on: on what, in words.
        parts: estimates of the parts that were averaged, by name.
    """

    explainer: str
    label: str
    estimate: float
    low: float | None
    high: float | None
    rests_on: str = ""
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Court:
    """A benchmark run or a study, with everybody who stood in it.

    Attributes:
        name: what to call it.
        kind: with or without people.
        folder: where it lies.
        measure: what was measured.
        unit: of the estimates.
        simulated: whether its people were bots.
        higher_is_better: whether more of the measure is better.
        standings: one per explainer.
    """

    name: str
    kind: Literal["benchmark", "study"]
    folder: str
    measure: str
    unit: str
    simulated: bool
    higher_is_better: bool
    standings: tuple[Standing, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **asdict(self),
            "standings": [{**asdict(one), "parts": dict(one.parts)} for one in self.standings],
        }


def read_courts(folders: Sequence[Path]) -> tuple[list[Court], list[str]]:
    """The courts of all folders, and sentences on what was left out of them."""
    if not folders:
        raise VeraxError("No folder was given; name at least one benchmark run or analysed study.")
    courts, notes = [], []
    for folder in folders:
        summary = read_summary(folder)
        found, said = (
            _of_study(summary, folder) if summary.get("kind") == "study" else _of_stain(summary, folder)
        )
        courts += found
        notes += said
    return _named_apart(courts), notes


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary of a benchmark run or of an analysed study; anything else is a sentence."""
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise VeraxError(_no_summary(folder)) from error
    except (OSError, ValueError) as error:
        raise VeraxError(f"{path} cannot be read ({error}); make the run or the analysis again.") from error
    if isinstance(summary, dict) and summary.get("kind") == "study" and "courts" in summary:
        return summary
    if isinstance(summary, dict) and summary.get("benchmark") == "stain" and "cells" in summary:
        return summary
    raise VeraxError(
        f"{path} is neither of a staining run (verax bench stain) nor of an analysed study (verax study analyze)."
    )


def _no_summary(folder: Path) -> str:
    if not folder.is_dir():
        return f"There is no folder {str(folder)!r}; name folders of benchmark runs and of analysed studies."
    inside = sorted(one.parent for one in folder.glob("*/summary.json"))
    if inside:
        return f"{str(folder)!r} has no summary.json of its own; name {listed([str(one) for one in inside], most=3)}."
    if (folder / "study.json").exists() or (folder / "spec.toml").exists():
        return f"{str(folder)!r} holds a study that is not analysed; run verax study analyze {folder} first."
    return (
        f"{str(folder)!r} holds no summary.json, so it is neither a finished benchmark run nor an analysed study; "
        "name folders of verax bench or verax study analyze."
    )


def bare_name(label: str) -> str:
    """An explainer's name without package and parameters: "lime(samples=1000)" is "lime"."""
    return label.split("(", 1)[0].rsplit(":", 1)[-1].strip()


def _of_stain(summary: Summary, folder: Path) -> tuple[list[Court], list[str]]:
    """The area under the recall curve, mean over the cells that all explainers have, in per cent."""
    labels = [label for label in summary["explainers"] if bare_name(label) not in NOT_ON_TRIAL]
    scored = [label for label in labels if any(label in cell["explainers"] for cell in summary["cells"])]
    cells = [
        cell for cell in summary["cells"] if scored and all(label in cell["explainers"] for label in scored)
    ]
    names, notes = _names(scored, f"the run in {folder}")
    absent = [label for label in labels if label not in scored]
    if absent:
        notes.append(f"{listed(absent)} has no score in the run in {folder} and is left out.")
    if len(cells) < len(summary["cells"]):
        left_out = len(summary["cells"]) - len(cells)
        notes.append(
            f"{left_out} of {len(summary['cells'])} pairs of dataset and model of the run in {folder} are left out: "
            "not every explainer was scored there."
        )
    if not cells:
        return [], notes
    standings = tuple(_over_cells(names[label], label, cells) for label in scored)
    datasets = listed(list(summary["spec"]["datasets"]), most=2)
    measure = "area under the recall curve of the stain"
    return [
        Court(f"Staining, {datasets}", "benchmark", str(folder), measure, "per cent", False, True, standings)
    ], notes


def _over_cells(name: str, label: str, cells: Sequence[Mapping[str, Any]]) -> Standing:
    """The mean over cells, whose margin takes models of one dataset as dependent: they share their stains."""
    found = [(cell, cell["explainers"][label]["auc"]) for cell in cells]
    margins: dict[str, float] = {}
    for cell, one in found:
        if one["low"] is not None:
            margins[cell["dataset"]] = margins.get(cell["dataset"], 0.0) + (one["high"] - one["low"]) / 2
    mean = 100 * sum(one["mean"] for _, one in found) / len(found)
    known = all(one["low"] is not None for _, one in found)
    margin = 100 * sqrt(sum(total**2 for total in margins.values())) / len(found)
    stains = sorted({int(one["n"]) for _, one in found})
    spread = str(stains[0]) if len(stains) == 1 else f"{stains[0]} to {stains[-1]}"
    parts = tuple((f"{cell['model']}, {cell['dataset']}", 100 * one["mean"]) for cell, one in found)
    return Standing(
        name,
        label,
        mean,
        mean - margin if known else None,
        mean + margin if known else None,
        f"{len(found)} models and datasets, {spread} stains each",
        parts,
    )


def _of_study(summary: Summary, folder: Path) -> tuple[list[Court], list[str]]:
    """One court per measure of a study; lines without an estimate are counted."""
    notes: list[str] = []
    courts = []
    lines = [
        line for line in summary["courts"] if bare_name(str(line["explainer"] or "none")) not in NOT_ON_TRIAL
    ]
    if not lines:
        notes.append(f"The study in {folder} has no estimate of any explainer and is left out.")
    for measure in dict.fromkeys(line["measure"] for line in lines):
        own = [line for line in lines if line["measure"] == measure]
        known = [line for line in own if line["estimate"] is not None]
        if len(known) < len(own):
            missing = listed([line["condition"] for line in own if line["estimate"] is None])
            notes.append(f"No estimate in the study in {folder} for {missing}.")
        names, said = _names(
            [line["explainer"] for line in known],
            f"the study in {folder}",
            [line["condition"] for line in known],
        )
        notes += said
        standings = tuple(
            Standing(
                names[line["condition"]],
                line["condition"],
                line["estimate"],
                line["low"],
                line["high"],
                f"{line['participants']} participants, {line['items']} items",
            )
            for line in known
        )
        if standings:
            first = known[0]
            courts.append(
                Court(
                    str(summary["title"]),
                    "study",
                    str(folder),
                    measure,
                    first["unit"],
                    summary.get("people") == "bots",
                    bool(first.get("higher_is_better", True)),
                    standings,
                )
            )
    return courts, notes


def _names(
    explainers: Sequence[str], where: str, labels: Sequence[str] | None = None
) -> tuple[dict[str, str], list[str]]:
    """Bare names by label; an explainer that stood there twice keeps its label and is matched with nobody."""
    shown = list(explainers if labels is None else labels)
    bare = [bare_name(one) for one in explainers]
    twice = [name for name in dict.fromkeys(bare) if bare.count(name) > 1]
    notes = [
        f"{name} stood more than once in {where}, so it is not matched with other courts." for name in twice
    ]
    return {label: label if name in twice else name for label, name in zip(shown, bare, strict=True)}, notes


def _named_apart(courts: Sequence[Court]) -> list[Court]:
    """The same courts; names that occur twice are told apart by measure or folder."""
    names = [court.name for court in courts]
    return [
        replace(court, name=f"{court.name} ({court.folder}, {court.measure})")
        if names.count(court.name) > 1
        else court
        for court in courts
    ]
