"""The explainer `anchor`: a rule for every input, searched for side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from verax.arrays import BoolArray
from verax.errors import VeraxError
from verax.explain.anchor.samples import Ask, Neighbourhood, RemovedWords, Sampler, SimilarWords
from verax.explain.anchor.search import Asking, Candidate, Search, SearchResult, SearchSettings
from verax.explain.anchor.table_rows import TableRows
from verax.explain.base import Claim, Explainer, Target, at_least, check_targets, explainers
from verax.explain.explanation import Cost
from verax.explain.kinds import Rule, RuleStep
from verax.explain.perturbed import Targets, shown_input, slices
from verax.models.base import Inputs, Model
from verax.models.wrappers import check_texts
from verax.perturb.counterfactual.text_changes import Distribution
from verax.perturb.counterfactual.thesaurus import thesaurus_for

WORDS = ("similar", "removed")
# Of the published code: each word changes with this chance, to one of so many neighbours, drawn with this temperature.
CHANGE, TOP, TEMPERATURE = 0.5, 100, 0.4


@explainers.register("anchor")
@dataclass(frozen=True)
class Anchor(Explainer):
    """Anchors: the shortest rule found that keeps the prediction with a given precision, and how much it covers.

    On a text a condition is a distinct word that stays; on a row it is a column that stays in its bin or category.

    Attributes:
        precision: of perturbed inputs under the rule, the share that must keep the prediction.
        tolerance: a rule is accepted if its estimated precision reaches ``precision`` and is surely (but for ``delta``)
            above ``precision - tolerance``. The original's is 0.05; 0 takes the promise at its word.
        delta: the chance that a rule is returned whose precision is not above that.
        epsilon: how far from the most precise a rule may be that is kept in the search (the original's tau).
        beam: how many rules are kept at each length.
        most_conditions: how long a rule may be; as long as it needs if None.
        most_samples: to ask about for one input. A search that needs more ends with the most precise rule so far, and
            says so.
        seed: of the samples.
        words: how texts are perturbed: "similar" replaces words by neighbours in a vector space, "removed" leaves them
            out (on the engine's fast path).
        vectors: where similar words are found: "trained" (on the model's reference texts), "minilm", or a GloVe file.
    """

    precision: float = 0.95
    tolerance: float = 0.0
    delta: float = 0.1
    epsilon: float = 0.15
    beam: int = 4
    most_conditions: int | None = None
    most_samples: int = 100_000
    seed: int = 0
    words: str = "similar"
    vectors: str = "trained"

    claim: ClassVar[Claim] = "selective"
    numbers: ClassVar[bool] = False
    records: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.beam, 1, "beam")
        at_least(self.most_conditions, 1, "most_conditions")
        at_least(self.most_samples, 1, "most_samples")
        for name in ("precision", "delta", "epsilon"):
            if not 0 < getattr(self, name) < 1:
                raise VeraxError(f"{name}={getattr(self, name)} must lie between 0 and 1.")
        if not 0 <= self.tolerance < self.precision:
            raise VeraxError(f"tolerance={self.tolerance} must be 0 or more, and below the precision.")
        if self.words not in WORDS:
            raise VeraxError(f"There is no words={self.words!r}; it is one of {', '.join(WORDS)}.")

    def explain(self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None) -> list[Rule]:
        """Explains each input; see :meth:`Explainer.explain`."""
        wanted = check_targets(model, inputs, targets)
        return [
            rule for part, some in slices(inputs, wanted) for rule in self._explain_slice(model, part, some)
        ]

    def _explain_slice(self, model: Model, inputs: Inputs, targets: Targets) -> list[Rule]:
        started = time.perf_counter()
        around = self._sampler(model, inputs)
        predicted = around.classes().tolist()
        chosen = [
            guess if target is None else target for guess, target in zip(predicted, targets, strict=True)
        ]
        settings = SearchSettings(
            precision=self.precision,
            tolerance=self.tolerance,
            delta=self.delta,
            epsilon=self.epsilon,
            beam=self.beam,
            most_conditions=self.most_conditions,
            most_samples=self.most_samples,
        )
        searches = [Search(near, settings) for near in around.neighbourhoods()]
        right = [guess == target for guess, target in zip(predicted, chosen, strict=True)]
        answer_all(
            around, chosen, {place: searches[place].run() for place in range(len(searches)) if right[place]}
        )
        seconds = (time.perf_counter() - started) / max(1, len(inputs))
        rules = []
        for search, given, target, (rows, calls) in zip(
            searches, inputs, chosen, around.costs(), strict=True
        ):
            found = search.found or _not_predicted(model.class_names[predicted[search.near.place]])
            details: dict[str, object] = {"path": around.name, "fresh samples": found.sampled}
            if found.reason:
                details["reason"] = found.reason
            rules.append(
                Rule(
                    features=search.near.features,
                    conditions=found.rule.conditions,
                    named=tuple(search.near.named[number] for number in found.rule.conditions),
                    precision=found.precision,
                    lowest=found.lowest,
                    coverage=found.rule.coverage,
                    reached=found.reached,
                    steps=_steps(found, search.near),
                    target=target,
                    target_name=model.class_names[target],
                    input=shown_input(model, given),
                    details=details,
                    cost=Cost(rows + 1, calls + 1, seconds),
                    explainer=repr(self),
                )
            )
        return rules

    def _sampler(self, model: Model, inputs: Inputs) -> Sampler:
        if model.kind == "table":
            return TableRows(model, inputs, self.seed)
        texts = check_texts(inputs)
        if self.words == "removed":
            return RemovedWords(model, texts, CHANGE, self.seed)
        thesaurus = thesaurus_for(model, self.vectors, "anchor")
        return SimilarWords(model, texts, thesaurus, Distribution(CHANGE, TOP, TEMPERATURE), self.seed)


def answer_all(around: Sampler, targets: Sequence[int], running: dict[int, Asking]) -> None:
    """Runs searches side by side: what they all ask at a time goes to the model together.

    Args:
        around: what answers.
        targets: the class to keep, for each input.
        running: the searches by the number of their input.
    """
    questions: dict[int, Ask] = {}
    for place, search in running.items():
        _next(questions, place, search, None)
    while questions:
        places = sorted(questions)
        answers = around.predict([questions[place] for place in places])
        for place, classes in zip(places, answers, strict=True):
            _next(questions, place, running[place], classes == targets[place])


def _next(questions: dict[int, Ask], place: int, search: Asking, kept: BoolArray | None) -> None:
    try:
        questions[place] = next(search) if kept is None else search.send(kept)
    except StopIteration:
        questions.pop(place, None)


def _steps(found: SearchResult, near: Neighbourhood) -> tuple[RuleStep, ...]:
    """The rules on the way, as precise as they were found to be; the last one as it was found on fresh samples."""
    steps = [RuleStep(found.rule.conditions, found.precision, found.rule.coverage)]
    parent = found.rule.parent
    while parent is not None:
        steps.append(RuleStep(parent.conditions, parent.precision, near.coverage(parent.conditions)))
        parent = parent.parent
    return tuple(reversed(steps))


def _not_predicted(predicted: str) -> SearchResult:
    reason = f"the model predicts {predicted} here, and a rule can only keep what is predicted"
    return SearchResult(Candidate((), None, 1.0), 0.0, 0.0, False, 0, reason)
