"""How stains are planted in a dataset so that models learn them: found by quick fits, judged on the validation part.

One way of planting does not serve every model. A linear model cannot tell values in the middle of a column from those
on both sides; one word among the hundreds of a review is nothing to a model that divides by its length; a model that
learns little from a small set says the stain's label everywhere. So a few ways are tried on stains of their own, the
simplest first, and the first is taken with which every model follows the stain, because of the stain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from verax.arrays import BoolArray, IntArray
from verax.benchmarks.staining import jobs, training
from verax.benchmarks.staining.planting import CannotPlantError, plant_in, plantable_words
from verax.benchmarks.staining.scores import readable, recall
from verax.benchmarks.staining.spec import Planting, StainRequest
from verax.benchmarks.staining.stainable import Stainable, make_stainable, stainable_of
from verax.benchmarks.staining.stains import Stain
from verax.codec import encoded
from verax.data import Part
from verax.errors import OwnCodeError, VeraxError, reason
from verax.explain.greedy import Greedy
from verax.models import Model
from verax.phrases import say as say_phrase
from verax.run.identity import is_reference
from verax.seeds import stream
from verax.text import duration

say = partial(say_phrase, "staining")

# Raised when what is tried changes: what other versions found is then not used.
VERSION = 2
# A quick fit sees so many training inputs at the most; so many stains of its own are tried with each way of planting.
QUICK_INPUTS, QUICK_STAINS = 5_000, 3
# The weights of quick fits. More than this teaches a model to say the stain's label everywhere.
QUICK_WEIGHTS = (1, 3, 10, 30)
# Quick fits of one model, and seconds for all: what is best by then is taken.
MOST_FITS, MOST_SECONDS = 40, 300.0
# So many inputs are looked at to see whether the stain is the main reason.
REASONS = 20
# A model that cannot be read is asked what its answer loses without each feature, which is a rougher guide.
REASONED_BY_REMOVAL = 0.75
# The share of the inputs that a stain flips which it must decide, for a way of planting to serve.
DECIDED = 0.3
# Of this quality (1 is what serves) a way is not worth a look at more stains.
HOPELESS = 0.1
# The shares of stained inputs and of decoys for each feature.
SHARES = ((Planting.share, Planting.decoys), (0.4, 0.05))
# Words of a text to one copy of a planted one, where one copy is too little.
EVERY = (40, 8)


@dataclass(frozen=True)
class PlantingFit:
    """One way of planting with one model, over its quick stains.

    Attributes:
        planting: the way.
        model: as the report calls it.
        weight: how many times a stained training input counted, the smallest that a stain needed.
        followed: the share of stained validation inputs of which the model says the stain's label, the lowest.
        decided: the share of those that would have another label for which the stain decides that, the lowest.
        reasons: how much of the stain is among the model's main reasons, the lowest; None where none was looked at.
        fits: how many models were fitted for it.
        serves: whether that is enough.
        problem: why nothing could be planted.
        remedy: which setting would help.
    """

    planting: Planting
    model: str
    weight: int = 0
    followed: float = 0.0
    decided: float = 0.0
    reasons: float | None = None
    fits: int = 0
    serves: bool = False
    problem: str = ""
    remedy: str = ""

    @property
    def quality(self) -> float:
        """For choosing the best of what does not serve: 1 is what serves."""
        return min(self.followed, self.decided / DECIDED, (self.reasons or 0.0) / REASONED_BY_REMOVAL, 1.0)


@dataclass(frozen=True)
class ChosenPlanting:
    """How stains will be planted, and what was tried for it.

    Attributes:
        planting: the way that is taken.
        tried: all ways, in order.
        seconds: that it took.
        stopped: whether time ran out before all was tried.
    """

    planting: Planting
    tried: tuple[PlantingFit, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    stopped: bool = False

    def sentences(self) -> list[str]:
        """What was chosen and what was tried before, for people."""
        fits = sum(one.fits for one in self.tried)
        said = [say("planted", how=describe(self.planting))]
        ways = list(dict.fromkeys(one.planting for one in self.tried))
        if len(ways) == 1:
            said.append(say("tried-one", fits=fits))
        elif ways:
            others = "; ".join(_briefly(way) for way in ways if way != self.planting)
            said.append(say("tried-several", ways=len(ways), fits=fits, serves=self.serves, others=others))
        said += [
            say(
                "took-in-part",
                model=one.model,
                followed=f"{one.followed:.0%}",
                decided=f"{one.decided:.0%}",
            )
            for one in self.tried
            if one.planting == self.planting and not one.serves
        ]
        if self.stopped:
            said.append(say("time-ran-out", time=duration(self.seconds)))
        return said

    @property
    def serves(self) -> bool:
        """Whether the way that is taken serves every model."""
        return all(one.serves for one in self.tried if one.planting == self.planting)


def describe(planting: Planting) -> str:
    """A way of planting in words."""
    parts = [say("how-share", share=f"{planting.share:.0%}", decoys=f"{planting.decoys:.0%}")]
    if planting.new_words:
        parts.append(say("how-new-words"))
    if planting.every:
        parts.append(say("how-every", every=planting.every))
    if planting.ends:
        parts.append(say("how-ends"))
    if planting.balanced:
        parts.append(say("how-balanced"))
    if planting.weight > 1:
        parts.append(say("how-weight", weight=planting.weight))
    return ", ".join(parts)


def _briefly(planting: Planting) -> str:
    marks = [say("brief-share", share=f"{planting.share:.0%}", decoys=f"{planting.decoys:.0%}")]
    marks += [say("brief-every", every=planting.every)] if planting.every else []
    marks += [say("brief-ends")] if planting.ends else []
    marks += [say("brief-balanced")] if planting.balanced else []
    return ", ".join(marks)


def ways(data: Stainable, request: StainRequest, first: Planting) -> Iterator[Planting]:
    """The ways of planting to try, the simplest first.

    Args:
        data: the dataset.
        request: what a stain should be like.
        first: made-up words and the seed of the first stain are this one's.
    """
    if data.bins is None and not first.new_words and len(plantable_words(data)) < request.size:
        first = replace(first, new_words=True)
    table = data.bins is not None
    for share, decoys in SHARES:
        # A stain of many features leaves less room for the decoys of each.
        plain = replace(first, share=share, decoys=min(decoys, (1 - share) / (request.size + 1)))
        yield plain
        if table:
            yield replace(plain, ends=True)
            yield replace(plain, ends=True, balanced=True)
        else:
            for every in EVERY:
                yield replace(plain, every=every)
            yield replace(plain, every=EVERY[-1], balanced=True)


def choose(
    *,
    source: Mapping[str, object],
    words: str,
    data_hash: str,
    request: Mapping[str, Any],
    at_least: int,
    models: Mapping[str, Mapping[str, Any]],
    first: Mapping[str, Any],
    stains: int,
    learnt: float,
    seed: int,
) -> dict[str, object]:
    """A job: how stains are planted in one dataset for all models of a run.

    Args:
        source: the dataset, as arguments of ``load_dataset``.
        words: "presence" or "counts".
        data_hash: the dataset's content hash when the run was planned.
        request: what stains should be like.
        at_least: how often a stained word must occur.
        models: what a trial is told of each, by what the report calls it.
        first: made-up words and the seed of the first stain are this way's.
        stains: how many the run has: the quick ones come after them.
        learnt: the accuracy on the stained region that is asked for.
        seed: of the fits.
    """
    wanted = StainRequest(**request)
    data = make_stainable(source, words, wanted.min_share, at_least)
    if data.dataset.hash != data_hash:
        raise VeraxError(
            f"The dataset {data.dataset.name!r} has changed since the run began; start a new run."
        )
    named = {label: str(own["model"]) for label, own in models.items()}
    for label, name in named.items():
        check_fits(data, words, label, name, seed)
    found = choose_planting(data, words, wanted, at_least, named, Planting(**first), stains, learnt, seed)
    return encoded(found)


def check_fits(data: Stainable, words: str, label: str, name: str, seed: int) -> None:
    """Fits a model of somebody's own once, on labels as they are: one that cannot be is refused before all else."""
    if not training.is_own(name):
        return
    quick = _quick(data, words)
    labels = quick.dataset.train.labels, quick.dataset.validation.labels
    try:
        training.fit(name, quick, labels, None, seed)
    except OwnCodeError:
        raise  # what refit= gave has failed, and says so
    except Exception as error:
        way = (
            "give refit=, a function from (inputs, labels) to a fitted model"
            if is_reference(name)
            else "name a function from a dataset to a fitted model (--model package.module:function)"
        )
        raise VeraxError(
            f"Staining fits every model anew on stained labels, and {label} cannot be fitted: "
            f"{reason(error).rstrip('.')}. To have it fitted your way, {way}."
        ) from error


