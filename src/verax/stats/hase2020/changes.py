"""(B) Change: accuracy after explanations minus accuracy before, per method, by the script's bootstrap."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.stats.columns import joint, paired_answers
from verax.stats.hase2020.defects import AS_PUBLISHED, NOTE, Defects
from verax.stats.hase2020.method_effect import MethodEffects, method_effects
from verax.stats.hase2020.summary import Replicated, summarised
from verax.stats.record import Record
from verax.stats.resample import block_weights, label_counts


@dataclass(frozen=True)
class Change:
    """One method's row of the published tables.

    Attributes:
        method: Its name.
        n: Answers with both Pre and Post.
        pre: Share right before explanations, in the data.
        post: Share right after explanations, in the data.
        change: The bootstrap's Change: its estimate is not post - pre, because Pre is shrunk towards the mean over
            methods and the replicates are averaged.
    """

    method: Hashable
    n: int
    pre: float
    post: float
    change: Replicated


@dataclass(frozen=True)
class Changes(Record):
    """The published table of Change.

    Attributes:
        methods: One row per method, in the order of their names.
        replicates: Replicates drawn.
        singular: Replicates whose Pre fit finds no difference between methods (dropped, unless that is mended).
        unfitted: Replicates without a Pre fit (all answers equal, or one method only), always dropped.
        dropped: Answers without Pre or Post.
        defects: Which defects were kept.
        note: What is known of this procedure's error rate.
    """

    methods: tuple[Change, ...]
    replicates: int
    singular: int
    unfitted: int
    dropped: int
    defects: Defects
    note: str = NOTE


def change(
    participant: ArrayLike,
    item: ArrayLike,
    method: ArrayLike,
    pre: ArrayLike,
    post: ArrayLike,
    replicates: int = 25_000,
    seed: int = 0,
    defects: Defects = AS_PUBLISHED,
) -> Changes:
    """Change per method as published: resampled participants, then items; Pre by a random effect for method, Post raw.

    Args:
        participant: Who answered; one entry per answer, as in all columns. A name may stand for different people in
            different methods, see `Defects.shared_names`.
        item: What was asked.
        method: The method whose explanations this participant saw.
        pre: 1 if right before explanations, 0 if wrong, NaN or None if missing.
        post: The same after explanations.
        replicates: Resampled data sets.
        seed: Same seed, same result.
        defects: Which of the script's defects to keep.
    """
    answers = paired_answers(participant, item, method, pre, post)
    if len(answers.methods) < 2:
        raise VeraxError(
            f"All answers have the method {answers.methods[0]!r}: the published estimate of Pre compares methods and "
            "needs at least two."
        )
    people = answers.participant
    if not defects.shared_names:
        people = joint(answers.method, people)
    within = None if defects.across_methods else answers.method
    weights = block_weights(people, answers.item, replicates, seed, within)
    # Four kinds of answer per method are all that Pre and Post know of a replicate.
    kind = 4 * answers.method + (2 * answers.pre + answers.post).astype(np.intp)
    kinds = label_counts(weights, kind, 4 * len(answers.methods)).reshape(replicates, -1, 4)
    n, right_pre, right_post = kinds.sum(axis=2), kinds[:, :, 2:].sum(axis=2), kinds[:, :, 1::2].sum(axis=2)
    changes, effects = change_of_counts(n, right_pre, right_post)
    if defects.drop_singular:
        changes[effects.singular] = np.nan
    rows = [
        Change(
            name,
            n=int(own.sum()),
            pre=float(answers.pre[own].mean()),
            post=float(answers.post[own].mean()),
            change=summarised(changes[:, place]),
        )
        for place, name in enumerate(answers.methods)
        for own in [answers.method == place]
    ]
    return Changes(
        tuple(rows),
        replicates,
        singular=int(effects.singular.sum()),
        unfitted=int((~effects.fitted).sum()),
        dropped=answers.dropped,
        defects=defects,
    )


def change_of_counts(
    n: ArrayLike, right_pre: ArrayLike, right_post: ArrayLike
) -> tuple[FloatArray, MethodEffects]:
    """Post - Pre of each replicate and method from its counts, and the Pre fits; NaN where a method has no answers.

    Args:
        n: Answers: (replicates, methods).
        right_pre: Right ones before explanations.
        right_post: Right ones after explanations.
    """
    answers = np.asarray(n, dtype=np.float64)
    effects = method_effects(answers, right_pre)
    post = np.full(answers.shape, np.nan)
    np.divide(right_post, answers, out=post, where=answers > 0)
    return post - effects.probability, effects
