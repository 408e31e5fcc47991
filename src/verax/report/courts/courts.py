"""Every court that explainers stood in, from the findings of benchmark runs and of analysed studies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from verax.errors import VeraxError
from verax.results.findings import Finding, bare_name, is_compared, read_findings
from verax.results.units import Unit
from verax.results.verdict import Sign
from verax.stats.thresholds import ALPHA
from verax.text import listed


@dataclass(frozen=True)
class Standing:
    """How one explainer did in one court.

    Attributes:
        explainer: its name without parameters, by which courts are matched.
        label: its name in that court.
        estimate, low, high: with a 95% interval; None where there is none.
        rests_on: on what, in words.
        parts: estimates of the parts that were averaged, by name.
        sign: whether it is shown, after correction, to beat random (benchmarks) or to help people (studies).
        p: what the sign rests on, corrected within its court; None where nothing was tested.
    """

    explainer: str
    label: str
    estimate: float
    low: float | None
    high: float | None
    rests_on: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    sign: Sign = "open"
    p: float | None = None


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
    unit: Unit
    simulated: bool
    higher_is_better: bool
    standings: tuple[Standing, ...]


def read_courts(folders: Sequence[Path]) -> tuple[list[Court], list[str]]:
    """The courts of all folders, and sentences on what was left out of them."""
    if not folders:
        raise VeraxError("No folder was given; name at least one benchmark run or analysed study.")
    courts: list[Court] = []
    notes: list[str] = []
    for folder in folders:
        own, said = courts_of(read_folder(folder), folder)
        courts += own
        notes += said
    return _named_apart([_in_family(court, len(courts)) for court in courts]), notes


def _in_family(court: Court, courts: int) -> Court:
    """The court with claims that hold together with those of the others: Bonferroni over courts.

    What one sentence says of explainers in several courts is one family of claims.
    """
    return replace(
        court,
        standings=tuple(
            replace(standing, sign="open")
            if standing.p is not None and standing.p <= ALPHA < courts * standing.p
            else standing
            for standing in court.standings
        ),
    )


def read_folder(folder: Path) -> tuple[Finding, ...]:
    """The findings of a benchmark run or of an analysed study; anything else is a sentence."""
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise VeraxError(_no_summary(folder)) from error
    except (OSError, ValueError) as error:
        raise VeraxError(f"{path} cannot be read ({error}); make the run or the analysis again.") from error
    if not isinstance(summary, dict) or not ("benchmark" in summary or summary.get("kind") == "study"):
        raise VeraxError(
            f"{path} is neither of a benchmark (verax bench) nor of an analysed study (verax study analyze)."
        )
    found = read_findings(summary, str(path))
    if found is None:
        raise VeraxError(
            f"{path} was written by an older version of Verax and has no findings; repeat the command that made it "
            "with the same folder. A finished run computes nothing again."
        )
    return found


def _no_summary(folder: Path) -> str:
    if not folder.is_dir():
        return f"There is no folder {str(folder)!r}; name folders of benchmark runs and of analysed studies."
    inside = sorted(path.parent for path in folder.glob("*/summary.json"))
    if inside:
        return f"{str(folder)!r} has no summary.json of its own; name {listed([str(path) for path in inside], most=3)}."
    if (folder / "study.json").exists() or (folder / "spec.toml").exists():
        return f"{str(folder)!r} holds a study that is not analysed; run verax study analyze {folder} first."
    return (
        f"{str(folder)!r} holds no summary.json, so it is neither a finished benchmark run nor an analysed study; "
        "name folders of verax bench or verax study analyze."
    )


def courts_of(findings: Sequence[Finding], folder: Path) -> tuple[list[Court], list[str]]:
    """One court for each measure of a run or a study; methods without an estimate are named."""
    where = f"the {'study' if any(one.source == 'study' for one in findings) else 'run'} in {folder}"
    overall = [one for one in findings if one.scope == "overall" and is_compared(one.method)]
    notes, courts = [], []
    if not overall:
        notes.append(f"{where[0].upper()}{where[1:]} has no estimate of any explainer and is left out.")
    for measure in dict.fromkeys(one.measure for one in overall):
        own = [one for one in overall if one.measure == measure]
        missing = [one.called for one in own if one.estimate is None]
        if missing:
            notes.append(f"No estimate in {where} for {listed(missing)}.")
        known = [one for one in own if one.estimate is not None]
        names, said = _names({one.called: one.method for one in known}, where)
        notes += said
        parts = [one for one in findings if one.scope == "part" and one.measure == measure]
        averaged = _averaged(parts, [one.method for one in known])
        places = len(dict.fromkeys(one.place for one in parts))
        if known and len(averaged) < places:
            notes.append(
                f"{places - len(averaged)} of {places} pairs of dataset and model of {where} are left out: not every "
                "explainer was scored there."
            )
        if known:
            first = known[0]
            standings = tuple(_standing(one, names[one.called], parts, averaged) for one in known)
            courts.append(
                Court(
                    first.title or first.name,
                    first.source,
                    str(folder),
                    measure,
                    first.unit,
                    first.simulated,
                    first.better == "higher",
                    standings,
                )
            )
    return courts, notes


def _averaged(parts: Sequence[Finding], methods: Sequence[str]) -> list[str]:
    """The places (models and datasets) at which every method has an estimate."""
    there: dict[str, set[str]] = {one.place: set() for one in parts}
    for one in parts:
        if one.estimate is not None:
            there[one.place].add(one.method)
    return [place for place, known in there.items() if known.issuperset(methods)]


def _standing(found: Finding, name: str, parts: Sequence[Finding], averaged: Sequence[str]) -> Standing:
    own = {
        one.place: one.estimate
        for one in parts
        if one.method == found.method and one.place in averaged and one.estimate is not None
    }
    return Standing(
        name,
        found.called,
        0.0 if found.estimate is None else found.estimate,
        found.low,
        found.high,
        found.resting,
        own,
        found.sign,
        found.p_adjusted,
    )


def _names(explainers: Mapping[str, str], where: str) -> tuple[dict[str, str], list[str]]:
    """Bare names by label; an explainer that stood there twice keeps its label and is matched with nobody."""
    bare = {label: bare_name(explainer) for label, explainer in explainers.items()}
    stood = list(bare.values())
    twice = [name for name in dict.fromkeys(stood) if stood.count(name) > 1]
    notes = [
        f"{name} stood more than once in {where}, so it is not matched with other courts." for name in twice
    ]
    return {label: label if name in twice else name for label, name in bare.items()}, notes


def _named_apart(courts: Sequence[Court]) -> list[Court]:
    """The same courts; names that occur twice are told apart by measure or folder."""
    names = [court.name for court in courts]
    return [
        replace(court, name=f"{court.name} ({court.folder}, {court.measure})")
        if names.count(court.name) > 1
        else court
        for court in courts
    ]
