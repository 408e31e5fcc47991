"""Random fragments: n-grams drawn without a look at the model, the control for methods that give n-grams."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.entry import check_targets
from verax.explain.explanation import Cost
from verax.explain.fragments import Fragment, Fragments
from verax.models.base import Inputs, Model
from verax.models.text import check_texts
from verax.seeds import stream


@explainers.register("random-fragments")
@dataclass(frozen=True)
class RandomFragments(Explainer):
    """Runs of words drawn at random, Random (N) of Lertvittayakumjorn and Toni (2019); texts.

    Runs of one side do not overlap, and there are ``count`` of them wherever the text has room. Evidence and
    counter-evidence are drawn apart, so that they may overlap. They depend on the seed and on the text, and on nothing
    else. Scores say the order in which they were drawn: 1, 1/2, 1/3, ...

    Attributes:
        count: runs on either side.
        sizes: how many words a run may have, each equally likely where all fit.
        seed: of the draws.
    """

    count: int = 3
    sizes: Sequence[int] = (2, 3, 4)
    seed: int = 0

    claims_faithfulness: ClassVar[bool] = False
    claim: ClassVar[Claim] = "none"
    numbers: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.count, 1, "count")
        sizes = tuple(sorted(set(self.sizes))) if isinstance(self.sizes, list | tuple) else ()
        if not sizes or not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise VeraxError(f"sizes={self.sizes!r} must be one or more whole numbers, e.g. (2, 3, 4).")
        object.__setattr__(self, "sizes", sizes)  # one form, so that equal sizes make an equal key

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Fragments]:
        """Draws fragments of each text; the model is asked only which class it predicts."""
        started = time.perf_counter()
        if model.kind != "text":
            raise VeraxError(
                "The method 'random-fragments' draws fragments of texts, which this model of tables does not read; "
                "random works on it."
            )
        texts = check_texts(inputs)
        wanted = check_targets(model, texts, targets)
        if None in wanted and texts:
            predicted = model.predict_proba(texts).argmax(axis=1).tolist()
            wanted = [
                guess if target is None else target for guess, target in zip(predicted, wanted, strict=True)
            ]
        asked = 1 if targets is None else 0
        cost = Cost(asked, asked, (time.perf_counter() - started) / max(1, len(texts)))
        return [
            Fragments(
                evidence=self._drawn(text, 1.0),
                counter_evidence=self._drawn(text, -1.0),
                target=target or 0,
                target_name=model.class_names[target or 0],
                input=text,
                details={"count": self.count, "sizes": list(self.sizes)},
                cost=cost,
                explainer=repr(self),
            )
            for text, target in zip(texts, wanted, strict=True)
        ]

    def _drawn(self, text: str, sign: float) -> tuple[Fragment, ...]:
        words = split_words(text)
        generator = stream(self.seed, "random fragments", "for" if sign > 0 else "against", text)
        runs = drawn_runs(len(words), self.count, self.sizes, generator)
        spans = [(words.starts[first], words.ends[end - 1]) for first, end in runs]
        return tuple(
            Fragment(text[start:end], sign / place, (start, end))
            for place, (start, end) in enumerate(spans, start=1)
        )


def drawn_runs(
    length: int, count: int, sizes: Sequence[int], generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Runs of a text of so many words that do not overlap, in random order: as many as there is room for.

    Sizes are drawn first; where they do not fit together, the largest is made smaller until they do. Then the words
    that are left are dealt to the gaps between the runs, each way of doing so equally likely.
    """
    if length == 0:
        return []
    if length < min(sizes):
        return [(0, length)]
    room = min(count, length // min(sizes))
    chosen = generator.choice(sizes, room).tolist()
    while sum(chosen) > length:
        largest = max(chosen)
        chosen[chosen.index(largest)] = max(size for size in sizes if size < largest)
    free = length - sum(chosen)
    bars = np.sort(generator.choice(free + room, room, replace=False)) - np.arange(room)
    gaps = np.diff(bars, prepend=0)
    runs, place = [], 0
    for gap, size in zip(gaps.tolist(), chosen, strict=True):
        runs.append((place + gap, place + gap + size))
        place += gap + size
    return [runs[number] for number in generator.permutation(room)]
