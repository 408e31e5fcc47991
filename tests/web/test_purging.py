"""A server that starts deletes what is due."""

from __future__ import annotations

import logging
from contextlib import closing
from datetime import UTC, datetime, timedelta

import httpx

from real_parts import LONG
from small_study import begin, do_step, small_study
from verax.studies.store import open_store
from verax.studies.store.tables import responses
from verax.web.app import make_app, purge_now
from web.serving import running


def ago(days: int):
    moment = datetime.now(UTC) - timedelta(days=days)
    return lambda: moment


def test_what_is_due_is_deleted_when_a_server_starts(tmp_path):
    study, url = small_study(retention_days=30), f"sqlite:///{tmp_path / 'answers.sqlite'}"
    tokens = {}
    for days in (31, 29):
        with closing(open_store(study, url, clock=ago(days))) as store:
            tokens[days] = begin(store)
            do_step(store, tokens[days])
    store = open_store(study, url)
    with running(make_app(store, study)) as address, httpx.Client(base_url=address, timeout=LONG) as client:
        # It is done beside the first requests, so they may still find it.
        for _ in range(1000):
            if client.get(f"/p/{tokens[31]}").status_code == 404:
                break
        assert client.get(f"/p/{tokens[31]}").status_code == 404
        assert client.get(f"/p/{tokens[29]}").status_code == 200


def test_a_study_that_keeps_its_answers_is_left_alone(tmp_path):
    study, url = small_study(), f"sqlite:///{tmp_path / 'answers.sqlite'}"
    with closing(open_store(study, url, clock=ago(10_000))) as store:
        token = begin(store)
    with running(make_app(open_store(study, url), study)) as address:
        assert httpx.get(f"{address}/p/{token}", timeout=LONG).status_code == 200


def test_a_database_that_does_not_answer_stops_no_server(tmp_path, caplog):
    study = small_study(retention_days=1)
    with closing(open_store(study, f"sqlite:///{tmp_path / 'answers.sqlite'}")) as store:
        store.database.write(responses.drop)
        with closing(open_store(study, f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=ago(2))) as earlier:
            earlier.enter()
        with caplog.at_level(logging.ERROR):
            purge_now(store)
    assert "What is due could not be deleted" in caplog.text
