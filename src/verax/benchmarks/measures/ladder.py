"""Explanations of known quality: the oracle, oracles that are wrong more and more often, an adversary, random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.measures.reasons import Reasoned
from verax.benchmarks.staining.scores import ceiling, recall
from verax.data.dataset import contents
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation, by_word
from verax.explain.greedy import Greedy
from verax.explain.random import Random
from verax.perturb import path_for
from verax.seeds import stream

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
            _corrupted(scores, own, wanted, chance, stream(0, name, content))
            for scores, own, wanted, content in zip(oracle, features, case.wanted, about, strict=True)
        ]
        found[name] = made(wrong, name)
    targets = [case.label] * len(features)
    found[RANDOM] = Random(seed=1).explain(model, inputs, targets)
    found[AGAIN[1]] = Random(seed=2).explain(model, inputs, targets)
    removed = Greedy().explain(model, inputs, targets)
    found[ADVERSARY] = made(
        [
            _adversary(one.scores, own, wanted)
            for one, own, wanted in zip(removed, features, case.wanted, strict=True)
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
) -> FloatArray:
    """Each true reason changes its score, with a chance, with a feature that is none."""
    changed = scores.copy()
    others = [place for place, feature in enumerate(features) if feature not in wanted]
    free = rng.permutation(others).tolist() if others else []
    for place, feature in enumerate(features):
        if feature in wanted and rng.random() < chance and free:
            other = free.pop()
            changed[place], changed[other] = changed[other], changed[place]
    return changed


def _adversary(removed: FloatArray, features: tuple[str, ...], wanted: tuple[str, ...]) -> FloatArray:
    """As many features as there are reasons, none of them one, whose removal moves the model most."""
    usable = [place for place, feature in enumerate(features) if feature not in wanted]
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
