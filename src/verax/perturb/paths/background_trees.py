"""Trees on rows of a table that mix an input with background rows: all mixtures go down each tree together.

A perturbed row takes each column from the input or from one background row. Most nodes send both of them to the same
child; only the others part the mixtures, by a mask that is known already. So no row is built and no value looked up.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray, IntArray
from verax.errors import reason
from verax.models.base import ask
from verax.models.wrappers import TableModel
from verax.perturb.masks import Masks, all_masks
from verax.perturb.paths.boosted_readers import Probe
from verax.perturb.paths.composition import (
    Separable,
    composition,
    ensemble_of,
    parts_of,
    separable_or_why,
    tree_model_in,
)
from verax.perturb.paths.ensembles import LEAF, NUMBERS, Ensemble, NodeArray
from verax.perturb.paths.known_values import KnownValues
from verax.perturb.paths.tree_readers import reader_of
from verax.perturb.paths.tree_walks import DIGITS, HAS_NUMBA, TOGETHER, full_set

log = logging.getLogger("verax.perturb")

# So many mixtures of two training rows have to come out as the model has them.
CHECKED = 256
# How far their probabilities may differ: xgboost adds up in single precision.
SAME = 1e-5
# Where an input differs from a background row in no more columns than this, all mixtures of the two may be fewer than
# the masks.
FEW_COLUMNS = 12
# So few rows are read as they are.
FEW_ROWS = 64


@dataclass(frozen=True, eq=False)
class BackgroundTrees:
    """A table model's trees, and the background rows as they read them.

    Attributes:
        seen: the preprocessing before the trees.
        ensemble: the trees.
        owner: the feature that each column of the trees comes from; -1 for a constant.
        background: the background rows as the trees read them.
        cuts: for each column of the trees, what it is compared with, ascending.
        places: where each value of the background lies between the cuts.
        reference: training rows, whose values perturbed rows have.
        refused: why a step before the trees refused rows, so that the model itself was asked about these.
    """

    seen: Separable
    ensemble: Ensemble
    owner: NodeArray
    background: FloatArray
    cuts: tuple[FloatArray, ...]
    places: IndexArray
    reference: FloatArray
    refused: list[str] = field(default_factory=list)

    def read(self, rows: FloatArray) -> FloatArray:
        """Rows of the table as the trees read them."""
        return self.ensemble.read(self.seen.transform(rows, self.ensemble.absent))

    def read_all(self, rows: FloatArray) -> list[FloatArray] | list[None]:
        """The same, row by row; None if a step refuses one of them: then the model itself is asked."""
        if not len(rows):
            return []
        try:
            read = self.read(rows)
        except Exception as error:
            self._refused(_raised(error))
            return [None] * len(rows)
        constant = self.owner < 0
        here, there = read[:, constant], self.background[:1, constant]
        if not ((here == there) | (np.isnan(here) & np.isnan(there))).all():
            self._refused(
                "some rows have values that were not tried when it was found out what its trees read"
            )
            return [None] * len(rows)
        return list(read)

    def _refused(self, why: str) -> None:
        if why not in self.refused:
            self.refused.append(why)
        log.info("The model itself is asked: %s.", why)

    def predict(self, rows: FloatArray) -> FloatArray | None:
        """The model's answers to whole rows, but for the last digits; None if a step refuses one of them."""
        if not len(rows):
            return None
        try:
            parts = [
                self._above_cuts(rows[first : first + TOGETHER]) for first in range(0, len(rows), TOGETHER)
            ]
        except Exception as error:
            self._refused(_raised(error))
            return None

        def predict(parts: Sequence[Masks]) -> FloatArray:
            return self._answers(np.concatenate([self._row_sums(part) for part in parts], axis=1))

        return ask(predict, parts, len(rows), len(self.seen.model.class_names))

    def _above_cuts(self, rows: FloatArray) -> Masks:
        """For each cut two sets of rows, without the missing ones and with them: those that lie above."""
        from verax.perturb.paths.kernels import answer_bits

        known = self._known if len(rows) > FEW_ROWS else None
        answers = None if known is None else known.answers(rows)
        if answers is not None:
            return answers
        _, cuts, first = self._tests
        goes_right = np.empty((2 * len(cuts), len(full_set(len(rows)))), dtype=np.uint64)
        answer_bits(np.ascontiguousarray(self.read(rows)), cuts, first, goes_right)
        return Masks(goes_right, len(rows))

    def _row_sums(self, above: Masks) -> FloatArray:
        """What the leaves of whole rows add up to: all go down each tree together, by which cuts they lie above."""
        from verax.perturb.paths.kernels import walk_tests

        full, trees = full_set(above.n_rows), self.ensemble.trees
        sums = np.zeros((len(self.ensemble.base), 64 * len(full)))
        walk_tests(
            trees.roots, self._tests[0], trees.left, trees.right, trees.values, above.words, full, sums
        )
        return sums[:, : above.n_rows]

    @cached_property
    def _known(self) -> KnownValues | None:
        """The values of training rows as the trees read them; None where they are not told one by one."""
        owner = self.ensemble.owners(self.seen.owner)

        def below(rows: FloatArray) -> IndexArray:
            return _places(self.cuts, self.read(rows))

        found = KnownValues(below, owner, self._tests[2], self.reference[0])
        return found if found.learn(self.reference) else None

    @cached_property
    def _tests(self) -> tuple[NodeArray, FloatArray, NodeArray]:
        """Which set of bits each node asks; all cuts, one column after the other; where each column's begin."""
        trees = self.ensemble.trees
        first = np.cumsum([0, *map(len, self.cuts)]).astype(np.int32)
        test = np.zeros(len(trees.left), dtype=np.int32)
        for column, here in enumerate(self.cuts):
            nodes = np.flatnonzero((trees.column == column) & (trees.left != LEAF))
            place = first[column] + np.searchsorted(here, trees.threshold[nodes])
            test[nodes] = 2 * place + (~trees.missing_left[nodes]).astype(np.int32)
        return test, np.concatenate([*self.cuts, np.zeros(0)]), first

    def _answers(self, sums: FloatArray) -> FloatArray:
        answers = self.ensemble.probabilities(sums)
        # A tie between trees stays one, however their shares were added up.
        return answers if self.ensemble.link in NUMBERS else answers.round(DIGITS)

    def answer(self, present: FloatArray, masks: Masks) -> tuple[FloatArray, int]:
        """Probabilities (variants, classes) of a row's variants, averaged over the background; how many rows that took.

        Args:
            present: a row as the trees read it.
            masks: its variants.
        """
        parts = self._parts(present, masks)
        n_rows = sum(part.n_rows for part, _ in parts)

        whole = np.flatnonzero([part is masks for part, _ in parts])

        def predict(present: FloatArray) -> FloatArray:
            own = self.children(present[None])[0]
            together = iter(self.sums(own, self._background_left, whole, masks))
            sums = [
                next(together)
                if part is masks
                else self.sums(own, self._background_left, np.array([other]), part)[0]
                for other, (part, _) in enumerate(parts)
            ]
            return self._answers(np.concatenate(sums, axis=1))

        answers = ask(predict, present, n_rows, len(self.seen.model.class_names))
        ends = np.cumsum([part.n_rows for part, _ in parts])[:-1]
        split = zip(np.split(answers, ends), parts, strict=True)
        averaged: FloatArray = np.mean([answer[which] for answer, (_, which) in split], axis=0)
        return averaged, n_rows

    def sums(
        self, own: NodeArray, others: NDArray[np.uint64], chosen: IndexArray, masks: Masks
    ) -> FloatArray:
        """What the leaves add up to for mixtures of a row and each of some others: (chosen, outputs, variants).

        Args:
            own: the child that the row takes at each node.
            others: other rows, as :meth:`going_left` has them.
            chosen: which of these.
            masks: the variants.
        """
        from verax.perturb.paths.mixture_kernels import (
            FEW_OTHERS,
            MOST_BLENDS,
            blend,
            plan_blends,
            walk_pairs,
        )

        full, trees = full_set(masks.n_rows), self.ensemble.trees
        sums = np.zeros((len(chosen), len(self.ensemble.base), 64 * len(full)))
        walked, sides = trees.roots, (trees.left, trees.right, self._feature_of)
        if len(chosen) >= FEW_OTHERS:
            most = MOST_BLENDS * len(chosen)
            steps = plan_blends(walked, *sides, own, others, chosen, most)
            blend(trees.values, *steps, masks.words, sums)
            walked = walked[np.diff(steps[0]) == 0]
        if len(walked):
            walk_pairs(walked, *sides, trees.values, own, others, chosen, masks.words, full, sums)
        return sums[:, :, : masks.n_rows]

    def children(self, read: FloatArray) -> NodeArray:
        """Which child each row takes at each node, (rows, nodes); -1 at leaves."""
        from verax.perturb.paths.kernels import take_children

        trees = self.ensemble.trees
        taken = np.empty((len(read), len(trees.left)), dtype=np.int32)
        take_children(trees.column, trees.threshold, trees.left, trees.right, trees.missing_left, read, taken)
        return taken

    def going_left(self, children: NodeArray) -> NDArray[np.uint64]:
        """Of some rows' children, (nodes, words): a bit for each row that goes left."""
        return Masks.from_columns((children == self.ensemble.trees.left).T).words

    @cached_property
    def _background_left(self) -> NDArray[np.uint64]:
        return self.going_left(self.children(self.background))

    @cached_property
    def _feature_of(self) -> NodeArray:
        trees = self.ensemble.trees
        return np.where(trees.left != LEAF, self.owner[trees.column], -1).astype(np.int32)

    def _parts(self, present: FloatArray, masks: Masks) -> list[tuple[Masks, slice | IndexArray]]:
        """For each background row, the variants to ask about, and which of them each of the masks is.

        Where the trees can tell the two rows apart by few columns only, many masks make the same row.
        """
        n_features = masks.n_features
        differing = np.zeros((len(self.background), n_features), dtype=np.bool_)
        owned = self.owner >= 0
        rows, columns = np.nonzero((self.places != _places(self.cuts, present[None])) & owned)
        differing[rows, self.owner[columns]] = True
        bits: BoolArray | None = None
        parts: list[tuple[Masks, slice | IndexArray]] = []
        for features in map(np.flatnonzero, differing):
            if len(features) > FEW_COLUMNS or 2 ** len(features) >= masks.n_rows:
                parts.append((masks, slice(None)))
                continue
            bits = masks.columns() if bits is None else bits
            which = np.zeros(masks.n_rows, dtype=np.intp)
            for place, feature in enumerate(features.tolist()):
                which |= bits[feature].astype(np.intp) << place
            every = _all_masks(len(features))
            words = np.zeros((n_features, every.words.shape[1]), dtype=np.uint64)
            words[features] = every.words
            parts.append((Masks(words, every.n_rows), which))
        return parts


