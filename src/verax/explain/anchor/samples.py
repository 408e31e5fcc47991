"""Samples around an input: what an anchor's search asks about; around a text, words are missing or replaced.

A missing word is asked about on the engine's own path. Words are replaced by similar ones as in counterfactual
inputs. Samples around a row are in `table_rows`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.words import split_words
from verax.models.base import Model
from verax.perturb.counterfactual.text_changes import Distribution, sample_versions
from verax.perturb.counterfactual.text_versions import Versions, at_a_time, build_texts, join, row_asker
from verax.perturb.counterfactual.thesaurus import Candidates, Thesaurus
from verax.perturb.dispatch import path_for
from verax.perturb.masks import MAX_ROWS, PACK_CELLS, Masks
from verax.seeds import stream

# ---- Any input

# Samples are drawn so many at a time, each time from a stream of its own: asking for more changes none of the first.
BLOCK = 1_024


class SamplePool(ABC):
    """Samples around one input, drawn when they are needed.

    A sample changes some features. Under a rule the rule's features stay as they are and the others change as the
    sample has it: all rules are asked about the same samples, and where a sample changes none of a rule's features
    its answer is the one without the rule.
    """

    def __init__(self, seed: int, *about: str | int) -> None:
        self._seed = seed
        self._about = about
        self._blocks = 0
        self._holds: BoolArray | None = None

    def holds(self, count: int) -> BoolArray:
        """(samples, features): whether each of the first so many samples, at the least, leaves a feature as it is."""
        while self._holds is None or len(self._holds) < count:
            drawn = self.draw(stream(self._seed, *self._about, self._blocks))
            self._blocks += 1
            self._holds = drawn if self._holds is None else np.concatenate([self._holds, drawn])
        return self._holds

    def varies(self) -> bool:
        """Whether samples differ from the input at all, be it in what no condition speaks about."""
        return not bool(self.holds(BLOCK).all())

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next ``BLOCK`` samples: which features each leaves as they are."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A question: what does the model predict for some samples of a pool, each under a rule?

    Attributes:
        place: the number of the input.
        pool: its samples.
        samples: which samples; one that is asked about under several rules is here several times.
        stays: (samples, features): which features the rule of each leaves as they are.
    """

    place: int
    pool: SamplePool
    samples: IndexArray
    stays: BoolArray


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """What a search needs to know of one input.

    Attributes:
        place: the number of the input.
        features: of the input.
        named: each feature as a condition, in words.
        search: samples to find rules with.
        fresh: others, to tell how precise a rule is that was found.
        covered: (features, examples): whether an example of what inputs look like agrees with the input in a feature.
    """

    place: int
    features: tuple[str, ...]
    named: tuple[str, ...]
    search: SamplePool
    fresh: SamplePool
    covered: BoolArray

    @property
    def loose(self) -> list[int]:
        """The features that change at all."""
        found: list[int] = np.flatnonzero(~self.search.holds(BLOCK).all(axis=0)).tolist()
        return found

    def fresh_question(self, conditions: Sequence[int], samples: IndexArray) -> Ask:
        """About some fresh samples under one rule."""
        stays = np.zeros((len(samples), len(self.features)), dtype=np.bool_)
        stays[:, list(conditions)] = True
        return Ask(self.place, self.fresh, samples, stays)

    def coverage(self, conditions: Sequence[int]) -> float:
        """The share of inputs to which a rule applies."""
        return self._share(np.bitwise_and.reduce(self._bits[list(conditions)], axis=0)).item()

    def longer_coverage(self, conditions: Sequence[int]) -> FloatArray:
        """The share of inputs to which a rule applies that has one more condition, for every feature."""
        return self._share(np.bitwise_and.reduce(self._bits[list(conditions)], axis=0) & self._bits)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        """(features, words): a bit for each example that agrees."""
        n_features, n_examples = self.covered.shape
        bits = np.zeros((n_features, 8 * -(-n_examples // 64)), dtype=np.uint8)
        bits[:, : -(-n_examples // 8)] = np.packbits(self.covered, axis=1)
        return bits.view(np.uint64)

    def _share(self, bits: NDArray[np.uint64]) -> FloatArray:
        # A rule without conditions has all bits, also those that only fill up the last word.
        n_examples = self.covered.shape[1]
        count = np.bitwise_count(bits).sum(axis=-1, dtype=np.intp)
        share: FloatArray = np.minimum(count, n_examples) / n_examples
        return share


class Sampler(Protocol):
    """Where samples around some inputs come from, and what the model says to them."""

    @property
    def name(self) -> str:
        """For people: how inputs are changed."""

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each input."""

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""

    def classes(self) -> IndexArray:
        """The predicted class of each input itself."""

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each input."""


# ---- Texts in which words are missing


class Removals(SamplePool):
    """Which of a text's distinct words are there, in every sample."""

    def __init__(self, n_features: int, change: float, seed: int, *about: str | int) -> None:
        super().__init__(seed, *about)
        self.n_features = n_features
        self.change = change

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next samples: every word is there or not, independently of the others."""
        there: BoolArray = rng.random((BLOCK, self.n_features), dtype=np.float32) >= self.change
        return there


class RemovedWords:
    """Texts with words missing."""

    name = "words left out"

    def __init__(self, model: Model, texts: Sequence[str], change: float, seed: int) -> None:
        self.model = model
        self.texts = texts
        self.path = path_for(model)
        self.prepared = self.path.prepare(texts)
        self._costs = [(0, 0)] * len(texts)
        self.near = []
        for place, (text, ready) in enumerate(zip(texts, self.prepared, strict=True)):
            features = ready.features
            search, fresh = (
                Removals(len(features), change, seed, "anchor", "removed", about, text)
                for about in ("search", "fresh")
            )
            self.near.append(Neighbourhood(place, features, features, search, fresh, fresh.holds(BLOCK).T))

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each text."""
        return self.near

    def classes(self) -> IndexArray:
        """The predicted class of each text itself."""
        predicted: IndexArray = self.model.predict_proba(self.texts).argmax(axis=1)
        return predicted

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each text."""
        return self._costs

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""
        masks = (Masks.from_columns(_present(ask)) for ask in asks)
        found: list[IndexArray] = []
        answers = self.path.evaluate([self.prepared[ask.place] for ask in asks], masks)
        for ask, answer in zip(asks, answers, strict=True):
            rows, calls = self._costs[ask.place]
            self._costs[ask.place] = (rows + answer.rows, calls + answer.calls)
            found.append(answer.probabilities.argmax(axis=1))
        return found


def _present(ask: Ask) -> BoolArray:
    """(features, samples): which words are there, those of a sample's rule always."""
    there = ask.pool.holds(int(ask.samples.max(initial=-1)) + 1)[ask.samples]
    return np.ascontiguousarray((there | ask.stays).T)


# ---- Texts in which words are replaced


class Replacements(SamplePool):
    """Versions of a text; a feature holds in a version if none of its places has another word."""

    def __init__(self, candidates: Candidates, wanted: Distribution, seed: int, *about: str | int) -> None:
        super().__init__(seed, *about)
        self.candidates = candidates
        self.wanted = wanted
        words = candidates.options.words
        number = {word: place for place, word in enumerate(words.distinct)}
        feature_of_place = np.array([number[word] for word in words.words], dtype=np.intp)
        # Which feature each option replaces.
        self.feature_of = feature_of_place[candidates.options.places]
        self.versions: Versions | None = None

    def draw(self, rng: np.random.Generator) -> BoolArray:
        """The next versions, and which distinct words each leaves as they are."""
        if not self.candidates.options.after:
            return np.ones((BLOCK, len(self.candidates.options.words.distinct)), dtype=np.bool_)
        drawn = join(list(sample_versions(self.candidates, self.wanted, BLOCK, rng)))
        self.versions = drawn if self.versions is None else join([self.versions, drawn])
        holds = np.ones((BLOCK, len(self.candidates.options.words.distinct)), dtype=np.bool_)
        holds[np.repeat(np.arange(BLOCK), drawn.edits), self.feature_of[drawn.chosen]] = False
        return holds

    def under(self, stays: BoolArray, samples: IndexArray) -> Versions:
        """Some versions, in each of which the words that stay are the text's own."""
        self.holds(int(samples.max(initial=-1)) + 1)
        assert self.versions is not None
        some = self.versions.select(samples)
        version = np.repeat(np.arange(len(samples)), some.edits)
        kept = ~stays[version, self.feature_of[some.chosen]]
        starts = np.concatenate([[0], np.cumsum(kept)])[some.starts]
        return Versions(some.options, starts, some.chosen[kept])


class SimilarWords:
    """Texts with words replaced by their neighbours in a vector space."""

    name = "words replaced by similar ones"

    def __init__(
        self, model: Model, texts: Sequence[str], thesaurus: Thesaurus, wanted: Distribution, seed: int
    ) -> None:
        self.model = model
        self.texts = texts
        self._costs = [(0, 0)] * len(texts)
        self.near: list[Neighbourhood] = []
        self._candidates = [thesaurus.candidates(split_words(text), wanted.top) for text in texts]
        # A bag of words is asked in its own columns, a network by numbers of words; a text at a time.
        self._askers = [row_asker(model, candidates.options) for candidates in self._candidates]
        for place, candidates in enumerate(self._candidates):
            words = candidates.options.words
            search, fresh = (
                Replacements(candidates, wanted, seed, "anchor", "similar", about, words.text)
                for about in ("search", "fresh")
            )
            covered = fresh.holds(BLOCK).T
            self.near.append(Neighbourhood(place, words.distinct, words.distinct, search, fresh, covered))

    def neighbourhoods(self) -> list[Neighbourhood]:
        """One for each text."""
        return self.near

    def classes(self) -> IndexArray:
        """The predicted class of each text itself."""
        predicted: IndexArray = self.model.predict_proba(self.texts).argmax(axis=1)
        return predicted

    def costs(self) -> list[tuple[int, int]]:
        """Rows and calls so far, for each text."""
        return self._costs

    def predict(self, asks: Sequence[Ask]) -> list[IndexArray]:
        """The predicted class of every sample of each question."""
        waiting: list[tuple[int, Versions]] = []
        inverses = []
        for ask in asks:
            assert isinstance(ask.pool, Replacements)
            versions = ask.pool.under(ask.stays, ask.samples)
            first, inverse = versions.distinct()
            waiting.append((ask.place, versions.select(first)))
            inverses.append(inverse)
        return [classes[inverse] for classes, inverse in zip(self._ask(waiting), inverses, strict=True)]

    def _ask(self, waiting: list[tuple[int, Versions]]) -> list[IndexArray]:
        """The predicted classes of all versions of some texts, in few calls."""
        classes: list[IndexArray] = []
        texts: list[str] = []
        for place, versions in waiting:
            asker = self._askers[place]
            if asker is not None:
                step = at_a_time(len(versions.options.words))
                parts = [asker(part) for part in versions.blocks(step)]
                classes.append(np.concatenate([part.argmax(axis=1) for part in parts]) if parts else _NONE)
                self._count(place, len(versions), len(parts))
            else:
                texts += build_texts(versions)
        if not texts:
            return classes or [_NONE for _ in waiting]
        predicted, calls = self._in_batches(texts)
        ends = np.cumsum([len(versions) for _, versions in waiting])
        for (place, versions), end in zip(waiting, ends.tolist(), strict=True):
            first = end - len(versions)
            self._count(place, len(versions), len(np.unique(calls[first:end])))
        return np.split(predicted, ends[:-1])

    def _in_batches(self, texts: list[str]) -> tuple[IndexArray, IndexArray]:
        """The predicted class of each text, and in which call it was asked for; calls are of bounded size."""
        lengths = np.cumsum([len(text) for text in texts])
        calls = np.maximum(np.arange(len(texts)) // MAX_ROWS, lengths // (4 * PACK_CELLS))
        predicted = np.empty(len(texts), dtype=np.intp)
        for call in np.unique(calls).tolist():
            places = np.flatnonzero(calls == call)
            answers: FloatArray = self.model.predict_proba(texts[places[0] : places[-1] + 1])
            predicted[places] = answers.argmax(axis=1)
        return predicted, calls

    def _count(self, place: int, rows: int, calls: int) -> None:
        before = self._costs[place]
        self._costs[place] = (before[0] + rows, before[1] + calls)


_NONE: IndexArray = np.empty(0, dtype=np.intp)
