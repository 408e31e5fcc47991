"""Blocks as templates get them: names, bars, lists."""

from __future__ import annotations

import pytest
from markupsafe import escape

from verax.studies.bots.page import quotes_on, read_page
from verax.studies.definition.screen import (
    Bars,
    Evidence,
    Excerpt,
    Facts,
    Grid,
    Lines,
    Passage,
    Prose,
    Quote,
    Row,
    Screen,
    Token,
    WordedExplanation,
    class_mark,
)
from verax.studies.display.markup import block_html
from verax.web.participant.step_page import drawn, parted, side_by_side
from web.gallery import at, draw_step

NAMES = ("red", "blue")
ONE = class_mark(1)


def test_classes_get_the_participants_names_wherever_the_study_speaks():
    assert drawn(Prose((f"It is {ONE}.",), f"On {ONE}"), NAMES) == Prose(("It is blue.",), "On blue")
    assert drawn(Facts(((f"Is it {ONE}?", ONE),)), NAMES) == Facts((("Is it blue?", "blue"),))
    assert drawn(Evidence(("so",), f"For {ONE}"), NAMES).title == "For blue"
    assert drawn(Row((), legend=f"Dark is {ONE}"), NAMES).legend == "Dark is blue"


def test_the_words_of_an_input_stay_as_they_are():
    """A text may hold anything; only what the study itself says of classes is replaced."""
    tokens = (Token(f"odd{ONE}"),)
    assert drawn(Passage(tokens), NAMES).tokens == tokens
    quoted = drawn(Quote(f"if {ONE}", f"On {ONE}", f"Dark is {ONE}"), NAMES)
    assert quoted == Quote(f"if {ONE}", "On blue", "Dark is blue")
    excerpt = Excerpt(((f"odd{ONE} ", False), (ONE, True)))
    assert drawn(WordedExplanation((excerpt,)), NAMES).parts == (excerpt,)


def test_lines_and_tables_of_an_explanation_name_classes_as_the_participant_does():
    told = WordedExplanation(
        (Lines(f"An example ({ONE}):", f"For {ONE}"), Grid(("Variable",), ((f"Chance of {ONE}", "0.2"),)))
    )
    assert drawn(told, NAMES).parts == (
        Lines("An example (blue):", "For blue"),
        Grid(("Variable",), (("Chance of blue", "0.2"),)),
    )


def test_probabilities_of_classes_are_bars_of_the_whole_width_in_per_cent():
    chart = drawn(Bars(((class_mark(0), 0.25), (ONE, 0.75))), NAMES)
    assert [(bar.name, bar.number, bar.length, bar.sign) for bar in chart.bars] == [
        ("red", "25%", 25.0, 0),
        ("blue", "75%", 75.0, 0),
    ]


def test_scores_are_bars_in_proportion_to_the_largest_with_a_sign():
    chart = drawn(Bars((("warm", 0.5), ("dull", -0.25), ("the", 0.0))), NAMES)
    assert [(bar.number, bar.length, bar.sign) for bar in chart.bars] == [
        ("+0.50", 100.0, 1),
        ("−0.25", 50.0, -1),
        ("+0.00", 0.0, 0),
    ]


def test_scores_that_are_all_zero_have_no_length():
    assert [bar.length for bar in drawn(Bars((("the", 0.0),)), NAMES).bars] == [0.0]


@pytest.mark.parametrize(
    ("kinds", "groups"),
    [
        ("PP", ["PP"]),
        ("PBP", ["PBP"]),
        ("PPPP", ["PPP", "P"]),
        ("SPPS", ["S", "PP", "S"]),
        ("SSEE", ["S", "S", "EE"]),
        ("PQ", ["PQ"]),
    ],
)
def test_what_is_read_together_stands_side_by_side(kinds, groups):
    blocks = {
        "P": Passage(()),
        "S": Prose(()),
        "E": Evidence(()),
        "B": drawn(Bars(()), NAMES),
        "Q": Quote(""),
    }
    letters = {block.type: letter for letter, block in blocks.items()}
    found = list(side_by_side([blocks[kind] for kind in kinds]))
    assert ["".join(letters[block.type] for block in group) for group in found] == groups


def test_what_the_model_said_stands_above_what_explains_it():
    said, answer, text = Prose(("Read.",)), Facts((("The model's answer", ONE),)), Passage(())
    probable, scores = Bars(((class_mark(0), 0.25), (ONE, 0.75))), Bars((("warm", 0.5),))
    outputs, others = parted([drawn(block, NAMES) for block in (said, text, scores, answer, probable)])
    assert [block.type for block in outputs] == ["facts", "bars"]
    assert [block.type for block in others] == ["prose", "passage", "bars"]


def test_paragraphs_that_begin_with_a_dash_become_one_list():
    html = block_html(("One", "- a", "- b", "Two", "- c"), lambda _name: "")
    assert html == "<p>One</p><ul><li>a</li><li>b</li></ul><p>Two</p><ul><li>c</li></ul>"


def test_a_text_within_an_explanation_stands_on_the_page_as_it_is():
    """With its tab, its line break and its own stars; only what was changed is bold, and only a table is a table."""
    text = "a **warm**\tand\n<b>odd</b> "
    screen = Screen(
        "Why?", (WordedExplanation((Lines("Edits:", "Step 1"), Excerpt(((text, False), ("film", True))))),)
    )
    html = draw_step(at(screen))
    assert f"{escape(text)}<strong>**film**</strong></p>" in html
    assert "<table" not in html
    assert "<h3>Step 1</h3>" in html
    assert list(read_page(html).quotes) == ["Step 1 Edits: a **warm** and <b>odd</b> **film**"]
    assert list(read_page(html).quotes) == list(quotes_on(screen))
