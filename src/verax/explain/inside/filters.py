"""Methods for convolutional networks: n-grams that filters detected (Grad-CAM-Text), and trees that mimic them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.fragments import Fragment, Fragments
from verax.explain.inside.word_scores import PositionScores, all_at_positions, rounded, settled, text_slices
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.models.wrappers import check_texts

if TYPE_CHECKING:
    from verax.explain.inside.cnn_arrays import CnnArrays, Detected
    from verax.explain.inside.filter_trees import FilterTrees
    from verax.models.neural.networks import TextNetwork


# The words of an n-gram, the first and the one behind the last, and the sum of their effects.
Run = tuple[int, int, float]
# The texts, first words and ends of many n-grams.
Runs = tuple[IndexArray, IndexArray, IndexArray]


@explainers.register("grad-cam-text")
@dataclass(frozen=True)
class GradCamText(Explainer):
    """Equation 1 of Lertvittayakumjorn and Toni (2019) and the text after it; explains the network 'cnn'.

    The effect of a filter is the derivative of the target's score (before the softmax) with respect to its strongest
    response, if that is positive, times the response. A word's effect is the sum over the filters that detected an
    n-gram with it. Evidence are the n-grams that some filter detected with the highest sums of their words' effects,
    as long as they do not overlap. For counter-evidence the negative derivatives count instead.

    Attributes:
        count: how many n-grams on either side, at the most.
        output: "fragments", or "words" for the effect of each word, where it stands: for less against.
    """

    count: int = 3
    output: Literal["fragments", "words"] = "fragments"

    claim: ClassVar[Claim] = "selective"

    def __post_init__(self) -> None:
        at_least(self.count, 1, "count")
        if self.output not in ("fragments", "words"):
            raise VeraxError(f"output={self.output!r} must be 'fragments' or 'words'.")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Fragments] | list[Attribution]:
        """The evidence and the counter-evidence in each text; or the effect of each of its words."""
        ask_for(model, "layers", "grad-cam-text")
        from verax.explain.inside.cnn_arrays import ask_for_filters

        network, arrays = ask_for_filters(model, "grad-cam-text")
        slices = _effects_in_slices(network, arrays, check_texts(inputs), targets)
        if self.output == "words":
            return [each for part in slices for each in self._words(model, *part)]
        return [each for part in slices for each in self._fragments(model, *part)]

    def _words(self, model: Model, texts: Sequence[str], found: Effects, cost: Cost) -> list[Attribution]:
        signed = found.evidence - found.counter_evidence
        of_texts = [
            PositionScores(target, words[:length], {"score": score})
            for target, words, length, score in zip(
                found.targets, signed, found.detected.lengths.tolist(), found.scores, strict=True
            )
        ]
        return all_at_positions(repr(self), model, texts, of_texts, cost)

    def _fragments(self, model: Model, texts: Sequence[str], found: Effects, cost: Cost) -> list[Fragments]:
        name, number = repr(self), len(texts)
        runs = detected_runs(found.detected, found.widths)
        detected = np.bincount(runs[0], minlength=number).tolist()
        chosen = strongest_runs(
            _twice(runs, number),
            np.concatenate([settled(found.evidence), settled(found.counter_evidence)]),
            self.count,
        )
        return [
            Fragments(
                evidence=_in_text(text, chosen[place], 1.0),
                counter_evidence=_in_text(text, chosen[number + place], -1.0),
                target=target,
                target_name=model.class_names[target],
                input=text,
                details={"count": self.count, "detected": detected[place], "score": score},
                cost=cost,
                explainer=name,
            )
            for place, (text, target, score) in enumerate(
                zip(texts, found.targets, found.scores, strict=True)
            )
        ]


@dataclass(frozen=True, eq=False)
class Effects:
    """What the filters' n-grams do to the targets of texts.

    Attributes:
        targets: the class of each text.
        scores: its score.
        detected: the n-grams.
        widths: how many words each filter looks at.
        evidence: (texts, positions), what speaks for the target, at each word.
        counter_evidence: the same of what speaks against it; neither is below 0.
    """

    targets: list[int]
    scores: list[float]
    detected: Detected
    widths: IntArray
    evidence: FloatArray
    counter_evidence: FloatArray


def _effects_in_slices(
    network: TextNetwork, arrays: CnnArrays, texts: Sequence[str], targets: Sequence[Target] | None
) -> Iterator[tuple[list[str], Effects, Cost]]:
    for part, wanted in text_slices(network, texts, targets):
        started = time.perf_counter()
        found = effects(network, arrays, part, wanted)
        yield part, found, Cost(1, 1, (time.perf_counter() - started) / len(part))


def effects(network: TextNetwork, arrays: CnnArrays, texts: Sequence[str], targets: Targets) -> Effects:
    """The effects in some texts."""
    from verax.explain.inside.relevance import chosen_targets

    detected = arrays.detect(network.encoder.encode(texts))
    units = arrays.units(detected.features)
    scores = arrays.scores(units)
    chosen = chosen_targets(scores, targets)
    slopes = arrays.slopes(units, chosen)
    return Effects(
        chosen,
        [rounded(row[target]) for row, target in zip(scores.tolist(), chosen, strict=True)],
        detected,
        arrays.widths,
        detected.over_words(np.maximum(slopes, 0.0) * detected.features, arrays.widths),
        detected.over_words(np.maximum(-slopes, 0.0) * detected.features, arrays.widths),
    )


def detected_runs(detected: Detected, widths: IntArray) -> Runs:
    """The n-grams to which some filter responds, each once, in order; they are cut at the end of their text."""
    texts, filters = np.nonzero(detected.features > 0.0)
    firsts = detected.places[texts, filters]
    there = np.minimum(widths[filters], detected.lengths[texts] - firsts)
    inside = there > 0
    room = int(detected.lengths.max(initial=0)), int(widths.max()) + 1
    seen = np.zeros((len(detected.lengths), *room), dtype=bool)
    seen[texts[inside], firsts[inside], there[inside]] = True
    texts, firsts, there = np.nonzero(seen)
    return texts, firsts, firsts + there


def _twice(runs: Runs, number: int) -> Runs:
    """The n-grams of so many texts, and the same again as if they were those of as many further texts."""
    texts, firsts, ends = runs
    return np.concatenate([texts, texts + number]), np.tile(firsts, 2), np.tile(ends, 2)


def strongest_runs(runs: Runs, words: FloatArray, count: int) -> list[list[Run]]:
    """For each text the n-grams with the highest sums that do not overlap; of equal ones the first.

    All texts are looked at together: one by one takes longer than the network.

    Args:
        runs: the n-grams, in order.
        words: (texts, positions), a number of 0 or more for each word.
        count: how many at the most.
    """
    texts, firsts, ends = runs
    before = np.concatenate([np.zeros((len(words), 1)), np.cumsum(words, axis=1)], axis=1)
    sums = before[texts, ends] - before[texts, firsts]
    left = np.lexsort((-sums, texts))
    left = left[sums[left] > 0.0]
    chosen: list[list[Run]] = [[] for _ in words]
    taken = np.zeros((2, len(words)), dtype=np.intp)
    for _ in range(count):
        of_text = texts[left]
        best = left[np.flatnonzero(np.diff(of_text, prepend=-1))]
        for text, *run in zip(*(each[best].tolist() for each in (texts, firsts, ends, sums)), strict=True):
            chosen[text].append((run[0], run[1], run[2]))
        taken[:, texts[best]] = firsts[best], ends[best]
        left = left[(ends[left] <= taken[0, of_text]) | (firsts[left] >= taken[1, of_text])]
    return chosen


def _in_text(text: str, runs: Sequence[Run], sign: float) -> tuple[Fragment, ...]:
    places = split_words(text).places if runs else []
    spans = [(places[first][0], places[end - 1][1]) for first, end, _ in runs]
    return tuple(
        Fragment(text[start:stop], sign * total, (start, stop))
        for (start, stop), (_, _, total) in zip(spans, runs, strict=True)
    )


@explainers.register("decision-trees")
@dataclass(frozen=True)
class DecisionTrees(Explainer):
    """Model extraction (Lertvittayakumjorn and Toni 2019, section 4.3.2); explains the network 'cnn'.

    A tree for each class learns from the model's reference texts what the network predicts, given the filters'
    strongest responses; other reference texts prune it. The tree of the target names the n-grams of the filters whose
    thresholds a text passes, from the root on. They are evidence if the filter is most correlated with the target's
    score, else counter-evidence. They may overlap, and there may be none. Their scores say their place in this order:
    1, 1/2, 1/3, ...

    Attributes:
        count: how many n-grams on either side, at the most.
        seed: of the parts of the reference texts, and of ties in the trees.
        spliced: for each reference text so many more to learn from, each the beginning of one and the end of another:
            trees mimic a network better if it has few reference texts. 0 is the published way.
    """

    count: int = 3
    seed: int = 0
    spliced: int = 0

    claim: ClassVar[Claim] = "selective"
    numbers: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least(self.count, 1, "count")
        at_least(self.spliced, 0, "spliced")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Fragments]:
        """The evidence and the counter-evidence in each text."""
        ask_for(model, "layers", "decision-trees")
        from verax.explain.inside.cnn_arrays import ask_for_filters

        network, arrays = ask_for_filters(model, "decision-trees")
        trees = self.trees(model)
        texts = check_texts(inputs)
        explanations = []
        for part, wanted in text_slices(model, texts, targets):
            started = time.perf_counter()
            found = self._explain_slice(network, arrays, trees, part, wanted)
            cost = Cost(1, 1, (time.perf_counter() - started) / len(part))
            explanations += [Fragments(*each, cost=cost, explainer=repr(self)) for each in found]
        return explanations

    def trees(self, model: Model) -> FilterTrees:
        """What is known of a model; learned now if nothing is known yet."""
        from verax.explain.inside.cnn_arrays import ask_for_filters
        from verax.explain.inside.filter_trees import FilterTrees, grow
        from verax.explain.inside.learned import ReferenceAnswers, learned

        network, arrays = ask_for_filters(model, "decision-trees")
        more = f", spliced {self.spliced}" if self.spliced else ""
        return learned(
            model,
            f"decision-trees{more}, seed {self.seed}, weights {network.fitted_state()}",
            lambda: ReferenceAnswers.from_model(model, "decision-trees"),
            lambda lesson: grow(network, arrays, lesson, self.seed, self.spliced),
            FilterTrees.read,
        )

    def _explain_slice(
        self,
        network: TextNetwork,
        arrays: CnnArrays,
        trees: FilterTrees,
        texts: Sequence[str],
        targets: Targets,
    ) -> list[tuple[tuple[Fragment, ...], tuple[Fragment, ...], int, str, str, dict[str, object]]]:
        from verax.explain.inside.relevance import chosen_targets

        detected = arrays.detect(network.encoder.encode(texts))
        chosen = chosen_targets(arrays.scores(arrays.units(detected.features)), targets)
        features = detected.features.astype("float32").astype("float64")
        found = []
        for number, (text, target) in enumerate(zip(texts, chosen, strict=True)):
            name = network.class_names[target]
            _check_known(trees, target, name)
            sides: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
            for passed in trees.trees[target].passed(features[number]):
                first = int(detected.places[number, passed])
                end = min(first + int(arrays.widths[passed]), int(detected.lengths[number]))
                if first < end:
                    sides[bool(trees.sides[passed] == target)].append((first, end))
            evidence = _fragments(text, sides[True][: self.count], 1.0)
            counter = _fragments(text, sides[False][: self.count], -1.0)
            found.append((evidence, counter, target, name, text, _facts(trees, target, sides)))
        return found


def _check_known(trees: FilterTrees, target: int, name: str) -> None:
    if trees.predicted[target] == 0:
        raise VeraxError(
            f"The network predicts the class {name!r} for none of the reference texts that its trees learned from, so "
            "that they know nothing of it; explain another class, or give the model more reference texts."
        )


def _fragments(text: str, runs: Sequence[tuple[int, int]], sign: float) -> tuple[Fragment, ...]:
    words = split_words(text)
    spans = [(words.starts[first], words.ends[end - 1]) for first, end in runs]
    return tuple(
        Fragment(text[start:end], sign / place, (start, end))
        for place, (start, end) in enumerate(spans, start=1)
    )


def _facts(trees: FilterTrees, target: int, sides: dict[bool, list[tuple[int, int]]]) -> dict[str, object]:
    """The paper's Table 5 for the target's tree, and how many n-grams it names here."""
    tree = trees.trees[target]
    return {
        "fidelity": round(trees.fidelity, 4),
        "nodes": tree.nodes,
        "depth": tree.depth,
        "leaves": tree.leaves,
        "fragments": round(trees.fragments, 3),
        "named": len(sides[True]) + len(sides[False]),
    }
