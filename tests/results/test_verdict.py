"""The verdict's form: where things are drawn, what is written, and what a terminal shows."""

from __future__ import annotations

import re

import pytest

from verax.reporting.explanations import page_environment
from verax.results.tables import verdict_lines
from verax.results.verdict import Judged, Reference, Verdict

FOUND = Verdict(
    sentence="lime finds the planted reasons (88.0%; chance 26.0%); random does not.",
    judged=(
        Judged("lime", "yes", "finds them", 88.0, 80.0, 93.0),
        Judged("random", "no", "does not", 26.0, 20.0, 33.0),
        Judged("<shap>", "open", "too few stains", 70.0),
    ),
    measure="planted reasons found, per cent",
    rests_on=("20 stains of 9 words.",),
    reference=Reference("chance", 26.0),
    ends=(0.0, 100.0),
)


def rendered(verdict):
    source = '{% from "verdict.html" import verdict_block %}{{ verdict_block(verdict) }}'
    return page_environment().from_string(source).render(verdict=verdict)


def test_numbers_lie_where_the_axis_says():
    assert [FOUND.place(number) for number in (0, 26, 100)] == [0, 26, 100]
    assert [FOUND.place(number) for number in (-5, 120)] == [0, 100]
    free = Verdict(
        "", (Judged("a", "open", "", 5.0, -10.0, 20.0),), "points", reference=Reference("none", 0.0)
    )
    low, high = free.axis
    assert low < -10 < 20 < high
    assert free.place(5.0) == pytest.approx(50.0)
    assert Verdict("", (), "points").axis[0] < Verdict("", (), "points").axis[1]
    same = Verdict("", (Judged("a", "open", "", 5.0),), "points")
    assert same.place(5.0) == 50.0


def test_a_number_without_an_interval_is_written_and_drawn_without_one():
    shap = FOUND.judged[2]
    assert FOUND.written(shap) == "70.0"
    assert FOUND.written(FOUND.judged[0]) == "88.0 [80.0, 93.0]"
    page = rendered(FOUND)
    assert page.count('class="reach"') == 2
    assert page.count('class="dot"') == 3
    assert "left:80.0%;width:13.0%" in page
    gained = Verdict("", (Judged("a", "yes", "", 5.0, -1.0, 11.0),), "points", differences=True)
    assert gained.written(gained.judged[0]) == "+5.0 [−1.0, 11.0]"
    assert Verdict("", (), "").written(Judged("a", "open", "", None)) == "–"


def test_the_page_says_everything_in_words_too():
    page = rendered(FOUND)
    text = re.sub(r"<[^>]+>", "", page)
    for words in (
        "finds them",
        "does not",
        "too few stains",
        "20 stains of 9 words.",
        "chance (26.0)",
        "95% intervals",
    ):
        assert words in text
    assert "&lt;shap&gt;" in page
    alone = rendered(
        Verdict("One stain: nothing is claimed.", (Judged("a", "open", "one stain", 50.0),), "recall")
    )
    assert "95% intervals" not in alone


def test_the_terminal_has_the_sentence_first_and_aligned_lines():
    lines = verdict_lines(FOUND)
    assert lines[0] == FOUND.sentence
    assert lines[2] == "  ✓ lime    88.0 [80.0, 93.0]  finds them"
    assert lines[4] == "  ? <shap>  70.0               too few stains"
    assert lines[5] == "  (planted reasons found, per cent, with 95% intervals; chance: 26.0)"
    assert lines[-1] == "20 stains of 9 words."
    assert verdict_lines(Verdict("Nothing ran.", (), "recall")) == ["Nothing ran.", ""]