def _raised(error: Exception) -> str:
    return f"a step before its trees raised {type(error).__name__} ({reason(error)}) on some rows"


_all_masks = lru_cache(maxsize=FEW_COLUMNS + 1)(all_masks)


def _places(cuts: Sequence[FloatArray], rows: FloatArray) -> IndexArray:
    """Between which cuts each value lies; a missing one has a place of its own."""
    places = np.stack(
        [np.searchsorted(here, values) for here, values in zip(cuts, rows.T, strict=True)], axis=1
    )
    return np.where(np.isnan(rows), -1, places)


def background_trees(
    model: TableModel, background: FloatArray, reference: FloatArray
) -> BackgroundTrees | str | None:
    """The trees of a model that reads columns one at a time, checked against the model.

    Of a model with trees that cannot be walked so, why; None for a model without trees.

    Args:
        model: a model of tables.
        background: rows whose values stand for absent columns.
        reference: training rows, of which the mixtures are made that the check asks about.
    """
    if not HAS_NUMBA:
        missing = "numba is not installed (pip install 'verax-xai[fast]')"
        return missing if tree_model_in(model.estimator) else None
    try:
        found = _background_trees(model, background, reference)
    except Exception as error:  # whatever a step may raise on rows that were put together
        found = f"it raised {type(error).__name__} ({reason(error)}) on rows that were put together"
    if isinstance(found, str):
        log.info("The trees of this model are not walked by all rows together: %s.", found)
    return found


