"""Decision trees that mimic a convolutional network: one for each class, from what its filters detect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.data.words import split_words
from verax.explain.inside.cnn_arrays import CnnArrays
from verax.explain.inside.learned import Arrays, ReferenceAnswers
from verax.models.neural.loop import tell
from verax.models.neural.networks import TextNetwork
from verax.seeds import stream

# Of the reference inputs: trees grow on the first share, are pruned on the second, and are measured on the rest.
GROWN_ON, PRUNED_ON = 0.7, 0.15
# Texts at a time, so that what their filters see stays small.
SLICE = 2_000
LEAF = -1


@dataclass(frozen=True, eq=False)
class FilterTree:
    """A binary tree as arrays, the root first. An input goes right where its feature is above the threshold.

    Attributes:
        left: each node's child, -1 for a leaf.
        right: the other child.
        feature: the filter that a node asks for.
        threshold: what its response is compared with.
        chance: the share of the inputs of a node that are of the tree's class.
    """

    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray
    chance: FloatArray

    def passed(self, features: FloatArray) -> list[int]:
        """The filters whose thresholds an input passes on its way, from the root on."""
        node, passed = 0, []
        while self.left[node] != LEAF:
            above = features[self.feature[node]] > self.threshold[node]
            if above:
                passed.append(int(self.feature[node]))
            node = int(self.right[node] if above else self.left[node])
        return passed

    def chances(self, features: FloatArray) -> FloatArray:
        """The chance of the tree's class for each input."""
        nodes = np.zeros(len(features), dtype=np.int64)
        while (self.left[nodes] != LEAF).any():
            above = features[np.arange(len(features)), self.feature[nodes]] > self.threshold[nodes]
            below = np.where(above, self.right[nodes], self.left[nodes])
            nodes = np.where(self.left[nodes] == LEAF, nodes, below)
        return self.chance[nodes]

    @property
    def nodes(self) -> int:
        """How many there are, leaves included."""
        return len(self.left)

    @property
    def leaves(self) -> int:
        """How many of the nodes are leaves."""
        return int((self.left == LEAF).sum())

    @property
    def depth(self) -> int:
        """Levels, that of the root included, as the paper counts them."""
        levels = np.ones(self.nodes, dtype=np.int64)
        for node in range(self.nodes):  # a child has a higher number than its parent
            if self.left[node] != LEAF:
                levels[[self.left[node], self.right[node]]] = levels[node] + 1
        return int(levels.max())


@dataclass(frozen=True, eq=False)
class FilterTrees:
    """What was learned of a network.

    Attributes:
        trees: one for each class.
        sides: for each filter the class whose score it is most correlated with.
        predicted: how many of the inputs that trees grew on the network put into each class.
        fidelity: the macro-averaged F1 of the trees' classes against the network's, on inputs they never saw.
        fragments: how many n-grams an explanation has on average, on the same inputs.
    """

    trees: tuple[FilterTree, ...]
    sides: IntArray
    predicted: IntArray
    fidelity: float
    fragments: float

    @classmethod
    def read(cls, arrays: Arrays) -> FilterTrees:
        """From what is kept on disk."""
        count = len(arrays["predicted"])
        trees = [
            FilterTree(
                arrays[f"left{number}"].astype(np.int64),
                arrays[f"right{number}"].astype(np.int64),
                arrays[f"feature{number}"].astype(np.int64),
                arrays[f"threshold{number}"].astype(np.float64),
                arrays[f"chance{number}"].astype(np.float64),
            )
            for number in range(count)
        ]
        measured = np.asarray(arrays["measured"], dtype=np.float64)
        return cls(
            tuple(trees),
            np.asarray(arrays["sides"], dtype=np.int64),
            np.asarray(arrays["predicted"], dtype=np.int64),
            float(measured[0]),
            float(measured[1]),
        )


def filter_features(network: TextNetwork, arrays: CnnArrays, texts: Sequence[str]) -> FloatArray:
    """(texts, filters): the strongest responses, in single precision as scikit-learn compares them."""
    parts = [
        arrays.detect(network.encoder.encode(texts[first : first + SLICE])).features.astype(np.float32)
        for first in range(0, len(texts), SLICE)
    ]
    nothing = np.zeros((0, len(arrays.biases)), dtype=np.float32)
    return np.concatenate([nothing, *parts]).astype(np.float64)


def spliced(texts: Sequence[str], times: int, seed: int) -> list[str]:
    """For each text so many new ones: the beginning of one and the end of another, cut between words at random.

    The network can be asked about any text, and a tree mimics it the better the more it was asked about (Bastani et al.
    2017, on whom the paper builds, draw new inputs too).
    """
    count = times * len(texts)
    draws = stream(seed, "spliced texts", len(texts))
    starts, ends = draws.integers(0, len(texts), (2, count)).tolist() if count else ([], [])
    cuts = draws.random((count, 2)).tolist()
    return [
        f"{_cut(texts[start], first)[0]} {_cut(texts[end], second)[1]}"
        for start, end, (first, second) in zip(starts, ends, cuts, strict=True)
    ]


def _cut(text: str, share: float) -> tuple[str, str]:
    """A text in two, the second part from a word on."""
    places = [start for start, _ in split_words(text).places] + [len(text)]
    place = places[int(share * len(places))]
    return text[:place], text[place:]


