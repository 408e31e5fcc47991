"""What the terminal shows, with and without colour."""

import io
import re

import numpy as np
from rich.console import Console

from verax.data.words import split_words
from verax.explain import Attribution, Cost
from verax.reporting.comparison import Comparison, Entry, Subject, segments
from verax.reporting.explanations import LONGEST_TEXT, marked_text, render_terminal


def entry(name, text, scores):
    return Entry(
        name,
        Attribution(split_words(text).distinct, np.array(scores), 1, input=text, cost=Cost(1234, 2, 0.5)),
    )


def printed(comparison, width=100, **options):
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, **options)
    console.print(render_terminal(comparison, top=3, width=width))
    return stream.getvalue()


def comparison(*entries, text="good bad film"):
    subject = Subject("text 1", text, ("down", "up"), (0.25, 0.75), 1, None, tuple(entries))
    return Comparison("reviews", "forest", (subject,), ("A note.",))


def test_marks_are_brackets_with_signs_twice_for_the_two_strongest():
    text = "good bad film night"
    attribution = entry("lime", text, [0.3, -1.0, 0.5, 0.0]).attribution
    assert marked_text(segments(attribution)).plain == "[+good] [--bad] [++film] night"


def test_a_long_text_is_cut_and_says_how_much_is_left():
    text = "word " * 1000
    shown = marked_text(segments(entry("lime", text, [0.0]).attribution)).plain
    assert shown.startswith(text[:LONGEST_TEXT])
    assert shown.endswith("(4,300 characters more; --html shows all)")


def test_cost_probabilities_and_notes_are_shown():
    out = printed(comparison(entry("lime", "good bad film", [0.3, -1.0, 0.5])))
    assert "forest on reviews" in out
    assert "A note." in out
    assert "up   0.750 ███████████████ explained" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["rows", "1,234"] in lines
    assert ["ms", "500.0"] in lines


def test_what_does_not_fit_beside_goes_below():
    entries = [entry(f"method-number-{number}", "good bad film", [0.3, -1.0, 0.5]) for number in range(6)]
    out = printed(comparison(*entries), width=60)
    assert max(len(line) for line in out.splitlines()) <= 60
    rows = [line.split() for line in out.splitlines()]
    headers = [row for row in rows if row and all(re.fullmatch(r"method-number-\d", word) for word in row)]
    assert headers == [[f"method-number-{first}", f"method-number-{first + 1}"] for first in (0, 2, 4)]


def test_colour_comes_with_bold_and_underline_in_a_terminal():
    out = printed(
        comparison(entry("lime", "good bad film", [0.3, -1.0, 0.5])),
        force_terminal=True,
        color_system="truecolor",
    )
    assert "\x1b[1;4;38;2;213;94;0m[--bad]" in out
    assert "\x1b[38;2;42;143;214m[+good]" in out


def test_square_brackets_in_a_text_are_text_and_not_markup():
    text = "[red]good[/red] :smile:"
    out = printed(comparison(entry("lime", text, [0.0, 1.0, 0.0]), text=text))
    assert "[red][++good][/red] :smile:" in out


def test_a_wide_feature_is_cut_with_an_ellipsis():
    row = ("A very long name of a column that goes on = and its value on and on", "b = 1")
    attribution = Attribution(
        ("A very long name of a column that goes on", "b"), np.array([1.0, 0.5]), 1, input=row
    )
    out = printed(
        Comparison(
            "d", "m", (Subject("r", row, ("x", "y"), (0.5, 0.5), 0, None, (Entry("lime", attribution),)),)
        )
    )
    assert "A very long name of a column th…  +1.000 (1)" in out


def test_a_feature_stands_in_one_line_for_all_methods():
    lines = printed(
        comparison(
            entry("lime", "good bad film", [0.3, -1.0, 0.5]), entry("shap", "good bad film", [2.0, -0.5, 3.0])
        )
    ).splitlines()
    rows = [line.split() for line in lines if re.search(r"\(\d\)", line)]
    assert rows == [
        ["film", "+0.500", "(2)", "+3.000", "(1)"],
        ["bad", "-1.000", "(1)", "-0.500", "(3)"],
        ["good", "+0.300", "(3)", "+2.000", "(2)"],
    ]


def test_scores_that_are_shown_as_weights_are_told_with_their_sum_and_the_input_stands_above():
    text = "good bad film"
    scores = Attribution(
        split_words(text).distinct, np.array([0.3, -0.1, 0.0]), 1, "up", text, details={"intercept": 0.5}
    )
    out = printed(comparison(Entry("lime", scores, display="weights")))
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[lines.index("good bad film") :][1:] == [
        "",
        "lime",
        "good +0.30",
        "bad -0.10",
        "Sum of words +0.20",
        "Baseline 0.50",
        "Estimated probability of 'up' 0.70",
        "0 rows, 0.0 ms",
        "",
        "lime names “good” first.",
    ]
    assert "[+" not in out


def test_a_score_of_zero_has_no_rank():
    out = printed(comparison(entry("lime", "good bad film", [0.3, 0.0, 0.5])))
    assert re.search(r"good +\+0\.300 \(2\)", out)
    assert re.search(r"bad +0\.000 *\n", out)
