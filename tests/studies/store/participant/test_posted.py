from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from small_study import PREDICTION, RATING, REASON
from verax.studies.definition.screen import Option, Question, Screen
from verax.studies.store.participant.posted import check_answers, check_times, clean, keepable

COLOUR = Question(
    "colour", "Which?", "choice", (Option("red", "r"), Option("half", 0.5), Option("none", 0)), required=False
)
NOTE = Question("note", "Anything else?", "text", required=False)


def test_positions_become_what_the_options_mean():
    found = check_answers(
        Screen("", questions=(PREDICTION, RATING, COLOUR)), {"prediction": "2", "rating": "3", "colour": "2"}
    )
    assert found.meanings == {"prediction": 1, "rating": 3, "colour": 0.5}
    assert found.positions == {"prediction": 2, "rating": 3, "colour": 2}
    assert found.errors == {}


def test_what_may_be_left_out_is_stored_as_not_answered():
    found = check_answers(Screen("", questions=(COLOUR, NOTE)), {"note": "  "})
    assert found.meanings == {"colour": None, "note": None}
    assert found.positions == {}


def test_what_is_missing_is_asked_for():
    found = check_answers(Screen("", questions=(PREDICTION, REASON)), {"reason": " \n"})
    assert found.errors == {"prediction": "Please choose an answer.", "reason": "Please write an answer."}


@given(st.text().filter(lambda text: text not in {"1", "2", "3", ""}))
def test_only_the_numbers_of_options_are_answers(value):
    found = check_answers(Screen("", questions=(COLOUR,)), {"colour": value})
    assert found.positions == {}
    if clean(value):
        assert found.errors == {"colour": "This is not one of the answers; please choose again."}


def test_numbers_that_python_would_read_are_still_no_positions():
    for value in ("0", "4", "-1", "+1", " 1", "1.0", "01", "1_0", "١", "１", "99999999999999999999"):
        assert check_answers(Screen("", questions=(COLOUR,)), {"colour": value}).errors, value


def test_a_text_of_ten_thousand_characters_is_taken_and_one_more_is_not():
    screen = Screen("", questions=(REASON,))
    assert check_answers(screen, {"reason": "x" * 10_000}).meanings == {"reason": "x" * 10_000}
    assert check_answers(screen, {"reason": "x" * 10_001}).errors == {
        "reason": "Please write at most 10,000 characters; there are 10,001 now."
    }


def test_line_ends_count_once_as_browsers_count_them():
    screen = Screen("", questions=(REASON,))
    assert check_answers(screen, {"reason": "x\r\n" * 5_000}).meanings == {"reason": "x\n" * 5_000}


def test_nul_and_half_characters_are_taken_out_of_texts():
    assert clean("a\x00b\ud800c") == "ab?c"


def test_sane_times_are_kept_and_the_others_are_named():
    times = check_times(
        {
            "shown": 12.5,
            "submitted": "300",
            "blurs": 0,
            "visible_ms": math.nan,
            "first_input": -1,
            "a": math.inf,
            "b": 1e300,
            "c": "soon",
            "d": True,
            "e": None,
            "f": [1],
            "no name": 1,
        }
    )
    refused = times.pop("refused")
    assert times == {"shown": 12.5, "submitted": 300, "blurs": 0}
    assert refused == ["visible_ms", "first_input", "a", "b", "c", "d", "e", "f", "no name"]


def test_a_flood_of_times_is_cut():
    times = check_times({f"t{number}": number for number in range(10_000)})
    assert len(times) == 31
    assert len(times["refused"]) == 30


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(anything)
def test_whatever_a_browser_sends_can_be_kept_as_json(data):
    text = json.dumps(keepable(data), allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in text
    assert json.loads(text.encode()) == keepable(data)


def test_what_is_kept_says_what_was_cut():
    kept = keepable({"text": "y" * 10_003, "list": list(range(103)), "deep": {"a": {"b": {"c": {"d": 1}}}}})
    assert kept["text"] == "y" * 10_000 + "… (10003 characters)"
    assert len(kept["list"]) == 101
    assert kept["list"][-1] == 3
    assert kept["deep"] == {"a": {"b": {"c": "{'d': 1}"}}}
