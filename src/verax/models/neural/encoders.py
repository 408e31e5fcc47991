"""What a network reads: texts as numbers of words or of their pieces, table rows as scaled numbers and indicators."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verax.arrays import FloatArray, IndexArray
from verax.data.table import Column, Schema
from verax.data.vectors import minilm_folder
from verax.data.words import WORD, split_words
from verax.errors import VeraxError
from verax.models.wrappers import check_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


log = logging.getLogger("verax.models")

# An input as an array: numbers of words, or numbers (in half precision where many are kept).
Encoded = NDArray[np.int64] | NDArray[np.float32] | NDArray[np.float16]
Json = dict[str, object]

# Rows 0 and 1 of an embedding: nothing, and a word that the model does not know.
PADDING, UNKNOWN = 0, 1
# Words of a text that a network reads; the rest is cut off, and said.
MAX_WORDS = 1_000
# No batch holds more positions (texts times the longest of them) than this: what fits the processor's cache is fastest.
BATCH_POSITIONS = 16_384
# A batch of so many positions is worth a call of its own: it ends where shorter texts would be padded.
ENOUGH_POSITIONS = 1_024


class Encoder(Protocol):
    """Turns inputs into arrays, one each, and some of them into the tensors that a network is called with."""

    def encode(self, inputs: Sequence[str] | FloatArray) -> Sequence[Encoded]:
        """An array per input; its length is what the input costs."""

    def collate(self, arrays: Sequence[Encoded]) -> tuple[Tensor, ...]:
        """The arguments of the network's ``forward``."""


@runtime_checkable
class TextEncoder(Encoder, Protocol):
    """An encoder of texts that knows which word each position of an array belongs to."""

    def word_places(self, texts: Sequence[str]) -> list[IndexArray]:
        """For each position the number of the text's word (``split_words``) that it belongs to; -1 for none."""


