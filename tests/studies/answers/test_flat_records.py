"""Flat records of what people did: every value worked by hand, in both databases."""

from __future__ import annotations

import re

import pytest

from answering import answer_step, finish, first_option, forward, go_to, small
from small_study import CHECKS, begin
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.flat_records import (
    AT_ONCE,
    READERS,
    event_records,
    exclusion_records,
    participant_records,
    response_records,
    view,
)
from verax.studies.answers.response_record import written
from verax.studies.answers.schema import TABLES, shown


def finished(opened, clock, **choices):
    """Somebody who did everything in ten seconds a page; the right answers to the test at the first try."""
    store = opened(small(**choices))
    finish(store, begin(store), clock)
    return store


class TestParticipants:
    def test_somebody_who_completed_the_study(self, opened, clock):
        [record] = participant_records(finished(opened, clock))
        assert re.fullmatch("p[0-9a-f]{10}", record.pop("participant"))
        record.pop("version")
        assert record == {
            "bot": False,
            "status": "complete",
            "platform": "link",
            "design_row": record["design_row"],
            "number": 1,
            "answer_order": None,
            "condition": None,
            "steps": 11,
            "done": 9,  # the second try at the test and the instructions before it were passed over
            "phase": "debrief",
            "minutes": 1.5,  # nine pages, ten seconds each
            "left": False,
            "excluded": False,
            "rules": [],
            "retake_of": None,
            "signs": [],
            "link": None,
            "language": "en",
            "device": None,
        }

    def test_somebody_who_looks_and_goes_has_no_place(self, opened):
        store = opened(small())
        store.enter(is_bot=True)
        [record] = participant_records(store)
        assert (record["bot"], record["status"], record["done"], record["steps"]) == (True, "invited", 0, 0)
        missing = ("design_row", "number", "condition", "phase", "minutes")
        assert [record[name] for name in missing] == [None] * 5

    def test_somebody_who_left_in_the_middle(self, opened, clock):
        store = opened(small())
        go_to(store, begin(store), clock, "test")
        clock.advance(3599)
        [record] = participant_records(store)
        assert (record["status"], record["left"], record["phase"]) == ("active", False, "test")
        clock.advance(1)
        [record] = participant_records(store)
        assert (record["status"], record["left"], record["minutes"]) == ("active", True, 0.5)

    def test_the_condition_of_a_row_that_has_one(self, opened):
        store = opened(forward())
        for _ in range(3):
            begin(store)
        conditions = {record["design_row"]: record["condition"] for record in participant_records(store)}
        assert conditions == {0: "plain", 1: "method", 2: "control"}

    def test_exclusions_stand_beside(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}, {"rule": "same-answer"}, {"rule": "left"}))
        finish(store, begin(store), clock, seconds=1)
        apply_exclusions(store)
        [record] = participant_records(store)
        assert (record["excluded"], record["rules"]) == (True, ["same-answer", "too-fast"])
        assert [one["rule"] for one in exclusion_records(store)] == ["same-answer", "too-fast"]

    def test_identifying_columns_only_when_asked_for(self, opened, clock):
        store = finished(opened, clock)
        [anonymous] = participant_records(store)
        [identifying] = participant_records(store, identifying=True)
        assert set(identifying) - set(anonymous) == {
            "created_at",
            "finished_at",
            "completion_code",
            "person_hash",
        }
        assert identifying["created_at"] == "2030-01-01T12:00:00.000+00:00"
        assert identifying["finished_at"] == "2030-01-01T12:01:30.000+00:00"
        assert len(identifying["completion_code"]) == 10

    def test_pseudonyms_stay_and_are_of_this_study_alone(self, opened):
        first, second = opened(small()), opened(small())
        for store in (first, first, second):
            begin(store)
        names = [
            [record["participant"] for record in participant_records(store)] for store in (first, second)
        ]
        assert len({*names[0], *names[1]}) == 3
        assert [record["participant"] for record in participant_records(first)] == names[0]

    def test_more_people_than_are_in_memory_at_once_come_once_each_and_in_order(self, opened):
        store, other = opened(small()), opened(small())
        for number in range(AT_ONCE + 1):
            store.enter()
            if number % 50 == 0:
                other.enter()
        names = [record["participant"] for record in participant_records(store)]
        assert len(names) == len(set(names)) == AT_ONCE + 1


