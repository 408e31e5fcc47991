"""Fragments as features, and places as words."""

import numpy as np

from verax.explain import Attribution, Fragment, Fragments, Written
from verax.explain.explanation import by_word

TEXT = "not good , but the story is good"


def at_places(scores):
    words = TEXT.replace(",", " ").split()
    starts, end = [], 0
    for word in words:
        starts.append(TEXT.index(word, end))
        end = starts[-1] + len(word)
    spans = tuple(((start, start + len(word)),) for start, word in zip(starts, words, strict=True))
    return Attribution(tuple(words), np.array(scores, dtype=float), 1, "yes", TEXT, spans)


def test_the_places_of_a_word_are_added_up():
    found = by_word(at_places([-2, -1, 0, 0, 0.5, 0, 4]))
    assert found.features == ("not", "good", "but", "the", "story", "is")
    assert found.scores.tolist() == [-2, 3, 0, 0, 0.5, 0]
    assert found.spans is None


def test_distinct_words_and_columns_stay():
    words = Attribution(("not", "good"), np.array([1.0, 2.0]), 1, input="not good")
    row = Attribution(("Age",), np.array([1.0]), 1, input=("Age = 3",))
    assert by_word(words) is words
    assert by_word(row) is row


def test_fragments_are_features_where_they_stand():
    found = Fragments(
        (Fragment("the story is good", 2.0, (15, 32)), Fragment("story is", 1.0, (19, 27))),
        (Fragment("not good", -3.0, (0, 8)),),
        1, "yes", TEXT,
    )  # fmt: skip
    scored = found.as_attribution()
    assert scored.features == ("the story is good", "story is", "not good")
    assert scored.scores.tolist() == [2.0, 1.0, -3.0]
    assert scored.spans == (((15, 32),), ((19, 27),), ((0, 8),))
    words = by_word(found)
    assert dict(zip(words.features, words.scores.tolist(), strict=True)) == {
        "not": -3.0, "good": -1.0, "but": 0.0, "the": 2.0, "story": 3.0, "is": 3.0
    }  # fmt: skip


def test_fragments_of_a_row_have_no_places():
    found = Fragments((Fragment("Age = 3", 1.0),), (), 1, input=("Age = 3", "Job = cook"))
    assert found.as_attribution().spans is None
    assert by_word(found).features == ("Age = 3",)


def test_what_has_no_scores_is_none():
    assert Written(("Because.",), 1).as_attribution() is None
    assert by_word(Written(("Because.",), 1)) is None
