"""Every court that explainers stood in: folders of benchmark runs and of analysed studies as one plain form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Literal

from verax.codec import decode
from verax.errors import VeraxError
from verax.report.rationale.verdict import ENOUGH
from verax.report.study.study_verdict import line_sign
from verax.results.units import Unit
from verax.results.verdict import Sign
from verax.stats.thresholds import ALPHA
from verax.studies.results.summary import CourtLine, Summary
from verax.text import listed

# The benchmark's ceiling reads the model itself, and "none" shows nothing: neither is an explainer on trial.
NOT_ON_TRIAL = ("ground-truth", "oracle", "none")
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


@dataclass(frozen=True)
class Auc:
    """The area under a recall curve, mean over stains."""

    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Scored:
    """What this report reads of the scores of an explainer."""

    auc: Auc


@dataclass(frozen=True)
class Versus:
    """What this report reads of a difference: which of two explainers is ahead."""

    first: str
    second: str
    verdict: str
    p_holm: float | None = None


@dataclass(frozen=True)
class ScoredModel:
    """A dataset and a model of a staining run with the explainers that were scored there, by label."""

    dataset: str
    model: str
    explainers: Mapping[str, Scored]
    differences: Mapping[str, tuple[Versus, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class StainSpec:
    """What this report reads of the spec of a staining run."""

    datasets: tuple[str, ...]


@dataclass(frozen=True)
class StainRun:
    """What this report reads of the summary of a staining run; its file calls the scored models cells."""

    spec: StainSpec
    explainers: tuple[str, ...]
    cells: tuple[ScoredModel, ...]


@dataclass(frozen=True)
class Misranked:
    """What this report reads of an explainer on rationale models: the share of inputs that it misranks."""

    misranked: Auc


@dataclass(frozen=True)
class TargetsSet:
    """A set of inputs of several targets, and the explainers that were scored on all of them."""

    targets: int
    explainers: Mapping[str, Misranked]


@dataclass(frozen=True)
class TargetsGroup:
    """Targets that differ in their seed alone, with their sets of inputs by name."""

    dataset: str
    difficulty: str | None
    sets: Mapping[str, TargetsSet]


@dataclass(frozen=True)
class InputsSet:
    """How many inputs of one target are in a set, and who is ahead of whom on them."""

    inputs: int
    differences: tuple[Versus, ...] = ()


@dataclass(frozen=True)
class Target:
    """What this report reads of one target: its sets of inputs, by name."""

    sets: Mapping[str, InputsSet]


@dataclass(frozen=True)
class RationaleRun:
    """What this report reads of the summary of a verification with rationale models."""

    spec: StainSpec
    explainers: tuple[str, ...]
    groups: tuple[TargetsGroup, ...]
    targets: tuple[Target, ...]


def read_courts(folders: Sequence[Path]) -> tuple[list[Court], list[str]]:
    """The courts of all folders, and sentences on what was left out of them."""
    if not folders:
        raise VeraxError("No folder was given; name at least one benchmark run or analysed study.")
    courts: list[Court] = []
    notes: list[str] = []
    for folder in folders:
        summary = read_summary(folder)
        if isinstance(summary, Summary):
            own, said = _of_study(summary, folder)
        elif isinstance(summary, RationaleRun):
            own, said = _of_rationale(summary, folder)
        else:
            own, said = _of_stain(summary, folder)
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


def read_summary(folder: Path) -> Summary | StainRun | RationaleRun:
    """The summary of a benchmark run or of an analysed study; anything else is a sentence."""
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise VeraxError(_no_summary(folder)) from error
    except (OSError, ValueError) as error:
        raise VeraxError(f"{path} cannot be read ({error}); make the run or the analysis again.") from error
    if isinstance(summary, dict) and summary.get("kind") == "study" and "courts" in summary:
        return decode(Summary, summary, str(path))
    if isinstance(summary, dict) and summary.get("benchmark") == "stain" and "cells" in summary:
        return decode(StainRun, summary, str(path))
    if isinstance(summary, dict) and summary.get("benchmark") == "rationale" and "groups" in summary:
        return decode(RationaleRun, summary, str(path))
    raise VeraxError(
        f"{path} is neither of a benchmark (verax bench stain, verax bench rationale) nor of an analysed study "
        "(verax study analyze)."
    )


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


def bare_name(label: str) -> str:
    """An explainer's name without package and parameters: "lime(samples=1000)" is "lime"."""
    return label.split("(", 1)[0].rsplit(":", 1)[-1].strip()