class TestResponses:
    def test_one_record_for_each_answer(self, opened, clock):
        store = finished(opened, clock)
        asked = [
            (record["step"], record["phase"], record["question"], record["answer"])
            for record in response_records(store)
        ]
        assert asked == [
            (2, "screening", "screening-1", "2"),
            (2, "screening", "screening-2", "1"),
            (6, "test", "prediction", "0"),
            (7, "test", "prediction", "0"),
            (7, "test", "rating", "1"),
            (9, "about", "reason", None),
            (10, "questions", "strategy", None),
        ]
        assert len(CHECKS) == 2

    def test_every_column_of_an_answer(self, opened, clock):
        store = opened(small(rows=1, timing={"item_seconds": 8}))
        token = begin(store)
        go_to(store, token, clock, "test")  # three pages: 30 seconds
        answer_step(store, token, clock, 3, first_option, shown=100, submitted=2900, visible_ms=2500, blurs=2)
        store.show(token)
        answer_step(store, token, clock, 12, lambda question: "2")
        first, second, rating = list(response_records(store))[2:]
        known = {name: value for name, value in first.items() if name != "participant"}
        assert known == {
            "bot": False,
            "design_row": 0,
            "phase": "test",
            "phase_kind": "test",
            "step": 6,
            "number_in_phase": 1,
            "item": "i001",
            "condition": "none",
            "question": "prediction",
            "answer": "0",
            "position": 1,
            "offered": ["0", "1"],
            "score": 0.0,  # the model says 1
            "label": 0,
            "prediction": 1,
            "model_correct": False,
            "variant_prediction": None,
            "flips": None,
            "state": "closed",
            "late": False,
            "withheld": False,
            "seconds": 3.0,
            "doubtful": False,
            "client_ms": 2800.0,
            "visible_ms": 2500,
            "blurs": 2,
            "views": 1,
            "minute": 0.55,
        }
        assert (second["item"], second["answer"], second["score"]) == ("i002", "1", 0.0)  # the model says 0
        assert (second["late"], second["views"], second["seconds"], second["minute"]) == (True, 2, 12.0, 0.75)
        assert (second["client_ms"], second["visible_ms"], second["blurs"]) == (None, None, None)
        assert (rating["question"], rating["score"], rating["position"]) == ("rating", None, 2)

    @pytest.mark.parametrize(
        ("passed", "browser_ms", "doubtful"),
        [
            (5, 4800, False),
            (5, None, False),
            (-3595, 4800, True),  # the clock was set back by an hour
            (3605, 4800, True),  # and forth
            (5 - 4, 4900, True),  # by four seconds
            (2 * 24 * 3600, None, True),
        ],
    )
    def test_times_over_a_step_of_the_clock_are_marked(self, opened, clock, passed, browser_ms, doubtful):
        store = opened(small(rows=1))
        token = begin(store)
        go_to(store, token, clock, "test")
        where = store.show(token)
        clock.advance(passed)
        client = {} if browser_ms is None else {"shown": 0, "submitted": browser_ms}
        given = {question.name: "1" for question in where.screen.questions}
        store.submit(token, where.ord, where.nonce, given, client)
        [record] = [one for one in response_records(store) if one["step"] == where.ord]
        assert (record["seconds"], record["doubtful"]) == (passed, doubtful)

    def test_a_right_prediction_is_worth_one(self, opened, clock):
        store = opened(small(rows=1))
        token = begin(store)
        go_to(store, token, clock, "test")
        answer_step(store, token, clock, 3, lambda question: "2")
        assert [record["score"] for record in response_records(store)] == [None, None, 1.0]

    def test_a_step_that_expired_is_there_without_an_answer(self, opened, clock):
        store = opened(small(rows=1, timing={"item_seconds": 8, "late": "close"}))
        token = begin(store)
        go_to(store, token, clock, "test")
        answer_step(store, token, clock, 20, first_option)
        record = list(response_records(store))[-1]
        assert set(record) == {column.name for column in TABLES["responses"]}
        assert (record["state"], record["question"], record["item"]) == ("expired", "prediction", "i001")
        empty = ("answer", "position", "score", "seconds", "client_ms", "visible_ms", "blurs")
        assert [record[name] for name in empty] == [None] * 7
        assert (record["late"], record["withheld"], record["minute"]) == (True, False, round(50 / 60, 6))

    def test_what_people_wrote_is_withheld_unless_asked_for(self, opened, clock):
        store = finished(opened, clock)
        texts = {
            identifying: [
                (record["answer"], record["withheld"])
                for record in response_records(store, identifying=identifying)
                if record["question"] in ("reason", "strategy")
            ]
            for identifying in (False, True)
        }
        assert texts == {False: [(None, True)] * 2, True: [("words", False)] * 2}

    def test_what_is_left_open_has_no_record(self, opened, clock):
        store = opened(small())
        token = begin(store)
        go_to(store, token, clock, "questions")  # how they found their answers: if they like
        answer_step(store, token, clock, 1, lambda question: "")
        assert "strategy" not in {record["question"] for record in response_records(store)}


class TestEvents:
    def test_what_was_sent_in_vain_is_withheld_like_texts(self, opened, clock):
        store = opened(small())
        token = begin(store)
        where = answer_step(store, token, clock, 6, first_option)
        store.submit(token, where.ord, where.nonce, {"reason": "=secret"}, {})
        store.show(token)
        store.show(token)
        kept = [
            (record["type"], record["step"], record["minute"], record["data"], record["withheld"])
            for record in event_records(store)
        ]
        assert kept == [("duplicate", 2, 0.1, None, True), ("reload", 2, 0.1, None, False)]
        first, _ = event_records(store, identifying=True)
        assert first["data"]["given"] == {"reason": "=secret"}
        assert first["at"] == "2030-01-01T12:00:06.000+00:00"


def test_all_records_of_a_view_are_of_one_moment(opened, clock):
    store = opened(small())
    token = begin(store)
    with view(store) as seen:
        finish(store, token, clock)
        begin(store)
        assert [record["status"] for record in READERS["participants"](seen)] == ["active"]
        assert list(READERS["responses"](seen)) == []
    assert sum(1 for _ in response_records(store)) == 7


def test_records_have_the_columns_that_are_listed(opened, clock):
    store = opened(forward({"rule": "too-fast"}))
    token = begin(store)
    finish(store, token, clock, seconds=1)
    store.event(token, "seen", {"a": 1})
    apply_exclusions(store)
    for identifying in (False, True):
        with view(store, identifying=identifying) as seen:
            for name, read in READERS.items():
                listed = [column.name for column in shown(TABLES[name], identifying=identifying)]
                records = list(read(seen))
                assert records
                assert all(list(record) == listed for record in records), name


def test_meanings_are_written_as_digits_and_words():
    assert [written(meaning) for meaning in (1, 1.0, -0.5, "0:certain", None)] == [
        "1",
        "1",
        "-0.5",
        "0:certain",
        None,
    ]
