"""The five rules, on numbers worked by hand, in both databases; and what is recorded of them."""

from __future__ import annotations

from functools import partial

import pytest

from answering import answer_all, answer_step, finish, first_option, forward, go_to, small
from small_study import begin
from store_tools import rows
from verax.studies.answers.exclusion import RULES, _findings, _record, apply_exclusions
from verax.studies.answers.flat_records import exclusion_records
from verax.studies.definition.spec_tables import ExclusionRule
from verax.studies.store.clock import to_micros
from verax.studies.store.tables import consents, events, exclusions, participants, responses, steps


def found(store):
    """The exclusions that hold: by rule, the measured value and on how many answers."""
    apply_exclusions(store)
    return {
        record["rule"]: (record["measured"], record["answers"])
        for record in exclusion_records(store)
        if record["in_force"]
    }


def test_every_rule_of_a_spec_is_known_and_has_a_limit():
    names = ExclusionRule.model_fields["rule"].annotation.__args__
    assert set(RULES) == set(names)


def test_without_rules_nothing_is_written(opened):
    store = opened(small())
    begin(store)
    apply_exclusions(store)
    assert rows(store, exclusions.c.id) == []


def test_no_rule_holds_for_who_agreed_and_did_nothing_yet(opened):
    every = [{"rule": rule} for rule in RULES if rule != "background"]
    store = opened(forward(*every))
    begin(store)
    store.enter()  # and did not agree
    assert found(store) == {}


class TestTooFast:
    """The median of 1.9, 9 and 1 is 1.9; of 2, 9 and 1 it is 2, which is not below 2."""

    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [([1.9, 9, 1], {"too-fast": (1.9, 3)}), ([2, 9, 1], {}), ([1, 2.8], {"too-fast": (1.9, 2)})],
    )
    def test_is_a_median_below_the_limit(self, opened, clock, seconds, expected):
        store = opened(forward({"rule": "too-fast"}))
        token = begin(store)
        go_to(store, token, clock, "pre")
        answer_all(store, token, clock, seconds)
        assert found(store) == expected

    def test_looks_at_pages_that_ask_about_an_item_alone(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}))
        token = begin(store)
        answer_all(store, token, clock, [0.1] * 4)  # instructions, what comes, two looks
        assert found(store) == {}

    def test_its_limit_can_be_declared(self, opened, clock):
        store = opened(forward({"rule": "too-fast", "limit": 30}))
        token = begin(store)
        go_to(store, token, clock, "pre")
        answer_all(store, token, clock, [29])
        assert found(store) == {"too-fast": (29, 1)}


class TestFailedChecks:
    """One wrong answer of two, then two right ones: one of four, 0.25."""

    @pytest.mark.parametrize(("limit", "holds"), [(0.24, True), (0.25, False), (None, False)])
    def test_is_a_share_above_the_limit_over_all_tries(self, opened, clock, limit, holds):
        store = opened(small({"rule": "failed-checks", "limit": limit}))
        token = begin(store)
        answer_step(store, token, clock, 5, first_option)
        answer_step(store, token, clock, 5, lambda question: "1")  # right would be 2 and 1
        go_to(store, token, clock, "learning")
        assert found(store) == ({"failed-checks": (0.25, 4)} if holds else {})

    def test_a_study_without_a_test_has_none(self, opened, clock):
        store = opened(small({"rule": "failed-checks", "limit": 0}, attempts=0))
        finish(store, begin(store), clock)
        assert found(store) == {}


class TestLeft:
    """Two pages done and two passed over, of eleven, and then away for the 60 minutes that a place is held."""

    def left(self, opened, clock, limit, seconds):
        store = opened(small({"rule": "left", "limit": limit}))
        token = begin(store)
        go_to(store, token, clock, "learning")
        clock.advance(seconds)
        return store, token

    @pytest.mark.parametrize(("seconds", "expected"), [(3599, {}), (3600, {"left": (round(4 / 11, 6), 4)})])
    def test_is_to_be_away_for_as_long_as_a_place_is_held(self, opened, clock, seconds, expected):
        store, _ = self.left(opened, clock, None, seconds)
        assert found(store) == expected

    @pytest.mark.parametrize(("limit", "holds"), [(4 / 11, False), (0.37, True)])
    def test_counts_below_a_share_of_the_steps(self, opened, clock, limit, holds):
        store, _ = self.left(opened, clock, limit, 3600)
        assert ("left" in found(store)) == holds

    def test_is_lifted_when_somebody_comes_back_and_kept(self, opened, clock):
        store, token = self.left(opened, clock, None, 4000)
        assert "left" in found(store)
        store.show(token)
        clock.advance(7)
        assert found(store) == {}
        [(evidence, lifted_at)] = rows(store, exclusions.c.evidence, exclusions.c.lifted_at)
        assert evidence["answers"] == 4
        assert lifted_at is not None
        clock.advance(4000)
        assert "left" in found(store)
        assert rows(store, exclusions.c.lifted_at) == [(None,)]

    def test_who_completed_the_study_did_not_leave(self, opened, clock):
        store = opened(small({"rule": "left"}))
        finish(store, begin(store), clock)
        clock.advance(10_000)
        assert found(store) == {}


