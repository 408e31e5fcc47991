"""Tokenised texts as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.data.words import WORD, split_words
from verax.studies.display.readable import readable, readable_gaps
from verax.studies.display.stimulus import text_tokens


@pytest.mark.parametrize(
    ("tokenised", "written"),
    [
        ("do n't waste your money , he said .", "don't waste your money, he said."),
        ("it 's ( caine ) again", "it's (caine) again"),
        ('the actors help " moonlight mile " rise .', 'the actors help "moonlight mile" rise.'),
        ("`` so '' , he said .", '"so", he said.'),
        (
            "a $1 . 8 million charmer . . . and 1 , 000 laughs !",
            "a $1.8 million charmer... and 1,000 laughs!",
        ),
        ("in 2001 , 30 people came .", "in 2001, 30 people came."),
        ("a little weak -- and not funny .", "a little weak -- and not funny."),
        ("too long , too \x97 cutesy .", "too long, too — cutesy."),
        ("book , which", "book, which"),
    ],
)
def test_a_tokenised_text_reads_as_people_write(tokenised, written):
    assert readable(tokenised) == written


@pytest.mark.parametrize(
    "text", ["", "Fine already, isn't it?", 'He said: "Yes (no)."', "a\n\nb", "wait...", "3 - 2 = 1"]
)
def test_other_texts_stay_as_they_are(text):
    assert readable(text) == text


ALPHABET = st.sampled_from(
    [
        "a",
        "do",
        "n't",
        "n",
        "'s",
        "t",
        "8",
        "000",
        " ",
        "\n",
        ",",
        ".",
        '"',
        "'",
        "(",
        ")",
        "``",
        "''",
        "$",
        "-",
        "é",
    ]
)
TEXTS = (
    st.lists(ALPHABET, max_size=25).map("".join) | st.lists(ALPHABET, max_size=25).map(" ".join) | st.text()
)


@given(TEXTS)
def test_no_word_is_changed_lost_or_moved(text):
    """And what is not a word loses or gains nothing but spaces, but for the two quotation marks of the Treebank."""
    words = split_words(text).words
    gaps = readable_gaps(text, WORD.split(text), words)
    assert len(gaps) == len(words) + 1
    assert not any(WORD.search(gap) for gap in gaps)

    for gap, plain in zip(gaps, WORD.split(text), strict=True):
        if not any(
            "\x80" <= letter <= "\x9f" for letter in plain
        ):  # Windows' bytes are read as what they were
            assert _marks(gap) == _marks(plain)


def _marks(gap: str) -> str:
    return "".join(gap.split()).replace("``", "''").replace('"', "''")


@given(TEXTS, st.lists(st.tuples(st.integers(0, 40), st.integers(1, 8), st.integers(1, 4)), max_size=4))
def test_spans_mark_the_same_words_as_in_the_text_as_it_was(text, drawn):
    marks = [((start, start + size), (level, 0)) for start, size, level in drawn]
    changed = [span for span, (level, _) in marks if level == 4]
    tokens = [token for token in text_tokens(text, marks, changed) if token.word]
    places = split_words(text).places
    assert [token.text for token in tokens] == [text[start:end] for start, end in places]
    for token, (start, end) in zip(tokens, places, strict=True):
        touching = [level for (first, last), (level, _) in marks if first < end and start < last]
        assert token.level == max(touching, default=0)
        assert token.changed == (4 in touching)
