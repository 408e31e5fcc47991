"""Samples around a text in which words are replaced by similar ones, as counterfactual inputs have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.words import split_words
from verax.explain.anchor.pools import BLOCK, Ask, Neighbourhood, Pool
from verax.models.base import Model
from verax.perturb.counterfactual.text_changes import Distribution, sample_versions
from verax.perturb.counterfactual.text_versions import Versions, at_a_time, build_texts, join, row_asker
from verax.perturb.counterfactual.thesaurus import Candidates, Thesaurus
from verax.perturb.masks import MAX_ROWS, PACK_CELLS


class Replacements(Pool):
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
