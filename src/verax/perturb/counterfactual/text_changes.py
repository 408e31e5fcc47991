"""Counterfactual texts: words replaced by similar words, and the prediction stays or flips as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.data.vectors import WordVectors
from verax.data.words import Words, split_words
from verax.models.base import Model
from verax.models.wrappers import check_texts
from verax.perturb.counterfactual.changes import (
    Counterfactual,
    Goal,
    WordChange,
    agreed_classes,
    check_request,
    predicted_classes,
)
from verax.perturb.counterfactual.language import Language, likeliest, likely_candidates, version_likelihoods
from verax.perturb.counterfactual.text_versions import Versions, build_texts, join, predict_versions
from verax.perturb.counterfactual.thesaurus import Candidates, Thesaurus
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS
from verax.seeds import stream


@dataclass(frozen=True)
class Distribution:
    """How words are replaced.

    Attributes:
        change: the probability of each editable word to be replaced.
        top: its replacement is drawn among this many neighbours.
        temperature: a neighbour is drawn with probability proportional to ``similarity ** (1 / temperature)``, as in
            the code of Ribeiro et al. (2018); similarities of zero and below are never drawn.
    """

    change: float
    top: int
    temperature: float


def distribution(n_words: int, attempt: int = 0) -> Distribution:
    """The published values: words of longer texts change less, and each failed attempt draws more widely."""
    return Distribution(
        change=min(1.0, 0.25 - min(0.005 * n_words, 0.15) + 0.05 * attempt),
        top=100 + 10 * attempt,
        temperature=0.4 * (attempt + 1),
    )


def counterfactual_texts(
    model: Model,
    texts: Sequence[str],
    flips: Sequence[bool],
    vectors: WordVectors,
    *,
    others: Sequence[Model] = (),
    language: Language | None = None,
    samples: int = 10_000,
    most_edits: int = 5,
    attempts: int = 10,
    seed: int = 0,
) -> list[Counterfactual | None]:
    """For each text a version with some words replaced, whose prediction flips or stays.

    Hase and Bansal (2020, A.2), with the values of their code (:func:`distribution`): an attempt draws ``samples``
    versions. Among the distinct ones with the wanted prediction, one with at most ``most_edits`` replaced words is
    chosen at random, or one with the fewest if there is none with so few. If no version has the wanted prediction, the
    next attempt draws more widely. A result depends on its own text and the seed, never on the other texts.

    Args:
        model: a model of texts.
        texts: the originals.
        flips: for each text whether the prediction is to be another class than the original's, or the same.
        vectors: where similar words are found: :func:`verax.data.vectors.train_vectors` or ``read_vectors``.
        others: models that must predict the same class for a version as ``model`` does.
        language: of the texts that the model was trained on (``Language.of``). With it words that do not fit between
            their neighbours are not used, and the version is drawn among the likeliest; without it, as published, among
            all.
        samples: how many versions an attempt draws.
        most_edits: how many words are replaced at most, where possible.
        attempts: how often to draw before giving up.
        seed: of all draws.

    Returns:
        One result per text, in order; None where every attempt failed, as for a text without an editable word.
    """
    texts = check_texts(texts)
    numbers = {"samples": samples, "most_edits": most_edits, "attempts": attempts}
    check_request(model, "text", len(texts), flips, numbers)
    thesaurus = Thesaurus.from_vectors(vectors)
    return [
        _find(
            (model, *others),
            split_words(text),
            thesaurus,
            Goal(prediction, bool(flip), most_edits),
            language,
            samples,
            attempts,
            seed,
        )
        for text, flip, prediction in zip(texts, flips, predicted_classes(model, texts), strict=True)
    ]


def sample_versions(
    candidates: Candidates, wanted: Distribution, samples: int, rng: np.random.Generator
) -> Iterator[Versions]:
    """Draws versions of a text, at most ``MAX_ROWS`` at a time; those in which nothing changed are there too.

    One random number decides on each place: whether it changes, and if so to which of its candidates.
    """
    cumulative, lasts = _cumulative(candidates, wanted.temperature)
    step = max(1, min(MAX_ROWS, BLOCK_CELLS // max(1, len(lasts))))
    for first in range(0, samples, step):
        drawn = rng.random((min(step, samples - first), len(lasts)))
        versions, places = np.nonzero(drawn < wanted.change)
        shares = drawn[versions, places] / wanted.change
        chosen = np.searchsorted(cumulative, places + shares, side="right")
        # The sum of a place and a share just below 1 may round up to the next place.
        chosen = np.minimum(chosen, lasts[places])
        edits = np.bincount(versions, minlength=len(drawn))
        yield Versions(candidates.options, np.concatenate([[0], np.cumsum(edits)]), chosen)


def _cumulative(candidates: Candidates, temperature: float) -> tuple[FloatArray, IndexArray]:
    """For the p-th place, p plus the cumulative probabilities of its candidates; and each place's last candidate."""
    _, starts = np.unique(candidates.options.places, return_index=True)
    ends = np.append(starts, len(candidates.similarities))[1:]
    weights = candidates.similarities ** (1.0 / temperature)
    cumulative = np.empty_like(weights)
    for number, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        sums = np.cumsum(weights[start:end])
        cumulative[start:end] = number + sums / sums[-1]
    return cumulative, ends - 1


