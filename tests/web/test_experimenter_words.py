"""The words of the live page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from small_study import small_study
from verax.studies.definition.study import Phase
from verax.studies.store.status import Group, ParticipantStatus, PhaseTime
from verax.web.experimenter.live_page import by_phase, done_in_words, extremes, minutes, participant_line


def seen(**changes) -> ParticipantStatus:
    usual = {
        "participant": "p0123456789",
        "bot": False,
        "status": "active",
        "row": 1,
        "phase": "test",
        "step": 6,
        "steps": 11,
        "minutes": 2.0,
        "ago": 0.2,
    }
    return ParticipantStatus(**(usual | changes))


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 s"),
        (0.5, "30 s"),
        (1, "1.0 min"),
        (9.94, "9.9 min"),
        (12.4, "12 min"),
        (119, "119 min"),
        (150, "2.5 h"),
    ],
)
def test_a_time_has_the_unit_that_fits(count, words):
    assert minutes(count) == words


@pytest.mark.parametrize(
    ("status", "words", "where"),
    [
        ("active", "Taking part", "Your predictions, page 6 of 11"),
        ("left", "Left", "Your predictions, page 6 of 11"),
        ("complete", "Finished", ""),
        ("withdrawn", "Withdrew", ""),
    ],
)
def test_a_person_is_where_they_are_as_long_as_they_are_on_the_way(status, words, where):
    person = participant_line(small_study(), seen(status=status))
    assert (person.status, person.where) == (words, where)


def test_instructions_that_share_a_title_with_their_part_are_told_from_it():
    study = small_study()
    about = Phase("about-test", "Your predictions", "instructions")
    study = replace(study, phases={"about-test": about, **study.phases})
    where = [
        participant_line(study, seen(phase=phase)).where for phase in ("about-test", "test", "instructions")
    ]
    assert where == [
        "Your predictions (instructions), page 6 of 11",
        "Your predictions, page 6 of 11",
        "Instructions, page 6 of 11",
    ]


def test_who_has_not_agreed_is_nowhere():
    person = participant_line(
        small_study(), seen(status="invited", row=None, phase=None, step=0, minutes=None)
    )
    assert (person.status, person.row, person.where, person.time) == ("Has not agreed yet", "", "", "")


@pytest.mark.parametrize(
    ("ago", "words"), [(0.9, "just now"), (5.4, "5 min ago"), (180, "3 h ago"), (4 * 1440, "4 days ago")]
)
def test_when_somebody_was_seen(ago, words):
    assert participant_line(small_study(), seen(ago=ago)).ago == words


def test_parts_in_which_all_were_lost_are_listed_too():
    times = PhaseTime("learning", "Learning", 3, 1.0, 2.0, 3.0)
    lines = by_phase(small_study(), Group({}, (), (times,), {"test": 2, "learning": 1}, {}))
    assert [(line.title, line.times, line.dropped) for line in lines] == [
        ("Learning", times, 1),
        ("Your predictions", None, 2),
    ]


def test_the_fastest_and_the_slowest_are_of_those_who_finished():
    people = [
        seen(participant=name, status=status, minutes=time)
        for name, status, time in [("a", "complete", 5.0), ("b", "active", 1.0), ("c", "complete", 3.0)]
    ]
    assert [person.name for person in extremes(small_study(), people) or ()] == ["c", "a"]
    assert extremes(small_study(), people[:2]) is None


def test_actions_say_how():
    assert done_in_words("paused", {}) == "paused the study"
    assert (
        done_in_words("export", {"format": "csv", "identifying": False})
        == "exported the answers (format: csv)"
    )
    assert (
        done_in_words("withdrawal", {"number": 5, "deleted": True})
        == "ended a participant's part (number: 5, deleted)"
    )
    assert done_in_words("something new", {"people": 0}) == "something new (people: 0)"
