"""Planted reasons, and explanations of known quality: the oracle, worse and worse ones, an adversary, random ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.benchmarks.measures.spec import Reason
from verax.benchmarks.rationale.plan import training_options
from verax.benchmarks.rationale.rankings import is_strict, partition
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.rationale.target import Training, load_texts, trained
from verax.benchmarks.staining.jobs import MOST_TESTED, _fit, _flipped, counting, decides, possibly
from verax.benchmarks.staining.planting import (
    _literals_of,
    _put,
    plant,
    plantable_words,
    planted_words,
)
from verax.benchmarks.staining.scores import (
    ENOUGH_DECIDED,
    FEWEST_DECIDED,
    GroundTruth,
    ceiling,
    readable,
    recall,
)
from verax.benchmarks.staining.spec import Planting, StainRequest
from verax.benchmarks.staining.stainable import (
    PlantedComparison,
    Stainable,
    make_stainable,
    stainable_of,
    taken,
)
from verax.benchmarks.staining.stains import DrawnStain, Rule, Stain, minority
from verax.data import Part
from verax.data.dataset import Inputs, contents
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation, by_word
from verax.explain.greedy import Greedy
from verax.explain.random import Random
from verax.models import Model
from verax.models.capabilities import ask_for
from verax.models.ready import parse_model
from verax.models.resolve import is_saved
from verax.perturb import Masks, path_for
from verax.phrases import say
from verax.run.identity import is_reference
from verax.seeds import share, stream

# Shares of the texts that get both words, the first and the second, where either is enough.
EITHER = (0.12, 0.12, 0.12)
# The model whose reasons are the words that it selects, and the sort of these reasons.
SELECTED = "rationale"
# Texts are cut to so many words for it, as in the verification with rationale models.
MAX_WORDS = 200
# A selected word is a reason if the probability falls by so much without it (the paper's tau).
CLEARLY = 0.1
# Random deletions tried before an input is called strict, and on how many inputs for each that is wanted.
SUBSETS, MOST_TRIED = 20, 10
BOTH, FIRST, SECOND, NEITHER = range(4)
ALL_INPUTS = 100_000


@dataclass(frozen=True, eq=False)
class Reasoned:
    """A model whose reason is known, and inputs that it decides.

    Attributes:
        model: fitted on stained labels.
        data: the dataset with the reason planted.
        label: the class that the reason leads to.
        shown: the reason in words.
        inputs: that the reason decides: without it the model says another class.
        without: the same inputs without the reason.
        wanted: the features of each input that are its reason.
        excluded: features that must not be there for the reason to hold.
        either: whether one of the features is enough.
        doubtful: features of each input of which it is not known whether they are reasons; empty if there are none.
        truth: the model's own reasons, where they can be read; else None.
        share: of the inputs that could be flipped, those that the reason decides.
        problem: why the model cannot serve, in a sentence; empty if it can.
    """

    model: Model
    data: Stainable
    label: int
    shown: str
    inputs: Inputs
    without: Inputs
    wanted: list[tuple[str, ...]]
    truth: list[Attribution] | None
    share: float
    problem: str = ""
    excluded: tuple[str, ...] = ()
    either: bool = False
    doubtful: Sequence[tuple[str, ...]] = ()


def planted(
    source: Mapping[str, object],
    reason: Reason,
    stain_seed: int,
    first_seed: int,
    compared: int = Planting.compared,
) -> tuple[Stainable, DrawnStain, Planting]:
    """A dataset with a planted reason of a sort.

    Args:
        source: the arguments of ``load_dataset``.
        reason: its sort.
        stain_seed: one reason per seed.
        first_seed: the seed of the first one: they share no words while there are enough.
        compared: inputs of a part, at the most, that all get the reason.
    """
    words = "counts" if reason == "counts" else "presence"
    data = make_stainable(source, words, at_least=2 if reason == "counts" else 1)
    if data.bins is not None and reason in ("or", "counts"):
        raise VeraxError(
            f"Reasons of the sort {reason!r} are planted in texts only; leave it out for tables."
        )
    # Where a set has too few rare words, made-up ones are planted.
    rare = data.bins is not None or len(plantable_words(data)) >= 2
    planting = Planting(first_seed=first_seed, new_words=not rare, compared=compared)
    if reason == "or":
        return *_either(data, planting, stain_seed), planting
    request = StainRequest(size=2, negated=int(reason == "negated"))
    return *plant(source, words, request, planting, 2 if reason == "counts" else 1, stain_seed), planting


@lru_cache(maxsize=2)
def _either(data: Stainable, planting: Planting, stain_seed: int) -> tuple[Stainable, DrawnStain]:
    """Texts in which either of two words is enough."""
    words = planted_words(data, 2, planting, stain_seed)

    def put(part: Part, fates: Sequence[int]) -> Part:
        texts = []
        for text, fate in zip(part.inputs, fates, strict=True):
            rng, bare = stream(stain_seed, "places", str(text)), taken(str(text), words)
            for word, there in zip(words, (fate in (BOTH, FIRST), fate in (BOTH, SECOND)), strict=True):
                bare = _put(bare, word, 1, rng) if there else bare
            texts.append(bare)
        return Part(texts, part.labels)

    ends = np.cumsum(EITHER)
    parts = {
        name: put(
            part,
            [
                int(np.searchsorted(ends, share(stain_seed, "fate", content.hex()), side="right"))
                for content in contents(part.inputs)
            ],
        )
        for name, part in data.dataset.parts.items()
    }
    changed = replace(data.dataset, train=parts["train"], validation=parts["validation"], test=parts["test"])
    made = stainable_of(changed, "presence")
    literals = _literals_of(made, words, [None] * len(words), 0, 1)
    region = np.logical_or.reduce([literal.holds(made.values[0]) for literal in literals])
    counts = np.bincount(changed.train.labels[region], minlength=len(changed.class_names))
    label = minority(counts, stream(stain_seed, "planted label"))

    def compared(part: Part, about: str) -> PlantedComparison:
        places = np.sort(stream(stain_seed, about).permutation(len(part))[: planting.compared])
        chosen = part.take(places)
        with_it = replace(put(chosen, [BOTH] * len(places)), labels=np.full(len(places), label))
        # Either feature does alone, so that an input that lacks one shows nothing.
        return PlantedComparison(places, with_it, put(chosen, [NEITHER] * len(places)), ())

    validation = data.dataset.validation if len(data.dataset.validation) else data.dataset.train
    rehearsed = compared(validation, "rehearsal")
    ready = replace(
        made,
        rehearsal=rehearsed.planted,
        compared=(rehearsed, compared(data.dataset.test, "tested")),
    )
    rules = tuple(Rule((literal,), label) for literal in literals)
    return ready, DrawnStain(Stain(rules), Counter())


def reasoned(
    source: Mapping[str, object],
    reason: Reason,
    model: str,
    *,
    stain_seed: int,
    first_seed: int,
    inputs: int,
    learnt: float,
    more: bool = False,
) -> Reasoned:
    """A model with a planted reason, and inputs that the reason decides.

    Args:
        source: the arguments of ``load_dataset``.
        reason: the sort of the reason.
        model: by name or reference.
        stain_seed: of the reason, the fit and the choice of inputs.
        first_seed: the seed of the first reason of the run.
        inputs: how many inputs at the most.
        learnt: the accuracy with the reason that the model must have.
        more: all inputs of the test and the validation part, which are many, with the whole planted reason; else some
            of the test part, with what the model uses of it.
    """
    data, drawn, planting = planted(
        source, reason, stain_seed, first_seed, ALL_INPUTS if more else Planting.compared
    )
    stain = drawn.stain
    fired = [stain.fired(values) for values in data.values]
    parts = (data.dataset.train, data.dataset.validation, data.dataset.test)
    labels = [stain.labels(where, part.labels) for where, part in zip(fired, parts, strict=True)]
    counts = counting(data, stain, labels[0], balanced=planting.balanced) if len(stain.rules) == 1 else None
    fitted, _ = _fit(model, data, labels, fired, "auto", learnt, stain_seed, counts, planting.weight)
    assert data.compared is not None
    most = ALL_INPUTS if more else MOST_TESTED
    features = tuple(dict.fromkeys(name for rule in stain.rules for name in rule.features))

    def decided_by(compared: PlantedComparison) -> tuple[BoolArray, BoolArray, float]:
        if reason == "or":
            return _decided(fitted, compared)
        return decides(fitted, compared, features, most, each=True)

    compared = data.compared[1]
    followed, decided, found = decided_by(compared)
    serves = found >= (FEWEST_DECIDED if possibly(followed) >= learnt else ENOUGH_DECIDED)
    chosen = _flipped(decided, inputs, stain_seed)
    given, without = compared.planted.take(chosen).inputs, compared.unplanted.take(chosen).inputs
    if more and serves:
        also = np.flatnonzero(decided_by(data.compared[0])[1])
        given = _joined(given, data.compared[0].planted.take(also).inputs)
        without = _joined(without, data.compared[0].unplanted.take(also).inputs)
    label = stain.rules[0].label
    truth = _own_reasons(fitted, given, label) if len(given) else None
    wanted = [features] * len(given)
    if truth is not None and not more:
        # Where either word is enough a tree looks at one of them: what it does not look at is not its reason for this
        # input. Over many inputs, some of which have but one of the words, it is both.
        wanted = [_used(features, one) for one in truth]
    shown = stain.describe(data.dataset.class_names)
    problem = ""
    if not serves or not len(given):
        problem = say("measures", "not-learnt", reason=shown, share=f"{found:.0%}")
    excluded = tuple(literal.name for rule in stain.rules for literal in rule.literals if literal.negated)
    return Reasoned(
        fitted,
        data,
        label,
        shown,
        given,
        without,
        wanted,
        truth,
        found,
        problem,
        excluded,
        len(stain.rules) > 1,
    )


def selects(model: str) -> bool:
    """Whether a model's reasons are the words that it selects, so that none need to be planted."""
    return not is_reference(model) and not is_saved(model) and parse_model(model).name == SELECTED


