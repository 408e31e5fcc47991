"""Explanations in words: what is said is true, and what is 0 but for rounding is not listed."""

from __future__ import annotations

import numpy as np

from verax.explain import Attribution, Exemplar
from verax.explain.description import describe, weights


def test_a_score_that_is_nothing_but_rounding_is_not_listed():
    names = ("age", "const", "hours", "job")
    scores = Attribution(names, np.array([-0.25, 3e-17, 0.5, 1e-6]), 1, "yes", input=names)
    assert weights(scores) == [("hours", 0.5), ("job", 1e-6), ("age", -0.25)]
    # The scale is that of the scores themselves: where all are tiny, tiny ones count.
    tiny = Attribution(names, np.array([1e-12, 0.0, -2e-12, 1e-22]), 1, "yes", input=names)
    assert weights(tiny) == [("age", 1e-12), ("hours", -2e-12)]
    assert weights(Attribution(names, np.zeros(4), 1, "yes", input=names)) == []


def test_a_prototype_is_the_most_similar_of_those_with_its_label_and_no_more_is_said():
    exemplar = Exemplar(("dull",), np.array([0.5]), 0.9, "Routine.", "negative", 0, "negative", "dull")
    assert describe(exemplar)[0].text == "Most similar prototype with the label 'negative':"
    assert "The most similar prototype with the label &#x27;negative&#x27;" in exemplar._repr_html_()