def _background_trees(
    model: TableModel, background: FloatArray, reference: FloatArray
) -> BackgroundTrees | str | None:
    made = composition(model.estimator)
    if all(reader_of(part.estimator) is None for part in parts_of(made)):
        if not tree_model_in(made.estimator):
            return None
        return f"how {type(made.estimator).__name__} makes its answer of trees is not known"
    seen = separable_or_why(model, reference)
    if isinstance(seen, str):
        return seen
    ensemble = ensemble_of(made, seen.columns, _probe(model, background))
    if ensemble is None or isinstance(ensemble, str):
        return ensemble
    trees = ensemble.trees
    of_column = model.schema.feature_of
    owner = ensemble.owners(np.where(seen.owner < 0, -1, of_column[seen.owner]).astype(np.int32))
    inner = trees.left != LEAF
    order = np.argsort(trees.column[inner], kind="stable")
    ends = np.searchsorted(trees.column[inner][order], np.arange(1, len(owner)))
    cuts = tuple(np.unique(here) for here in np.split(trees.threshold[inner][order], ends))
    rows = ensemble.read(seen.transform(background, ensemble.absent))
    found = BackgroundTrees(seen, ensemble, owner, rows, cuts, _places(cuts, rows), reference)
    return found if _agrees(found, reference) else "it makes something else of them than their sum"