def selected(source: Mapping[str, object], model: str, *, stain_seed: int, inputs: int) -> Reasoned:
    """A rationale model, and strict inputs: it reads nothing but the words that it selects.

    Its reasons are the selected words without which the predicted class's probability falls clearly. Of other selected
    words it is not known; all that is not selected does nothing, whatever else is left out.

    Args:
        source: the arguments of ``load_dataset``.
        model: "rationale", with options of its training.
        stain_seed: of the training and of the choice of inputs.
        inputs: how many at the most, all of the class that is predicted most often among them.
    """
    data = load_texts(source, MAX_WORDS)
    options = {**training_options(RationaleSpec(), "easy"), **parse_model(model).options}
    fitted = trained(data, Training(options, {}, stain_seed))
    selecting = ask_for(fitted, "selection", "bench measures")
    texts = [str(text) for text in data.test.inputs]
    usable = [each.place for each in partition(selecting, texts) if each.kept(CLEARLY)]
    order = stream(stain_seed, "strict inputs").permutation(usable).tolist()
    # Of two classes one may be predicted seldom: of each as many are looked for.
    found: dict[int, list[tuple[str, tuple[str, ...], tuple[str, ...]]]] = {}
    tried = 0
    for place in order:
        if tried >= MOST_TRIED * inputs or any(len(own) >= inputs for own in found.values()):
            break
        tried += 1
        (selection,) = selecting.select([texts[place]])
        if is_strict(selecting, texts[place], selection, SUBSETS, stain_seed):
            label = int(fitted.predict_proba([texts[place]])[0].argmax())
            named = tuple(dict.fromkeys(selection.words))
            falls = _falls(fitted, texts[place], label)
            wanted = tuple(word for word in named if falls.get(word, 0.0) >= CLEARLY)
            if wanted:
                doubtful = tuple(word for word in named if word not in wanted)
                found.setdefault(label, []).append((texts[place], wanted, doubtful))
    label = max(found, key=lambda one: len(found[one]), default=0)
    chosen = found.get(label, [])
    shown = say("measures", "selected", label=data.class_names[label])
    problem = "" if chosen else say("measures", "none-strict", tried=tried)
    return Reasoned(
        model=fitted,
        data=stainable_of(data, "presence"),
        label=label,
        shown=shown,
        inputs=[text for text, _, _ in chosen],
        without=[_lacking(text, wanted) for text, wanted, _ in chosen],
        wanted=[wanted for _, wanted, _ in chosen],
        truth=None,
        share=len(chosen) / max(1, tried),
        problem=problem,
        doubtful=[doubtful for _, _, doubtful in chosen],
    )