class TestLate:
    """Two questions with a limit of ten seconds, and two of grace."""

    @pytest.mark.parametrize(
        ("limit", "times", "expected"),
        [
            (None, [13, 9], {}),  # one of two is not above 0.5
            (0.4, [13, 9], {"late": (0.5, 2)}),
            (None, [13, 13], {"late": (1.0, 2)}),
            (0, [12, 12], {}),
        ],
    )
    def test_is_a_share_of_late_answers_above_the_limit(self, opened, clock, limit, times, expected):
        store = opened(small({"rule": "late", "limit": limit}, timing={"item_seconds": 10}))
        token = begin(store)
        go_to(store, token, clock, "test")
        answer_all(store, token, clock, times)
        assert found(store) == expected

    def test_an_answer_that_never_came_is_late(self, opened, clock):
        store = opened(small({"rule": "late"}, timing={"item_seconds": 10, "late": "close"}))
        token = begin(store)
        go_to(store, token, clock, "test")
        answer_all(store, token, clock, [20, 20])
        assert found(store) == {"late": (1.0, 2)}
        [record] = exclusion_records(store)
        assert record["evidence"] == {"limit": 0.5, "measured": 1.0, "answers": 2, "late": 0, "expired": 2}

    def test_pages_without_a_limit_do_not_count(self, opened, clock):
        store = opened(small({"rule": "late", "limit": 0}))
        finish(store, begin(store), clock, seconds=1000)
        assert found(store) == {}


class TestSameAnswer:
    """Ten items, predicted twice each: 20 answers, 19 of which are 0.95."""

    @pytest.mark.parametrize(("others", "expected"), [(1, (0.95, 20)), (0, (1.0, 20)), (2, None)])
    def test_is_a_share_of_one_place_from_the_limit_on(self, opened, clock, others, expected):
        store = opened(forward({"rule": "same-answer"}, test=10))
        given = iter(["2"] * others + ["1"] * 20)
        choose = lambda question: next(given) if question.name == "prediction" else "4"  # noqa: E731
        finish(store, begin(store), clock, choose=choose)
        assert found(store) == ({} if expected is None else {"same-answer": expected})

    @pytest.mark.parametrize(("answers", "holds"), [(7, False), (8, True)])
    def test_needs_eight_answers(self, opened, clock, answers, holds):
        store = opened(forward({"rule": "same-answer"}))
        token = begin(store)
        go_to(store, token, clock, "pre")
        answer_all(store, token, clock, [5] * answers)
        assert found(store) == ({"same-answer": (1.0, 8)} if holds else {})

    def test_says_which_place_and_how_often(self, opened, clock):
        store = opened(forward({"rule": "same-answer", "limit": 0.9}))
        finish(store, begin(store), clock, choose=lambda question: "2")
        apply_exclusions(store)
        [record] = exclusion_records(store)
        assert record["evidence"] == {
            "limit": 0.9,
            "measured": 1.0,
            "answers": 16,
            "position": 2,
            "times": 16,
        }


class TestRecording:
    def test_a_second_time_changes_nothing(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}, {"rule": "same-answer"}))
        finish(store, begin(store), clock, seconds=1)
        apply_exclusions(store)
        before = rows(store, *exclusions.c)
        clock.advance(100)
        apply_exclusions(store)
        assert rows(store, *exclusions.c) == before
        assert len(before) == 2

    def test_nothing_else_is_touched(self, opened, clock):
        store = opened(small({"rule": "too-fast"}, {"rule": "left"}))
        finish(store, begin(store), clock, seconds=1)
        begin(store)
        clock.advance(4000)
        kept = (*participants.c,), (*steps.c,), (*responses.c,), (*events.c,), (*consents.c,)
        before = [rows(store, *columns) for columns in kept]
        assert set(found(store)) == {"too-fast", "left"}
        assert [rows(store, *columns) for columns in kept] == before

    def test_evidence_follows_new_answers(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}))
        token = begin(store)
        go_to(store, token, clock, "pre")
        answer_all(store, token, clock, [1])
        assert found(store) == {"too-fast": (1, 1)}
        answer_all(store, token, clock, [1, 1])
        assert found(store) == {"too-fast": (1, 3)}
        answer_all(store, token, clock, [5, 5, 5, 5])
        assert found(store) == {}

    def test_who_is_quiet_is_not_looked_at_again_and_keeps_what_holds(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}))
        finish(store, begin(store), clock, seconds=1)
        assert "too-fast" in found(store)
        clock.advance(100_000)
        begin(store)
        assert "too-fast" in found(store)

    def test_the_first_of_two_declarations_that_holds_counts(self, opened, clock):
        store = opened(forward({"rule": "too-fast", "limit": 0.5}, {"rule": "too-fast", "limit": 3}))
        finish(store, begin(store), clock, seconds=1)
        apply_exclusions(store)
        assert [record["limit"] for record in exclusion_records(store)] == [3]

    def test_nothing_is_written_of_whose_data_were_deleted_meanwhile(self, opened, clock):
        store = opened(small({"rule": "too-fast"}, retention_days=1))
        finish(store, begin(store), clock, seconds=1)
        judged = list(_findings(store, to_micros(clock())))
        assert [set(rules) for one in judged for rules in one.values()] == [{"too-fast"}]
        clock.advance(2 * 24 * 3600)
        assert store.purge().people == 1
        for one in judged:
            store.database.write(partial(_record, one, to_micros(clock())))
        assert rows(store, *exclusions.c) == []

    def test_bots_are_judged_too(self, opened, clock):
        store = opened(forward({"rule": "too-fast"}))
        token = store.enter(is_bot=True)
        store.consent(token, True)
        finish(store, token, clock, seconds=1)
        apply_exclusions(store)
        assert [record["bot"] for record in exclusion_records(store)] == [True]
