"""Texts as the pieces of words that a transformer reads, and which word each piece belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from torch import Tensor

from verax.arrays import FloatArray, IndexArray
from verax.data.vectors import minilm_folder
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models.neural.encoders import Encoded, Json, pad, say_cut
from verax.models.text import check_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


@dataclass(frozen=True, eq=False)
class PieceEncoder:
    """Texts as the numbers that a Hugging Face tokenizer gives, its own marks included.

    Attributes:
        tokenizer: a fast one, which knows where in the text a piece stands.
        max_pieces: how many pieces of a text are read.
    """

    tokenizer: PreTrainedTokenizerFast
    max_pieces: int

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
        """As plain data; the tokenizer is MiniLM's."""
        return {"max_pieces": self.max_pieces}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """What ``to_json`` wrote."""
        if not isinstance(data["max_pieces"], int):
            raise TypeError("max_pieces must be a number")
        return cls.of_minilm(data["max_pieces"])

    @classmethod
    def of_minilm(cls, max_pieces: int) -> Self:
        """With the tokenizer of MiniLM, from its package."""
        from transformers import PreTrainedTokenizerFast

        return cls(
            PreTrainedTokenizerFast.from_pretrained(minilm_folder(), local_files_only=True), max_pieces
        )


def words_of(spans: IndexArray, text: str) -> IndexArray:
    """The first word that each span overlaps; -1 if there is none."""
    words = split_words(text)
    if not len(words):
        return np.full(len(spans), -1)
    starts, ends = np.array(words.starts), np.array(words.ends)
    place = np.searchsorted(ends, spans[:, 0], side="right").clip(max=len(words) - 1)
    overlaps = (starts[place] < spans[:, 1]) & (spans[:, 0] < ends[place])
    return np.where(overlaps, place, -1)
