"""Scores of places and of n-grams as scores of words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace

import numpy as np

from verax.data.words import split_words
from verax.explain.explanation import Attribution, Explanation


def by_word(explanation: Explanation) -> Attribution | None:
    """Scores of a text's distinct words: what is scored at a word's places, or in n-grams with it, is added up.

    Rows of tables, and scores that are of distinct words already, stay as they are. None if there are no scores.
    """
    scored = explanation.as_attribution()
    if scored is None or scored.spans is None or not isinstance(scored.input, str):
        return scored
    words = split_words(scored.input)
    number = {word: place for place, word in enumerate(words.distinct)}
    sums = np.zeros(len(number))
    for score, spans in zip(scored.scores.tolist(), scored.spans, strict=True):
        for start, end in spans:
            for place in range(bisect_right(words.ends, start), bisect_left(words.starts, end)):
                sums[number[words.words[place]]] += score
    return replace(scored, features=words.distinct, scores=sums, spans=None)