def _of_stain(run: StainRun, folder: Path) -> tuple[list[Court], list[str]]:
    """The area under the recall curve, mean over the models that all explainers have, in per cent."""
    labels = [label for label in run.explainers if bare_name(label) not in NOT_ON_TRIAL]
    scored = [label for label in labels if any(label in model.explainers for model in run.cells)]
    models = [model for model in run.cells if scored and all(label in model.explainers for label in scored)]
    names, notes = _names({label: label for label in scored}, f"the run in {folder}")
    absent = [label for label in labels if label not in scored]
    if absent:
        notes.append(f"{listed(absent)} has no score in the run in {folder} and is left out.")
    if len(models) < len(run.cells):
        notes.append(
            f"{len(run.cells) - len(models)} of {len(run.cells)} pairs of dataset and model of the run in {folder} are "
            "left out: not every explainer was scored there."
        )
    if not models:
        return [], notes
    standings = tuple(_over_models(names[label], label, models) for label in scored)
    name = f"Staining, {listed(run.spec.datasets, most=2)}"
    measure = "planted reasons found, area under recall curve"
    return [Court(name, "benchmark", str(folder), measure, Unit("per cent"), False, True, standings)], notes


def _over_models(name: str, label: str, models: Sequence[ScoredModel]) -> Standing:
    """The mean over models, whose margin takes models of one dataset as dependent: they share their stains."""
    scores = [(model, model.explainers[label].auc) for model in models]
    below: dict[str, float] = {}
    above: dict[str, float] = {}
    for model, auc in scores:
        if auc.low is not None and auc.high is not None:
            below[model.dataset] = below.get(model.dataset, 0.0) + auc.mean - auc.low
            above[model.dataset] = above.get(model.dataset, 0.0) + auc.high - auc.mean
    mean = 100 * sum(auc.mean for _, auc in scores) / len(scores)
    known = all(auc.low is not None for _, auc in scores)
    lower, upper = (
        100 * sqrt(sum(each**2 for each in side.values())) / len(scores) for side in (below, above)
    )
    stains = sorted({int(auc.n) for _, auc in scores})
    spread = str(stains[0]) if len(stains) == 1 else f"{stains[0]} to {stains[-1]}"
    return Standing(
        name,
        label,
        mean,
        mean - lower if known else None,
        mean + upper if known else None,
        f"{len(scores)} models and datasets, {spread} stains each",
        {f"{model.model}, {model.dataset}": 100 * auc.mean for model, auc in scores},
        *_beats_chance(label, [model.differences.get("auc", ()) for model in models]),
    )


def _of_rationale(run: RationaleRun, folder: Path) -> tuple[list[Court], list[str]]:
    """The share of inputs that an explainer ranks right, mean over groups of targets, in per cent.

    Strict inputs count where every target has enough of them, as in the run's own report; else all that are kept.
    """
    strict = bool(run.targets) and all(target.sets["strict"].inputs >= ENOUGH for target in run.targets)
    kind = "strict" if strict else "published"
    sets = [group.sets[kind] for group in run.groups]
    tested = [target.sets[kind].differences for target in run.targets]
    labels = [label for label in run.explainers if bare_name(label) not in NOT_ON_TRIAL]
    scored = [label for label in labels if sets and all(label in found.explainers for found in sets)]
    names, notes = _names({label: label for label in scored}, f"the run in {folder}")
    absent = [label for label in labels if label not in scored]
    if absent:
        notes.append(
            f"{listed(absent)} is not scored on every target of the run in {folder} and is left out."
        )
    if not scored:
        return [], notes
    standings = []
    for label in scored:
        sign, p = _beats_chance(label, tested)
        standings.append(replace(_over_groups(names[label], label, run.groups, sets), sign=sign, p=p))
    inputs = "strict inputs" if strict else "inputs"
    measure = f"{inputs} with a word that does nothing above a clearly relevant one"
    name = f"Rationale models, {listed(run.spec.datasets, most=2)}"
    court = Court(name, "benchmark", str(folder), measure, Unit("per cent"), False, False, tuple(standings))
    return [court], notes