def choose_planting(
    data: Stainable,
    words: str,
    request: StainRequest,
    at_least: int,
    models: Mapping[str, str],
    first: Planting,
    stains: int,
    learnt: float,
    seed: int,
    seconds: float = MOST_SECONDS,
) -> ChosenPlanting:
    """The first way of planting that serves every model, or the best of those that were tried.

    Args:
        data: the dataset.
        words: "presence" or "counts".
        request: what stains should be like.
        at_least: how often a stained word must occur.
        models: names or references, by what the report calls them.
        first: see `ways`.
        stains: how many the run has.
        learnt: the accuracy on the stained region that is asked for.
        seed: of the fits.
        seconds: after so many nothing else is tried.
    """
    started = time.perf_counter()
    quick = _quick(data, words)
    tried: list[PlantingFit] = []
    fits = dict.fromkeys(models, 0)
    stopped = False

    def left() -> bool:
        return time.perf_counter() - started < seconds

    for way in ways(data, request, first):
        own: list[PlantingFit] = []
        for label, model in models.items():
            seeds = [first.first_seed + stains + number for number in range(QUICK_STAINS)]
            one = _try(
                quick,
                words,
                request,
                at_least,
                way,
                (label, model),
                seeds,
                learnt,
                seed,
                left if tried else None,
            )
            own.append(one)
            fits[label] += one.fits
        tried += own
        if all(one.serves for one in own):
            break
        if not left() or max(fits.values()) >= MOST_FITS:
            stopped = not left()
            break
    best = _best(tried)
    if best is None:
        raise CannotPlantError(tried[0].problem, tried[0].remedy)
    weight = max(1, min(one.weight for one in tried if one.planting == best))
    took = time.perf_counter() - started
    return ChosenPlanting(replace(best, weight=weight), _named(tried, best, weight), took, stopped)


