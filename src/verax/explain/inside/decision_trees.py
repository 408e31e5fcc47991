"""Decision trees: what a tree that mimics a convolutional network asked for on its way to the target."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Cost
from verax.explain.fragments import Fragment, Fragments
from verax.explain.inside.course import text_slices
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.models.text import check_texts

if TYPE_CHECKING:
    from verax.explain.inside.cnn_arrays import CnnArrays
    from verax.explain.inside.filter_trees import FilterTrees
    from verax.models.neural.networks import TextNetwork


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
        from verax.explain.inside.learned import Lesson, learned

        network, arrays = ask_for_filters(model, "decision-trees")
        more = f", spliced {self.spliced}" if self.spliced else ""
        return learned(
            model,
            f"decision-trees{more}, seed {self.seed}, weights {network.fitted_state()}",
            lambda: Lesson.of(model, "decision-trees"),
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
