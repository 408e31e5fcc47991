"""Explanations of places and fragments on trial: a stain's words are found wherever they stand."""

import numpy as np

from verax.benchmarks.staining.jobs import score
from verax.explain import Attribution, Fragment, Fragments

TEXT = "the film the plot"


def test_places_of_one_word_count_as_that_word():
    spans = (((0, 3),), ((4, 8),), ((9, 12),), ((13, 17),))
    found = Attribution(
        ("the", "film", "the", "plot"), np.array([1.0, 1.5, 1.0, 0.1]), 1, input=TEXT, spans=spans
    )
    scores = score([found], [["the"]], 1.0)
    assert scores.recall[0][0] == 1.0  # 1 + 1 is more than 1.5
    assert scores.mrr == [1.0]
    assert scores.features == [3]


def test_fragments_count_as_the_words_in_them():
    found = Fragments((Fragment("film the", 2.0, (4, 12)), Fragment("the", 1.0, (0, 3))), (), 1, input=TEXT)
    scores = score([found], [["the"]], 1.0)
    assert scores.mrr == [1.0]  # the: 3, film: 2, plot: 0
    assert scores.recall[0][:2] == [1.0, 1.0]
