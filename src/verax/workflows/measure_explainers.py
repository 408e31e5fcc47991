"""Explainers measured on a model's own predictions: what they name, what that is worth, and the tests over inputs.

Inputs are taken a few at a time, so that a limit of time is kept. Every claim of the verdict is tested in one family:
each explainer against random features, and each pair of explainers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.named_features import (
    ENOUGH,
    NEEDED,
    Beside,
    NamedFeatures,
    Places,
    allowed,
    worth_of,
)
from verax.data.dataset import contents
from verax.data.inputs import as_frame
from verax.errors import VeraxError
from verax.explain import Explainer
from verax.explain.base import explanations_of
from verax.explain.explanation import Attribution, Cost, Explanation, by_word
from verax.explain.fragments import Fragments
from verax.explain.kinds import Exemplar
from verax.explain.perturbed import shown_input
from verax.explain.random import Random, RandomFragments
from verax.explain.shap import Shap, kernel_samples
from verax.models import Model
from verax.models.base import Inputs
from verax.perturb import Masks, Path, Prepared, path_for
from verax.phrases import say
from verax.reporting.comparison import Comparison, Entry, Subject
from verax.run.progress import ProgressFunction, no_progress
from verax.run.threads import quicker_threads
from verax.seeds import stream
from verax.stats.estimate import t_critical
from verax.stats.tests.permutation import AgainstRandom, against_random_sets, holm_of_possible, sign_flip
from verax.stats.thresholds import ALPHA, FEWEST_UNITS
from verax.text import counted, listed
from verax.workflows.judge_findings import NO_ROOM, REDUNDANT, Lead, Trial
from verax.workflows.judgement import Judgement

# Of the inputs so many are explained with other seeds too.
RESEEDED = 5
OTHER_SEEDS = (101,)
# Rows by which it is tried whether the model answers sooner in one thread, and how long it takes for one.
TRIED_ROWS = 64
# Explainers that draw samples draw so few of them, at the least 200, that so many inputs can be judged in the time.
FEW_INPUTS = 5
FEWER_SAMPLES = (200, 500, 1_000, 2_000)
# The share of the time that explaining may take; the rest is for measuring what was named.
EXPLAINING = 0.5
# A feature is named if its score is at least this share of the largest one.
MARKED = 0.1
# An interval narrower than this, as a share of the way, is none.
NO_WIDTH = 5e-4
# A named feature does nothing if alone, and beside the others that are named, it is worth no more than this share of
# the best.
IDLE = 0.01


@dataclass
class Clock:
    """How much time there is; None is no limit."""

    seconds: float | None = None
    began: float = field(default_factory=time.perf_counter)

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return float("inf") if self.seconds is None else self.seconds - self.spent


def taken(inputs: Any, places: Any) -> Any:
    """Some of the inputs, in whatever holds them."""
    if (frame := as_frame(inputs)) is not None:
        return frame.iloc[places]
    return inputs[places] if isinstance(inputs, np.ndarray) else [inputs[place] for place in places]


def judge_inputs(
    model: Model,
    inputs: Inputs,
    named: Mapping[str, Explainer],
    targets: Sequence[int],
    *,
    titles: Sequence[str] = (),
    seed: int = 0,
    clock: Clock | None = None,
    told: ProgressFunction = no_progress,
    explained: Mapping[str, Sequence[Explanation]] | None = None,
) -> Judgement:
    """Judges explainers on a model's predictions of some inputs, in as much time as there is.

    Args:
        model: what is explained.
        inputs: as this model's explainers are given them.
        named: explainers by name.
        targets: the class to explain, for each input.
        titles: what to call each input.
        seed: of the random features.
        clock: how long it may take.
        told: is told what is being done.
        explained: explanations of these inputs that are known already, by explainer.
    """
    clock = clock or Clock()
    places, notes = _distinct(inputs)
    batches = _Batches(model, inputs, dict(named), targets, seed, clock, told, explained or {})
    batches.run(places)
    notes += batches.notes()
    trials, leads, redundant = _trials(batches, seed)
    titles = titles or [f"input {number}" for number in range(len(inputs))]
    return Judgement(
        inputs=len(batches.done),
        features=float(np.mean([len(own) for own in batches.features])),
        kind=cast("Literal['text', 'table']", model.kind),
        trials=trials,
        leads=leads,
        redundant=redundant,
        notes=tuple(notes),
        explanations={name: batches.explanations[name] for name in batches.named},
        seconds=clock.spent,
        places=tuple(batches.done),
        comparison=_side_by_side(batches, trials, [titles[place] for place in batches.done]),
    )


def _distinct(inputs: Inputs) -> tuple[list[int], list[str]]:
    """The places of distinct inputs: an input that comes twice is one unit, not two."""
    texts = inputs if isinstance(inputs, np.ndarray) else list(inputs)
    first: dict[bytes, int] = {}
    for place, content in enumerate(contents(texts)):
        first.setdefault(content, place)
    again = len(inputs) - len(first)
    notes = [say("judge", "equal-inputs", again=again, inputs=len(inputs))] if again else []
    return list(first.values()), notes


class _Batches:
    """Inputs explained and measured a few at a time, so that the time is kept; what was found so far."""

    def __init__(
        self,
        model: Model,
        inputs: Inputs,
        named: dict[str, Explainer],
        targets: Sequence[int],
        seed: int,
        clock: Clock,
        told: ProgressFunction,
        explained: Mapping[str, Sequence[Explanation]],
    ) -> None:
        self.model, self.inputs, self.named, self.targets = model, inputs, named, targets
        self._seed, self._clock, self._told, self._explained = seed, clock, told, explained
        self._left_out: dict[str, str] = {}
        self._asked = 0
        self._took = dict.fromkeys(named, 0.0)
        self.done: list[int] = []
        self.features: list[tuple[str, ...]] = []
        self.explanations: dict[str, list[Explanation]] = {name: [] for name in named}
        self.tops: dict[str, list[Places]] = {name: [] for name in named}
        self.again: dict[str, list[tuple[Places, ...]]] = {name: [] for name in named}
        self.worths: dict[str, list[FloatArray]] = {name: [] for name in named}
        self.beside: dict[str, list[Beside]] = {name: [] for name in named}
        self.idle: dict[str, list[float]] = {name: [] for name in named}
        self.best: list[FloatArray] = []
        self._stopped_seeds = False
        self._fewer: dict[str, tuple[int, int]] = {}

    def run(self, places: Sequence[int]) -> None:
        """Takes one input, then twice as many, and so on, as long as the time lasts."""
        self._asked = len(places)
        # What the model will be asked: many rows like these at a time.
        sample = taken(self.inputs, np.resize(np.asarray(places[:8]), TRIED_ROWS))
        with quicker_threads(lambda: self.model.predict_proba(sample)):
            self._draw_fewer(places)
            self._run(places)

    def _draw_fewer(self, places: Sequence[int]) -> None:
        """Gives explainers fewer samples than is their default, where the model takes too long for a row."""
        path: Path[Prepared] = path_for(self.model)
        (ready,) = path.prepare(taken(self.inputs, np.asarray(places[:1])))
        n_features = len(ready.features)
        if n_features < 2 or self._clock.left == float("inf"):
            return
        rows = stream(self._seed, "rows to time").random((TRIED_ROWS, n_features)) < 0.5
        began = time.perf_counter()
        list(path.evaluate([ready], [Masks.from_rows(rows)]))
        each = (time.perf_counter() - began) / TRIED_ROWS
        possible = EXPLAINING * self._clock.left / (each * len(self.named) * min(FEW_INPUTS, len(places)))
        fewer = max(number for number in FEWER_SAMPLES if number <= max(possible, FEWER_SAMPLES[0]))
        for name, one in self.named.items():
            most = _default_samples(one, n_features)
            if name not in self._explained and most is not None and most > max(possible, fewer):
                self.named[name] = replace(cast("Any", one), samples=fewer)
                self._fewer[name] = (fewer, most)

    def _run(self, places: Sequence[int]) -> None:
        at, size = 0, 1
        while at < len(places):
            began = time.perf_counter()
            part = places[at : at + size]
            self._told(f"explaining and measuring {counted(len(places), 'input')}", at, len(places))
            self._take(part)
            at += len(part)
            each = (time.perf_counter() - began) / len(part)
            size = min(2 * size, 64)
            if each * size > self._clock.left:
                size = int(self._clock.left / each)
                if size < 1:
                    break
        self._told("explained and measured", at, len(places))

    def notes(self) -> list[str]:
        """What was left out and why."""
        said = [
            say("explanations", "left-out", name=name, reason=reason)
            for name, reason in self._left_out.items()
        ]
        if len(self.done) < self._asked:
            slowest = max(self._took, key=self._took.__getitem__)
            said.append(
                say(
                    "judge",
                    "out-of-time",
                    done=len(self.done),
                    inputs=self._asked,
                    seconds=f"{self._clock.seconds:.0f}",
                    slowest=slowest,
                )
            )
        if self._fewer:
            drawn = [
                say("judge", "fewer-samples-of", name=name, fewer=fewer, default=most)
                for name, (fewer, most) in self._fewer.items()
            ]
            name, (_, most) = next(iter(self._fewer.items()))
            # In a call the number has no comma.
            said.append(say("judge", "fewer-samples", shares=drawn, name=name, samples=str(most)))
        if self._stopped_seeds:
            said.append(say("judge", "seeds-stopped"))
        return said

    def _take(self, places: Sequence[int]) -> None:
        inputs, targets = taken(self.inputs, np.asarray(places)), [self.targets[place] for place in places]
        sets = NamedFeatures(self.model, inputs, targets, seed=self._seed)
        for place, features in zip(places, sets.features, strict=True):
            if not features:
                raise VeraxError(
                    f"Input {place} (counted from 0) has no feature that could be taken away; leave it out."
                )
        tops: dict[str, list[Places]] = {}
        for name, one in list(self.named.items()):
            began = time.perf_counter()
            try:
                found = (
                    [self._explained[name][place] for place in places]
                    if name in self._explained
                    else explanations_of(one, name, self.model, inputs, targets)
                )
                tops[name] = [
                    self._top(name, explanation, features, place)
                    for explanation, features, place in zip(found, sets.features, places, strict=True)
                ]
            except VeraxError as error:
                self._leave_out(name, error)
                continue
            finally:
                self._took[name] += time.perf_counter() - began
            self.explanations[name] += found
        self._reseed(tops, inputs, targets, sets.features, places)
        named = [[tops[name][number] for name in tops] for number in range(len(places))]
        beside = sets.beside(named, self._asked)
        worths = sets.values(named)
        for place, name in enumerate(tops):
            self.tops[name] += tops[name]
            self.beside[name] += [own[place] for own in beside]
            self.worths[name] += [own[place] for own in worths]
            self.idle[name] += _idle(sets, tops[name], [own[place].best for own in beside])
        self.best += sets.best()
        self.features += sets.features
        self.done += list(places)

    def _leave_out(self, name: str, error: VeraxError) -> None:
        del self.named[name]
        self._left_out[name] = str(error)
        if not self.named:
            raise error

    def _top(self, name: str, explanation: Explanation, features: tuple[str, ...], place: int) -> Places:
        """The places of the features that speak most for the class, as many as may be named, or fewer."""
        scores = judged_scores(explanation)
        if scores is None:
            raise VeraxError(
                f"{name} gives no scores of single features that the prediction rests on, so that it cannot be judged "
                "by taking them away."
            )
        unknown = [feature for feature in scores.features if feature not in features]
        if unknown:
            raise VeraxError(
                f"{name} names {listed([repr(each) for each in unknown], most=3)}, which input {place} (counted from "
                f"0) does not have; its features are {listed([repr(each) for each in features], most=5)}."
            )
        # Equal scores are in a random order: a method that scores all features alike names none of them first.
        shuffle = stream(self._seed, "equal scores", name, *features).permutation(len(scores.scores))
        order = sorted(range(len(shuffle)), key=lambda number: (-scores.scores[number], shuffle[number]))
        # What scores 0 or less does not speak for the class, and what scores below a tenth of the first is not marked
        # on any page either: a rule of one word names one feature, not three.
        least = max(MARKED * float(np.max(scores.scores, initial=0.0)), np.finfo(float).tiny)
        speaking = [
            features.index(scores.features[number]) for number in order if scores.scores[number] >= least
        ]
        return tuple(sorted(list(dict.fromkeys(speaking))[: allowed(len(features))]))

    def _reseed(
        self,
        tops: Mapping[str, list[Places]],
        inputs: Inputs,
        targets: Sequence[int],
        features: Sequence[tuple[str, ...]],
        places: Sequence[int],
    ) -> None:
        """The same with other seeds, for the first inputs."""
        if len(self.done) >= RESEEDED:
            return
        for name in tops:
            others = _reseeded(self.named[name])
            spent = sum(map(_seconds, self.explanations[name][-len(places) :]))
            if not others:
                continue
            if len(others) * spent > self._clock.left:
                self._stopped_seeds = True
                continue
            found = [
                [
                    self._top(name, explanation, own, place)
                    for explanation, own, place in zip(
                        explanations_of(other, name, self.model, inputs, targets),
                        features,
                        places,
                        strict=True,
                    )
                ]
                for other in others
            ]
            self.again[name] += list(zip(*found, strict=True))


def _default_samples(one: Explainer, n_features: int) -> int | None:
    """How many samples an explainer draws for an input by default; None if somebody chose, or if it draws none."""
    if isinstance(one, Shap):
        return kernel_samples(n_features) if one.samples is None else None
    default = (
        next((each.default for each in fields(one) if each.name == "samples"), None)
        if is_dataclass(one)
        else None
    )
    return default if isinstance(default, int) and getattr(one, "samples", None) == default else None


def _idle(sets: NamedFeatures, tops: Sequence[Places], best: Sequence[float]) -> list[float]:
    """By input, the share of named features that are worth nothing alone, and nothing beside the others."""
    smaller = [[tuple(place for place in top if place != gone) for gone in top] for top in tops]
    whole, rest = sets.values([[top] for top in tops]), sets.values(smaller)
    alone = sets.values([[(place,) for place in top] for top in tops])
    return [
        # Of two words that each do the same, neither adds to the other; but alone each does something.
        float(np.mean(np.maximum(worth_of(own) - worth_of(others), worth_of(single)) <= IDLE * most))
        if top
        else 0.0
        for top, own, others, single, most in zip(tops, whole, rest, alone, best, strict=True)
    ]


def judged_scores(explanation: Explanation) -> Attribution | None:
    """The scores of single features by which an explanation can be judged; None if it has no such."""
    # N-grams are more words than one, so that three of them against three words would be no comparison; and what makes
    # an input similar to an example need not be what the prediction rests on.
    return None if isinstance(explanation, Fragments | Exemplar) else by_word(explanation)


def _reseeded(one: Explainer) -> list[Explainer]:
    """The same explainer with other seeds; none if it has no seed."""
    if not is_dataclass(one) or "seed" not in {attribute.name for attribute in fields(one)}:
        return []
    return [replace(one, seed=seed) for seed in OTHER_SEEDS]


def _seconds(explanation: Explanation) -> float:
    return _cost(explanation).seconds


def _cost(explanation: Explanation) -> Cost:
    cost = getattr(explanation, "cost", None)
    return cost if isinstance(cost, Cost) else Cost()


def _trials(batches: _Batches, seed: int) -> tuple[tuple[Trial, ...], tuple[Lead, ...], bool]:
    """What each explainer reached, with one correction over all claims: each against random ones, and each pair."""
    names = list(batches.named)
    worth = {name: np.array(batches.worths[name]).reshape(-1, 2) for name in names}
    both = {name: worth_of(worth[name]) for name in names}
    speaking = [name for name in names if any(batches.tops[name])]
    tests = {
        name: against_random_sets(both[name], [own.pool for own in batches.beside[name]], seed=seed)
        for name in speaking
    }
    controls = {name for name in names if isinstance(batches.named[name], Random | RandomFragments)}
    rivals = [name for name in speaking if name not in controls]
    pairs = list(combinations(rivals, 2))
    flips = {pair: sign_flip(both[pair[0]] - both[pair[1]], seed=seed) for pair in pairs}
    corrected, possible = _corrected(tests, {pair: flip.p for pair, flip in flips.items()}, both)
    leads = tuple(
        Lead(*(pair if flips[pair].statistic > 0 else pair[::-1]), corrected[pair])
        for pair in pairs
        if corrected[pair] <= ALPHA
    )
    best = np.array(batches.best)
    trials = [
        _trial(
            batches,
            name,
            worth[name],
            tests.get(name),
            corrected.get(name),
            possible.get(name, 1.0),
            name in controls,
        )
        for name in names
    ]
    redundant = bool(
        best[:, ENOUGH].mean() > NO_ROOM and best[:, NEEDED].mean() < REDUNDANT * best[:, ENOUGH].mean()
    )
    return tuple(trials), leads, redundant


def _corrected(
    tests: Mapping[str, AgainstRandom], flips: Mapping[tuple[str, str], float], both: Mapping[str, FloatArray]
) -> tuple[dict[Any, float], dict[str, float]]:
    """Corrected p of every claim; and for each explainer the smallest corrected one that was possible."""
    claims: list[Any] = [*tests, *flips]
    least = [test.smallest for test in tests.values()]
    # Signs of inputs on which two explainers are alike change nothing: 2 of 2^n arrangements are the most extreme.
    least += [min(1.0, 2.0 ** (1 - np.count_nonzero(both[one] - both[other]))) for one, other in flips]
    p_values = [*(test.p for test in tests.values()), *flips.values()]
    corrected = dict(zip(claims, holm_of_possible(p_values, least).tolist(), strict=True))
    # If all explainers had named the best features: what would have been possible for each of them.
    possible = holm_of_possible([*(test.smallest for test in tests.values()), *(1.0 for _ in flips)], least)
    return corrected, dict(zip(tests, possible.tolist(), strict=False))


def _trial(
    batches: _Batches,
    name: str,
    worth: FloatArray,
    test: AgainstRandom | None,
    corrected: float | None,
    possible: float,
    control: bool,
) -> Trial:
    own, beside, tops = 100 * worth_of(worth), batches.beside[name], batches.tops[name]
    chance = 100 * np.array([float(each.pool.mean()) for each in beside])
    best = 100 * np.array([each.best for each in beside])
    reached, low, high = _reached(own - chance, best - chance)
    costs = [_cost(explanation) for explanation in batches.explanations[name]]
    others = [batches.tops[other] for other in batches.named if other != name]
    again = batches.again[name]
    return Trial(
        name=name,
        worth=float(own.mean()),
        needed=100 * float(worth[:, NEEDED].mean()),
        enough=100 * float(worth[:, ENOUGH].mean()),
        chance=float(chance.mean()),
        best=float(best.mean()),
        reached=reached,
        low=low,
        high=high,
        p=None if test is None else test.p,
        corrected=corrected,
        smallest=1.0 if test is None else test.smallest,
        possible=possible <= ALPHA,
        seeds=_common(tops[: len(again)], list(zip(*again, strict=True))),
        others=_common(tops, others),
        rows=float(np.mean([cost.rows for cost in costs])),
        seconds=float(np.mean([cost.seconds for cost in costs])),
        idle=float(
            np.mean([idle for idle, top in zip(batches.idle[name], tops, strict=True) if top] or [0.0])
        ),
        silent=sum(not top for top in tops),
        control=control,
        worths=tuple(own.tolist()),
        falls=tuple((100 * worth[:, NEEDED]).tolist()),
        named=tuple(
            tuple(features[place] for place in top)
            for top, features in zip(tops, batches.features, strict=True)
        ),
    )


def _reached(gained: FloatArray, room: FloatArray) -> tuple[float | None, float | None, float | None]:
    """The share of the room that was gained over all inputs, with an interval over inputs from five of them on."""
    if room.mean() < 100 * NO_ROOM:
        return None, None, None
    share = float(gained.mean() / room.mean())
    rest = gained - share * room
    n = len(gained)
    if n < FEWEST_UNITS:
        return share, None, None
    margin = t_critical(0.95, n - 1) * float(np.std(rest, ddof=1)) / (np.sqrt(n) * float(room.mean()))
    # Where all inputs are alike, an interval would have no width, and claim too much.
    return (share, share - margin, min(share + margin, 1.0)) if margin > NO_WIDTH else (share, None, None)


def _common(own: Sequence[Places], others: Sequence[Sequence[Places]]) -> float | None:
    """The mean share of features that another list names too; None without another."""
    shares = [
        len({*top} & {*other}) / len(top)
        for given in others
        for top, other in zip(own, given, strict=True)
        if top
    ]
    return float(np.mean(shares)) if shares else None


def _side_by_side(batches: _Batches, trials: Sequence[Trial], titles: Sequence[str]) -> Comparison:
    model, inputs = batches.model, taken(batches.inputs, np.asarray(batches.done))
    probabilities = model.predict_proba(inputs)
    subjects = [
        Subject(
            title=titles[number],
            input=shown_input(model, inputs[number]),
            class_names=tuple(model.class_names),
            probabilities=tuple(probabilities[number].tolist()),
            target=batches.targets[place],
            label=None,
            entries=tuple(
                Entry(
                    trial.name,
                    batches.explanations[trial.name][number],
                    trial.control,
                    fall=trial.falls[number],
                )
                for trial in trials
            ),
        )
        for number, place in enumerate(batches.done)
    ]
    return Comparison("your inputs", type(model).__name__, tuple(subjects))
