"""What strangers try: each test is one of their ways, which once worked."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Semaphore, Thread

import httpx
import pytest
from sqlalchemy import String, cast, event, func, select, update
from sqlalchemy.exc import OperationalError
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

import real_parts
from real_parts import free_port
from small_study import small_study
from verax.errors import VeraxError
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store
from verax.studies.store import people as people_module
from verax.studies.store.accounts import SignInFailure
from verax.studies.store.database import engine as database_module
from verax.studies.store.participant.enter import RETAKE
from verax.studies.store.status import overview
from verax.studies.store.tables import events, participants, studies
from verax.web import app as health_module
from verax.web import requests as forms_module
from verax.web import serve as connections_module
from verax.web.app import Health, make_app
from verax.web.experimenter import routes as experimenter_routes_module
from verax.web.experimenter.sign_in import MOST_WAITING
from verax.web.participant import routes as participant_routes_module
from verax.web.requests import Limiter
from verax.web.serve import listen
from verax.web.serve import serve as serve_study
from web.serving import LONG, held, running, server, started, workers_of
from web.walk import Form, filled, http_enter, http_walk
from web.watching_tools import add_anna, signed_in

NEVER = 1e9  # seconds, until a token grows back


def value(served, query):
    return served.store.database.read(lambda connection: connection.execute(query).scalar_one())


def unlimited(served) -> None:
    """No limit on requests, so that what the database keeps is all that is looked at."""
    free = Limiter(rate=1e6, burst=1_000_000)
    served.app.state.limits = replace(served.app.state.limits, in_vain_as=free, in_vain_from=free, enter=free)


# ---- Filling the disk


def large_and_stale(served, url: str) -> dict[str, str]:
    """What filled a disk: a wrong nonce, and as much beside it as a form may hold."""
    form = Form(served.client.get(url).text)
    return form.hidden | {"nonce": "wrong", "q-more": "x" * 60_000}


def test_one_visitor_cannot_fill_the_disk(served_from_both, answer):
    served = served_from_both
    unlimited(served)
    url = http_enter(served.client)
    sent = large_and_stale(served, url)
    for _ in range(60):
        assert served.client.post(url, data=sent).status_code == 303
    stored = value(served, select(func.sum(func.length(cast(events.c.data, String)))))
    assert 0 < stored <= people_module.MOST_BYTES
    kept, unkept = served.store.database.read(
        lambda connection: connection.execute(select(participants.c.events, participants.c.unkept)).one()
    )
    assert (kept + unkept, kept) == (60, value(served, select(func.count()).select_from(events)))
    assert unkept >= 40
    # Their answers have room as before.
    assert http_walk(served.client, url, answer).code


def test_small_events_are_bounded_in_number(served, monkeypatch):
    monkeypatch.setattr(people_module, "MOST_EVENTS", 5)
    unlimited(served)
    url = http_enter(served.client)
    sent = Form(served.client.get(url).text).hidden | {"nonce": "wrong"}
    for _ in range(20):
        served.client.post(url, data=sent)
    assert value(served, select(func.count()).select_from(events)) == 5
    assert value(served, select(participants.c.unkept)) == 15


def test_many_visitors_together_cannot_fill_the_disk(served_from_both, monkeypatch, answer):
    served = served_from_both
    monkeypatch.setattr(people_module, "MOST_STUDY_BYTES", 50_000)
    unlimited(served)
    urls = [http_enter(served.client) for _ in range(4)]
    for url in urls:
        sent = large_and_stale(served, url) | {"q-more": "x" * 9_000}
        for _ in range(5):
            served.client.post(url, data=sent)
    # Beside them stands that one device came several times.
    kept = select(func.count()).select_from(events).where(events.c.type != RETAKE)
    assert value(served, kept) == 5
    assert value(served, select(studies.c.event_bytes)) <= 50_000
    assert value(served, select(func.sum(participants.c.unkept))) == 15
    assert http_walk(served.client, urls[-1], answer).code
    # Who has theirs deleted makes room again.
    served.client.post(f"{urls[0]}/leave", data={"choice": "delete"})
    assert value(served, select(studies.c.event_bytes)) == 0


def test_loading_a_page_again_and_again_is_counted_not_kept(served, monkeypatch):
    unlimited(served)
    url = http_enter(served.client)
    for _ in range(people_module.MOST_RELOADS + 30):
        served.client.get(url)
    assert value(served, select(func.count()).select_from(events)) == people_module.MOST_RELOADS - 1
    where = served.store.look(url.removeprefix("/p/"))
    assert where.ord == 1


def test_an_experimenter_is_told_that_things_were_only_counted(served, monkeypatch):
    monkeypatch.setattr(people_module, "MOST_EVENTS", 0)
    url = http_enter(served.client)
    sent = Form(served.client.get(url).text).hidden | {"nonce": "wrong"}
    for _ in range(3):
        served.client.post(url, data=sent)
    assert overview(served.store).unkept == 3


def test_who_sends_in_vain_has_to_wait_and_their_neighbours_do_not(serve, answer):
    served = serve(small_study(target=5))
    slow = {"rate": 1 / NEVER}
    served.app.state.limits = replace(
        served.app.state.limits, in_vain_as=Limiter(burst=3, **slow), in_vain_from=Limiter(burst=4, **slow)
    )
    loud, second, quiet = (http_enter(served.client) for _ in range(3))
    for _ in range(2):
        sent = Form(served.client.get(loud).text).hidden
        assert served.client.post(loud, data=sent | {"nonce": "wrong"}).status_code == 303
    found = [served.client.post(loud, data=sent | {"nonce": "wrong"}) for _ in range(3)]
    assert [page.status_code for page in found] == [303, 429, 429]
    assert int(found[-1].headers["retry-after"]) > 0
    # One more from the same address; then everybody there who sends in vain has to wait.
    wrong = Form(served.client.get(second).text).hidden | {"nonce": "wrong"}
    assert [served.client.post(second, data=wrong).status_code for _ in range(2)] == [303, 429]
    # Whoever sends nothing but answers is held up by nobody.
    assert http_walk(served.client, quiet, answer).code


def test_bots_with_the_pass_are_not_held_up(serve):
    served = serve(small_study())
    none = Limiter(rate=1 / NEVER, burst=1)
    served.app.state.limits = replace(served.app.state.limits, in_vain_as=none, in_vain_from=none)
    entered = served.client.post("/enter", data={"bot": served.store.bot_pass()})
    url = entered.headers["location"]
    served.client.post(url, data={"consent": "yes"})
    sent = Form(served.client.get(url).text).hidden | {"nonce": "wrong"}
    assert [served.client.post(url, data=sent).status_code for _ in range(5)] == [303] * 5


# ---- Somebody else's place


IDS = {
    "prolific": (
        {"PROLIFIC_PID": "5f3c0a2b9d1e", "STUDY_ID": "60aabb", "SESSION_ID": "61aabb"},
        "SESSION_ID",
    ),
    "mturk": (
        {
            "workerId": "A1B2C3",
            "assignmentId": "3TK8OJ",
            "hitId": "3GKAWY",
            "turkSubmitTo": "https://www.mturk.com",
        },
        "assignmentId",
    ),
}


def begun(served, ids: dict[str, str], answer) -> str:
    """Somebody whom a platform sent, and who has answered a page: their address."""
    url = served.client.post("/enter", data=ids).headers["location"]
    served.client.post(url, data={"consent": "yes"})
    served.client.post(url, data=filled(Form(served.client.get(url).text), answer))
    return str(url)


@pytest.fixture
def stranger(served_by_platform) -> Iterator[httpx.Client]:
    """Another browser."""
    with httpx.Client(base_url=served_by_platform.address, timeout=LONG) as client:
        yield client


@pytest.fixture(params=["prolific", "mturk"])
def served_by_platform(serve, request):
    return serve(small_study(entry=request.param))


def ids_of(served) -> tuple[dict[str, str], str]:
    return IDS[served.store.study.spec.entry]


def test_the_id_of_a_person_alone_opens_nothing(served_by_platform, stranger, answer):
    ids, session = ids_of(served_by_platform)
    url = begun(served_by_platform, ids, answer)
    tried = stranger.post("/enter", data=ids | {session: "guessed"})
    assert (tried.status_code, "location" in tried.headers) == (403, False)
    assert url not in tried.text
    assert "You have started this study before" in tried.text
    # Their own session is let in as before, also after the try.
    assert stranger.post("/enter", data=ids).status_code == 303


def test_who_comes_by_ids_in_another_browser_goes_on_but_deletes_nothing(
    served_by_platform, stranger, answer
):
    served = served_by_platform
    ids, _ = ids_of(served)
    url = begun(served, ids, answer)
    lent = stranger.post("/enter", data=ids).headers["location"]
    token = url.removeprefix("/p/")
    here = Form(served.client.get(url).text).hidden
    page = stranger.get(lent)
    assert Form(page.text).hidden == here
    for seen in (page, stranger.get(f"{lent}/leave"), stranger.get("/")):
        assert token not in seen.text + str(seen.headers)
    assert 'value="delete"' not in stranger.get(f"{lent}/leave").text
    refused = stranger.post(f"{lent}/leave", data={"choice": "delete"})
    assert (refused.status_code, served.store.look(token).status) == (403, "active")
    assert http_walk(stranger, lent, answer).code
    assert stranger.get(f"{lent}/leave").status_code == 403
    assert stranger.post(f"{lent}/leave", data={"choice": "delete"}).status_code == 403
    assert served.store.look(token).status == "complete"
    # The owner, by the cookie and by the own link, may.
    assert 'value="delete"' in served.client.get(f"{url}/leave").text
    assert served.client.post("/enter", data=ids).headers["location"] == url
    served.client.post(f"{url}/leave", data={"choice": "delete"})
    assert served.store.look(token).status == "withdrawn"


def test_who_kept_the_cookie_may_come_with_a_new_session(served_by_platform, stranger, answer):
    """As a worker who gave a task back and took it again."""
    served = served_by_platform
    ids, session = ids_of(served)
    url = begun(served, ids, answer)
    new = ids | {session: "second"}
    assert served.client.post("/enter", data=new).headers["location"] == url
    # From now on it is the new one that opens the place elsewhere.
    assert stranger.post("/enter", data=ids).status_code == 403
    assert stranger.post("/enter", data=new).status_code == 303


def test_what_was_lent_cannot_be_made(served_by_platform, stranger, answer):
    served = served_by_platform
    ids, _ = ids_of(served)
    begun(served, ids, answer)
    lent = stranger.post("/enter", data=ids).headers["location"]
    flipped = lent[:-3] + ("A" if lent[-3] != "A" else "B") + lent[-2:]
    for forged in (flipped, "/p/~", "/p/~AAAA", f"/p/~{'A' * 48}", lent[:-4], "/p/~é"):
        assert stranger.get(forged).status_code == 404
        assert stranger.post(f"{forged}/leave", data={"choice": "keep"}).status_code == 404


def test_who_began_before_sessions_were_noted_goes_on(served_by_platform, stranger, answer):
    served = served_by_platform
    ids, session = ids_of(served)
    begun(served, ids, answer)
    served.store.database.write(
        lambda connection: connection.execute(update(participants).values(session_hash=None))
    )
    assert stranger.post("/enter", data=ids).status_code == 303
    assert stranger.post("/enter", data=ids | {session: "guessed"}).status_code == 403


# ---- A database that does not answer


def test_pages_that_need_no_database_wait_for_none(serve, tmp_path, monkeypatch):
    """Sixty who wait take all threads of the server; what needs none is answered meanwhile."""
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 120)
    monkeypatch.setattr(health_module, "PATIENCE", 0.2)
    path = tmp_path / "answers.sqlite"
    served = serve(small_study(target=60), f"sqlite:///{path}")
    assert served.client.get("/health").status_code == 200
    monkeypatch.setattr(health_module, "SHARED_SECONDS", -1)
    waiting, answered = Semaphore(0), []

    def press() -> None:
        waiting.release()
        answered.append(httpx.post(f"{served.address}/enter", timeout=LONG).status_code)

    people = [Thread(target=press) for _ in range(60)]
    with held(path):
        for one in people:
            one.start()
        for _ in people:
            assert waiting.acquire(timeout=LONG)
        for _ in range(3):
            with httpx.Client(base_url=served.address, timeout=LONG) as fresh:
                first = fresh.get("/")
                assert first.status_code == 200
                style = re.search(r'href="([^"]*study[^"]*\.css)"', first.text)[1]
                assert fresh.get(style).status_code == 200
                assert fresh.get("/nowhere").status_code == 404
                assert fresh.get("/experimenter/sign-in").status_code == 200
                # And whoever watches over the server is told.
                assert fresh.get("/health").status_code == 503
        assert answered == []
    for one in people:
        one.join(LONG)
    assert answered == [303] * 60
    assert served.client.get("/health").status_code == 200


def test_a_held_database_is_waited_for_once_not_by_each_in_turn(tmp_path, monkeypatch):
    """What each begin was allowed to wait, from when the file was held until it is free."""
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.5)
    monkeypatch.setattr(database_module, "HELD_SECONDS", 0.1)
    path = tmp_path / "answers.sqlite"
    with closing(open_store(small_study(), f"sqlite:///{path}")) as store:
        allowed = []

        def note(connection, _cursor, statement, *_rest) -> None:
            if statement == "BEGIN IMMEDIATE":
                allowed.append(connection.exec_driver_sql("PRAGMA busy_timeout").scalar())

        event.listen(store.database.engines[-1], "before_cursor_execute", note)
        with held(path):
            for _ in range(3):
                with pytest.raises(OperationalError, match="locked"):
                    store.enter()
        store.enter()
        store.enter()
    assert allowed == [500, 100, 100, 100, 500]


def test_a_health_check_sees_a_database_that_is_away(serve):
    with real_parts.running_postgres() as server:
        import pgserver

        server.psql("CREATE DATABASE verax;")
        served = serve(small_study(), server.get_uri("verax"))
        served.app.state.health = Health(served.store)
        assert served.client.get("/health").text == "ok\n"
        pgserver.pg_ctl(["-w", "-m", "fast", "stop"], pgdata=server.pgdata, user=server.system_user)
        served.app.state.health = Health(served.store)  # what was found is shared for two seconds
        gone = served.client.get("/health")
        assert (gone.status_code, "postgres" in gone.text) == (503, False)
        server.ensure_postgres_running()
        served.app.state.health = Health(served.store)
        assert served.client.get("/health").status_code == 200
        served.store.close()


def test_a_health_check_sees_a_full_disk(served):
    """No file may grow: SQLite is told what it is told by a disk without room."""
    size = max(path.stat().st_size for path in Path(served.store.database.name).parent.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    served.client.get("/health")
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(size, 4096), hard))
    try:
        served.app.state.health = Health(served.store)
        full = served.client.get("/health").status_code
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    served.app.state.health = Health(served.store)
    assert (full, served.client.get("/health").status_code) == (503, 200)


def test_after_an_outage_the_first_health_check_is_a_new_one(serve, tmp_path, monkeypatch, caplog):
    """Not the one that was begun while the database was held, and that nobody waited for to the end."""
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.5)
    monkeypatch.setattr(health_module, "PATIENCE", 0.05)
    path = tmp_path / "answers.sqlite"
    served = serve(small_study(), f"sqlite:///{path}")
    with held(path):
        assert served.client.get("/health").status_code == 503
        until = time.monotonic() + LONG
        while "The health check failed" not in caplog.text:
            assert time.monotonic() < until
            time.sleep(0.01)
    monkeypatch.setattr(health_module, "PATIENCE", LONG)
    assert served.client.get("/health").status_code == 200


def test_asking_for_health_all_the_time_is_one_write(served, monkeypatch):
    monkeypatch.setattr(health_module, "SHARED_SECONDS", 1e9)
    served.app.state.health = Health(served.store)
    assert [served.client.get("/health").status_code for _ in range(2)] == [200, 200]
    checked = value(served, select(studies.c.checked_at))
    for _ in range(20):
        served.client.get("/health")
    assert value(served, select(studies.c.checked_at)) == checked


# ---- Clients that hang up or dawdle, and a parent that is killed


def sent_in_part(address: str, after: int) -> socket.socket:
    """A form whose head says more than has come so far."""
    host, port = address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=LONG)
    head = f"POST /enter HTTP/1.1\r\nHost: {host}\r\nContent-Length: {after + 100}\r\n\r\n"
    connection.sendall(head.encode() + b"x" * after)
    return connection


def test_who_hangs_up_leaves_one_line_in_the_log(tmp_path):
    save_study(small_study(), tmp_path)
    port = free_port()
    with server(tmp_path, "", port=port, workers=1) as process:
        address = f"http://127.0.0.1:{port}"
        for _ in range(3):
            sent_in_part(address, 10).close()
        for _ in range(3):  # whoever asks and does not wait for the page
            connection = socket.create_connection(("127.0.0.1", port), timeout=LONG)
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            connection.close()
        assert httpx.get(f"{address}/", timeout=LONG).status_code == 200
    lines = process.complained.splitlines()
    assert lines == ["Somebody hung up before a form had arrived; nothing was stored of it."] * 3


def test_a_form_that_dawdles_is_given_up(served, monkeypatch):
    monkeypatch.setattr(forms_module, "BODY_SECONDS", 0.2)
    with sent_in_part(served.address, 10) as slow:
        answered = slow.recv(100)
    assert answered.startswith(b"HTTP/1.1 408 ")


def test_the_head_of_a_request_that_dawdles_is_given_up(served, tmp_path, monkeypatch):
    monkeypatch.setattr(connections_module, "HEAD_SECONDS", 0.2)
    with running(served.app) as address:
        host, port = address.removeprefix("http://").split(":")
        for began in (b"", b"GET / HTTP/1.1\r\nHost: x\r\n"):
            with socket.create_connection((host, int(port)), timeout=LONG) as slow:
                slow.sendall(began)
                assert slow.recv(100) == b""
        # Whoever sends theirs is not cut off while the answer is made, nor before the next one.
        with httpx.Client(base_url=address, timeout=LONG) as client:
            assert [client.get("/").status_code for _ in range(3)] == [200] * 3


def test_who_still_waits_when_a_server_ends_is_told_to_come_again(served, monkeypatch, caplog):
    """It waits for answers on their way, but not for ever: then there is one line for each, and no error."""
    gate, waiting, answers = Event(), Semaphore(0), []

    def stuck(_request: object) -> None:
        waiting.release()
        gate.wait(LONG)

    monkeypatch.setattr(participant_routes_module, "welcome", stuck)
    app = make_app(served.store, served.store.study)
    with running(app, grace=0) as address:
        people = [
            Thread(target=lambda: answers.append(httpx.get(f"{address}/", timeout=LONG))) for _ in range(3)
        ]
        for one in people:
            one.start()
        for _ in people:
            assert waiting.acquire(timeout=LONG)
    for one in people:
        one.join(LONG)
    gate.set()
    assert [answer.status_code for answer in answers] == [503] * 3
    assert {answer.headers["x-content-type-options"] for answer in answers} == {"nosniff"}
    assert "press the button again in a minute" in answers[0].text
    lines = [record.getMessage() for record in caplog.records if record.name == "verax.web"]
    assert (
        lines == ["The server ended before a page was ready; whoever asked for it is told to come again."] * 3
    )


def test_when_the_parent_is_killed_its_workers_end_and_the_port_is_free(tmp_path):
    save_study(small_study(), tmp_path)
    port = free_port()
    with started(tmp_path, "", port=port, workers=2) as process:
        workers = [int(child) for child in workers_of(process)]
        assert len(workers) == 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait(LONG)
        until = time.monotonic() + LONG
        while any(Path(f"/proc/{worker}").exists() for worker in workers):
            assert time.monotonic() < until, "workers outlive their parent"
            time.sleep(0.05)
    with listen("127.0.0.1", port):
        pass  # nobody else has it


# ---- A crowd at the experimenters' door


def test_participants_are_never_behind_those_who_sign_in(served, answer, monkeypatch):
    """All who sign in are stopped in the middle of the check; everybody else goes on, and a long queue is cut."""
    gate, checking = Event(), Semaphore(0)

    def slow(*_: object) -> SignInFailure:
        checking.release()
        assert gate.wait(LONG)
        return SignInFailure("wrong password")

    monkeypatch.setattr(experimenter_routes_module, "sign_in", slow)
    free = Limiter(rate=1e6, burst=1_000_000)
    served.app.state.limits = replace(served.app.state.limits, sign_in_from=free, wrong_passwords=free)
    found = []

    def knock() -> None:
        data = {"name": "anna", "password": "a wrong password"}
        found.append(httpx.post(f"{served.address}/experimenter/sign-in", data=data, timeout=LONG))

    crowd = [Thread(target=knock) for _ in range(60)]
    for one in crowd:
        one.start()
    assert checking.acquire(timeout=LONG)
    until = time.monotonic() + LONG
    while len(found) < 60 - MOST_WAITING:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert http_walk(served.client, http_enter(served.client), answer).code
    gate.set()
    for one in crowd:
        one.join(LONG)
    statuses = Counter(page.status_code for page in found)
    assert statuses == {429: 60 - MOST_WAITING, 403: MOST_WAITING}


# ---- Other names, and what browsers are told


def test_only_the_hosts_that_were_named_are_served(served):
    app = make_app(served.store, served.store.study, hosts=["study.example.org", "::1"])
    with running(app) as address, httpx.Client(base_url=address, timeout=LONG) as client:

        def asked(host: str, path: str = "/") -> int:
            return client.get(path, headers={"Host": host}).status_code

        assert [asked(host) for host in ("study.example.org", "STUDY.example.org:8443", "[::1]:80")] == [
            200
        ] * 3
        for other in (
            "evil.example.org",
            "study.example.org.evil",
            "127.0.0.1",
            "localhost:80",
            "",
            "[",
            "a b",
        ):
            assert asked(other) in (400, 421)
        # Whatever watches over the server asks under the machine's own name.
        assert asked("127.0.0.1", "/health") == 200
        assert asked("evil.example.org", "/health") == 421
        refused = client.post("/enter", headers={"Host": "evil.example.org"})
        assert (refused.status_code, refused.headers["x-content-type-options"]) == (421, "nosniff")


@pytest.mark.parametrize("name", ["https://study.example.org", "a b", "study.example.org:80", "-", "ü.org"])
def test_what_is_no_host_is_a_sentence(tmp_path, name):
    with pytest.raises(VeraxError, match="is not the name of a host"):
        serve_study(tmp_path, host_name=name)


def test_browsers_are_told_what_pages_never_do(served):
    for path in ("/", "/nowhere", "/experimenter/sign-in", "/health"):
        headers = served.client.get(path).headers
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert "strict-transport-security" not in headers  # it came by http


def test_who_came_by_https_stays_there(served):
    app = ProxyHeadersMiddleware(served.app, trusted_hosts="127.0.0.1")
    with running(app) as address:
        page = httpx.get(f"{address}/", headers={"X-Forwarded-Proto": "https"}, timeout=LONG)
    assert page.headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize("digits", [10, 4400, 60_000])
def test_a_page_of_very_many_digits_is_not_found(served, digits, caplog):
    place = http_enter(served.client)
    answer = served.client.get(f"{place}/look/{'9' * digits}")
    # A head of more than 64 kB is none.
    assert answer.status_code == 404 if digits < 60_000 else answer.status_code in (400, 404)
    assert "Traceback" not in caplog.text


def test_the_connection_is_closed_after_a_form_that_is_too_large(served):
    host, port = served.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as connection:
        head = "POST /enter HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n"
        connection.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\n".encode())
        connection.sendall(b"a" * (forms_module.LARGEST + 100_000))
        answer = b""
        while piece := connection.recv(65536):  # until the server closes
            answer += piece
    assert b" 413 " in answer.splitlines()[0]
    assert b"connection: close" in answer.lower()


@pytest.mark.parametrize(
    "path", ["/experimenter/", "/health/", "//experimenter/", "/experimenter/?a=//evil.example"]
)
def test_no_redirect_names_the_host_that_was_asked_for(served, path):
    answer = served.client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
    place = answer.headers.get("location", "/")
    assert re.fullmatch(r"/(?!/).*", place), place
    if not path.startswith("//"):
        assert (answer.status_code, place.split("?")[0]) == (307, path.split("?")[0].rstrip("/"))


# ---- Invented people


def test_invented_ids_do_not_fill_a_study_and_the_experimenter_is_told(serve):
    served = serve(small_study(entry="prolific", rows=2, target=30))
    add_anna(served.store)
    places = []
    for number in range(75):
        ids = {"PROLIFIC_PID": f"invented{number}", "STUDY_ID": "s", "SESSION_ID": f"v{number}"}
        place = served.client.post("/enter", data=ids).headers["location"]
        served.client.post(place, data={"consent": "yes"})
        places.append(place)
    waits = served.client.get(places[-1])
    assert "Please wait for a place" in waits.text
    assert waits.headers["refresh"] == "15"
    person = {"PROLIFIC_PID": "real", "STUDY_ID": "s", "SESSION_ID": "mine"}
    elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    place = served.client.post("/enter", data=person, headers=elsewhere).headers["location"]
    served.client.post(place, data={"consent": "yes"}, headers=elsewhere)
    assert 'name="nonce"' in served.client.get(place).text
    signed_in(served.client)
    page = served.client.get("/experimenter").text
    assert "20 places are held from one address" in page
    assert "55 people are waiting for a place" in page


def test_a_signed_link_lets_in_only_the_person_it_was_made_for(serve):
    served = serve(small_study(entry="prolific", recruiting={"signed": True}))
    ids = {"PROLIFIC_PID": "anna", "STUDY_ID": "s", "SESSION_ID": "v"}
    right = served.store.signature("prolific", "anna")
    assert served.client.get("/", params=ids).status_code == 400
    shown = served.client.get("/", params=ids | {"signature": right})
    assert (shown.status_code, right in shown.text) == (200, True)
    assert served.client.post("/enter", data=ids).status_code == 400
    for forged in ("0" * 32, "x", "ü", served.store.signature("mturk", "anna")):
        refused = served.client.post("/enter", data=ids | {"signature": forged})
        assert refused.status_code in (403, 422)
    other = ids | {"PROLIFIC_PID": "ben", "signature": right}
    assert served.client.post("/enter", data=other).status_code == 403
    assert served.client.post("/enter", data=ids | {"signature": right}).status_code == 303
