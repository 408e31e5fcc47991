"""Exact Shapley values where they have a closed form: from all masks, and of what trees add up.

In trees an absent feature takes the values of background rows, which are averaged; or, where the trees say how many
training rows went which way, a row goes both ways in these shares (what shap calls tree-path-dependent).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import factorial

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.perturb.leaf_sums import BackgroundTable, LeafTables, LeafWeights, leaf_tables
from verax.perturb.masks import Masks
from verax.perturb.paths.ensembles import LEAF, Ensemble, NodeArray


def shapley_from_all(masks: Masks, values: FloatArray) -> FloatArray:
    """Shapley values of a game from its value on every mask, by the defining formula.

    Args:
        masks: all 2**n masks, in any order.
        values: the game's value on each.
    """
    n = masks.n_features
    sizes = np.bitwise_count(masks.columns().astype(np.uint8)).sum(axis=0)
    joining = np.array([_weight(size - 1, n) if size else 0.0 for size in range(n + 1)])
    leaving = np.array([_weight(size, n) if size < n else 0.0 for size in range(n + 1)])
    gained = values * joining[sizes]
    missed = values * leaving[sizes]
    return masks.dot(gained + missed) - float(missed.sum())


def interactions_from_all(values: FloatArray) -> FloatArray:
    """Halves of the Shapley interactions of each two features of a game, (features, features); 0 on the diagonal.

    Args:
        values: the game's value on every mask; the bits of a place are the features that are present.
    """
    n = int(np.log2(len(values)))
    numbers = np.arange(len(values))
    sizes = np.bitwise_count(numbers)
    weights = np.array([0.5 * _weight(size, n - 1) if size < n - 1 else 0.0 for size in range(n + 1)])
    pairs = np.zeros((n, n))
    for one in range(n):
        for two in range(one):
            both = (1 << one) | (1 << two)
            rest = numbers[numbers & both == 0]
            both_less_each = (
                values[rest | both] - values[rest | (1 << one)] - values[rest | (1 << two)] + values[rest]
            )
            pairs[one, two] = pairs[two, one] = float(weights[sizes[rest]] @ both_less_each)
    return pairs


def _weight(others: int, n: int) -> float:
    """The Shapley weight of a coalition of ``others`` that one more feature joins."""
    return factorial(others) * factorial(n - others - 1) / factorial(n)


def leaf_weights(n_features: int) -> LeafWeights:
    """The Shapley values of a leaf; one table serves inputs of about the same length."""
    return _leaf_weights(max(64, 1 << n_features.bit_length()))


@lru_cache(maxsize=4)
def _leaf_weights(n: int) -> LeafWeights:
    """(k-1)! l! / (k+l)! and k! (l-1)! / (k+l)! for k, l up to n."""
    from scipy.special import gammaln

    k, l = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")  # noqa: E741
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.exp(gammaln(k) + gammaln(l + 1) - gammaln(k + l + 1))
        lost = np.exp(gammaln(k + 1) + gammaln(l) - gammaln(k + l + 1))
    kept[0, :] = 0.0
    lost[:, 0] = 0.0
    return LeafWeights(kept, lost)


@dataclass(frozen=True, eq=False)
class TreeGame:
    """Trees whose columns belong to features.

    Attributes:
        ensemble: the trees.
        owner: which feature each column that they compare belongs to; negative for none.
        n_features: how many features there are.
        background: rows as the trees read them; their children at each node are found once.
    """

    ensemble: Ensemble
    owner: NodeArray
    n_features: int
    background: FloatArray = field(repr=False)

    @cached_property
    def feature_of(self) -> NodeArray:
        """The feature that each node asks; -1 for none."""
        trees = self.ensemble.trees
        return np.where(trees.left != LEAF, self.owner[trees.column], -1).astype(np.int32)

    def children(self, rows: FloatArray) -> NodeArray:
        """Which child each row takes at each node, (rows, nodes); -1 at leaves."""
        from verax.perturb.paths.kernels import take_children

        trees = self.ensemble.trees
        taken = np.empty((len(rows), len(trees.left)), dtype=np.int32)
        take_children(trees.column, trees.threshold, trees.left, trees.right, trees.missing_left, rows, taken)
        return taken

    @cached_property
    def background_children(self) -> NodeArray:
        """The same for the background rows."""
        return self.children(self.background)

    @cached_property
    def _outputs_of_trees(self) -> tuple[NodeArray, NodeArray]:
        """The first output that each tree adds to, and the one after the last."""
        trees = self.ensemble.trees
        order = np.argsort(trees.roots)
        starts = trees.roots[order]
        used = np.logical_or.reduceat(trees.values != 0.0, starts, axis=0)
        first, last = np.empty(len(order), dtype=np.int32), np.empty(len(order), dtype=np.int32)
        first[order] = np.argmax(used, axis=1)
        last[order] = used.shape[1] - np.argmax(used[:, ::-1], axis=1)
        return first, last

    def outputs(self, rows: FloatArray) -> FloatArray:
        """The summed leaves of whole rows with the base, (rows, outputs)."""
        trees = self.ensemble.trees
        taken = self.children(rows)
        nodes = np.repeat(trees.roots[None], len(rows), axis=0)
        which = np.arange(len(rows))[:, None]
        while (trees.left[nodes] != LEAF).any():
            following = taken[which, nodes]
            nodes = np.where(following >= 0, following, nodes)
        outputs: FloatArray = trees.values[nodes].sum(axis=1) + self.ensemble.base
        return outputs

    @cached_property
    def background_output(self) -> FloatArray:
        """The summed leaves of background rows with the base, on average."""
        return np.asarray(self.outputs(self.background).mean(axis=0))

    def against_background(
        self, rows: FloatArray, *, interactions: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Shapley values (rows, outputs, features), averaged over the background; and of pairs, if asked for.

        Args:
            rows: as the trees read them.
            interactions: whether halves of the interactions of two features are wanted, (rows, outputs, features,
                features); else that array is empty.
        """
        n_outputs = len(self.ensemble.base)
        shares = np.zeros((len(rows), n_outputs, self.n_features))
        pairs = np.zeros((len(rows), n_outputs if interactions else 0, self.n_features, self.n_features))
        own = self.children(rows)
        if not interactions and self._background_table is not None:
            self._background_table.add(own, shares)
            self._walk_background(own, shares, pairs, ~self._tables[1])
        else:
            self._walk_background(own, shares, pairs, np.ones(len(self.ensemble.trees.roots), dtype=np.bool_))
        return shares / len(self.background), pairs / len(self.background)

    def _walk_background(
        self, children: NodeArray, shares: FloatArray, pairs: FloatArray, which: BoolArray
    ) -> None:
        """Adds what some of the trees give, walked by each row with each background row."""
        from verax.perturb.paths.shapley_kernels import pair_shapley

        if not which.any():
            return
        trees, weights = self.ensemble.trees, leaf_weights(self.n_features)
        two = _pair_weights(len(weights.kept) - 1) if pairs.size else np.zeros((3, 1, 1))
        first, last = self._outputs_of_trees
        for number, own in enumerate(children):
            pair_shapley(
                trees.roots[which], self.feature_of, first[which], last[which], trees.values, own,
                self.background_children, weights.kept, weights.lost, shares[number], two, pairs[number],
            )  # fmt: skip

    @cached_property
    def _tables(self) -> tuple[LeafTables | None, BoolArray]:
        return leaf_tables(self.ensemble.trees, self.feature_of, self.parent, self._outputs_of_trees)

    @cached_property
    def _background_table(self) -> BackgroundTable | None:
        layout, _ = self._tables
        if layout is None:
            return None
        return BackgroundTable.from_layout(layout, self.background_children, leaf_weights(self.n_features))

    @property
    def has_paths(self) -> bool:
        """Whether it is known how many training rows went which way."""
        return self.ensemble.cover is not None

    @cached_property
    def ratio(self) -> FloatArray:
        """The share of its parent's training rows that came to each node; halves where none came to the parent."""
        assert self.ensemble.cover is not None
        trees, cover = self.ensemble.trees, self.ensemble.cover
        ratio = np.ones(len(cover))
        inner = np.flatnonzero(trees.left != LEAF)
        total = cover[trees.left[inner]] + cover[trees.right[inner]]
        for child in (trees.left[inner], trees.right[inner]):
            ratio[child] = np.divide(cover[child], total, out=np.full(len(inner), 0.5), where=total > 0)
        return ratio

    @cached_property
    def _quadrature(self) -> tuple[FloatArray, FloatArray]:
        """Places and weights on (0, 1), as many as the paths' features need."""
        places, weights = np.polynomial.legendre.leggauss(max(1, -(-self._most_features() // 2)))
        # Processors take four at a time: points without weight cost nothing.
        idle = -len(places) % 4
        return np.append((places + 1.0) / 2.0, np.full(idle, 0.5)), np.append(weights / 2.0, np.zeros(idle))

    def _most_features(self) -> int:
        """The most features on a path."""
        trees = self.ensemble.trees
        nodes = trees.roots[trees.left[trees.roots] != LEAF]
        asked = np.zeros((len(nodes), self.n_features), dtype=np.bool_)
        most = 0
        while len(nodes):
            features = self.feature_of[nodes]
            asked[features >= 0, features[features >= 0]] = True
            most = max(most, int(asked.sum(axis=1).max()))
            children = np.concatenate([trees.left[nodes], trees.right[nodes]])
            asked = np.concatenate([asked, asked])
            inner = trees.left[children] != LEAF
            nodes, asked = children[inner], asked[inner]
        return most

    @cached_property
    def parent(self) -> NodeArray:
        """Of each node; -1 at roots."""
        trees = self.ensemble.trees
        parent = np.full(len(trees.left), -1, dtype=np.int32)
        inner = np.flatnonzero(trees.left != LEAF)
        parent[trees.left[inner]] = inner
        parent[trees.right[inner]] = inner
        return parent

    def along_paths(self, rows: FloatArray, *, interactions: bool = False) -> tuple[FloatArray, FloatArray]:
        """The same as :meth:`against_background`, where the trees themselves stand for absence."""
        from verax.perturb.paths.shapley_kernels import path_pairs, path_shapley

        trees, n_outputs = self.ensemble.trees, len(self.ensemble.base)
        shares = np.zeros((len(rows), n_outputs, self.n_features))
        pairs = np.zeros((len(rows), n_outputs if interactions else 0, self.n_features, self.n_features))
        children = self.children(rows)
        first, last = self._outputs_of_trees
        starts, ends, same_above, share = self._walk_layout
        room = int((ends - starts).max()), len(self._quadrature[0])
        scratch = np.empty(room[0]), np.empty(room), np.empty(room), np.empty(room)
        for number, own in enumerate(children):
            path_shapley(
                starts, ends, self.feature_of, self.parent, same_above, share, first, last, trees.values, own,
                *self._quadrature, *scratch, shares[number],
            )  # fmt: skip
            if interactions:
                path_pairs(
                    self.feature_of, trees.left, self.parent, trees.values,
                    self.ratio, own, *self._quadrature, pairs[number],
                )  # fmt: skip
        return shares, pairs

    @cached_property
    def _walk_layout(self) -> tuple[NodeArray, NodeArray, NodeArray, FloatArray]:
        """Where each tree's nodes begin and end, which node above asked for the same, and shares; see the kernel."""
        from verax.perturb.paths.shapley_kernels import asked_before

        starts = self.ensemble.trees.roots
        order = np.argsort(starts)
        ends = np.empty_like(starts)
        ends[order] = np.append(starts[order][1:], len(self.parent))
        same_above = np.full(len(self.parent), -1, dtype=np.int32)
        share = np.ones(len(self.parent))
        asked_before(self.feature_of, self.parent, self.ratio, same_above, share)
        return starts, ends, same_above, share

    def path_outputs(self, row: FloatArray, present: BoolArray) -> FloatArray:
        """The summed leaves with the base of a row's variants, (outputs, variants), by the trees' own paths."""
        from verax.perturb.paths.shapley_kernels import path_values

        trees = self.ensemble.trees
        sums = np.zeros((len(self.ensemble.base), len(present)))
        own = self.children(row[None])[0]
        path_values(
            trees.roots, self.feature_of, trees.left, trees.right, trees.values, self.ratio, own,
            np.ascontiguousarray(present), sums,
        )  # fmt: skip
        return sums + self.ensemble.base[:, None]


@lru_cache(maxsize=4)
def _pair_weights(n: int) -> FloatArray:
    """Half of the interaction of two features that a leaf gives: both kept, one of each, both lost; by |K| and |L|."""
    from scipy.special import gammaln

    k, l = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")  # noqa: E741
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = gammaln(k + l)
        weights = 0.5 * np.exp(
            np.stack(
                [
                    gammaln(k - 1) + gammaln(l + 1) - whole,
                    gammaln(k) + gammaln(l) - whole,
                    gammaln(k + 1) + gammaln(l - 1) - whole,
                ]
            )
        )
    found: FloatArray = np.nan_to_num(weights, nan=0.0, posinf=0.0)
    return found