def _over_groups(
    name: str, label: str, groups: Sequence[TargetsGroup], sets: Sequence[TargetsSet]
) -> Standing:
    """The mean over groups, whose targets are trained apart: their errors are independent."""
    shares = [found.explainers[label].misranked for found in sets]
    # The longer side: the other may be cut at 0 or 1.
    margins = [
        max(share.high - share.mean, share.mean - share.low)
        for share in shares
        if share.low is not None and share.high is not None
    ]
    mean = 100 * sum(share.mean for share in shares) / len(shares)
    known = len(margins) == len(shares)
    margin = 100 * sqrt(sum(each**2 for each in margins)) / len(shares)
    targets = sum(found.targets for found in sets)
    return Standing(
        name,
        label,
        mean,
        max(0.0, mean - margin) if known else None,
        min(100.0, mean + margin) if known else None,
        f"{targets} targets",
        {
            group.dataset if group.difficulty is None else f"{group.dataset}, {group.difficulty} targets": 100
            * share.mean
            for group, share in zip(groups, shares, strict=True)
        },
    )


def _beats_chance(label: str, tested: Sequence[Sequence[Versus]]) -> tuple[Sign, float | None]:
    """Whether an explainer is ahead of random with every model that differences were tested on, and the largest p.

    Ahead of random everywhere needs every single test, so that the largest p is that of the claim.
    """
    against = [
        each
        for differences in tested
        for each in differences
        if each.p_holm is not None and {each.first, each.second} == {label, FLOOR}
    ]
    ahead = [each.verdict == ("first" if each.first == label else "second") for each in against]
    if not ahead:
        return "open", None
    p = max(each.p_holm or 0.0 for each in against)
    return "yes" if all(ahead) else "open" if any(ahead) else "no", p


def _of_study(summary: Summary, folder: Path) -> tuple[list[Court], list[str]]:
    """One court per measure of a study; lines without an estimate are counted."""
    notes: list[str] = []
    courts = []
    primary_measure = "" if summary.primary is None else summary.primary.measure
    primary = {} if summary.primary is None else {line.condition: line for line in summary.primary.estimates}

    def is_primary(line: CourtLine) -> bool:
        return line.measure == primary_measure and line.condition in primary

    lines = [line for line in summary.courts if bare_name(line.explainer or "none") not in NOT_ON_TRIAL]
    if not lines:
        notes.append(f"The study in {folder} has no estimate of any explainer and is left out.")
    for measure in dict.fromkeys(line.measure for line in lines):
        own = [line for line in lines if line.measure == measure]
        missing = [line.condition for line in own if line.estimate is None]
        if missing:
            notes.append(f"No estimate in the study in {folder} for {listed(missing)}.")
        known = [line for line in own if line.estimate is not None]
        names, said = _names(
            {line.condition: line.explainer or "none" for line in known}, f"the study in {folder}"
        )
        notes += said
        standings = tuple(
            Standing(
                names[line.condition],
                line.condition,
                line.estimate,
                line.low,
                line.high,
                f"{line.participants} participants, {line.items} items",
                sign=line_sign(primary[line.condition]) if is_primary(line) else "open",
                p=primary[line.condition].p_adjusted if is_primary(line) else None,
            )
            for line in known
            if line.estimate is not None
        )
        if standings:
            simulated = summary.people == "bots"
            courts.append(
                Court(
                    summary.title,
                    "study",
                    str(folder),
                    measure,
                    known[0].unit,
                    simulated,
                    known[0].higher_is_better,
                    standings,
                )
            )
    return courts, notes


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
