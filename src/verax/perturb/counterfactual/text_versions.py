"""What a model says to a text with some words replaced, for thousands of such versions at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import softmax

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.data.words import WORD, Words
from verax.models.base import Model
from verax.perturb.dispatch import path_for
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS
from verax.perturb.paths.bag_of_words import BagPath, Lexicon
from verax.perturb.paths.bags import Csr

if TYPE_CHECKING:
    from verax.models.neural.encoders import WordEncoder


@dataclass(frozen=True, eq=False)
class Options:
    """What may stand in place of some words of a text.

    Option ``o`` puts ``after[o]`` at the word number ``places[o]``. Options of one place are next to each other.
    """

    words: Words
    places: IndexArray
    after: tuple[str, ...]

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A random number per option: versions with the same sum of them are the same, but for one in 10**19."""
        return np.random.default_rng(len(self.after)).integers(0, 2**64, len(self.after), dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Versions:
    """Versions of a text: version ``v`` takes the options ``chosen[starts[v]:starts[v + 1]]``, at most one a place."""

    options: Options
    starts: IndexArray
    chosen: IndexArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def edits(self) -> IndexArray:
        """How many words each version has replaced."""
        return np.diff(self.starts)

    def select(self, versions: IndexArray) -> Versions:
        """Some of the versions."""
        edits = self.edits[versions]
        starts = np.concatenate([[0], np.cumsum(edits)])
        places = np.repeat(self.starts[versions] - starts[:-1], edits) + np.arange(starts[-1])
        return Versions(self.options, starts, self.chosen[places])

    def first_places(self) -> IndexArray:
        """Where each distinct version with an edit occurs first, ascending."""
        edited = np.flatnonzero(self.edits)
        if len(edited) == 0:
            return edited
        sums = np.add.reduceat(self.options.keys[self.chosen], self.starts[edited])
        return edited[np.sort(np.unique(sums, return_index=True)[1])]

    def distinct(self) -> tuple[IndexArray, IndexArray]:
        """Where each distinct version occurs first, and which of them every version is; no edit is a version too."""
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(self.options.keys[self.chosen])])
        # Sums wrap around, and so do their differences: what is left is the sum of the version's own keys.
        _, first, inverse = np.unique(
            sums[self.starts[1:]] - sums[self.starts[:-1]], return_index=True, return_inverse=True
        )
        return first, inverse

    def blocks(self, n_versions: int) -> Iterator[Versions]:
        """The versions in order, so many at a time."""
        for first in range(0, len(self), n_versions):
            yield self.select(np.arange(first, min(first + n_versions, len(self))))


def join(versions: list[Versions]) -> Versions:
    """Versions of one text, one after the other."""
    edits = np.concatenate([part.edits for part in versions])
    chosen = np.concatenate([part.chosen for part in versions])
    return Versions(versions[0].options, np.concatenate([[0], np.cumsum(edits)]), chosen)


def build_texts(versions: Versions) -> list[str]:
    """The text of each version: other words, and everything between words, as they are."""
    options = versions.options
    words, places = options.words, np.unique(options.places)
    pieces: list[str] = []
    end = 0
    for place in places.tolist():
        pieces += [words.text[end : words.starts[place]], words.words[place]]
        end = words.ends[place]
    pieces.append(words.text[end:])
    piece_of = (2 * np.searchsorted(places, options.places) + 1).tolist()
    chosen, starts = versions.chosen.tolist(), versions.starts.tolist()
    texts = []
    for version in range(len(versions)):
        changed = pieces.copy()
        for option in chosen[starts[version] : starts[version + 1]]:
            changed[piece_of[option]] = options.after[option]
        texts.append("".join(changed))
    return texts


def predict_versions(model: Model, options: Options) -> Callable[[Versions], FloatArray]:
    """A function from versions of one text to the model's probabilities, one row a version.

    For a bag-of-words model rows are built in its columns, for a network that reads words as their numbers; for any
    other model the texts are built. No more than ``MAX_ROWS`` rows and about ``BLOCK_CELLS`` words (or characters) are
    built at a time.
    """
    ask, cells = row_asker(model, options), len(options.words)
    if ask is None:
        ask, cells = lambda versions: model.predict_proba(build_texts(versions)), len(options.words.text)
    step = at_a_time(cells)

    def ask_all(versions: Versions) -> FloatArray:
        answers = [ask(block) for block in versions.blocks(step)]
        return np.concatenate(answers) if answers else np.empty((0, max(1, len(model.class_names))))

    return ask_all


