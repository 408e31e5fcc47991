"""Inputs explained and measured a few at a time: what each explainer names, and what that is worth."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.named_features import Beside, NamedFeatures, Places, allowed, worth_of
from verax.data.inputs import as_frame
from verax.errors import VeraxError
from verax.explain import Explainer
from verax.explain.base import explanations_of
from verax.explain.explanation import Attribution, Cost, Explanation, by_word
from verax.explain.fragments import Fragments
from verax.explain.kinds import Exemplar
from verax.explain.shap import Shap, kernel_samples
from verax.models import Model
from verax.models.base import Inputs
from verax.perturb import Masks, Path, Prepared, path_for
from verax.phrases import say
from verax.run.progress import ProgressFunction
from verax.run.threads import quicker_threads
from verax.seeds import stream
from verax.text import counted, listed

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


class Batches:
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
        counted: Sequence[int],
    ) -> None:
        self.counted = counted
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
        list(
            path.evaluate([ready], [Masks.from_rows(rows[:1])])
        )  # what only the first call takes does not count
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
        sets = NamedFeatures(self.model, inputs, targets, seed=self._seed, counted=self.counted)
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
    worth = partial(worth_of, counted=sets.counted)
    return [
        # Of two words that each do the same, neither adds to the other; but alone each does something.
        float(np.mean(np.maximum(worth(own) - worth(others), worth(single)) <= IDLE * most)) if top else 0.0
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
    return cost_of(explanation).seconds


def cost_of(explanation: Explanation) -> Cost:
    """What an explanation says that it cost; nothing where somebody's own says nothing."""
    cost = getattr(explanation, "cost", None)
    return cost if isinstance(cost, Cost) else Cost()