def _named(tried: Sequence[PlantingFit], best: Planting, weight: int) -> tuple[PlantingFit, ...]:
    """What was tried, with the weight in the way that was taken, so that it is known among them."""
    chosen = replace(best, weight=weight)
    return tuple(replace(one, planting=chosen) if one.planting == best else one for one in tried)


def _best(tried: Sequence[PlantingFit]) -> Planting | None:
    """The way that serves most models, of equals the one that comes nearest, of equals the first."""
    ranks: dict[Planting, tuple[int, float]] = {}
    for way in dict.fromkeys(one.planting for one in tried):
        own = [one for one in tried if one.planting == way]
        if not any(one.problem for one in own):
            ranks[way] = sum(one.serves for one in own), float(np.mean([one.quality for one in own]))
    return max(ranks, key=lambda way: ranks[way]) if ranks else None


def _quick(data: Stainable, words: str) -> Stainable:
    """A sample of a large dataset that quick fits see."""
    dataset = data.dataset
    parts = {}
    for name, part in dataset.parts.items():
        most = QUICK_INPUTS if name == "train" else QUICK_INPUTS // 5
        places = np.sort(stream(0, "quick", name).permutation(len(part))[:most])
        parts[name] = part if len(part) <= most else part.take(places)
    if all(parts[name] is part for name, part in dataset.parts.items()):
        return data
    smaller = replace(dataset, train=parts["train"], validation=parts["validation"], test=parts["test"])
    return stainable_of(smaller, words, data.bins)


