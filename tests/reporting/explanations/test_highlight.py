"""Marks and segments by hand, and the law that the segments of a text, joined, are the text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.data.words import split_words
from verax.explain import Attribution
from verax.reporting.comparison import marks, ranked, segments


def explained(text, scores, features=None, spans=None):
    features = split_words(text).distinct if features is None else features
    return Attribution(tuple(features), np.array(scores, dtype=float), 1, input=text, spans=spans)


def shown(attribution, top=None):
    return [(piece.text, piece.mark.score if piece.mark else None) for piece in segments(attribution, top)]


@pytest.mark.parametrize(
    ("score", "level"),
    [(1.0, 5), (-1.0, 5), (0.9, 5), (0.89, 4), (0.5, 3), (0.3, 2), (-0.1, 1), (0.099, 0), (0.0, 0)],
)
def test_level_is_the_score_in_fifths_of_the_largest_rounded_half_up(score, level):
    attribution = explained("one two", [1.0, score])
    assert marks(attribution)[1].level == level


def test_all_zero_scores_bear_no_mark():
    attribution = explained("one two", [0.0, 0.0])
    assert [mark.level for mark in marks(attribution)] == [0, 0]
    assert shown(attribution) == [("one two", None)]


def test_sign_rank_and_the_two_strongest():
    found = marks(explained("a b c d", [0.2, -1.0, 0.6, 0.01]))
    assert [mark.sign for mark in found] == [1, -1, 1, 1]
    assert [mark.rank for mark in found] == [3, 1, 2, 4]
    assert [mark.strong for mark in found] == [False, True, True, False]


def test_an_unmarked_feature_is_not_strong_even_at_rank_two():
    assert [mark.strong for mark in marks(explained("a b", [1.0, 0.01]))] == [True, False]


def test_ranked_starts_with_the_strongest():
    attribution = explained("a b c", [0.2, -1.0, 0.6])
    assert [mark.feature for mark in ranked(attribution, 2)] == ["b", "c"]


def test_every_occurrence_of_a_word_is_marked_and_case_matters():
    attribution = explained("So good, so good!", [0.0, 1.0, -0.5])
    assert shown(attribution) == [
        ("So ", None),
        ("good", 1.0),
        (", ", None),
        ("so", -0.5),
        (" ", None),
        ("good", 1.0),
        ("!", None),
    ]


def test_only_the_strongest_are_marked_if_so_asked():
    assert shown(explained("a b c", [0.5, -1.0, 0.6]), top=1) == [("a ", None), ("b", -1.0), (" c", None)]


def test_where_spans_overlap_the_strongest_wins_and_no_mark_starts_with_a_space():
    text = "a fairy tale that"
    spans = (((0, 7),), ((2, 12),), ((8, 17),))
    attribution = explained(text, [0.4, -1.0, 0.6], ("a fairy", "fairy tale", "tale that"), spans)
    assert shown(attribution) == [("a", 0.4), (" ", None), ("fairy tale", -1.0), (" ", None), ("that", 0.6)]


def test_a_feature_that_the_text_lacks_is_ranked_but_stands_nowhere():
    attribution = explained("good film", [1.0, 0.5], ("good", "absent"))
    assert shown(attribution) == [("good", 1.0), (" film", None)]
    assert [mark.feature for mark in ranked(attribution)] == ["good", "absent"]


def test_a_row_has_one_segment_per_column_with_its_value():
    row = ("Age = 37", "28.00 < Hours <= 40.00", "Sex = Male")
    attribution = Attribution(("Age", "Hours", "Sex"), np.array([0.5, -1.0, 0.0]), 0, input=row)
    assert shown(attribution) == [(row[0], 0.5), (row[1], -1.0), (row[2], None)]
    assert [mark.feature for mark in marks(attribution)] == list(row)


def test_a_feature_that_says_more_than_its_column_keeps_its_words():
    attribution = Attribution(("28.00 < Age <= 40.00",), np.array([1.0]), 0, input=("Age = 37",))
    assert marks(attribution)[0].feature == "28.00 < Age <= 40.00"


def test_huge_and_tiny_scores_have_levels():
    assert [mark.level for mark in marks(explained("a b", [1.7e308, -1.7e308]))] == [5, 5]
    assert [mark.level for mark in marks(explained("a b", [5e-324, 0.0]))] == [5, 0]


@given(st.text(max_size=60), st.data())
def test_segments_joined_are_the_text(text, data):
    words = split_words(text).distinct
    scores = data.draw(st.lists(st.floats(-5, 5), min_size=len(words), max_size=len(words)))
    pieces = segments(explained(text, scores, words))
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45), st.floats(-1, 1)), max_size=6),
)
def test_segments_of_any_spans_joined_are_the_text_and_marks_lie_inside_their_spans(text, drawn):
    spans = tuple(((min(start, end), max(start, end)),) for start, end, _ in drawn)
    features = tuple(f"f{number}" for number in range(len(drawn)))
    pieces = segments(explained(text, [score for *_, score in drawn], features, spans))
    assert "".join(piece.text for piece in pieces) == text
    place = 0
    for piece in pieces:
        if piece.mark is not None:
            ((start, end),) = spans[features.index(piece.mark.feature)]
            assert start <= place
            assert place + len(piece.text) <= end
        place += len(piece.text)