def _lacking(text: str, gone: Sequence[str]) -> str:
    words = split_words(text)
    return words.keep(word for word in words.distinct if word not in gone)


def _falls(model: Model, text: str, label: int) -> dict[str, float]:
    """By distinct word, how far the probability of a class falls without it, wherever it stands."""
    path = path_for(model)
    (ready,) = path.prepare([text])
    n = len(ready.features)
    rows = np.concatenate([np.ones((1, n), dtype=np.bool_), ~np.eye(n, dtype=np.bool_)])
    (answer,) = path.evaluate([ready], [Masks.from_rows(rows)])
    kept = answer.probabilities[:, label]
    return dict(zip(ready.features, (kept[0] - kept[1:]).tolist(), strict=True))


def _joined(one: Inputs, other: Inputs) -> Inputs:
    return np.concatenate([one, other]) if isinstance(one, np.ndarray) else [*one, *other]


def _decided(model: Model, compared: PlantedComparison) -> tuple[BoolArray, BoolArray, float]:
    """Where a model follows the reason, and where because of it: without it another class is said."""
    stained = compared.planted.labels
    predicted: IntArray = np.argmax(model.predict_proba(compared.planted.inputs), axis=1)
    without: IntArray = np.argmax(model.predict_proba(compared.unplanted.inputs), axis=1)
    followed: BoolArray = np.equal(predicted, stained)
    decided: BoolArray = followed & np.not_equal(without, stained) & compared.flipped
    return followed, decided, float(decided.sum() / max(1, int(compared.flipped.sum())))


