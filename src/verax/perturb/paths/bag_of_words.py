"""Texts in bag-of-words models: perturbed rows are built in the model's columns, no text is rebuilt."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import FloatArray
from verax.data.words import split_words
from verax.models.base import Inputs
from verax.models.ready import MARKS_TOO, WORDS_ONLY
from verax.models.wrappers import TextPipeline, check_texts
from verax.perturb.masks import MAX_ROWS, Answer, Masks, Rows, Variants, evaluate_packed
from verax.perturb.paths.bags import Bag, Csr, Head, Weighting, head_for, sparse_rows, stack

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.feature_extraction.text import CountVectorizer

log = logging.getLogger("verax.perturb")

# With these patterns a token never reaches over the edge of a word, so masking a word removes just its tokens.
SAFE_PATTERNS = (
    WORDS_ONLY,
    MARKS_TOO,
    r"(?u)\b\w+\b",
    r"\b\w\w+\b",
    r"\b\w+\b",
    r"\w+",
    r"(?u)\w+",
)
# How many words each path remembers the columns of.
MAX_WORDS = 200_000
# How many texts' bags it remembers: every explainer asks for the same ones.
MAX_BAGS = 256


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Which columns each word feeds, how often, and with what idf."""

    vectorizer: CountVectorizer
    weighting: Weighting
    idf: FloatArray | None
    n_columns: int
    analyze: Callable[[str], list[str]]
    # Words of plain letters are looked up without the vectoriser's own, much slower, machinery.
    short_words: bool
    seen: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict, repr=False)
    bags: dict[str, Bag] = field(default_factory=dict, repr=False)

    def entries(self, word: str) -> tuple[tuple[int, float], ...]:
        """The columns that one occurrence of the word feeds, and how much."""
        known = self.seen.get(word)
        if known is None:
            known = self._find(word)
            if len(self.seen) < MAX_WORDS:
                self.seen[word] = known
        return known

    def _find(self, word: str) -> tuple[tuple[int, float], ...]:
        vectorizer = self.vectorizer
        vocabulary = getattr(vectorizer, "vocabulary_", None)
        if vocabulary is None:  # hashing
            row = vectorizer._get_hasher().transform([self.analyze(word)])
            return tuple(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        if word.isascii() and vectorizer.stop_words is None:
            tokens = [word.lower() if vectorizer.lowercase else word]
            if len(word) < 2 and not self.short_words:
                return ()
        else:
            tokens = self.analyze(word)
        counts: dict[int, float] = {}
        for token in tokens:
            column = vocabulary.get(token)
            if column is not None:
                counts[column] = counts.get(column, 0.0) + 1.0
        return tuple(counts.items())

    def bag(self, text: str) -> Bag:
        """The text in the model's columns; those of the last few hundred texts are kept."""
        known = self.bags.get(text)
        if known is None:
            known = self.bags[text] = self._make_bag(text)
            if len(self.bags) > MAX_BAGS:
                del self.bags[next(iter(self.bags))]
        return known

    def _make_bag(self, text: str) -> Bag:
        words = split_words(text)
        columns: list[int] = []
        owners: list[int] = []
        counts: list[float] = []
        for number, (word, count) in enumerate(words.counts.items()):
            for column, amount in self.entries(word):
                columns.append(column)
                owners.append(number)
                counts.append(amount * count)
        distinct, slots = np.unique(np.array(columns, dtype=np.intp), return_inverse=True)
        order = np.argsort(slots, kind="stable")
        return Bag(
            features=words.distinct,
            columns=distinct,
            slots=slots[order],
            words=np.array(owners, dtype=np.intp)[order],
            counts=np.array(counts, dtype=np.float64)[order],
            idf=np.ones(len(distinct)) if self.idf is None else self.idf[distinct],
            weighting=self.weighting,
        )


def lexicon_for(vectorizer: CountVectorizer) -> Lexicon | str:
    """How a fitted vectoriser counts words, or why masking its columns would be wrong."""
    name = type(vectorizer).__name__
    if vectorizer.analyzer != "word":
        return f"{name} with analyzer={vectorizer.analyzer!r} looks across words"
    if tuple(vectorizer.ngram_range) != (1, 1):
        return f"{name} with ngram_range={vectorizer.ngram_range} looks across words"
    if vectorizer.tokenizer is not None or vectorizer.preprocessor is not None:
        return f"{name} has a tokenizer or preprocessor of its own"
    if vectorizer.token_pattern not in SAFE_PATTERNS:
        return f"{name} has the token pattern {vectorizer.token_pattern!r}, which may look across words"
    analyze = vectorizer.build_analyzer()
    short_words = bool(analyze("a")) if vectorizer.stop_words is None else True
    if name == "HashingVectorizer":
        if vectorizer.binary:
            return "HashingVectorizer with binary=True has no fast path"
        weighting = Weighting(norm=vectorizer.norm, signed=vectorizer.alternate_sign)
        return Lexicon(vectorizer, weighting, None, vectorizer.n_features, analyze, short_words)
    if name == "TfidfVectorizer":
        weighting = Weighting(vectorizer.binary, vectorizer.sublinear_tf, vectorizer.norm)
        idf = np.asarray(vectorizer.idf_, dtype=np.float64) if vectorizer.use_idf else None
    elif name == "CountVectorizer":
        weighting, idf = Weighting(vectorizer.binary), None
    else:
        return f"{name} is not a vectoriser whose rows can be built directly"
    return Lexicon(vectorizer, weighting, idf, len(vectorizer.vocabulary_), analyze, short_words)


def folded(
    lexicon: Lexicon, transforms: tuple[BaseEstimator, ...]
) -> tuple[Lexicon, tuple[BaseEstimator, ...]]:
    """Takes a TfidfTransformer that follows plain counts into the lexicon, as if it were one TfidfVectorizer."""
    plain = lexicon.weighting.norm is None and not lexicon.weighting.sublinear and lexicon.idf is None
    if not transforms or type(transforms[0]).__name__ != "TfidfTransformer" or not plain:
        return lexicon, transforms
    first = transforms[0]
    binary = lexicon.weighting.binary
    # 1 + log 1 is 1: sublinear changes nothing on presence.
    weighting = Weighting(binary, first.sublinear_tf and not binary, first.norm)
    idf = np.asarray(first.idf_, dtype=np.float64) if first.use_idf else None
    return replace(lexicon, weighting=weighting, idf=idf, seen={}, bags={}), transforms[1:]


@dataclass(frozen=True, eq=False)
class BagPath:
    """Perturbs texts in the columns of a bag-of-words model.

    With a head, probabilities come from the text's own columns; without one, rows are built as CSR, merged, packed
    over many texts and given to the model.
    """

    model: TextPipeline
    lexicon: Lexicon
    head: Head | None
    n_done: int  # how many of the model's transforms the lexicon has taken over

    @property
    def name(self) -> str:
        """For people: which route the perturbed rows take."""
        return f"bag of words, {self.head.name if self.head else 'rows'}"

    def prepare(self, inputs: Inputs) -> list[Bag]:
        """Each text's words in the model's columns."""
        return [self.lexicon.bag(text) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[Bag], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        if self.head is None:
            parts = (self._rows(bag, mask) for bag, mask in zip(prepared, masks, strict=True))
            yield from evaluate_packed(parts, self._ask)
            return
        for bag, mask in zip(prepared, masks, strict=True):
            blocks = [self.head.probabilities(bag, block) for block in mask.blocks()]
            yield Answer(blocks[0] if len(blocks) == 1 else np.concatenate(blocks), mask.n_rows, len(blocks))

    def _rows(self, bag: Bag, masks: Variants) -> Iterator[Rows[Csr]]:
        for block in masks.blocks(MAX_ROWS):
            yield sparse_rows(bag, block, self.lexicon.n_columns)

    def _ask(self, rows: Sequence[Csr]) -> FloatArray:
        return self.rest.predict_rows(stack(rows))

    @cached_property
    def rest(self) -> TextPipeline:
        """The model without the transforms that the lexicon has taken over."""
        model = self.model
        return TextPipeline(
            model.vectorizer, model.transforms[self.n_done :], model.classifier, model.class_names
        )


def bag_path(model: TextPipeline) -> BagPath | str:
    """The path for a recognised pipeline, checked against the model; or why there is none."""
    lexicon = lexicon_for(model.vectorizer)
    if isinstance(lexicon, str):
        return lexicon
    lexicon, rest = folded(lexicon, model.transforms)
    n_done = len(model.transforms) - len(rest)
    plain = BagPath(model, lexicon, None, n_done)
    head: Head | str = "other steps stand between the vectoriser and the classifier"
    if not rest:
        head = head_for(model.classifier, lexicon.weighting, lexicon.n_columns)
    if not isinstance(head, str):
        fast = BagPath(model, lexicon, head, n_done)
        wrong = self_check(fast, plain)
        if wrong is None:
            return fast
        head = wrong
    log.info("No fast path for this model: %s. Rows are built and given to predict_proba.", head)
    return plain


# A fast path that computes in single precision differs from predict_proba by about this much.
CHECK_TOLERANCE = 2e-6


def self_check(fast: BagPath, plain: BagPath, n_rows: int = 64) -> str | None:
    """Compares a fast path with predict_proba on random rows; says what is wrong, or None."""
    rng = np.random.default_rng(0)
    n_columns = fast.lexicon.n_columns
    n_words = min(40, n_columns)
    columns = np.sort(rng.choice(n_columns, n_words, replace=False)).astype(np.intp)
    bag = Bag(
        features=tuple(map(str, range(n_words))),
        columns=columns,
        slots=np.arange(n_words),
        words=np.arange(n_words),
        counts=rng.integers(1, 4, n_words).astype(np.float64),
        idf=np.ones(n_words) if fast.lexicon.idf is None else fast.lexicon.idf[columns],
        weighting=fast.lexicon.weighting,
    )
    masks = Masks.from_rows(rng.random((n_rows, n_words)) < rng.random((n_rows, 1)))
    quick = next(fast.evaluate([bag], [masks])).probabilities
    slow = next(plain.evaluate([bag], [masks])).probabilities
    if quick.shape != slow.shape or not np.allclose(quick, slow, atol=CHECK_TOLERANCE, rtol=0.0):
        worst = "another shape" if quick.shape != slow.shape else f"{np.abs(quick - slow).max():.2g}"
        return f"the fast path differs from predict_proba by {worst}"
    return None