def at_a_time(cells: int) -> int:
    """How many versions may be built at a time, each of so many words or characters."""
    return max(1, min(MAX_ROWS, BLOCK_CELLS // max(1, cells)))


def row_asker(model: Model, options: Options) -> Callable[[Versions], FloatArray] | None:
    """The same, all versions at once, for models that need no text for it; None for any other model."""
    score = score_asker(model, options)
    if score is not None:
        return lambda versions: softmax(score(versions), axis=1)
    path = path_for(model)
    # Where hashing subtracts, a column that cancels to 0 is stored by the vectoriser and would not be here.
    if not isinstance(path, BagPath) or path.lexicon.weighting.signed:
        return None
    differences = _differences(path.lexicon, options)

    def ask(versions: Versions) -> FloatArray:
        return path.rest.predict_rows(_weighted(path.lexicon, _selection(versions) @ differences))

    return ask


@runtime_checkable
class NumberedPath(Protocol):
    """The path of a network that reads the numbers of words."""

    encoder: WordEncoder

    def score_rows(self, words: IntArray, rows: NDArray[np.int32], ends: IndexArray) -> FloatArray:
        """The class scores of texts: the places of their words among these, one text after the other."""


def score_asker(model: Model, options: Options) -> Callable[[Versions], FloatArray] | None:
    """A function from versions to class scores for networks that read the numbers of words; None for other models."""
    path = path_for(model)
    if not isinstance(path, NumberedPath) or not all(map(WORD.fullmatch, options.after)):
        return None
    numbers = path.encoder.numbers_of([*options.words.words, *options.after])
    words, places = np.unique(numbers, return_inverse=True)
    own, other = np.split(places.astype(np.int32), [len(options.words)])

    def ask(versions: Versions) -> FloatArray:
        """Versions as numbers of words, as many as the network reads."""
        rows = np.repeat(own[None], len(versions), axis=0)
        version = np.repeat(np.arange(len(versions)), versions.edits)
        rows[version, options.places[versions.chosen]] = other[versions.chosen]
        read = rows[:, : path.encoder.max_words]
        return path.score_rows(words, read.reshape(-1), read.shape[1] * np.arange(1, len(versions) + 1))

    return ask


def _differences(lexicon: Lexicon, options: Options) -> Csr:
    """The counts of the original text as the first row, and below what each option adds to them."""
    words = options.words.words
    rows: list[int] = []
    columns: list[int] = []
    amounts: list[float] = []

    def add(row: int, word: str, sign: float) -> None:
        for column, amount in lexicon.entries(word):
            rows.append(row)
            columns.append(column)
            amounts.append(sign * amount)

    for word in words:
        add(0, word, 1.0)
    for option, (place, after) in enumerate(
        zip(options.places.tolist(), options.after, strict=True), start=1
    ):
        add(option, words[place], -1.0)
        add(option, after, 1.0)
    shape = (len(options.after) + 1, lexicon.n_columns)
    return scipy.sparse.coo_matrix((amounts, (rows, columns)), shape).tocsr()


def _selection(versions: Versions) -> Csr:
    """A matrix that picks the first row, and the rows of the options that each version takes."""
    n_versions = len(versions)
    indices = np.insert(versions.chosen + 1, versions.starts[:-1], 0)
    indptr = versions.starts + np.arange(n_versions + 1)
    shape = (n_versions, len(versions.options.after) + 1)
    return scipy.sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape)


def _weighted(lexicon: Lexicon, counts: Csr) -> Csr:
    """Counts as the vectoriser hands them on: weighted, with sorted columns and no stored zeros."""
    from sklearn.preprocessing import normalize

    counts.eliminate_zeros()
    counts.sort_indices()
    counts.data = lexicon.weighting.of_counts(counts.data)
    if lexicon.idf is not None:
        counts.data *= lexicon.idf[counts.indices]
    if lexicon.weighting.norm is not None:
        normalize(counts, lexicon.weighting.norm, copy=False)
    return counts
