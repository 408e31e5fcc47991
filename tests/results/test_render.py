"""Tables of an analysis as words, Markdown and LaTeX: every number, and nothing that the target language would read."""

import re

import pytest

from reporting.study_summaries import HOSTILE, table
from verax.codec import decode
from verax.results.tables import Column, Table, heading, latex, rows_of, to_latex, to_markdown, written


def read_table(**more):
    return decode(Table, table(**more))


@pytest.mark.parametrize(
    ("value", "kind", "unit", "shown"),
    [
        (7.345, "number", "points", "7.3"),
        (-0.04, "number", "points", "0.0"),
        (-3.26, "number", "points", "−3.3"),
        (0.4321, "number", "", "0.43"),
        (0.00432, "number", "", "0.0043"),
        (12, "number", "", "12"),
        (1234.5, "number", "seconds", "1,234.5"),
        ([1.21, -13.48], "interval", "points", "[1.2, −13.5]"),
        ([None, None], "interval", "points", "–"),
        (0.6042, "percent", "", "60.4%"),
        (1280, "count", "", "1,280"),
        (0.00004, "p", "", "< 0.001"),
        (0.0123, "p", "", "0.012"),
        (0.9999, "p", "", "1"),
        (None, "p", "", "–"),
        ("yes", "text", "", "yes"),
        ("–", "number", "points", "–"),
        (True, "text", "", "yes"),
        (3, "text", "", "3"),
    ],
)
def test_numbers_are_written_by_kind_and_unit(value, kind, unit, shown):
    assert written(value, Column("x", "X", kind, unit)) == shown


def test_a_heading_says_its_unit_once():
    assert heading(Column("x", "Change", "number", "points")) == "Change (points)"
    assert heading(Column("x", "Points gained", "number", "points")) == "Points gained"


def test_markdown_has_every_row_with_the_meaning_before_and_the_notes_after():
    assert to_markdown(read_table()) == (
        "**Change of accuracy.** Explanations by lime raised accuracy.\n"
        "\n"
        "| Condition | n | Pre | Change (points) | 95% interval (points) | p |\n"
        "|---|---:|---:|---:|---:|---:|\n"
        "| lime | 1,280 | 60.4% | 7.3 | [1.2, 13.5] | \\< 0.001 |\n"
        "| random | 640 | 57.1% | 0.0 | – | – |\n"
        "\n"
        "- Change includes practice.\n"
    )


def test_markdown_cells_cannot_leave_their_column():
    rows = [{"condition": "a|b\nc", "n": 1, "pre": 0, "change": 0, "interval": [0, 1], "p": 1}]
    lines = to_markdown(read_table(rows=rows)).splitlines()
    assert lines[4].startswith("| a\\|b c | 1 |")


def test_latex_is_a_booktabs_table_with_the_sentence_as_caption():
    shown = to_latex(read_table())
    assert r"\caption{Change of accuracy. Explanations by lime raised accuracy.}" in shown
    assert r"\begin{tabular}{lrrrrr}" in shown
    assert r"lime & 1,280 & 60.4\% & 7.3 & {[1.2, 13.5]} & \textless{} 0.001 \\" in shown
    for rule in ("toprule", "midrule", "bottomrule"):
        assert shown.count(f"\\{rule}") == 1
    assert r"\footnotesize Change includes practice." in shown


def test_a_title_that_ends_in_a_question_mark_gets_no_full_stop():
    assert r"\caption{Does it? Explanations" in to_latex(read_table(title="Does it?"))
    assert to_markdown(read_table(title="Does it?")).startswith("**Does it?** ")


def test_latex_sees_no_command_in_any_text():
    hostile = read_table(
        title=HOSTILE, sentence=HOSTILE, notes=[HOSTILE], key=HOSTILE,
        rows=[{"condition": HOSTILE, "n": 1, "pre": 0, "change": 0, "interval": [0, 1], "p": 1}],
    )  # fmt: skip
    shown = to_latex(hostile)
    bare = re.sub(r"\\textbackslash\{\}|\\[%&#$_{}]", "", shown)
    for line in bare.splitlines():
        assert line.count("{") == line.count("}")
        assert "%" not in line
        assert "#" not in line
        assert "_" not in line
        assert "$" not in line.replace("$-$", "")
    # Five separators between six columns in the head and in the one row.
    assert [line.count("&") for line in bare.splitlines() if line.endswith(r"\\")] == [5, 5]


def test_latex_writes_signs_in_mathematics():
    assert latex("−3 ≤ κ") == r"$-$3 $\leq$ $\kappa$"


def test_a_row_that_lacks_a_column_shows_a_dash():
    assert rows_of(read_table(rows=[{"condition": "lime"}])) == [["lime", "–", "–", "–", "–", "–"]]
