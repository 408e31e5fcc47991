"""Rows of a table: an absent column takes the values of background rows, and the answers are averaged.

Where columns depend strongly on each other, rows arise that never occur with one of them taken away: such columns are
found here too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray, tied_ranks
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.models.base import Inputs, Model
from verax.models.multilabel import PickedLabel
from verax.models.wrappers import TableModel, encode_rows
from verax.perturb.masks import (
    Answer,
    Prepared,
    Rows,
    Variants,
    distinct_rows,
    evaluate_packed,
    full_variants,
)
from verax.perturb.paths.background_trees import BackgroundTrees, background_trees
from verax.perturb.paths.composition import Separable, separable, tree_model_in
from verax.perturb.paths.encoded_columns import EncodedColumns, encoded_columns
from verax.perturb.paths.ensembles import NodeArray
from verax.perturb.shapley import TreeGame
from verax.phrases import say
from verax.seeds import stream

N = TypeVar("N", np.float64, np.intp)

# How many background rows stand for "absent" (shap's usual number).
BACKGROUND_ROWS = 100
# Variants are taken in blocks of this many, so that the answers of all background rows are small.
BLOCK_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class TableRow(Prepared):
    """An encoded row.

    Attributes:
        values: the row.
        same: in which columns each background row agrees with it.
        read: what the model's trees read of it, if they are walked.
        places: of a model that looks values up, their places, if all of them are known.
    """

    values: FloatArray
    same: BoolArray
    read: FloatArray | None = None
    places: IndexArray | None = None


@dataclass(frozen=True, eq=False)
class TablePath:
    """Perturbs rows of a table by putting background values in.

    Attributes:
        model: what is asked.
        background: rows whose values stand in for absent columns.
        columns: the model's own columns, if they are looked up.
        trees: its trees, if they are walked.
        not_walked: of a model with trees, why these are not walked and it is asked row by row; empty for any other.
    """

    model: Model
    background: FloatArray
    columns: EncodedColumns | None = None
    trees: BackgroundTrees | None = None
    not_walked: str = ""

    @property
    def name(self) -> str:
        """What explanations say of it."""
        return "table, background" + (", row by row" if self.fallback else "")

    @property
    def fallback(self) -> str:
        """Why a model with trees is asked row by row, or was about some rows; empty where it is not."""
        return self.not_walked or "; ".join(() if self.trees is None else self.trees.refused)

    @cached_property
    def seen(self) -> Separable | None:
        """The model's preprocessing, if it takes one column at a time."""
        return separable(self.model, reference_rows(self.model)) if self.trees is None else self.trees.seen

    @cached_property
    def game(self) -> TreeGame:
        """The model's trees, for exact values."""
        assert self.trees is not None
        n_features = len(schema_of(self.model).features)
        return TreeGame(self.trees.ensemble, self.trees.owner, n_features, self.trees.background)

    def feature_owner(self, owner: NodeArray) -> NodeArray:
        """Of columns that belong to columns of the table (-1 for none), the feature that each belongs to."""
        of_column = schema_of(self.model).feature_of
        return np.where(owner < 0, -1, of_column[owner]).astype(np.int32)

    def prepare(self, inputs: Inputs) -> list[TableRow]:
        """Each row, encoded and checked."""
        schema = schema_of(self.model)
        rows = encode_rows(inputs, schema)
        both_missing = np.isnan(rows[:, None, :]) & np.isnan(self.background)
        same = (rows[:, None, :] == self.background) | both_missing
        read = [None] * len(rows) if self.trees is None else self.trees.read_all(rows)
        known = [self._places(row[None]) if self.trees is None else None for row in rows]
        places = [None if found is None else found[0] for found in known]
        parts = zip(rows, same, read, places, strict=True)
        return [TableRow(schema.features, *part) for part in parts]

    def _places(self, rows: FloatArray) -> IndexArray | None:
        """Where the model's columns look up each value of some rows; None if there is one that they do not know."""
        found = None if self.columns is None else self.columns.places(rows)
        return None if found is None else np.stack(found, axis=1)

    def evaluate(self, prepared: Sequence[TableRow], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per row: probabilities averaged over the background; the model's own where nothing is absent."""
        waiting: deque[IndexArray] = deque()

        def noted() -> Iterator[Variants]:
            for mask in masks:
                waiting.append(full_variants(mask))
                yield mask

        own: FloatArray | None = None
        for number, answer in enumerate(self._averages(prepared, noted())):
            places = waiting.popleft()
            if len(places):
                own = self.own_answers(prepared) if own is None else own
                answer.probabilities[places] = own[number]
            yield answer

    def own_answers(self, prepared: Sequence[TableRow]) -> FloatArray:
        """What the model itself says to rows, asked for all of them at once."""
        return self.model.predict_proba(np.stack([row.values for row in prepared]))

    def _averages(self, prepared: Sequence[TableRow], masks: Iterable[Variants]) -> Iterator[Answer]:
        if self.trees is not None and all(row.read is not None for row in prepared):
            return self._mixtures(self.trees, prepared, masks)
        # A perturbed row's values are the input's or the background's: where both are known, none is looked up.
        known = self._places(self.background) if all(row.places is not None for row in prepared) else None
        if known is None:
            pairs = zip(prepared, masks, strict=True)
            parts = (self._rows(row, row.values, self.background, mask) for row, mask in pairs)
            return evaluate_packed(parts, self._ask, self._average)
        own = [row.places for row in prepared if row.places is not None]
        triples = zip(prepared, own, masks, strict=True)
        places = (self._rows(row, here, known, mask) for row, here, mask in triples)
        return evaluate_packed(places, self._ask_places, self._average)

    def _mixtures(
        self, trees: BackgroundTrees, prepared: Sequence[TableRow], masks: Iterable[Variants]
    ) -> Iterator[Answer]:
        for row, mask in zip(prepared, masks, strict=True):
            assert row.read is not None
            parts = [trees.answer(row.read, block) for block in mask.blocks(BLOCK_ROWS)]
            probabilities, rows = zip(*parts, strict=True)
            yield Answer(np.concatenate(probabilities), sum(rows), len(parts))

    def _rows(
        self, row: TableRow, own: NDArray[N], others: NDArray[N], masks: Variants
    ) -> Iterator[Rows[NDArray[N]]]:
        """The perturbed rows of an input, as values or as places, of its own and of the background rows."""
        of_column = schema_of(self.model).feature_of
        for block in masks.blocks(BLOCK_ROWS):
            columns = block.columns()[of_column]
            # Few variants are looked through beside many background rows at once.
            n_variants = columns.shape[1]
            step = max(1, BLOCK_ROWS // max(1, n_variants))
            for start in range(0, len(others), step):
                some, same = others[start : start + step], row.same[start : start + step]
                present, of_row, inverse = _distinct(columns, same)
                rows = np.where(present, own, some[of_row])
                ends = np.searchsorted(of_row, np.arange(len(some) + 1))
                for number, (begin, end) in enumerate(pairwise(ends.tolist())):
                    each = slice(number * n_variants, (number + 1) * n_variants)
                    part = rows[begin:end]
                    yield Rows(part, len(part), inverse[each] - begin, part.size)

    def predict(self, rows: FloatArray) -> FloatArray:
        """The model's probabilities of encoded rows, by way of its encoded columns or its trees where it has such."""
        answers = None if self.columns is None else self.columns.predict(rows)
        if answers is None and self.trees is not None:
            answers = self.trees.predict(rows)
        return self.model.predict_proba(rows) if answers is None else answers

    def _ask(self, batches: Sequence[FloatArray]) -> FloatArray:
        return self.predict(np.concatenate(batches))

    def _ask_places(self, batches: Sequence[IndexArray]) -> FloatArray:
        assert self.columns is not None
        return self.columns.predict_places(list(np.concatenate(batches).T))

    def _average(self, answers: list[FloatArray]) -> FloatArray:
        n = len(self.background)
        blocks = [np.mean(answers[first : first + n], axis=0) for first in range(0, len(answers), n)]
        return np.concatenate(blocks)


def _distinct(columns: BoolArray, same: BoolArray) -> tuple[BoolArray, IndexArray, IndexArray]:
    """The distinct variants beside each background row.

    Where a background row agrees with the input, presence makes no difference: many variants are one.

    Args:
        columns: (columns, variants), what is present.
        same: (background rows, columns), where they agree with the input.

    Returns:
        The distinct variants, a row each; which background row each is of, ascending; and for all variants beside the
        first background row, then the second, and so on, the number of the distinct one.
    """
    n_rows, (n_columns, n_variants) = len(same), columns.shape
    # Which background row it is, as bits beside those of the variant, so that all are looked through at once.
    number = (np.arange(n_rows)[:, None] >> np.arange(n_rows.bit_length())) & 1 == 1
    present = (columns.T[None] | same[:, None, :]).reshape(n_rows * n_variants, n_columns)
    told = np.concatenate([present, np.repeat(number, n_variants, axis=0)], axis=1)
    first, inverse = distinct_rows(told.T)
    return present[first], first // max(1, n_variants), inverse


def schema_of(model: Model) -> Schema:
    """The columns of a model of tables, or a sentence that says how to give them."""
    if model.schema is None:
        raise _needs_reference()
    return model.schema


def reference_rows(model: Model) -> FloatArray:
    """The training rows that a model carries, or a sentence that says how to give them."""
    reference: FloatArray | None = getattr(model, "reference", None)
    if reference is None or model.schema is None:
        raise _needs_reference()
    return reference


def _needs_reference() -> VeraxError:
    return VeraxError(
        "Explaining a model of tables needs some of its training rows for bins and background values; "
        "give them: verax.as_model(..., reference=rows)."
    )


def background_rows(model: Model, count: int = BACKGROUND_ROWS) -> FloatArray:
    """Some of the model's training rows, always the same ones for the same rows."""
    reference = reference_rows(model)
    if len(reference) <= count:
        return reference
    chosen = stream(0, "background", len(reference)).choice(len(reference), count, replace=False)
    return reference[np.sort(chosen)]


def table_path(model: Model) -> TablePath:
    """The path for a model of tables; its own columns are used if they are read one at a time."""
    background = background_rows(model)
    if not isinstance(model, TableModel):
        function = getattr(model, "function", None)
        return TablePath(model, background, not_walked=_why_a_function(function))
    reference = reference_rows(model)
    trees = background_trees(model, background, reference)
    columns = encoded_columns(model, reference)
    if isinstance(trees, str):
        walked = columns is not None and columns.trees is not None
        return TablePath(model, background, columns, not_walked="" if walked else trees)
    return TablePath(model, background, columns, trees)


def _why_a_function(function: object) -> str:
    """Of a function that asks a model with trees, why these are not walked; empty for any other."""
    if isinstance(function, PickedLabel):
        return (
            "one of the several answers that it gives is picked" if tree_model_in(function.estimator) else ""
        )
    if tree_model_in(getattr(function, "__self__", None)):
        return "it was given as a function; give the fitted model itself"
    return ""


def fallback_notes(model: Model, path: object) -> list[str]:
    """A sentence where a model with trees is asked row by row, since these could not be read; none for any other."""
    why = getattr(path, "fallback", "")
    return [say("explanations", "asked-row-by-row", model=_kind_of(model), reason=why)] if why else []


def _kind_of(model: Model) -> str:
    function = getattr(model, "function", None)
    estimator = getattr(model, "estimator", None) or getattr(function, "estimator", None)
    estimator = estimator or getattr(function, "__self__", model)
    return type(getattr(estimator, "steps", [(None, estimator)])[-1][1]).__name__


# Rank correlations, or shares of one column that another one tells, from here on are said.
STRONG = 0.9
# So many training rows are looked at, and so many pairs are named.
MOST_ROWS, MOST_NAMED = 2_000, 3


def dependent_columns(model: Model) -> list[tuple[str, str, float]]:
    """Pairs of features of a table with their rank correlation by magnitude, where that is strong; the strongest first.

    Columns in one group are one feature, and no pair. Categories are compared by whether one tells the other (Cramer's
    V); a number and a category by the share of the number's ranks that the category explains.
    """
    schema, reference = model.schema, getattr(model, "reference", None)
    if schema is None or reference is None or len(reference) < 10:
        return []
    rows = np.asarray(reference[:MOST_ROWS], dtype=np.float64)
    found: dict[tuple[str, str], float] = {}
    ranks = [_ranks(rows[:, place]) for place in range(rows.shape[1])]
    kinds = [column.is_numeric for column in schema.columns]
    for one in range(rows.shape[1]):
        for two in range(one):
            pair = schema.features[schema.feature_of[two]], schema.features[schema.feature_of[one]]
            if pair[0] == pair[1]:
                continue
            if kinds[one] and kinds[two]:
                strength = _correlation(ranks[one], ranks[two])
            elif not kinds[one] and not kinds[two]:
                strength = _cramer(rows[:, one], rows[:, two])
            else:
                number, category = (one, two) if kinds[one] else (two, one)
                strength = _explained(ranks[number], rows[:, category])
            if strength >= STRONG:
                found[pair] = max(strength, found.get(pair, 0.0))
    return [(*pair, strength) for pair, strength in sorted(found.items(), key=lambda item: -item[1])]


def dependence_notes(model: Model) -> list[str]:
    """A sentence on columns that depend strongly on each other; none where there are no such columns."""
    if model.resampling == "conditional":
        return [say("explanations", "conditional")]
    pairs = dependent_columns(model)
    if not pairs:
        return []
    named = "; ".join(f"{one} and {two} ({strength:.2f})" for one, two, strength in pairs[:MOST_NAMED])
    return [say("explanations", "dependent", pairs=named, more=max(0, len(pairs) - MOST_NAMED))]


def _ranks(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    ranks[known] = tied_ranks(values[known])
    return ranks


def _correlation(one: FloatArray, two: FloatArray) -> float:
    both = ~np.isnan(one) & ~np.isnan(two)
    if both.sum() < 10:
        return 0.0
    a, b = one[both] - one[both].mean(), two[both] - two[both].mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return abs(float(a @ b)) / scale if scale > 0 else 0.0


def _explained(ranks: FloatArray, categories: FloatArray) -> float:
    """The correlation ratio: how much of the ranks' spread lies between categories."""
    known = ~np.isnan(ranks)
    codes = categories[known].astype(np.intp)
    counts = np.bincount(codes)
    if known.sum() < 10 or (counts > 0).sum() < 2 or (counts > 0).sum() > known.sum() / 5:
        return 0.0
    means = np.bincount(codes, weights=ranks[known]) / np.maximum(counts, 1)
    total = float(np.var(ranks[known]))
    return float(np.sqrt(np.var(means[codes]) / total)) if total > 0 else 0.0


def _cramer(one: FloatArray, two: FloatArray) -> float:
    _, a = np.unique(one, return_inverse=True)
    _, b = np.unique(two, return_inverse=True)
    size = min(a.max(), b.max())
    if size < 1 or (a.max() + 1) * (b.max() + 1) > len(one) / 2:
        return 0.0
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1.0)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / size))
