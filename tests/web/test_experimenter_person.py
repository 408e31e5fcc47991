"""The dashboard opens a participant, shows a trend and when it ends, and can be shared by a link."""

from __future__ import annotations

import re
from datetime import datetime

import httpx
import pytest

from real_parts import LONG
from small_study import begin, finish
from verax.studies.answers.collect import collect
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.store.clock import SECOND
from verax.studies.store.one_participant import unblind
from verax.studies.store.status import HOUR, forecast
from web.watching_tools import add_anna, knock, send, signed_in


@pytest.fixture
def anna(served):
    add_anna(served.store)
    finish(served.store, begin(served.store))
    return served


def steps_of(study, row):
    return participant_steps(study, row, 1)


def only_person(anna) -> str:
    page = anna.client.get("/experimenter").text
    (name,) = set(re.findall(r'href="/experimenter/participant/(p[0-9a-f]{10})"', page))
    return name


def test_a_participant_is_opened_with_answers_and_times(anna):
    signed_in(anna.client)
    page = anna.client.get(f"/experimenter/participant/{only_person(anna)}").text
    assert "Finished" in page
    assert "Out of curiosity." in page  # what was written
    assert re.search(r"prediction: \d", page)
    assert re.search(r"\d+\.\d s</td>", page)
    assert anna.client.get("/experimenter/participant/p0123456789").status_code == 404


def test_until_the_study_is_closed_nobody_sees_conditions_beside_answers_unless_it_is_recorded(anna):
    form = signed_in(anna.client)
    address = f"/experimenter/participant/{only_person(anna)}"
    conditions = {step.condition for row in anna.store.study.rows for step in steps_of(anna.store.study, row)}
    blind = anna.client.get(address).text
    for telling in (
        "rating: 7",
        "Row of the design",
        ">Condition<",
        *(f"<td>{one}</td>" for one in conditions if one),
    ):
        assert telling not in blind
    assert "Exclude</button>" in blind
    live = anna.client.get("/experimenter").text
    assert "looked at conditions" not in live
    assert '">row ' not in live  # the design beside it says what each row gives
    unblinded = send(anna.client, f"{address.removeprefix('/experimenter/')}/judge", form, {"do": "unblind"})
    assert unblinded.status_code == 303
    seen = anna.client.get(address).text
    assert "rating: 7" in seen
    assert any(f"<td>{one}</td>" in seen for one in conditions if one)
    live = anna.client.get("/experimenter").text
    assert "looked at conditions before the study was closed" in live
    assert '">row ' in live


def test_once_the_study_is_closed_conditions_are_shown_without_a_record(anna):
    signed_in(anna.client)
    address = f"/experimenter/participant/{only_person(anna)}"
    anna.store.set_state("closed")
    assert ">Condition<" in anna.client.get(address).text
    assert "looked at conditions" not in anna.client.get("/experimenter").text


def test_somebody_is_excluded_with_a_reason_that_no_rule_takes_back(anna):
    form = signed_in(anna.client)
    name = only_person(anna)
    empty = send(anna.client, f"participant/{name}/judge", form, {"do": "exclude", "reason": "  "})
    assert empty.status_code == 400
    assert "Say why" in empty.text
    assert collect(anna.store).participants["excluded"].tolist() == [False]
    done = send(
        anna.client, f"participant/{name}/judge", form, {"do": "exclude", "reason": "Sat beside a friend"}
    )
    assert done.status_code == 303
    apply_exclusions(anna.store)
    collected = collect(anna.store)
    assert collected.participants["excluded"].tolist() == [True]
    assert "Sat beside a friend" in str(collected.exclusions["evidence"].tolist())
    page = anna.client.get(f"/experimenter/participant/{name}").text
    assert "excluded by hand" in page
    assert "Sat beside a friend" in page
    assert send(anna.client, f"participant/{name}/judge", form, {"do": "include"}).status_code == 303
    assert collect(anna.store).participants["excluded"].tolist() == [False]
    # Both are on record.
    live = anna.client.get("/experimenter").text
    assert "excluded a participant" in live
    assert "took an exclusion back" in live


def test_a_withdrawal_is_asked_once_more_and_deletes(anna):
    form = signed_in(anna.client)
    name = only_person(anna)
    asked = send(anna.client, f"participant/{name}/withdraw", form)
    assert "for good?" in asked.text
    assert len(collect(anna.store).responses) > 0
    assert "deleted for good" in send(anna.client, f"participant/{name}/withdraw", form, {"sure": "yes"}).text
    assert len(collect(anna.store).responses) == 0


def test_only_an_owner_changes_anything(anna):
    add_anna(anna.store, "ben", "reader")
    assert knock(anna.client, "ben").status_code == 303
    name = only_person(anna)
    page = anna.client.get(f"/experimenter/participant/{name}").text
    assert "/judge" not in page
    form = re.search(r'name="form" value="([0-9a-f]{64})"', page)[1]
    for what in (f"participant/{name}/judge", f"participant/{name}/withdraw", "share"):
        assert send(anna.client, what, form, {"reason": "x", "sure": "yes"}).status_code == 403
    assert len(collect(anna.store).responses) > 0


def test_a_reader_does_not_see_what_people_wrote(anna):
    unblind(anna.store, by="anna")  # ratings tell the condition
    for name, role, sees in (("ben", "reader", False), ("cleo", "helper", True)):
        add_anna(anna.store, name, role)
        anna.client.cookies.clear()
        assert knock(anna.client, name).status_code == 303
        page = anna.client.get(f"/experimenter/participant/{only_person(anna)}").text
        assert ("Out of curiosity." in page) == sees
        assert ("(own words, withheld)" in page) == (not sees)
        assert re.search(r"rating: 7", page)  # what was chosen is for both


def test_a_link_shows_the_page_to_anybody_until_there_is_another(anna):
    form = signed_in(anna.client)
    link = re.search(r'href="(/experimenter/shared/[0-9a-f]{32})"', anna.client.get("/experimenter").text)[1]
    share = f"{anna.address}{link}"
    with httpx.Client(timeout=LONG) as stranger:
        page = stranger.get(share).text
        assert "Finished" in page
        assert "<form" not in page
        assert "/participant/" not in page
        assert stranger.get(f"{share}/live").status_code == 200
        assert stranger.get(f"{share}0").status_code == 303
        assert send(anna.client, "share", form).status_code == 303
        assert stranger.get(share).status_code == 303
    assert link not in anna.client.get("/experimenter").text


def test_the_end_is_foretold_from_the_last_day():
    now = 1000 * HOUR + 1800 * SECOND
    # 24 in the last day, one in each hour; 12 places are left, so that it takes half of a day.
    hours = [(hour, 1) for hour in range(900, 1001)]
    found = forecast(hours, 12, now)
    assert found is not None
    assert found.finished == 24
    assert found.hours == pytest.approx(23.5)
    # 12 places at 24 in 23.5 hours take 11.75 hours; chi-square quantiles of Poisson counts: 15.38 to 35.71.

    def hours_until(moment):
        return (datetime.fromisoformat(moment).timestamp() - now / SECOND) / 3600

    assert hours_until(found.at) == pytest.approx(11.75, abs=0.02)
    assert hours_until(found.earliest) == pytest.approx(12 * 23.5 / 35.71, abs=0.02)
    assert hours_until(found.latest) == pytest.approx(12 * 23.5 / 15.38, abs=0.02)
    assert forecast(hours, 0, now) is None
    assert forecast([(1000, 2)], 5, now) is None
    assert forecast([], 5, now) is None
