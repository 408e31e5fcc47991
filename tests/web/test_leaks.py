"""Nothing in the HTML tells a class, an item or a condition: only the words and their levels differ."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from verax.studies.definition.screen import Facts, Passage, Row, Screen, class_mark
from web.gallery import (
    CELLS,
    GREY,
    LEVELS,
    PREDICTION,
    RATING,
    SCREENS,
    TEXT,
    at,
    draw_step,
    marked_text,
    pages,
)


def without_levels(html: str) -> str:
    """The HTML with the level of every word taken out, in its class and in its words for screen readers."""
    html = re.sub(r'class="w h[0-4]"', 'class="w h"', html)
    return re.sub(r'<span class="vh">[^<]*</span>', '<span class="vh"></span>', html)


def shuffled(levels: tuple[int, ...], seed: int) -> tuple[int, ...]:
    return tuple(random.Random(seed).sample(levels, len(levels)))


def masked(levels=LEVELS) -> Screen:
    return Screen(
        "Predict the model", (Passage(marked_text(levels), "The text", GREY),), (PREDICTION, RATING)
    )


def test_conditions_differ_in_the_levels_of_words_only():
    method = draw_step(at(masked(), condition="lime"))
    control = draw_step(at(masked(shuffled(LEVELS, 1)), condition="random"))
    assert method != control
    assert without_levels(method) == without_levels(control)


def test_no_explanation_has_the_same_markup_of_words():
    """Beside an unexplained text there is no legend; the text itself is built alike."""
    plain = draw_step(at(masked(()), condition="none"))
    shown = draw_step(at(masked(), condition="lime"))
    find = re.compile(r'<p class="input".*?</p>', re.DOTALL)
    assert without_levels(find.search(plain)[0]) == without_levels(find.search(shown)[0])


def test_every_word_has_the_same_markup_whatever_its_level():
    html = draw_step(at(masked()))
    passage = re.search(r'<p class="input".*?</p>', html, re.DOTALL)[0]
    words = re.findall(r"<span class=\"w h(\d)\">([^<]*)<span class=\"vh\">([^<]*)</span></span>", passage)
    assert len(words) == passage.count("<span") // 2 == len(TEXT.split())
    assert {(int(level), said) for level, _, said in words} == {
        (0, ""),
        *((level, f" (strength {level} of 4)") for level in range(1, 5)),
    }


def test_rows_of_tables_differ_in_levels_only():
    def drawn(cells) -> str:
        return draw_step(at(Screen("Predict", (Row(cells, "The record", GREY),), (PREDICTION,))))

    levels = shuffled(tuple(cell.level for cell in CELLS), 2)
    other = tuple(replace(cell, level=level) for cell, level in zip(CELLS, levels, strict=True))
    assert drawn(CELLS) != drawn(other)
    assert without_levels(drawn(CELLS)) == without_levels(drawn(other))


def test_items_of_both_classes_and_their_ids_give_the_same_page():
    """The class that a step is about is known to the server alone."""
    one = at(masked(), item="i001", condition="lime")
    other = at(masked(), item="i002", condition="shap")
    assert draw_step(one) == draw_step(replace(other, participant=8))


@pytest.mark.parametrize("name", SCREENS)
def test_no_id_and_no_condition_stands_anywhere_in_a_page(name):
    html = draw_step(at(SCREENS[name], item="i017", condition="greedy"))
    for secret in ("i017", "greedy", "post.", "⟦"):
        assert secret not in html


def test_real_class_names_do_not_stand_in_a_masked_page():
    """A participant's own names take the place of the classes, and nothing else of the study's classes is sent."""
    screen = Screen("Predict", (Facts((("The model says", class_mark(1)),)),), (PREDICTION,))
    html = draw_step(replace(at(screen), names=("Zeta", "Eta")))
    assert "Eta" in html
    assert "Alpha" not in html
    # What an answer means is looked up by the server: the form holds places only.
    assert re.findall(r'<input type="radio" name="([^"]*)" value="([^"]*)"', html) == [
        ("q-prediction", "1"),
        ("q-prediction", "2"),
    ]


def test_names_change_nothing_but_themselves():
    """Names of one length, swapped: the page has the same bytes but for the names."""
    html = [draw_step(replace(at(masked()), names=names)) for names in (("Ax", "By"), ("By", "Ax"))]
    assert html[0] != html[1]
    assert html[0].replace("Ax", "?").replace("By", "?") == html[1].replace("Ax", "?").replace("By", "?")


def test_nothing_is_inline_and_nothing_comes_from_elsewhere():
    for name, html in pages().items():
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:|<script(?! src=)", html), name
        assert all(address.startswith("/") for address in re.findall(r'src="([^"]*)"', html)), name
        # Nothing is fetched from elsewhere; the way back to a platform is a button that people press.
        addresses = re.findall(r'(?:href|action)="([^"]*)"', html)
        known = ("/", "http://localhost/p/", "https://app.prolific.com/", "https://www.mturk.com/mturk/")
        assert all(address.startswith(known) for address in addresses), name
