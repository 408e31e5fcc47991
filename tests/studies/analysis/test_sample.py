"""Who took part, and how long it took, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from verax.studies.analysis.sample import sample_tables
from verax.studies.definition.own_questions import OwnQuestion

AGES = ("20", "31", "60")


def made(background=("age",), languages=("en", "de"), questions=()):
    people = pd.DataFrame(
        {
            "participant": ["a", "b", "c", "d"],
            "condition": ["none", "none", "lime", "lime"],
            "minutes": [10.0, 14.0, 20.0, 30.0],
            "language": ["en", "en", "de", "de"],
            "device": ["desktop", "phone", "desktop", None],
        }
    )
    responses = pd.DataFrame(
        [
            ("a", "test", "none", "prediction", "1", 1.0, 4.0),
            ("a", "test", "none", "prediction", "0", 0.0, 8.0),
            ("b", "test", "none", "prediction", "1", 1.0, 10.0),
            ("c", "test", "lime", "prediction", "1", 1.0, 20.0),
            ("d", "test", "lime", "prediction", "1", 1.0, 22.0),
            ("a", "questions", None, "background-age", "18 to 24", None, 1.0),
            ("b", "questions", None, "background-age", "18 to 24", None, 1.0),
            ("c", "questions", None, "background-age", "65 or older", None, 1.0),
            ("a", "questions", None, "work", "Yes", None, 1.0),
            ("b", "questions", None, "work", "No", None, 1.0),
            ("c", "questions", None, "work", "Yes", None, 1.0),
            *((who, "questions", None, "demographics-gender", "woman", None, 1.0) for who in "ab"),
            *(
                (who, "questions", None, "demographics-age", age, None, 1.0)
                for who, age in zip("abc", AGES, strict=True)
            ),
            ("a", "questions", None, "attention-check", "4", None, 1.0),
        ],
        columns=["participant", "phase_kind", "condition", "question", "answer", "score", "seconds"],
    )
    spec = SimpleNamespace(background=background, languages=languages, questions=questions)
    conditions = [SimpleNamespace(name="none"), SimpleNamespace(name="lime")]
    return SimpleNamespace(
        study=SimpleNamespace(spec=spec), participants=people, responses=responses, conditions=conditions
    )


def test_the_sample_counts_people_by_what_they_said_and_what_they_used():
    sample, _ = sample_tables(made())
    counts = {(row["what"], row["value"]): row["people"] for row in sample.rows}
    assert counts["Age", "18 to 24"] == 2
    assert counts["Age", "65 or older"] == 1
    assert counts["Age", "25 to 34"] == 0
    assert counts["Age", "(not known)"] == 1
    assert counts["Language of the pages", "de"] == 2
    assert counts["Device", "desktop"] == 2
    assert counts["Device", "(not known)"] == 1
    assert sample.sentence == "4 participants are analysed; the median time was 17.0 min."


def test_answers_to_ones_own_choices_and_numbers_describe_the_sample_too():
    questions = (
        OwnQuestion(name="work", question="Do you work?", answers=("Yes", "No")),
        OwnQuestion(block="demographics"),
        OwnQuestion(block="attention-check"),
        OwnQuestion(block="trust-short"),
    )
    sample, _ = sample_tables(made(background=(), questions=questions))
    counts = {(row["what"], row["value"]): row["people"] for row in sample.rows}
    assert counts["Do you work?", "Yes"] == 2
    assert counts["Do you work?", "(not known)"] == 1
    assert counts["How do you describe yourself?", "Woman"] == 2
    assert counts["How old are you, in years?", "median 31, from 20 to 60"] == 3
    asked = (
        "Language of the pages",
        "Device",
        "Do you work?",
        "How old",
        "How do you",
        "What is the highest",
    )
    assert all(row["what"].startswith(asked) for row in sample.rows)


def test_where_nobody_was_asked_and_nothing_is_known_there_is_no_table_of_the_sample():
    bots = made(background=(), languages=("en",))
    bots.participants["device"] = None
    (time,) = sample_tables(bots)
    assert time.key == "time"


def test_time_on_task_takes_participants_as_the_unit():
    """a answers in 6 seconds on average and b in 10: 8, whatever the number of their answers."""
    _, time = sample_tables(made())
    rows = {row["condition"]: row for row in time.rows}
    assert rows["none"]["seconds"] == pytest.approx(8.0)
    assert rows["lime"]["seconds"] == pytest.approx(21.0)
    # t with one degree of freedom: 12.706 times the standard error of 2.
    low, high = rows["none"]["seconds_interval"]
    assert (low, high) == pytest.approx((8 - 25.41, 8 + 25.41), abs=0.02)
    assert rows["lime"]["minutes"] == pytest.approx(25.0)
    assert rows["none"]["median"] == pytest.approx(12.0)


def test_one_language_needs_no_line_and_nobody_no_table():
    sample, _ = sample_tables(made(background=(), languages=("en",)))
    assert {row["what"] for row in sample.rows} == {"Device"}
    nobody = made()
    nobody.participants = nobody.participants[:0]
    assert sample_tables(nobody) == ()
