"""Columns and values of tables as people call them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verax.errors import VeraxError
from verax.phrases import speaking
from verax.studies.definition.screen import (
    Bars,
    Cell,
    Evidence,
    Excerpt,
    Grid,
    Lines,
    Prose,
    Quote,
    Row,
    Screen,
    WordedExplanation,
)
from verax.studies.display.readable import (
    ADULT,
    ADULT_IN_GERMAN,
    labelled,
    labels_of,
    ranges_in_words,
    row_in_words,
)
from verax.studies.protocols.checks import sample_material

SCREEN = Screen(
    "x",
    (
        Prose(("Workclass = Private",)),
        Row((Cell("Workclass", "Self-emp-inc", level=3), Cell("Age", "up to 28"))),
        Bars((("Workclass: Private", 0.5), ("Age: up to 28", -0.1))),
        Evidence(("Workclass = State-gov", "so")),
        WordedExplanation(
            (Lines("If Workclass = Self-emp-not-inc, then 1."), Excerpt((("Workclass = Private", False),)))
        ),
        Quote("Workclass = Private, somebody wrote."),
    ),
)


def adult_like(**options):
    material = sample_material(
        {"name": "forward", "learning": 4, "test": 4},
        {"learning": 4, "test": 4},
        kind="table",
        options=options,
    )
    row = (("Workclass", "Private"), ("Age", "up to 28"))
    return replace(
        material, items=tuple(replace(item, dataset="adult", input=row) for item in material.items)
    )


def test_a_known_table_speaks_as_people_do_and_marks_stay():
    _, row, bars, evidence, told, written = labelled(SCREEN, labels_of(adult_like())).blocks
    assert row.cells == (Cell("Employer", "self-employed, own company", level=3), Cell("Age", "up to 28"))
    assert bars.pairs == (("Employer: private company", 0.5), ("Age: up to 28", -0.1))
    assert evidence.fragments == ("Employer = state government", "so")
    assert told.parts[0] == Lines("If Employer = self-employed, then 1.")
    assert told.parts[1] == Excerpt((("Workclass = Private", False),)), "a text was changed"
    assert written.text == "Workclass = Private, somebody wrote.", "what somebody wrote was changed"


def test_an_explanation_in_words_calls_columns_and_ranges_as_the_row_does():
    rows = (
        ("Workclass", "Private", "?"),
        ("Age", "28.00 < Age <= 37.00", "Age > 48.00"),
        ("Hours per week", "Hours per week <= 40.00", "Hours per week > 45.00"),
        ("28.00 < Age <= 37.50", "+0.05"),
        ("Age <= 28.00", "Marital Status = Married"),
    )
    header = ("Variable", "Prototype", "Original input")
    told = WordedExplanation(
        (Lines(ranges_in_words("1. Hours per week <= 40.00")), Grid(header, tuple(map(row_in_words, rows))))
    )
    line, table = labelled(Screen("x", (told,)), ADULT).blocks[0].parts
    assert line.text == "1. Hours of work a week up to 40"
    assert table.header == header
    assert table.rows == (
        ("Employer", "private company", "not known"),
        ("Age", "above 28, up to 37", "above 48"),
        ("Hours of work a week", "up to 40", "above 45"),
        ("Age above 28, up to 37.50", "+0.05"),
        ("Age up to 28", "Marital status = married"),
    )


def test_weights_of_values_are_called_as_the_row_calls_them():
    bars = Bars((("Workclass = Private", 0.5), ("Hours per week up to 40", -0.1), ("Sum of values", 0.4)))
    assert labelled(Screen("x", (bars,)), ADULT).blocks[0].pairs == (
        ("Employer = private company", 0.5),
        ("Hours of work a week up to 40", -0.1),
        ("Sum of values", 0.4),
    )


def test_a_specs_own_labels_come_first():
    own = {"columns": {"Workclass": "Works for"}, "values": {"Workclass": {"Private": "a company"}}}
    labels = labels_of(adult_like(labels=own))
    assert labels.columns["Workclass"] == "Works for"
    assert labels.values["Workclass"]["Private"] == "a company"
    assert labels.values["Workclass"]["State-gov"] == "state government"


def test_items_that_were_made_elsewhere_are_shown_as_made():
    material = adult_like()
    made = replace(material, items=tuple(replace(item, source="form 3") for item in material.items))
    assert labelled(SCREEN, labels_of(made)) == SCREEN


def test_a_label_for_a_column_that_is_not_there_is_refused():
    with pytest.raises(
        VeraxError, match="names the column 'Job', which there is not; there are Age, Workclass"
    ):
        labels_of(adult_like(labels={"columns": {"Job": "Work"}}))


@pytest.mark.parametrize("labels", [ADULT, ADULT_IN_GERMAN])
def test_no_two_values_of_a_column_get_the_same_words(labels):
    for values in labels.values.values():
        assert len(set(values.values())) == len(values)


def test_a_known_table_is_in_german_where_the_study_is():
    assert ADULT.columns.keys() <= ADULT_IN_GERMAN.columns.keys()
    for column, values in ADULT.values.items():
        assert values.keys() <= ADULT_IN_GERMAN.values[column].keys()
    with speaking("de"):
        row = labelled(SCREEN, labels_of(adult_like())).blocks[1]
    assert row.cells[0] == Cell("Arbeitgeber", "selbstständig, eigene Firma", level=3)
    assert row.cells[1].column == "Alter"