def grow(
    network: TextNetwork, arrays: CnnArrays, lesson: ReferenceAnswers, seed: int, times: int = 0
) -> Arrays:
    """Grows a tree for each class on the network's own predictions (section 4.3.2), and prunes it.

    Args:
        network: the network.
        arrays: the same as arrays.
        lesson: its reference texts.
        seed: of their parts, and of ties.
        times: so many spliced texts for each text that trees grow on; 0 is the published way.
    """
    texts = [str(text) for text in lesson.inputs]
    features = filter_features(network, arrays, texts)
    outputs = arrays.scores(arrays.units(features))
    predicted = outputs.argmax(axis=1)
    grown_on, pruned_on, measured_on = lesson.parts(seed, GROWN_ON, PRUNED_ON)
    more = filter_features(
        network, arrays, spliced([texts[place] for place in grown_on.tolist()], times, seed)
    )
    grown_features = np.concatenate([features[grown_on], more])
    grown_classes = arrays.scores(arrays.units(grown_features)).argmax(axis=1)
    trees: list[FilterTree] = []
    for number, name in enumerate(network.class_names):
        tell(f"decision-trees: the tree of the class {name!r} ({number + 1} of {len(network.class_names)}), from "
             f"{len(grown_features):,} texts")  # fmt: skip
        tree = _tree(grown_features, grown_classes == number, seed)
        trees.append(_pruned(tree, features[pruned_on], predicted[pruned_on] == number))
    sides = _sides(features[grown_on], outputs[grown_on])
    kept: Arrays = {
        "sides": sides,
        "predicted": np.bincount(predicted[grown_on], minlength=len(trees)),
        "measured": np.array(_measured(trees, features[measured_on], predicted[measured_on])),
    }
    for number, tree in enumerate(trees):
        kept |= {f"{name}{number}": getattr(tree, name) for name in FilterTree.__dataclass_fields__}
    return kept


def _tree(features: FloatArray, is_class: BoolArray, seed: int) -> FilterTree:
    """CART with the Gini index, grown until its leaves are pure."""
    grown = DecisionTreeClassifier(random_state=seed).fit(features, is_class)
    tree = grown.tree_
    shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
    column = list(grown.classes_).index(True) if True in grown.classes_ else None
    chance = np.zeros(tree.node_count) if column is None else shares[:, column]
    return FilterTree(
        tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64),
        np.maximum(tree.feature, 0).astype(np.int64),
        tree.threshold.astype(np.float64),
        chance,
    )


def _pruned(tree: FilterTree, features: FloatArray, is_class: BoolArray) -> FilterTree:
    """Joins two leaves, from the bottom on, wherever that gets no fewer of some other inputs right."""
    left, right = tree.left.copy(), tree.right.copy()
    says = tree.chance > 0.5

    def prune(node: int, here: IndexArray) -> None:
        if left[node] == LEAF:
            return
        above = features[here, tree.feature[node]] > tree.threshold[node]
        parts = ((int(left[node]), here[~above]), (int(right[node]), here[above]))
        for child, there in parts:
            prune(child, there)
        if all(left[child] == LEAF for child, _ in parts):
            apart = sum(int((is_class[there] == says[child]).sum()) for child, there in parts)
            if int((is_class[here] == says[node]).sum()) >= apart:
                left[node] = right[node] = LEAF

    prune(0, np.arange(len(features)))
    return _compact(tree, left, right)


def _compact(tree: FilterTree, left: IntArray, right: IntArray) -> FilterTree:
    """The nodes that can still be reached, parents before their children."""
    order: list[int] = []
    number: dict[int, int] = {}
    stack = [0]
    while stack:
        node = stack.pop()
        number[node] = len(order)
        order.append(node)
        if left[node] != LEAF:
            stack += [int(right[node]), int(left[node])]
    number[LEAF] = LEAF
    return FilterTree(
        np.array([number[int(left[node])] for node in order]),
        np.array([number[int(right[node])] for node in order]),
        tree.feature[order],
        tree.threshold[order],
        tree.chance[order],
    )


def _sides(features: FloatArray, outputs: FloatArray) -> IntArray:
    """For each filter the class whose score has the highest Pearson correlation with its response."""
    spread = features - features.mean(axis=0)
    scores = outputs - outputs.mean(axis=0)
    scale = np.sqrt((spread**2).sum(axis=0))[:, None] * np.sqrt((scores**2).sum(axis=0))
    correlation = (spread.T @ scores) / np.where(scale > 0.0, scale, np.inf)
    return np.asarray(correlation.argmax(axis=1))


def _measured(
    trees: Sequence[FilterTree], features: FloatArray, predicted: IndexArray
) -> tuple[float, float]:
    """How well the trees mimic the network on some inputs, and how many n-grams they name on average."""
    said = np.stack([tree.chances(features) for tree in trees]).argmax(axis=0)
    fidelity = float(f1_score(predicted, said, average="macro", zero_division=0.0))
    named = [len(trees[target].passed(row)) for row, target in zip(features, predicted.tolist(), strict=True)]
    return fidelity, float(np.mean(named)) if named else 0.0
