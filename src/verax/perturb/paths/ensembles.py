"""Trees, forests and boosted trees as flat arrays, whatever library grew them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray

NodeArray: TypeAlias = NDArray[np.int32]
LEAF = -1
# What a predicted number is made of the sum by, for each such link.
NUMBERS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "number": lambda sums: sums,
    "exp": np.exp,
    "isolation": lambda sums: np.exp2(-sums),
}


class Trees(NamedTuple):
    """All nodes of all trees in one set of arrays, ordered so that most steps go to the next node.

    The child that a row takes when it lacks a node's column is always the next node: a text lacks nearly all of the
    columns that a forest asks for, so most of a walk runs straight through memory.
    A row goes left at a node where ``value <= threshold`` (xgboost's ``<`` is turned into this); a missing value
    follows ``missing_left``. A leaf has ``left == LEAF``.

    Attributes:
        roots: where each tree starts.
        column: the column that a node tests; -1 at a leaf.
        threshold: what it is compared with.
        left: the node that follows if it is not above; ``right`` if it is.
        missing_left: whether a missing value goes left.
        values: (nodes, outputs); what a leaf adds to each output, already divided by the number of trees in a forest.
    """

    roots: NodeArray
    column: NodeArray
    threshold: FloatArray
    left: NodeArray
    right: NodeArray
    missing_left: BoolArray
    values: FloatArray


class CategorySets(NamedTuple):
    """Splits by sets of categories, as columns of their own, so that all nodes compare a number with a threshold.

    Set ``i`` makes of column ``column[i]`` a further one, which is 0 for the categories that go left, 1 for those that
    go right and missing for those that go where missing values go.

    Attributes:
        column: the column that each set is about.
        side: (sets, categories): 0, 1 or missing.
        beyond: what stands for a category that is larger than all in ``side``.
    """

    column: NodeArray
    side: FloatArray
    beyond: float = np.nan

    def columns_of(self, rows: FloatArray) -> FloatArray:
        """The further columns of some rows."""
        given = rows[:, self.column]
        inside = (given > -1.0) & (given < self.side.shape[1])  # a fraction is cut off, as libraries do
        codes = np.where(inside, given, 0.0).astype(np.intp)
        known = self.side[np.arange(len(self.column)), codes]
        return np.where(inside, known, np.where(given >= self.side.shape[1], self.beyond, np.nan))


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees, and what is made of the sum of their leaves.

    Attributes:
        trees: their nodes.
        base: what each output starts from.
        link: what outputs become: "identity", "logistic" and "softmax" make probabilities of them, "number" and "exp" a
            predicted number, "isolation" how soon a row is alone, "joined" whatever ``join`` does.
        absent_is_missing: whether a column that a sparse row lacks is missing (xgboost) or zero (scikit-learn).
        single: whether values are rounded to single precision before they are compared.
        sets: splits by sets of categories, whose columns follow those that the classifier is given.
        cover: how many training rows came to each node, or what the library counts instead; None if it does not tell.
        join: from (rows, outputs) of several models to the answer of the one that is made of them.
    """

    trees: Trees
    base: FloatArray
    link: str
    absent_is_missing: bool
    single: bool = True
    sets: CategorySets | None = None
    cover: FloatArray | None = None
    join: Callable[[FloatArray], FloatArray] | None = None

    def read(self, rows: FloatArray) -> FloatArray:
        """What the nodes compare, of rows as the classifier is given them."""
        if self.single:
            with np.errstate(over="ignore"):
                rows = rows.astype(np.float32).astype(np.float64)
        return rows if self.sets is None else np.concatenate([rows, self.sets.columns_of(rows)], axis=1)

    def owners(self, owner: NodeArray) -> NodeArray:
        """Of the columns that the nodes compare, what is told of those that the classifier is given."""
        return owner if self.sets is None else np.concatenate([owner, owner[self.sets.column]])

    @property
    def absent(self) -> float:
        """The value of a column that a sparse row lacks."""
        return np.nan if self.absent_is_missing else 0.0

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Probabilities (rows, classes), or predicted numbers (rows, 1), from the summed leaves (outputs, rows)."""
        margins = outputs + self.base[:, None]
        if self.join is not None:
            return self.join(margins.T)
        if self.link == "softmax":
            powers = np.exp(margins - margins.max(axis=0))
            return np.ascontiguousarray((powers / powers.sum(axis=0)).T)
        if self.link in NUMBERS:
            return np.ascontiguousarray(NUMBERS[self.link](margins).T)
        positive = margins[0] if self.link == "identity" else expit(margins[0])
        if len(margins) == 1:
            return np.stack([1.0 - positive, positive], axis=1)
        return np.ascontiguousarray(margins.T)


class Levels(NamedTuple):
    """For each column that a text touches, which variants reach which of its values.

    Column ``slot`` takes the ascending values ``levels[first[slot]:first[slot + 1]]``, the lowest being 0 (absent);
    row ``i`` of ``reach`` has a bit for each variant whose value is at least ``levels[i]``. ``touched`` says which of
    the model's columns the text has at all; its last entry stands for leaves and is True.
    """

    touched: BoolArray
    slot_of_column: NodeArray
    first: NodeArray
    levels: FloatArray
    reach: NDArray[np.uint64]
    n_rows: int


def in_walking_order(ensemble: Ensemble) -> Ensemble:
    """The same trees, numbered so that the child of an absent column follows its parent."""
    trees = ensemble.trees
    absent_left = trees.missing_left if ensemble.absent_is_missing else trees.threshold >= 0.0
    inner = trees.left != LEAF
    next_child = np.where(absent_left, trees.left, trees.right)
    parents = np.flatnonzero(inner)
    if np.array_equal(next_child[parents], parents + 1):
        return ensemble  # forests on bags of words are grown in this order
    other_child = np.where(absent_left, trees.right, trees.left)
    levels = [trees.roots]
    while True:
        parents = levels[-1][inner[levels[-1]]]
        if not len(parents):
            break
        levels.append(np.concatenate([next_child[parents], other_child[parents]]))
    size = np.ones(len(inner), dtype=np.int32)
    for level in reversed(levels):
        parents = level[inner[level]]
        size[parents] += size[next_child[parents]] + size[other_child[parents]]
    place = np.zeros(len(inner), dtype=np.int32)
    place[trees.roots] = np.cumsum(size[trees.roots]) - size[trees.roots]
    for level in levels:
        parents = level[inner[level]]
        place[next_child[parents]] = place[parents] + 1
        place[other_child[parents]] = place[parents] + 1 + size[next_child[parents]]
    order = np.argsort(place)

    def moved(child: NodeArray) -> NodeArray:
        return np.where(inner, place[child], LEAF).astype(np.int32)[order]

    walked = Trees(
        roots=place[trees.roots],
        column=trees.column[order],
        threshold=trees.threshold[order],
        left=moved(trees.left),
        right=moved(trees.right),
        missing_left=trees.missing_left[order],
        values=trees.values[order],
    )
    return replace(ensemble, trees=walked, cover=None if ensemble.cover is None else ensemble.cover[order])


def in_double(ensemble: Ensemble) -> Ensemble:
    """The same trees with thresholds that part numbers in double precision as they part the rounded ones."""
    if not ensemble.single:
        return ensemble
    given = ensemble.trees.threshold
    with np.errstate(over="ignore"):
        low = given.astype(np.float32)
    low = np.where(low.astype(np.float64) > given, np.nextafter(low, np.float32(-np.inf)), low)
    middle = (low.astype(np.float64) + np.nextafter(low, np.float32(np.inf)).astype(np.float64)) / 2.0
    # Halfway between two single numbers is rounded to the even one.
    stays = middle.astype(np.float32) == low
    threshold = np.where(stays, middle, np.nextafter(middle, -np.inf))
    return replace(ensemble, trees=ensemble.trees._replace(threshold=threshold), single=False)


def side_by_side(ensembles: Sequence[Ensemble], widths: Sequence[int], starts: Sequence[int]) -> Ensemble:
    """The trees of several models as one, each with outputs of its own, in double precision.

    Args:
        ensembles: the models, whose outputs follow one another; what is made of them is left to say.
        widths: how many columns each is given.
        starts: the first of them among the columns that all are given; models may share columns.
    """
    ensembles = [in_double(ensemble) for ensemble in ensembles]
    total = max(start + width for start, width in zip(starts, widths, strict=True))
    n_outputs = sum(len(ensemble.base) for ensemble in ensembles)
    parts: list[Trees] = []
    sets: list[CategorySets] = []
    node = output = n_sets = 0
    most = max((len(one.sets.side[0]) for one in ensembles if one.sets is not None), default=0)
    for ensemble, width, start in zip(ensembles, widths, starts, strict=True):
        trees = ensemble.trees
        values = np.zeros((len(trees.left), n_outputs))
        values[:, output : output + len(ensemble.base)] = trees.values
        of_set = trees.column >= width
        column = np.where(of_set, trees.column - width + total + n_sets, trees.column + start)
        inner = trees.left != LEAF
        parts.append(
            Trees(
                trees.roots + np.int32(node),
                np.where(inner, column, LEAF).astype(np.int32),
                trees.threshold,
                np.where(inner, trees.left + node, LEAF).astype(np.int32),
                np.where(inner, trees.right + node, LEAF).astype(np.int32),
                trees.missing_left,
                values,
            )
        )
        if ensemble.sets is not None:
            one = ensemble.sets
            wider = np.full((len(one.side), most), one.beyond)
            wider[:, : one.side.shape[1]] = one.side
            sets.append(CategorySets((one.column + start).astype(np.int32), wider, one.beyond))
            n_sets += len(one.column)
        node += len(trees.left)
        output += len(ensemble.base)
    covers = [ensemble.cover for ensemble in ensembles]
    known = [cover for cover in covers if cover is not None]
    return Ensemble(
        Trees(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))),
        np.concatenate([ensemble.base for ensemble in ensembles]),
        "joined",
        absent_is_missing=ensembles[0].absent_is_missing,
        single=False,
        sets=_all_sets(sets),
        cover=np.concatenate(known) if len(known) == len(covers) else None,
    )


def _all_sets(sets: Sequence[CategorySets]) -> CategorySets | None:
    if not sets:
        return None
    beyond = {one.beyond for one in sets if not np.isnan(one.beyond)}
    if len(beyond) > 1 or (beyond and any(np.isnan(one.beyond) for one in sets)):
        raise ValueError("models that send unknown categories different ways")
    return CategorySets(
        np.concatenate([one.column for one in sets]),
        np.concatenate([one.side for one in sets]),
        sets[0].beyond,
    )


def by_output(
    leaf_values: FloatArray, left: NodeArray, output: IndexArray, sizes: Sequence[int], n_outputs: int
) -> FloatArray:
    """The leaves' values as (nodes, outputs), where each tree adds to one output."""
    values = np.zeros((len(left), n_outputs))
    leaves = np.flatnonzero(left == LEAF)
    values[leaves, np.repeat(output, sizes)[leaves]] = leaf_values[leaves]
    return values


def roots_of(sizes: Sequence[int]) -> NodeArray:
    """Where each tree starts when trees of these sizes stand one after the other."""
    return np.cumsum([0, *sizes[:-1]]).astype(np.int32)


def children_of(parts: Sequence[IntArray]) -> NodeArray:
    """The children of all trees, one after the other; each tree counts its own nodes from 0."""
    offsets = roots_of([len(part) for part in parts])
    shifted = [np.where(part >= 0, part + offset, LEAF) for part, offset in zip(parts, offsets, strict=True)]
    return np.concatenate(shifted).astype(np.int32)