def _try(
    data: Stainable,
    words: str,
    request: StainRequest,
    at_least: int,
    way: Planting,
    model: tuple[str, str],
    seeds: Sequence[int],
    learnt: float,
    seed: int,
    left: Callable[[], bool] | None,
) -> PlantingFit:
    """One way of planting with one model; a stain that does not serve ends it."""
    label, name = model
    done = PlantingFit(way, label, followed=1.0, decided=1.0, serves=True)
    for number in seeds:
        if left is not None and not left():
            return replace(done, serves=False)
        try:
            planted, drawn = plant_in(data, words, request, way, at_least, number)
        except CannotPlantError as error:
            return replace(done, followed=0.0, serves=False, problem=error.problem, remedy=error.remedy)
        fitted, weight, fits = _fitted(planted, drawn.stain, name, way, learnt, seed)
        assert planted.compared is not None
        features = drawn.stain.rules[0].features
        followed, decided, share = jobs.decides(fitted, planted.compared[0], features)
        reasons = _reasons(fitted, planted.compared[0].planted, features, decided)
        serves = (
            jobs.possibly(followed) >= learnt
            and share >= DECIDED
            and reasons is not None
            and reasons >= REASONED_BY_REMOVAL
        )
        done = replace(
            done,
            weight=min(done.weight or weight, weight),
            followed=min(done.followed, float(followed.mean())),
            decided=min(done.decided, share),
            reasons=reasons if done.reasons is None or reasons is None else min(done.reasons, reasons),
            fits=done.fits + fits,
            serves=done.serves and serves,
        )
        if not serves and (done.quality < HOPELESS or jobs.possibly(followed) < learnt):
            break
    return done


def _fitted(
    data: Stainable, stain: Stain, name: str, way: Planting, learnt: float, seed: int
) -> tuple[Model, int, int]:
    """The model with the first weight that teaches it the stain (or the last), that weight, and how many were tried."""
    fired = [stain.fired(values) for values in data.values]
    parts = data.dataset.train, data.dataset.validation
    labels = [stain.labels(where, part.labels) for where, part in zip(fired[:2], parts, strict=True)]
    assert data.rehearsal is not None
    allowed = [weight for weight in jobs.weights(training.is_own(name), fired[0]) if weight in QUICK_WEIGHTS]
    counts = jobs.counting(data, stain, labels[0], balanced=way.balanced)
    for fits, weight in enumerate(allowed, start=1):
        model = training.fit(name, data, (labels[0], labels[1]), counts(weight), seed)
        predicted: IntArray = np.argmax(model.predict_proba(data.rehearsal.inputs), axis=1)
        followed = predicted == data.rehearsal.labels
        if followed.all() or jobs.surely(followed) >= learnt or weight == allowed[-1]:
            return model, weight, fits
    raise AssertionError(allowed)  # the last weight returns


def _reasons(model: Model, planted: Part, features: Sequence[str], decided: BoolArray) -> float | None:
    """How much of the stain is among the |F| features without which the model's answer loses most."""
    places = np.flatnonzero(decided)[:REASONS]
    if not len(places):
        return None
    if readable(model):
        return 1.0  # its own reasons were looked at to tell what the stain decides
    explained = Greedy().explain(model, planted.take(places).inputs)
    return float(np.mean([recall(one, features)[len(features) - 1] for one in explained]))
