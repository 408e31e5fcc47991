"""A study served for real: processes, sockets and both databases."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from crowd import stored
from real_parts import free_port
from small_study import GIVEN, small_study
from verax.errors import VeraxError
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store
from verax.studies.store.database.relocate import move
from verax.web.serve import address, default_database, listen, serve
from web.serving import LONG, server, workers_of
from web.walk import Form, filled, http_enter, http_walk


def answer(asked) -> str:
    return GIVEN[asked.name]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request) -> str:
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_two_processes_serve_one_study(tmp_path, database):
    save_study(small_study(target=20), tmp_path)
    port = free_port()
    with server(tmp_path, database, port=port, workers=2) as running:
        assert len(workers_of(running.process)) == 2

        def take_part(_: int) -> str:
            # A connection for each request: they spread over the processes.
            limits = httpx.Limits(max_keepalive_connections=0)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=LONG, limits=limits) as client:
                return http_walk(client, http_enter(client), answer).code

        with ThreadPoolExecutor(4) as pool:
            codes = list(pool.map(take_part, range(4)))
            assert len(set(codes)) == 4
            client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=LONG)
            url = http_enter(client)
            for _ in range(3):
                sent = filled(Form(client.get(url).text), answer)
                copies = list(
                    pool.map(
                        lambda data: httpx.post(f"{client.base_url}{url}", data=data, timeout=LONG),
                        [sent] * 8,
                    )
                )
                assert {(copy.status_code, copy.headers["location"]) for copy in copies} == {(303, url)}
            assert (
                Form(client.get(url).text).hidden["ord"] == "6"
            )  # the steps of a second attempt are skipped
            client.close()
    assert f"'A small study' is served with 2 processes at http://127.0.0.1:{port}/\n" in running.said
    assert running.said.endswith("Ended. Every answer that was given is stored.\n")
    assert (running.process.returncode, running.complained) == (0, "")


def test_one_process_ends_with_ctrl_c_and_every_answer_is_stored(tmp_path):
    study = save_study(small_study(), tmp_path)
    port = free_port()
    with server(tmp_path, "", port=port, workers=1) as running, httpx.Client(timeout=LONG) as client:
        client.base_url = f"http://127.0.0.1:{port}"
        url = http_enter(client)
        client.post(url, data=filled(Form(client.get(url).text), answer))
    assert (running.process.returncode, running.complained) == (0, "")
    with closing(open_store(study, default_database(tmp_path))) as store:
        assert store.look(url.removeprefix("/p/")).ord == 2


def test_people_go_on_while_the_study_moves_to_another_database(tmp_path, postgres_url):
    study = save_study(small_study(target=20), tmp_path)
    port = free_port()
    some_are_in, is_moved = threading.Barrier(7), threading.Event()

    def take_part(number: int) -> str:
        def look(*_: object) -> None:
            if len(walked) == 2:
                some_are_in.wait(LONG)
            if len(walked) == 5 and number < 3:  # the others go on meanwhile, and may have finished before
                is_moved.wait(LONG)
            walked.append(1)

        walked: list[int] = []
        limits = httpx.Limits(max_keepalive_connections=0)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=LONG, limits=limits) as client:
            return http_walk(client, http_enter(client), answer, look=look).code

    with server(tmp_path, "", port=port, workers=2) as running, ThreadPoolExecutor(6) as pool:
        codes = [pool.submit(take_part, number) for number in range(6)]
        some_are_in.wait(LONG)
        moved = move(study, default_database(tmp_path), postgres_url)
        is_moved.set()
        assert len({code.result(LONG) for code in codes}) == 6
    assert moved.rows["participant"] == 6
    assert "were moved to postgresql" in running.complained
    with closing(open_store(study, postgres_url)) as store:
        everything = dict.fromkeys((1, 2, 5, 6, 7, 8, 9, 10, 11), 6)
        assert Counter(ord for _, ord in stored(store)) == everything
    # The command that was used before finds the study where it is now.
    with server(tmp_path, "", port=port, workers=1) as running, httpx.Client(timeout=LONG) as client:
        client.base_url = f"http://127.0.0.1:{port}"
        assert http_walk(client, http_enter(client), answer).code
    assert "Answers go to postgresql" in running.said
    assert "were moved to postgresql" in running.complained


def test_a_port_that_is_taken_is_a_sentence(tmp_path):
    save_study(small_study(), tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(VeraxError, match=rf"at 127\.0\.0\.1, port {port} \(Address already in use\)"):
            serve(tmp_path, port=port)


def test_two_servers_cannot_take_one_port():
    first = listen("127.0.0.1", 0)
    with first, pytest.raises(VeraxError, match="Address already in use"):
        listen("127.0.0.1", first.getsockname()[1])


def test_a_port_that_is_none_is_a_sentence():
    with pytest.raises(VeraxError, match="port 70000"):
        listen("127.0.0.1", 70_000)


def test_the_address_is_one_to_type():
    with listen("127.0.0.1", 0) as listener:
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with listen("0.0.0.0", 0) as listener:
        assert address(listener) == f"http://{socket.gethostname()}:{listener.getsockname()[1]}/"


def test_a_server_has_processes(tmp_path):
    with pytest.raises(VeraxError, match="workers must be at least 1"):
        serve(tmp_path, workers=0)


def test_answers_lie_beside_the_study_unless_told_otherwise(tmp_path):
    assert default_database(tmp_path) == f"sqlite:///{tmp_path}/answers.sqlite"