def _probe(model: TableModel, background: FloatArray) -> Probe | None:
    """How to ask a CatBoost model where it sends categories; None for any other."""
    if not type(model.estimator).__module__.startswith("catboost."):
        return None
    places = [model.schema.names.index(name) for name in model.columns] or list(range(len(model.schema)))

    def leaves(rows: FloatArray) -> IntArray:
        given = np.repeat(background[:1], len(rows), axis=0)
        given[:, places] = rows
        return np.asarray(model.estimator.calc_leaf_indexes(model.as_read(given)))

    counts = [len(model.schema.columns[place].categories or ()) for place in places]
    return Probe(background[0, places], counts, leaves)


def _agrees(made: BackgroundTrees, reference: FloatArray) -> bool:
    """Whether mixtures of two rows get the model's own probabilities."""
    rng = np.random.default_rng(0)
    some, others = (reference[rng.integers(len(reference), size=CHECKED)] for _ in range(2))
    schema = made.seen.model.schema
    present = rng.random((CHECKED, len(schema.features))) < rng.random((CHECKED, 1))
    own = made.seen.model.predict_proba(np.where(present[:, schema.feature_of], some, others))
    theirs = made.going_left(made.children(made.read(others)))
    sums = [
        made.sums(row, theirs, np.array([number]), Masks(words, 1))[0]
        for number, (row, words) in enumerate(
            zip(made.children(made.read(some)), _single_masks(present), strict=True)
        )
    ]
    found = made.ensemble.probabilities(np.concatenate(sums, axis=1))
    # Of a model of numbers, the larger ones have fewer digits after the point.
    near = SAME * max(1.0, float(np.abs(own).max(initial=0.0)))
    return found.shape == own.shape and bool(np.allclose(found, own, rtol=0.0, atol=near))


def _single_masks(present: BoolArray) -> NDArray[np.uint64]:
    """Each row of a (variants, features) array as the words of masks with one variant."""
    return present.astype(np.uint64)[:, :, None]
