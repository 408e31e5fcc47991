"""The explainer `decision-boundary` (Hase & Bansal 2020, section 3.4): the fewest edits that flip a prediction."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.data.words import split_words
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.entry import check_targets
from verax.explain.explanation import Cost
from verax.explain.flips import Samples, row_samples, text_samples
from verax.explain.margins import across, class_scores, evidence_margins
from verax.explain.path import Edit, Path
from verax.explain.perturbed import shown_input
from verax.models.base import Inputs, Model
from verax.perturb.counterfactual.own_words import thesaurus_for
from verax.perturb.counterfactual.table_changes import column_values
from verax.perturb.paths.tables import reference_rows, schema_of

# From an attempt to the samples of one input; None if nothing in it can be changed.
Draw = Callable[[int], Samples | None]


@explainers.register("decision-boundary")
@dataclass(frozen=True)
class DecisionBoundary(Explainer):
    """The sample with the fewest edits whose prediction is another one, and a path to it.

    Texts: words are replaced by neighbours in a vector space. Rows: one to three values are replaced by others of their
    columns. Ties go to the sample whose class scores are nearest (squared Euclidean distance). A sample on the boundary
    itself, where two classes tie and the model names the first, is taken only if none is across it. Then the edit that
    changes the evidence margin least is applied, then the next of those that are left, and so on.

    Attributes:
        samples: perturbed inputs that are drawn.
        attempts: how often to draw at the most until a sample flips, texts each time more widely.
        seed: of the samples.
        vectors: where similar words are found: "trained" (on the model's reference texts), "minilm", or a GloVe file.
    """

    samples: int = 10_000
    attempts: int = 1
    seed: int = 0
    vectors: str = "trained"

    claim: ClassVar[Claim] = "selective"
    numbers: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.samples, 1, "samples")
        at_least(self.attempts, 1, "attempts")

    def explain(self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None) -> list[Path]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        own = class_scores(model, inputs) if len(inputs) else np.empty((0, len(model.class_names)))
        draw = self._drawing(model)
        return [
            self._explain_input(model, given, scores, target, draw(given))
            for given, scores, target in zip(inputs, own, wanted, strict=True)
        ]

    def _drawing(self, model: Model) -> Callable[[str | FloatArray], Draw]:
        """What draws samples of an input."""
        if model.kind == "table":
            values = column_values(schema_of(model), reference_rows(model))
            return lambda row: (
                lambda attempt: row_samples(
                    model, np.asarray(row, dtype=np.float64), values, self.samples, self.seed, attempt
                )
            )
        thesaurus = thesaurus_for(model, self.vectors, "decision-boundary")
        return lambda text: (
            lambda attempt: text_samples(model, str(text), thesaurus, self.samples, self.seed, attempt)
        )

    def _explain_input(
        self, model: Model, given: str | FloatArray, own: FloatArray, target: int | None, draw: Draw
    ) -> Path:
        started = time.perf_counter()
        predicted = int(own.argmax())
        crossing = self._cross(model, own, draw, target)
        schema = model.schema
        details: dict[str, object] = {
            "path": "words replaced by similar ones" if schema is None else "up to three values replaced"
        }
        if crossing.reason:
            details["reason"] = crossing.reason
        chosen = predicted if target is None else target
        if chosen != predicted:
            details["predicted"] = model.class_names[predicted]
        return Path(
            features=split_words(str(given)).distinct if schema is None else schema.names,
            edits=tuple(crossing.edits),
            margins=(float(evidence_margins(own[None], predicted)[0]), *crossing.margins),
            flipped_to=crossing.flipped_to,
            target=chosen,
            target_name=model.class_names[chosen],
            input=shown_input(model, given),
            details=details,
            cost=Cost(1 + crossing.rows, 1 + crossing.calls, time.perf_counter() - started),
            explainer=repr(self),
        )

    def _cross(self, model: Model, own: FloatArray, draw: Draw, target: int | None) -> Crossing:
        """Draws until a sample flips, chooses the nearest, and finds the way to it."""
        crossing = Crossing()
        predicted = int(own.argmax())
        if target not in (None, predicted):
            crossing.reason = (
                f"the model predicts {model.class_names[predicted]} here, and only that can be flipped"
            )
            return crossing
        for attempt in range(self.attempts):
            samples = draw(attempt)
            if samples is None:
                crossing.reason = "nothing can be changed in this input"
                return crossing
            scores = crossing.score(samples, len(own))
            chosen = nearest_flip(scores, samples.counts, own)
            if chosen is not None:
                crossing.walk(model, own, samples, chosen, scores[chosen])
                crossing.flipped_to = model.class_names[int(scores[chosen].argmax())]
                return crossing
        crossing.reason = (
            f"none of {self.samples * self.attempts:,} samples has another prediction; more samples or attempts may "
            "find one"
        )
        return crossing


def nearest_flip(scores: FloatArray, counts: IndexArray, own: FloatArray) -> int | None:
    """Which sample has another prediction, with the fewest edits and then the nearest class scores; None if none has.

    A sample on the boundary, where two classes tie, counts only if none is across it.

    Args:
        scores: (samples, classes).
        counts: how many edits each sample has.
        own: the scores of the input.
    """
    predicted = int(own.argmax())
    beyond = across(scores, predicted)
    eligible = np.flatnonzero(beyond if beyond.any() else scores.argmax(axis=1) != predicted)
    if len(eligible) == 0:
        return None
    distances = ((scores[eligible] - own) ** 2).sum(axis=1)
    return int(eligible[np.lexsort((distances, counts[eligible]))[0]])


@dataclass
class Crossing:
    """How the boundary was crossed: the edits in their order, the margin after each, and what was asked."""

    edits: list[Edit] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    flipped_to: str = ""
    reason: str = ""
    rows: int = 0
    calls: int = 0

    def ask(self, rows: int) -> None:
        """Counts a question."""
        self.rows += rows
        self.calls += 1

    def score(self, samples: Samples, n_classes: int) -> FloatArray:
        """The class scores of all samples, each asked for once; there may be no sample with an edit."""
        blocks = [np.empty((0, n_classes))]
        for block in samples.scores():
            self.ask(len(block))
            blocks.append(block)
        return np.concatenate(blocks)

    def walk(self, model: Model, own: FloatArray, samples: Samples, chosen: int, last: FloatArray) -> None:
        """Takes the edit that changes the margin least, of those that are left, until none is.

        Args:
            model: what is explained.
            own: the scores of the input.
            samples: among which one is chosen.
            chosen: its number.
            last: its scores, which are known; with its last edit the way is there.
        """
        predicted = int(own.argmax())
        margin = float(evidence_margins(own[None], predicted)[0])
        edits = samples.edits(chosen)
        taken: list[int] = []
        while len(taken) < len(edits):
            left = [number for number in range(len(edits)) if number not in taken]
            if len(left) == 1:
                scores = last[None]
            else:
                scores = class_scores(model, samples.with_some(chosen, [[*taken, number] for number in left]))
                self.ask(len(left))
            margins = evidence_margins(scores, predicted)
            best = int(np.abs(margins - margin).argmin())
            margin = float(margins[best])
            taken.append(left[best])
            self.edits.append(edits[left[best]])
            self.margins.append(margin)