def _find(
    models: Sequence[Model],
    words: Words,
    thesaurus: Thesaurus,
    goal: Goal,
    language: Language | None,
    samples: int,
    attempts: int,
    seed: int,
) -> Counterfactual | None:
    """Draws until a version is as wanted, by all models, and chooses one."""
    for attempt in range(attempts):
        wanted = distribution(len(words), attempt)
        candidates = thesaurus.candidates(words, wanted.top)
        if not candidates.options.after:
            return None
        scores: FloatArray | None = None
        if language is not None:
            likely = likely_candidates(candidates, language, attempt)
            candidates, scores = likely.candidates, likely.likelihoods
            if not candidates.options.after:
                continue
        rng = stream(seed, "counterfactual", words.text, attempt)
        drawn = sample_versions(candidates, wanted, samples, rng)
        asks = [predict_versions(model, candidates.options) for model in models]
        versions, classes = _meeting(drawn, asks, goal)
        if len(versions):
            number = int(rng.integers(len(versions)))
            likelihood = None
            if scores is not None:
                likelihoods = version_likelihoods(versions, scores)
                best = likeliest(likelihoods)
                number = int(best[int(rng.integers(len(best)))])
                likelihood = float(likelihoods[number])
            chosen = versions.select(np.array([number]))
            return Counterfactual(
                original=words.text,
                perturbed=build_texts(chosen)[0],
                changes=_changes(chosen),
                prediction=goal.prediction,
                perturbed_prediction=int(classes[number]),
                attempts=attempt + 1,
                likelihood=likelihood,
            )
    return None


def _meeting(
    drawn: Iterable[Versions], asks: Sequence[Callable[[Versions], FloatArray]], goal: Goal
) -> tuple[Versions, IndexArray]:
    """The distinct versions that are as wanted, with few edits if there are such, and their predicted classes."""
    kept, classes = [], []
    for block in drawn:
        distinct = block.select(block.first_places())
        predicted, same = agreed_classes(ask(distinct) for ask in asks)
        distinct, predicted = distinct.select(np.flatnonzero(same)), predicted[same]
        meeting = goal.meeting(predicted, distinct.edits)
        kept.append(distinct.select(meeting))
        classes.append(predicted[meeting])
    versions, predicted = join(kept), np.concatenate(classes)
    # Blocks may share versions, and may differ in the fewest edits.
    places = versions.first_places()
    places = places[goal.meeting(predicted[places], versions.edits[places])]
    return versions.select(places), predicted[places]


def _changes(version: Versions) -> tuple[WordChange, ...]:
    """The edits of a single version; a new word's offset is shifted by the edits before it."""
    options, words = version.options, version.options.words
    changes = []
    shift = 0
    for option in version.chosen.tolist():
        place, after = int(options.places[option]), options.after[option]
        start = words.starts[place] + shift
        changes.append(WordChange(place, start, start + len(after), words.words[place], after))
        shift += len(after) - len(words.words[place])
    return tuple(changes)