def _own_reasons(model: Model, inputs: Inputs, label: int) -> list[Attribution] | None:
    if not readable(model):
        return None
    try:
        return GroundTruth().explain(model, inputs, [label] * len(inputs))
    except VeraxError:
        return None  # a step before the classifier mixes the features


def _used(features: tuple[str, ...], truth: Attribution) -> tuple[str, ...]:
    scores = dict(zip(truth.features, truth.scores.tolist(), strict=True))
    used = tuple(feature for feature in features if scores.get(feature, 0.0) > 0)
    return used or features


ORACLE, RANDOM, ADVERSARY = "oracle", "random", "adversary"
CORRUPTED = {"oracle, 25% wrong": 0.25, "oracle, 50% wrong": 0.5, "oracle, 75% wrong": 0.75}
# From the truest to what knows nothing: the order that a measure should find.
RUNGS = (ORACLE, *CORRUPTED, RANDOM)
# Pairs that are equally true: a measure that prefers one of them does so by chance.
AGAIN = ("oracle, 50% wrong, again", "random, again")
EQUALS = (("oracle, 50% wrong", AGAIN[0]), (RANDOM, AGAIN[1]))
# An oracle with the tail of a real explainer is called so.
WITH_TAIL = "oracle, then {}"
KNOWN = (*RUNGS, *AGAIN, ADVERSARY)


