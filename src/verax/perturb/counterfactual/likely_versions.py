"""Versions of a text that read like language: no unlikely words, and of many versions the likeliest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.perturb.counterfactual.language import Language, likelihoods
from verax.perturb.counterfactual.text_versions import Options, Versions
from verax.perturb.counterfactual.thesaurus import Candidates

# Words that are less likely than this, as `Language.change` has it, are not used; each further attempt takes a little
# less likely ones, down to the last limit.
FLOOR, STEP, LAST_FLOOR = -2.5, 0.25, -4.0
# Two changed words next to each other were judged by neighbours that are not there any more.
NEIGHBOURS_COST = 3.0
# Each further changed word is one more that may be wrong.
FURTHER_COST = 0.5
# One is drawn among the likeliest so large a share of the versions, and among so many at least.
BEST_SHARE, FEWEST = 0.05, 5


@dataclass(frozen=True, eq=False)
class LikelyCandidates:
    """Options that read well, with how likely each is."""

    candidates: Candidates
    likelihoods: FloatArray


def likely_candidates(candidates: Candidates, language: Language, attempt: int) -> LikelyCandidates:
    """The options that are likely enough for an attempt, counted from 0."""
    options = candidates.options
    scores = likelihoods(language, options.words, options.places.tolist(), options.after)
    kept = np.flatnonzero(scores >= max(FLOOR - STEP * attempt, LAST_FLOOR))
    after = tuple(options.after[option] for option in kept.tolist())
    fewer = Options(options.words, options.places[kept], after)
    return LikelyCandidates(Candidates(fewer, candidates.similarities[kept]), scores[kept])


def version_likelihoods(versions: Versions, scores: FloatArray) -> FloatArray:
    """How likely each version is: as its least likely word, for one bad word spoils a text; fewer changes are better.

    Args:
        versions: with one edit at least each.
        scores: of the options.
    """
    starts, chosen = versions.starts[:-1], versions.chosen
    worst: FloatArray = np.minimum.reduceat(scores[chosen], starts)
    places = versions.options.places[chosen]
    beside = np.diff(places, prepend=-2) == 1
    beside[starts] = False
    further = versions.edits - 1
    return worst - FURTHER_COST * further - NEIGHBOURS_COST * np.logical_or.reduceat(beside, starts)


def likeliest(likely: FloatArray) -> IndexArray:
    """The places of the best of some versions, the best first."""
    count = max(FEWEST, int(np.ceil(BEST_SHARE * len(likely))))
    order: IndexArray = np.argsort(-likely, kind="stable")[:count]
    return order
