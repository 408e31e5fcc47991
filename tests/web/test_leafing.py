"""Leafing back through a look: earlier pages are seen again, nothing can be changed, and the data say when."""

from __future__ import annotations

import re

import pytest

from small_study import begin, do_step
from store_tools import rows
from studies.analysis.frames import THREE, sample_study
from verax.studies.answers.flat_records import read_events, view
from verax.studies.store import open_store
from verax.studies.store.tables import events, responses

ROLES = {"learning": 4, "test": 4}


def forward(**more):
    protocol = {"name": "forward", **ROLES, **more}
    return sample_study(protocol, ROLES, conditions=THREE[1:2], participants=3)


def walk_to(store, token, phase, number):
    """Until this page of the phase is due, and displayed."""
    while not ((where := store.show(token)).phase.key == phase and where.number_in_phase == number):
        do_step(store, token)
    return where


@pytest.fixture
def leafed(serve):
    return serve(forward(leaf=True))


def test_the_pages_of_a_look_can_be_leafed_through_and_nothing_is_lost(leafed):
    store, client = leafed.store, leafed.client
    token = begin(store)
    due = walk_to(store, token, "learning", 3)
    page = client.get(f"/p/{token}").text
    (earlier,) = re.findall(rf'href="(/p/{token}/look/\d+)"', page)
    before = client.get(earlier)
    assert before.status_code == 200
    assert "item 2 of 4" in before.text
    assert "seen before" in before.text
    assert "<form" not in before.text
    first = client.get(re.findall(rf'href="(/p/{token}/look/{due.ord - 2})"', before.text)[0])
    assert "item 1 of 4" in first.text
    assert f'href="/p/{token}/look/{due.ord - 1}"' in first.text  # the page after
    where = store.look(token)
    assert (where.ord, where.number_in_phase) == (due.ord, 3)
    noted = [(type, ord) for type, ord in rows(store, events.c.type, events.c.ord) if type == "leaf"]
    assert noted == [("leaf", due.ord - 1), ("leaf", due.ord - 2)]


def test_a_rating_that_was_given_is_shown_and_stays(leafed):
    store, client = leafed.store, leafed.client
    token = begin(store)
    due = walk_to(store, token, "explained", 2)
    seen = client.get(f"/p/{token}/look/{due.ord - 1}").text
    assert "You said: <strong>7</strong>" in seen
    assert 'type="radio"' not in seen
    stored = len(rows(store, responses.c.step_id))
    assert client.post(f"/p/{token}/look/{due.ord - 1}").status_code == 405
    assert len(rows(store, responses.c.step_id)) == stored


def test_only_earlier_pages_of_the_same_phase_can_be_seen(leafed):
    store, client = leafed.store, leafed.client
    token = begin(store)
    due = walk_to(store, token, "pre", 2)
    for ord in (0, 1, due.ord - 1, due.ord, due.ord + 1, 999_999_999):
        answer = client.get(f"/p/{token}/look/{ord}")
        assert (answer.status_code, answer.headers.get("location")) == (303, f"/p/{token}")
    assert "/look/" not in client.get(f"/p/{token}").text
    assert client.get("/p/nobody/look/1").status_code == 303
    assert [type for (type,) in rows(store, events.c.type) if type == "leaf"] == []


def test_without_the_option_there_is_no_way_back(serve):
    served = serve(forward())
    token = begin(served.store)
    due = walk_to(served.store, token, "learning", 3)
    assert "/look/" not in served.client.get(f"/p/{token}").text
    assert served.client.get(f"/p/{token}/look/{due.ord - 1}").status_code == 303


def test_what_was_leafed_stands_in_the_export_with_its_time_and_is_not_withheld(tmp_path):
    store = open_store(forward(leaf=True), f"sqlite:///{tmp_path / 'answers.db'}")
    try:
        token = begin(store)
        due = walk_to(store, token, "learning", 2)
        assert store.leaf(token, due.ord - 1).looking == due.ord - 1
        with view(store) as seen:
            (record,) = [record for record in read_events(seen) if record["type"] == "leaf"]
        assert (record["step"], record["withheld"]) == (due.ord - 1, False)
        assert record["minute"] >= 0
    finally:
        store.close()
