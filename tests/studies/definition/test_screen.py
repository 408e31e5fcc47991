"""Screens as plain data, and class names put in their places."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.codec import encode
from verax.errors import VeraxError
from verax.studies.definition.screen import (
    Bars,
    Cell,
    Evidence,
    Excerpt,
    Facts,
    Grid,
    Lines,
    Option,
    Passage,
    Prose,
    Question,
    Quote,
    Row,
    Screen,
    Token,
    WordedExplanation,
    class_mark,
    read_screen,
    with_names,
)

words = st.text(max_size=8)
pairs = st.tuples(words, words)
numbers = st.floats(allow_nan=False, allow_infinity=False)
levels, signs = st.integers(0, 4), st.sampled_from([-1, 0, 1])
tokens = st.builds(Token, words, st.booleans(), levels, signs, st.booleans())
cells = st.builds(Cell, words, words, levels, signs, st.booleans())


def few(thing):
    return st.lists(thing, max_size=3).map(tuple)


tellings = st.one_of(
    st.builds(Lines, words, words),
    st.builds(Excerpt, few(st.tuples(words, st.booleans()))),
    st.builds(Grid, few(words), few(few(words))),
)
blocks = st.one_of(
    st.builds(Prose, few(words), words),
    st.builds(Passage, few(tokens), words, words),
    st.builds(Row, few(cells), words, words),
    st.builds(Facts, few(pairs), words),
    st.builds(Evidence, few(words), words),
    st.builds(Bars, few(st.tuples(words, numbers)), words, words),
    st.builds(Quote, words, words, words),
    st.builds(WordedExplanation, few(tellings), words, words),
)
options = st.builds(Option, words, st.one_of(words, st.integers(), numbers))
questions = st.builds(
    Question,
    words,
    words,
    st.sampled_from(["choice", "scale", "text"]),
    few(options),
    words,
    words,
    st.booleans(),
)
screens = st.builds(Screen, words, few(blocks), few(questions), words, words)


@given(screens)
def test_a_screen_survives_its_way_through_json(screen):
    assert read_screen(json.loads(json.dumps(encode(screen)))) == screen


def test_a_block_of_an_unknown_type_is_refused():
    data = encode(Screen("heading", (Prose(("text",)),)))
    data["blocks"][0]["type"] = "film"
    with pytest.raises(
        VeraxError, match=r"a screen.blocks\[0\] has the type 'film', which is none of 'prose', 'passage'"
    ):
        read_screen(data)


def test_every_mark_becomes_the_participants_name():
    text = f"{class_mark(1)} or {class_mark(0)}, then {class_mark(1)}; not {class_mark(11)}"
    assert with_names(text, ["A", "B"]) == "B or A, then B; not ⟦11⟧"
    assert with_names(text, ["A", "B", *"xxxxxxxxx", "L"]) == "B or A, then B; not L"


def test_marks_of_different_classes_are_not_part_of_each_other():
    marks = [class_mark(number) for number in range(120)]
    assert all(one == other or one not in other for one in marks for other in marks)


def test_a_study_that_was_built_when_tables_were_lines_with_tabs_shows_what_it_showed():
    text = "Example (⟦1⟧):\n\tVariable\tExample\nAge\tup to 28\n\nImportant:\nAge\t+0.10\nThat is all."
    stored = {"type": "quote", "text": text, "title": "t", "legend": "l", "names_classes": True}
    screen = {"heading": "h", "blocks": [stored], "questions": [], "echo": "", "button": "b"}
    assert read_screen(screen).blocks == (
        WordedExplanation(
            (
                Lines("Example (⟦1⟧):"),
                Grid(("Variable", "Example"), (("Age", "up to 28"),)),
                Lines("Important:"),
                Grid((), (("Age", "+0.10"),)),
                Lines("That is all."),
            ),
            "t",
            "l",
        ),
    )
    stored["names_classes"] = False  # what somebody else wrote stays as it is
    assert read_screen(screen).blocks == (Quote(text, "t", "l"),)