@dataclass(frozen=True, eq=False)
class WordEncoder:
    """Texts as the numbers of their words, in lower case; a word is what ``verax.data.words`` says.

    Attributes:
        words: those that are known; the first one has the number 2, after padding and the unknown word.
        max_words: how many words of a text are read.
    """

    words: tuple[str, ...]
    max_words: int = MAX_WORDS

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words, start=UNKNOWN + 1)}

    def encode(self, inputs: Sequence[str] | FloatArray) -> list[Encoded]:
        """The number of each word of each text."""
        arrays: list[Encoded] = []
        cut = 0
        for text in check_texts(inputs):
            words = WORD.findall(text)
            cut += len(words) > self.max_words
            arrays.append(self.numbers_of(words[: self.max_words]))
        say_cut(cut, len(arrays), f"{self.max_words:,} words")
        return arrays

    def numbers_of(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The number of each of some words."""
        numbers = self.numbers
        return np.array([numbers.get(word.lower(), UNKNOWN) for word in words], dtype=np.int64)

    def word_places(self, texts: Sequence[str]) -> list[IndexArray]:
        """Each position is a word."""
        return [np.arange(min(len(WORD.findall(text)), self.max_words)) for text in texts]

    def collate(self, arrays: Sequence[Encoded]) -> tuple[Tensor, Tensor]:
        """Numbers (texts, positions) and how many of them each text has."""
        return pad(arrays)

    def to_json(self) -> Json:
        """As plain data."""
        return {"words": list(self.words), "max_words": self.max_words}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """What ``to_json`` wrote."""
        words, max_words = data["words"], data["max_words"]
        if not isinstance(words, list) or not isinstance(max_words, int):
            raise TypeError("words must be a list and max_words a number")
        return cls(tuple(map(str, words)), max_words)


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """Encoded rows of a table as a network reads them: numbers of one scale, and an indicator per category.

    A missing number becomes the training median, with an indicator of its own where the training rows lack some.

    Attributes:
        schema: the table's columns.
        medians: of each numeric column of the training rows, missing ones aside.
        means: of the same with the median filled in, and
        scales: their standard deviations; 1 for a constant column.
        lacking: which numeric columns lack numbers in training.
    """

    schema: Schema
    medians: FloatArray
    means: FloatArray
    scales: FloatArray
    lacking: tuple[int, ...]

    @classmethod
    def learn(cls, schema: Schema, rows: FloatArray) -> Self:
        """From training rows."""
        numbers = rows[:, list(schema.numeric)]
        missing = np.isnan(numbers)
        # A column without any number is filled with 0.
        medians = np.array([np.median(column[~gaps]) if not gaps.all() else 0.0
                            for column, gaps in zip(numbers.T, missing.T, strict=True)])  # fmt: skip
        filled = np.where(missing, medians, numbers)
        spread = filled.std(axis=0)
        scales = np.where(spread > 0, spread, 1.0)
        return cls(
            schema, medians, filled.mean(axis=0), scales, tuple(np.flatnonzero(missing.any(axis=0)).tolist())
        )

    @property
    def width(self) -> int:
        """How many numbers a row becomes."""
        return len(self.schema.numeric) + len(self.lacking) + sum(self.schema.category_counts)

    def encode(self, inputs: Sequence[str] | FloatArray) -> list[Encoded]:
        """``width`` numbers per row."""
        return list(self.matrix(np.asarray(inputs, dtype=np.float64)))

    def matrix(self, table: FloatArray) -> NDArray[np.float32]:
        """All rows at once: (rows, ``width``)."""
        made = np.zeros((len(table), self.width), dtype=np.float32)
        numbers = table[:, list(self.schema.numeric)]
        missing = np.isnan(numbers)
        end, start = numbers.shape[1], numbers.shape[1] + len(self.lacking)
        made[:, :end] = (np.where(missing, self.medians, numbers) - self.means) / self.scales
        made[:, end:start] = missing[:, list(self.lacking)]
        firsts = start + np.cumsum([0, *self.schema.category_counts])[:-1]
        codes = table[:, list(self.schema.categorical)].astype(np.intp)
        made[np.arange(len(table))[:, None], firsts + codes] = 1.0
        return made

    def collate(self, arrays: Sequence[Encoded]) -> tuple[Tensor]:
        """One tensor (rows, width)."""
        return (torch.from_numpy(np.stack(arrays)),)

    def to_json(self) -> Json:
        """As plain data."""
        arrays = {name: getattr(self, name).tolist() for name in ("medians", "means", "scales")}
        columns = [column.plain() for column in self.schema.columns]
        return {"columns": columns, **arrays, "lacking": list(self.lacking)}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """What ``to_json`` wrote."""
        columns, lacking = data["columns"], data["lacking"]
        if not isinstance(columns, list) or not isinstance(lacking, list):
            raise TypeError("columns and lacking must be lists")
        # Files of older versions do not say which columns are binned.
        schema = Schema(tuple(
            Column(
                str(column["name"]),
                _names(column["categories"]),
                bool(column["missing"]),
                bool(column.get("binned", False)),
            )
            for column in columns
        ))  # fmt: skip
        medians, means, scales = (
            np.asarray(data[name], dtype=np.float64) for name in ("medians", "means", "scales")
        )
        return cls(schema, medians, means, scales, tuple(map(int, lacking)))


def pad(arrays: Sequence[Encoded]) -> tuple[Tensor, Tensor]:
    """Arrays of several lengths as one tensor, zeros behind the shorter ones, and their lengths; at least one wide."""
    lengths = np.array([len(array) for array in arrays], dtype=np.int64)
    shape = (len(arrays), max(1, int(lengths.max(initial=0))), *arrays[0].shape[1:])
    padded = np.zeros(shape, dtype=np.int64 if arrays[0].dtype.kind == "i" else np.float32)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return torch.from_numpy(padded), torch.from_numpy(lengths)


def length_batches(lengths: Sequence[int], positions: int = BATCH_POSITIONS) -> Iterator[list[int]]:
    """The places of all inputs, similar lengths together and the longest first, in batches of bounded size.

    Hardly anything is padded: a batch ends with the last input of a length once it is large enough.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    first = 0
    while first < len(order):
        longest = max(1, lengths[order[first]])
        full = min(len(order), first + max(1, positions // longest))
        last = min(full, first + -(-ENOUGH_POSITIONS // longest))
        while last < full and lengths[order[last]] == lengths[order[last - 1]]:
            last += 1
        yield order[first:last]
        first = last


def batch_positions(encoder: Encoder) -> int:
    """How many positions a batch may hold: what the encoder says, for a network that takes more room than others."""
    return int(getattr(encoder, "batch_positions", BATCH_POSITIONS))


def say_cut(cut: int, count: int, limit: str) -> None:
    """Warns that texts are longer than a model reads."""
    if cut:
        log.warning(
            "%d of %d texts %s longer than the %s that the model reads; the rest of %s was not seen.",
            cut, count, "is" if cut == 1 else "are", limit, "it" if cut == 1 else "them",
        )  # fmt: skip


def _names(categories: object) -> tuple[str, ...] | None:
    return tuple(map(str, categories)) if isinstance(categories, list) else None


@dataclass(frozen=True, eq=False)
class PieceEncoder:
    """Texts as the numbers that a Hugging Face tokenizer gives, its own marks included.

    Attributes:
        tokenizer: a fast one, which knows where in the text a piece stands.
        max_pieces: how many pieces of a text are read.
        weights: the folder with the tokenizer of a transformer of one's own; MiniLM's if None.
    """

    tokenizer: PreTrainedTokenizerFast
    max_pieces: int
    weights: str | None = None

    # Inside a transformer a position takes some 25 KB (BERT's width of 3,072, twice): 50 MB for a batch.
    batch_positions: ClassVar[int] = 2_048

    def __post_init__(self) -> None:
        if not getattr(self.tokenizer, "is_fast", False):
            raise VeraxError(
                f"{type(self.tokenizer).__name__} does not say where in a text its pieces stand; use the fast "
                "tokenizer of the model (AutoTokenizer.from_pretrained(..., use_fast=True))."
            )

    def encode(self, inputs: Sequence[str] | FloatArray) -> list[Encoded]:
        """The number of each piece of each text."""
        texts = check_texts(inputs)
        if not texts:
            return []
        pieces = self.tokenizer(texts, truncation=True, max_length=self.max_pieces)
        cut = sum(bool(encoding.overflowing) for encoding in pieces.encodings)
        say_cut(cut, len(texts), f"{self.max_pieces:,} pieces of words")
        return [np.array(ids, dtype=np.int64) for ids in pieces["input_ids"]]

    def word_places(self, texts: Sequence[str]) -> list[IndexArray]:
        """The word that each piece is a part of; -1 for marks and for what stands between words."""
        if not texts:
            return []
        pieces = self.tokenizer(
            list(texts), truncation=True, max_length=self.max_pieces, return_offsets_mapping=True
        )
        return [
            words_of(np.array(spans).reshape(-1, 2), text)
            for spans, text in zip(pieces["offset_mapping"], texts, strict=True)
        ]

    def collate(self, arrays: Sequence[Encoded]) -> tuple[Tensor, Tensor]:
        """Numbers, or vectors in their place, and how many of them each text has."""
        return pad(arrays)

    def to_json(self) -> Json:
        """As plain data; the tokenizer stays where it is."""
        return {"max_pieces": self.max_pieces} | ({} if self.weights is None else {"weights": self.weights})

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """What ``to_json`` wrote."""
        if not isinstance(data["max_pieces"], int):
            raise TypeError("max_pieces must be a number")
        weights = data.get("weights")
        return cls.of_transformer(data["max_pieces"], None if weights is None else str(weights))

    @classmethod
    def of_transformer(cls, max_pieces: int, weights: str | None = None) -> Self:
        """With the tokenizer of MiniLM, from its package, or the one beside weights of one's own."""
        from transformers import AutoTokenizer, PreTrainedTokenizerFast

        if weights is None:
            ours = PreTrainedTokenizerFast.from_pretrained(minilm_folder(), local_files_only=True)
            return cls(ours, max_pieces)
        try:
            own = AutoTokenizer.from_pretrained(weights, local_files_only=True)
        except (OSError, ValueError) as error:
            raise VeraxError(
                f"There is no tokenizer beside the weights in {weights!r}; save it there: "
                "tokenizer.save_pretrained(FOLDER)."
            ) from error
        if not isinstance(own, PreTrainedTokenizerFast):
            raise VeraxError(
                f"The tokenizer in {weights!r} does not say where its pieces stand in a text; save a fast one there."
            )
        return cls(own, max_pieces, weights)


def words_of(spans: IndexArray, text: str) -> IndexArray:
    """The first word that each span overlaps; -1 if there is none."""
    words = split_words(text)
    if not len(words):
        return np.full(len(spans), -1)
    starts, ends = np.array(words.starts), np.array(words.ends)
    place = np.searchsorted(ends, spans[:, 0], side="right").clip(max=len(words) - 1)
    overlaps = (starts[place] < spans[:, 1]) & (spans[:, 0] < ends[place])
    return np.where(overlaps, place, -1)