def ladder(case: Reasoned) -> dict[str, list[Attribution]]:
    """Explanations of known quality of the inputs that a planted reason decides."""
    model, inputs = case.model, case.inputs
    features = [ready.features for ready in path_for(model).prepare(inputs)]
    about = [content.hex() for content in contents(inputs)]
    doubtful = case.doubtful or [()] * len(features)
    oracle = [
        _oracle(own, wanted, None if case.truth is None else case.truth[place])
        for place, (own, wanted) in enumerate(zip(features, case.wanted, strict=True))
    ]

    def made(scores: Sequence[FloatArray], name: str) -> list[Attribution]:
        return [
            Attribution(own, values, case.label, model.class_names[case.label], explainer=name)
            for own, values in zip(features, scores, strict=True)
        ]

    found = {ORACLE: made(oracle, ORACLE)}
    for name, chance in (*CORRUPTED.items(), (AGAIN[0], 0.5)):
        wrong = [
            _corrupted(scores, own, wanted, chance, stream(0, name, content), doubted)
            for scores, own, wanted, content, doubted in zip(
                oracle, features, case.wanted, about, doubtful, strict=True
            )
        ]
        found[name] = made(wrong, name)
    targets = [case.label] * len(features)
    found[RANDOM] = Random(seed=1).explain(model, inputs, targets)
    found[AGAIN[1]] = Random(seed=2).explain(model, inputs, targets)
    removed = Greedy().explain(model, inputs, targets)
    found[ADVERSARY] = made(
        [
            _adversary(one.scores, own, wanted, doubted)
            for one, own, wanted, doubted in zip(removed, features, case.wanted, doubtful, strict=True)
        ],
        ADVERSARY,
    )
    return found


def same_tail(explanations: Sequence[Explanation], wanted: Sequence[Sequence[str]]) -> list[Attribution]:
    """What an explainer says, with the true reasons put first: truer, and the same in all else.

    The oracle has no fair tail where a model's reasons cannot be read, and a measure that prefers a real explainer to
    it may do so for the tail. Beside this one it has no such excuse.
    """
    made = []
    for explanation, own in zip(explanations, wanted, strict=True):
        scored = by_word(explanation)
        assert scored is not None, "what ranks nothing is refused before"
        top = float(np.max(scored.scores, initial=0.0)) or 1.0
        scores = np.where([feature in own for feature in scored.features], 2 * top, scored.scores)
        made.append(replace(scored, scores=scores, spans=None))
    return made


def _oracle(features: tuple[str, ...], wanted: tuple[str, ...], truth: Attribution | None) -> FloatArray:
    """The model's own reasons where they are known, the planted ones first; else these, and all others tie."""
    named = np.array([feature in wanted for feature in features])
    if truth is None:
        return named.astype(np.float64)
    known = dict(zip(truth.features, truth.scores.tolist(), strict=True))
    return np.array([known.get(feature, 0.0) for feature in features])


def _corrupted(
    scores: FloatArray,
    features: tuple[str, ...],
    wanted: tuple[str, ...],
    chance: float,
    rng: np.random.Generator,
    doubtful: tuple[str, ...] = (),
) -> FloatArray:
    """Each true reason changes its score, with a chance, with a feature that is none."""
    changed = scores.copy()
    others = [place for place, feature in enumerate(features) if feature not in (*wanted, *doubtful)]
    free = rng.permutation(others).tolist() if others else []
    for place, feature in enumerate(features):
        if feature in wanted and rng.random() < chance and free:
            other = free.pop()
            changed[place], changed[other] = changed[other], changed[place]
    return changed


def _adversary(
    removed: FloatArray,
    features: tuple[str, ...],
    wanted: tuple[str, ...],
    doubtful: tuple[str, ...] = (),
) -> FloatArray:
    """As many features as there are reasons, none of them one, whose removal moves the model most."""
    usable = [place for place, feature in enumerate(features) if feature not in (*wanted, *doubtful)]
    chosen = sorted(usable, key=lambda place: -removed[place])[: len(wanted)]
    scores = np.zeros(len(features))
    scores[chosen] = 1.0
    return scores


def trueness(explanation: Explanation, wanted: Sequence[str]) -> float:
    """How true an explanation is: the area under the recall of the reasons among its first 1 to 10 features, 0 to 1.

    What speaks against the class is no reason for it, and ranks with what scores 0.
    """
    scored = by_word(explanation)
    if scored is None:
        raise VeraxError(
            f"Measures are compared on features that are ranked, and a {type(explanation).__name__} ranks none; leave "
            "this explainer out."
        )
    speaking = Attribution(scored.features, np.maximum(scored.scores, 0.0), scored.target)
    return float(recall(speaking, wanted).mean() / ceiling(len(wanted)))
