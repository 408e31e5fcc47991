"""Rows of a design that are filled unequally are said where people meet several conditions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studies.analysis.frames import THREE, collected, everybody, sample_study, summarised
from verax.errors import VeraxError
from verax.studies.analysis import Options

ONLY = Options(estimator="crossed", replicates=20)


def within():
    roles = {"training": 0, "evaluation": 15}
    return sample_study({"name": "reverse-turing", **roles}, roles, groups=3, conditions=THREE)


def said(study, people):
    def answer(_person, _step, question):
        return question.options[0].means if question.options else "a word"

    found = summarised(collected(study, people, answer), ONLY)
    return [problem for problem in found["problems"] if "filled unequally" in problem]


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        (lambda person, rows: person.row in rows[:2], "4 of 6 rows of the design have nobody"),
        (
            lambda person, rows: person.row != rows[0] or person.number == 1,
            "rows of the design have from 1 to 3",
        ),
    ],
)
def test_unequal_rows_are_said(keep, words):
    study = within()
    rows = [row.number for row in study.rows]
    assert len(rows) == 6
    people = [person for person in everybody(study, 3) if keep(person, rows)]
    (problem,) = said(study, people)
    assert words in problem


def test_two_rows_of_six_are_shown_and_claim_nothing():
    """People get better from session to session; in these two rows none always comes before the methods."""
    study = within()
    first = [row for row in study.rows if row.cells.in_words().split()[0].startswith("none")][:2]
    rows = [row.number for row in (first or study.rows[:2])]
    people = [person for person in everybody(study, 8) if person.row in rows]

    def answer(person, step, question):
        return question.options[0].means if question.options else "a word"

    found = summarised(collected(study, people, answer), ONLY)
    uneven = [line for line in found["primary"]["estimates"] if line["uneven"]]
    assert uneven
    for line in uneven:
        assert not line["conclusive"]
        assert "were not met equally early and late" in " ".join(line["notes"])
    whole = summarised(collected(study, everybody(study, 2), answer), ONLY)
    assert not any(line["uneven"] for line in whole["primary"]["estimates"])


def test_unequal_rows_are_refused_if_asked_for_and_a_session_term_is_said():
    study = within()
    rows = [row.number for row in study.rows]
    people = [person for person in everybody(study, 3) if person.row != rows[0] or person.number == 1]

    def answer(_person, _step, question):
        return question.options[0].means if question.options else "a word"

    with pytest.raises(VeraxError, match=r"Nothing is analysed, since --refuse-unequal .* filled unequally"):
        summarised(collected(study, people, answer), replace(ONLY, refuse_unequal=True))
    equal = everybody(study, 2)
    whole = summarised(collected(study, equal, answer), replace(ONLY, refuse_unequal=True, session_term=True))
    contrast = next(table for table in whole["tables"] if table["key"] == "contrast")
    assert any(note.startswith("Sessions are accounted for") for note in contrast["notes"])
    assert any("no session term" in problem for problem in whole["problems"])  # of the logistic model


def test_equal_rows_and_one_person_less_are_fine():
    study = within()
    assert said(study, everybody(study, 2)) == []
    assert said(study, everybody(study, 2)[1:]) == []


def test_between_people_rows_are_conditions_and_may_differ():
    roles = {"learning": 4, "test": 16}
    study = sample_study({"name": "forward", **roles}, roles)
    assert said(study, everybody(study, 4)[3:]) == []
