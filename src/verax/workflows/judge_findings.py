"""What explainers reached: on planted reasons that a model is known to have learnt, and on its own predictions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from verax.benchmarks.staining import jobs
from verax.benchmarks.staining.choosing import ChosenPlanting, check_fits, choose_planting
from verax.benchmarks.staining.planting import CannotPlantError, plant_in
from verax.benchmarks.staining.scores import Failed, Scores, TrialResult, ceiling, floor
from verax.benchmarks.staining.spec import Planting, StainRequest, StainSpec
from verax.benchmarks.staining.stainable import Stainable, prepared
from verax.benchmarks.staining.training import Refit, within
from verax.data import Dataset, load_dataset
from verax.errors import VeraxError
from verax.explain import Explainer
from verax.explain.greedy import Greedy, GreedyPath
from verax.phrases import say
from verax.reporting.comparison import Comparison
from verax.results.verdict import Sign
from verax.run.identity import at_hand, refer
from verax.run.threads import one_thread
from verax.stats.thresholds import ALPHA
from verax.text import duration
from verax.workflows.given_objects import Gathered, fittable

if TYPE_CHECKING:
    from verax.explain.explanation import Explanation


# Seconds for finding out how to plant, as a share of all.
SEARCHING = 0.35
# Inputs that each stain is explained on, at the least; fewer say too little.
FEWEST_INPUTS = 3
LEARNT = 0.95
# Planting fits a model so many times at the least.
FEWEST_FITS = 6
# Seconds that the first reason may take, however short the time is.
FIRST_SECONDS = 5.0
# A stain may take so much longer than the first one.
LONGER = 1.3
# Told how far it is: a share between 0 and 1, and what is being done.
OnProgress = Callable[[float, str], object]


@dataclass(frozen=True)
class PlantedTrial:
    """How explainers did on reasons that were planted.

    Attributes:
        areas: per explainer, the area under the recall curve on each stain, between 0 and 1; NaN where it failed.
        floor: the area of features in random order, per stain: exact, for the number of features of its inputs; NaN
            where every explainer failed.
        ceiling: the largest possible area.
        stains: each in words.
        features: each one's words or columns.
        inputs: how many were explained, per stain.
        errors: what explainers raised, the first of each.
        sentences: what was planted, what was tried and left out, and why.
        seconds: that it took.
    """

    areas: Mapping[str, tuple[float, ...]]
    floor: tuple[float, ...]
    ceiling: float
    stains: tuple[str, ...]
    features: tuple[frozenset[str], ...]
    inputs: tuple[int, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    seconds: float = 0.0


def quietly(_share: float, _what: str) -> None:
    """Tells nobody."""


def planted_trial(
    model: object,
    data: Dataset | tuple[object, object],
    explainers: Sequence[str | Explainer] | Mapping[str, str | Explainer],
    *,
    refit: Callable[..., object] | None = None,
    stains: int = 6,
    inputs: int = 10,
    size: int = 2,
    seed: int = 0,
    seconds: float = 120.0,
    progress: OnProgress = quietly,
) -> PlantedTrial:
    """Plants reasons in labelled data, fits the model anew on them, and scores explainers by what they find.

    Args:
        model: a scikit-learn classifier or pipeline, fitted or not, or what `verax.as_model` made of one; the name of a
            ready-made model; a function from a dataset to something fitted; or anything, with ``refit``.
        data: a dataset, or (inputs, labels).
        explainers: names, objects, or a dict from what to call them to either.
        refit: from (inputs, labels) to something fitted, for a model that cannot be cloned.
        stains: how many reasons are planted, one after the other.
        inputs: how many inputs are explained for each, at the most.
        size: how many words or columns a reason has.
        seed: of everything.
        seconds: what it may take; fewer inputs and stains where it would take longer.
        progress: told how far it is.

    Raises:
        VeraxError: the model cannot be fitted anew, or nothing can be planted in these data.
    """
    started = time.perf_counter()

    def spent() -> float:
        return time.perf_counter() - started

    dataset = data if isinstance(data, Dataset) else load_dataset(data)
    name, things = _model(model, refit)
    gathered = Gathered()
    named = gathered.add_explainers(explainers)
    methods = gathered.methods(StainSpec(explainers=named, seed=seed))
    things |= gathered.things
    request = StainRequest(size=size, min_flipped=FEWEST_INPUTS)
    # In two threads a busy machine takes many times as long for a small model, and on a quiet one little is gained.
    with at_hand(things), one_thread():
        progress(0.0, "finding out how reasons can be planted")
        ready = prepared(dataset, "presence")
        begun = spent()
        check_fits(ready, "presence", "the model", name, seed)
        if FEWEST_FITS * (spent() - begun) > max(seconds, FIRST_SECONDS):
            raise VeraxError(
                f"To fit the model once took {duration(spent() - begun)}, and planting takes {FEWEST_FITS} fits or "
                f"more: more than the {duration(seconds)} that it may take. Give seconds= a larger number."
            )
        chosen = _way(ready, request, name, stains, seed, SEARCHING * seconds)
        sentences = chosen.sentences()

        def measure(number: int, most: int) -> TrialResult:
            planted, drawn = plant_in(ready, "presence", request, chosen.planting, 1, seed + number)
            return jobs.measured(
                planted, drawn, chosen.planting, (name, "auto"), methods, most, LEARNT, (seed + number, seed)
            )

        done: list[TrialResult] = []
        missed: list[TrialResult] = []
        most, planned, tried, longest = inputs, stains, 0, 0.0
        # One reason is planted in any case, unless its fits take too long.
        with within(max(FIRST_SECONDS, seconds - spent())):
            for number in range(stains):
                if number and spent() + longest > seconds:
                    break
                progress(min(1.0, spent() / seconds), f"planting reason {number + 1} of {planned}")
                if number == 0:
                    most, planned = _affordable(measure, seconds - spent(), inputs, stains)
                begun, tried = spent(), tried + 1
                try:
                    result = measure(number, most)
                except VeraxError as error:
                    sentences.append(str(error))
                    continue
                longest = max(longest, spent() - begun)
                if result.learnt and result.reasoned:
                    done.append(result)
                else:
                    missed.append(result)
                    sentences.append(_left_out(result))
    if not done:
        raise VeraxError(_none_planted(chosen, missed, seconds, in_time=len(missed) == stains))
    if tried < stains:
        sentences.append(say("judge", "few-planted", tried=tried, wanted=stains, time=duration(seconds)))
    if most < inputs:
        sentences.append(say("judge", "few-explained", explained=most, wanted=inputs))
    progress(1.0, "done")
    labels = [label for label, _, _ in methods]
    return PlantedTrial(
        areas={label: tuple(_area(result.explainers.get(label)) for result in done) for label in labels},
        floor=tuple(_chance(result) for result in done),
        ceiling=ceiling(size),
        stains=tuple(result.stain.shown for result in done),
        features=tuple(frozenset(result.wanted) for result in done),
        inputs=tuple(len(result.inputs) for result in done),
        errors=_errors(done, labels),
        sentences=tuple(sentences),
        seconds=spent(),
    )


def _model(model: object, refit: Callable[..., object] | None) -> tuple[str, dict[str, object]]:
    """What staining knows the model by, and what that refers to."""
    if refit is None and isinstance(model, str):
        return model, {}
    thing = Refit(refit, type(model).__name__) if refit is not None else fittable(model)
    reference = refer(thing, "the model")
    return reference, {reference: thing}


def _way(
    ready: Stainable, request: StainRequest, name: str, stains: int, seed: int, seconds: float
) -> ChosenPlanting:
    """How reasons are planted so that the model learns them."""
    first, models = Planting(first_seed=seed), {"the model": name}
    try:
        return choose_planting(ready, "presence", request, 1, models, first, stains, LEARNT, seed, seconds)
    except CannotPlantError as error:
        # The settings that would help are those of a benchmark; here there are only the data.
        raise VeraxError(f"{error.problem}; give more data.") from error


def _affordable(
    measure: Callable[[int, int], TrialResult], seconds: float, inputs: int, stains: int
) -> tuple[int, int]:
    """How many inputs and stains the time allows, by a first look at the fewest inputs."""
    begun = time.perf_counter()
    try:
        result = measure(0, FEWEST_INPUTS)
    except VeraxError:
        return inputs, stains
    took = time.perf_counter() - begun
    explained = max(1, len(result.inputs))
    explaining = sum(scores.seconds for scores in result.scored().values())
    fixed = max(0.0, took - explaining * explained)
    left = seconds - took

    def needed(most: int) -> float:
        return LONGER * (fixed + explaining * most)

    for most in range(inputs, FEWEST_INPUTS, -1):
        if stains * needed(most) <= left:
            return most, stains
    return min(inputs, FEWEST_INPUTS), max(1, min(stains, int(left / max(1e-9, needed(FEWEST_INPUTS)))))


def _left_out(result: TrialResult) -> str:
    """Why a stain is not scored."""
    if result.learnt:
        return say("judge", "planted-other-features", reason=result.stain.shown)
    return say(
        "judge",
        "planted-not-learnt",
        reason=result.stain.shown,
        followed=f"{result.checks.stained_region:.0%}",
        decided=f"{result.checks.decided or 0.0:.0%}",
    )


def _none_planted(
    chosen: ChosenPlanting, missed: Sequence[TrialResult], seconds: float, *, in_time: bool
) -> str:
    """Why no reason could be scored, and what may help."""
    fits = sum(one.fits for one in chosen.tried)
    advice = say("judge", "more-data" if in_time else "more-time", time=duration(seconds))
    if not missed:
        return say("judge", "none-planted-for-lack-of-time", fits=fits, advice=advice)
    followed = [result.checks.stained_region for result in missed if not result.learnt]
    if not followed:
        return say("judge", "none-planted-other-features", tried=len(missed), advice=advice)
    low, high = f"{min(followed):.0%}", f"{max(followed):.0%}"
    share = low if low == high else say("judge", "from-to", low=low, high=high)
    return say("judge", "none-planted-not-learnt", share=share, fits=fits, advice=advice)


def _area(scores: Scores | Failed | None) -> float:
    return float(np.mean(scores.recall)) if isinstance(scores, Scores) and scores.recall else float("nan")


def _chance(result: TrialResult) -> float:
    """The area of a random order, by the largest number of features that an explainer scores on each input."""
    scored = [scores.features for scores in result.scored().values()]
    return (
        float(np.mean([floor(int(number)) for number in np.max(scored, axis=0)])) if scored else float("nan")
    )


def _errors(results: Sequence[TrialResult], labels: Sequence[str]) -> dict[str, str]:
    errors: dict[str, str] = {}
    for result in results:
        for label in labels:
            given = result.explainers.get(label)
            if isinstance(given, Failed):
                errors.setdefault(label, given.error)
    return errors


# An explanation that reaches so much of the way from random features to the best is close to the best, or to random.
CLOSE, FAR = 0.8, 0.2
# An explanation is no better than random features if its interval ends below this.
FAR_AT_MOST = 0.5
# Below so many points of probability nothing is to be found: the model's answer does not change.
NO_ROOM = 1e-4
# Where taking away does so little beside leaving alone, the model has more reasons than one for the same answer.
REDUNDANT = 0.2


@dataclass(frozen=True)
class Trial:
    """What one explainer reached; worths are means over inputs, in points of probability.

    Attributes:
        name: the explainer's.
        worth: of the features it names: mean of how far they are needed and how far they are enough.
        needed: how far the explained class's probability falls without them.
        enough: how far it rises with nothing but them.
        chance: worth of as many random features.
        best: worth of the best features that were found, as many as may be named or fewer.
        reached: how far of the way from random to the best; None where no feature matters.
        low: lower end of its 95% interval over inputs; None below five inputs or without spread.
        high: upper end.
        p: of the exact test against random features, not corrected; None if it names nothing.
        corrected: the same after correction over all claims of the verdict.
        smallest: the smallest p that the test allows, that of the best features; not corrected.
        possible: whether anything could have been shown of it after correction.
        seeds: share of its features that other seeds name too; None if it draws nothing or that was not asked.
        others: share of its features that the other explainers name too; None if it is alone.
        rows: rows asked of the model for one explanation.
        seconds: that one explanation took.
        idle: share of its features that do nothing for the answer.
        silent: inputs of which it names none.
        control: whether its scores are random on purpose.
        removal: whether it looks for features whose removal changes the answer.
        worths: of each input.
        falls: how far the probability falls without the named features, for each input.
        named: the features that it names, for each input.
    """

    name: str
    worth: float
    needed: float
    enough: float
    chance: float
    best: float
    reached: float | None
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    smallest: float
    possible: bool
    seeds: float | None
    others: float | None
    rows: float
    seconds: float
    idle: float
    silent: int
    control: bool
    removal: bool
    worths: tuple[float, ...] = field(repr=False)
    falls: tuple[float, ...] = field(repr=False)
    named: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def shown(self) -> bool:
        """Whether it is shown to name better features than random ones, after correction."""
        return self.corrected is not None and self.corrected <= ALPHA

    @property
    def sign(self) -> Sign:
        """What is said of it: yes, a part, no, or nothing."""
        if self.reached is None or self.silent == len(self.worths):
            return "open"
        if self.shown:
            return "yes" if self.reached >= CLOSE else "part"
        # That it is no better has to be shown as well: its interval must lie far from the best.
        far = self.reached <= FAR and self.high is not None and self.high <= FAR_AT_MOST
        return "no" if far else "open"

    @property
    def words(self) -> str:
        """The same in a few words."""
        case: str = self.sign
        if self.silent == len(self.worths):
            case = "silent"
        elif self.reached is None:
            case = "nothing"
        elif self.sign == "open" and not self.possible:
            case = "too-few"
        elif self.sign == "part" and self.reached <= FAR:
            case = "little"
        return say("judge", f"judged-{case}")


# Explainers that look for what changes the answer when it is taken away.
SEEK_REMOVAL = ("greedy", "greedy-path", "omission")


def seeks_removal(name: str, explainer: object) -> bool:
    """Whether an explainer optimises what the answer does without its features, whatever it is called here.

    By its name too, since explanations may come from elsewhere.
    """
    return isinstance(explainer, Greedy | GreedyPath) or name.split("(", maxsplit=1)[0] in SEEK_REMOVAL


@dataclass(frozen=True)
class Lead:
    """That one explainer is shown to be ahead of another, after correction over all claims of the verdict."""

    ahead: str
    behind: str
    corrected: float


@dataclass(frozen=True)
class Findings:
    """What all explainers reached on the same predictions of one model.

    Attributes:
        inputs: how many were judged.
        features: how many features an input has, on average.
        kind: "text" or "table".
        trials: what each explainer reached.
        leads: which explainers are shown to be ahead of which.
        redundant: whether a few features are enough for the answer though taking any few away changes little.
        chosen: which measures the verdict rests on for this sort of model and why, in a sentence.
        planted: what explainers found of reasons that were planted in copies of the model; None if none were.
        notes: sentences on what was left out, replaced or not done, and why.
        explanations: every explanation, by explainer, in the order of the inputs.
        seconds: that judging took.
        places: which of the given inputs were judged, counted from 0.
        comparison: the explanations side by side, for a page.
    """

    inputs: int
    features: float
    kind: Literal["text", "table"]
    trials: tuple[Trial, ...]
    leads: tuple[Lead, ...] = ()
    redundant: bool = False
    chosen: str = ""
    planted: PlantedTrial | None = None
    notes: tuple[str, ...] = ()
    explanations: Mapping[str, Sequence[Explanation]] = field(default_factory=dict, repr=False)
    seconds: float = 0.0
    places: tuple[int, ...] = ()
    comparison: Comparison | None = field(default=None, repr=False)
