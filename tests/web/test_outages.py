"""A database that goes away in the middle: participants are told kindly, and go on when it is back; nothing is lost."""

from __future__ import annotations

import re
import resource
import sqlite3
from threading import Barrier, Thread

import httpx
from sqlalchemy import select

import real_parts
from real_parts import LONG
from small_study import GIVEN, small_study
from verax.studies.store.database import engine as database_module
from verax.studies.store.tables import responses, steps
from web.serving import held
from web.walk import Form, filled, http_enter, http_walk

BUSY = (503, "That could not be saved just now")


def told(page: httpx.Response) -> tuple[int, str]:
    return page.status_code, re.search(r"<h1>(.*?)</h1>", page.text)[1]


def answered(served) -> list[int]:
    """The steps that have a response, in order."""
    query = select(steps.c.ord).join_from(responses, steps).order_by(steps.c.ord)
    return list(served.store.database.read(lambda connection: connection.execute(query).scalars()))


def begun(served, answer) -> tuple[str, dict[str, str]]:
    """Somebody who has answered two pages, and the third as it would be sent."""
    url = http_enter(served.client)
    for _ in range(2):
        served.client.post(url, data=filled(Form(served.client.get(url).text), answer))
    return url, filled(Form(served.client.get(url).text), answer)


def test_sqlite_that_another_program_holds(serve, answer, tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 1)  # how long it is waited for; 10 in the field
    path = tmp_path / "answers.sqlite"
    served = serve(small_study(), f"sqlite:///{path}")
    url, third = begun(served, answer)
    with held(path):
        refused = served.client.post(url, data=third)
        assert told(refused) == BUSY
        assert int(refused.headers["retry-after"]) <= 60
        assert told(served.client.get(url)) == BUSY
        assert told(served.client.post("/enter")) == BUSY
        assert told(served.client.post(f"{url}/leave", data={"choice": "delete"})) == BUSY
    # The same form, sent once more, as the page asks for.
    assert served.client.post(url, data=third).status_code == 303
    assert answered(served) == [1, 2, 5]
    assert http_walk(served.client, url, answer).code
    assert len(answered(served)) == 9


def test_a_full_disk_loses_no_answer_to_ones_own_questions_and_takes_the_next_when_there_is_room(
    serve, tmp_path
):
    """No file may grow: SQLite is told what it is told by a disk without room."""
    first = {"name": "work", "question": "Computers?", "answers": ["Yes", "No"], "place": "first"}
    waits = {"question": "work", "answers": ["Yes"]}
    hours = {"name": "hours", "kind": "number", "question": "How many hours?", "shown_if": waits}
    served = serve(
        small_study(
            questions=[first, hours | {"place": "before"}, {"block": "trust-short"}], method="teaches"
        ),
        f"sqlite:///{tmp_path / 'answers.sqlite'}",
    )
    url, answers = http_enter(served.client), []

    def given(asked):
        return GIVEN.get(asked.name) or ("1" if asked.options else "30")

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    while (form := Form(served.client.get(url).text)).is_step:
        sent = filled(form, given)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            refused = served.client.post(url, data=sent)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert told(refused) == BUSY
        assert answered(served) == answers
        assert served.client.post(url, data=sent).status_code == 303
        answers = answered(served)
    asked = served.store.database.read(
        lambda connection: connection.execute(
            select(steps.c.screen, responses.c.answers).join(responses)
        ).all()
    )
    stored = {screen: given for screen, given in asked if screen.startswith("own:")}
    assert list(stored) == ["own:work", "own:hours", "own:trust-short"]
    assert stored["own:hours"] == {"hours": 30}


def test_a_wait_leaves_time_for_the_answer_within_the_promised_ten_seconds():
    assert database_module.HELD_SECONDS < database_module.BUSY_SECONDS <= 9


def test_many_who_wait_for_a_held_database_are_told_together(serve, tmp_path, monkeypatch):
    """Were they told one after the other, the last of twenty would wait for eighty seconds."""
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 4)
    path = tmp_path / "answers.sqlite"
    served = serve(small_study(target=20), f"sqlite:///{path}")
    gate, sent = Barrier(20), []

    def press() -> None:
        gate.wait(LONG)
        sent.append(httpx.post(f"{served.address}/enter", timeout=60.0))

    with held(path):
        people = [Thread(target=press) for _ in range(20)]
        for one in people:
            one.start()
        for one in people:
            one.join()
        assert [told(page) for page in sent] == [BUSY] * 20
    assert served.client.post("/enter").status_code == 303


def test_sqlite_is_read_while_another_program_writes(serve, answer, tmp_path, monkeypatch):
    """In the mode that is set here a writer stops nobody from looking."""
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 1)
    path = tmp_path / "answers.sqlite"
    served = serve(small_study(), f"sqlite:///{path}")
    url, _ = begun(served, answer)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert served.client.get(f"{url}/leave").status_code == 200
    assert served.client.get("/").status_code == 200
    other.execute("ROLLBACK")
    other.close()


def test_postgresql_that_is_stopped_and_started_again(serve, answer):
    with real_parts.running_postgres() as server:  # one of this test's own, since it is stopped
        import pgserver

        server.psql("CREATE DATABASE verax;")
        served = serve(small_study(), server.get_uri("verax"))
        url, third = begun(served, answer)
        pgserver.pg_ctl(["-w", "-m", "fast", "stop"], pgdata=server.pgdata, user=server.system_user)
        for _ in range(2):
            assert told(served.client.post(url, data=third)) == BUSY
            assert told(served.client.get(url)) == BUSY
            assert told(served.client.post("/enter")) == BUSY
        server.ensure_postgres_running()
        assert served.client.post(url, data=third).status_code == 303
        assert answered(served) == [1, 2, 5]
        assert http_walk(served.client, url, answer).code
        assert len(answered(served)) == 9
        served.store.close()
