"""The browser and the PostgreSQL that other tests rely on are real, are fresh, and are missed aloud."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sqlalchemy import URL, create_engine, inspect, make_url, text

import real_parts
from real_parts import new_context

STRICT = "default-src 'none'; script-src 'self'; style-src 'self'"
PAGES = {
    "/labelled": "<main><h1>A page</h1><label>Your answer <input name='answer'></label></main>",
    "/unlabelled": "<main><h1>A page</h1><input name='answer'></main>",
    "/scripted": "<p id='told'>no script ran</p><script src='/told.js'></script>",
    "/told.js": "document.getElementById('told').textContent = 'a script ran'",
}


class StrictPages(BaseHTTPRequestHandler):
    """Serves PAGES under a policy that forbids everything from elsewhere and every inline script."""

    def do_GET(self):
        script = self.path.endswith(".js")
        body = (
            PAGES[self.path]
            if script
            else f"<!doctype html><html lang='en'><title>t</title>{PAGES[self.path]}"
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", STRICT)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format, *args):
        """Says nothing: the test does."""


@pytest.fixture
def site(free_port):
    server = ThreadingHTTPServer(("127.0.0.1", free_port), StrictPages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{free_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_browser_opens_a_page_on_localhost_runs_its_script_and_takes_input(chromium, site):
    page = new_context(chromium).new_page()
    page.goto(f"{site}/scripted")
    assert page.inner_text("#told") == "a script ran"
    page.goto(f"{site}/labelled")
    page.get_by_label("Your answer").fill("7")
    assert page.input_value("input") == "7"
    page.close()


def test_a_context_without_javascript_runs_none(chromium, site):
    with new_context(chromium, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site}/scripted")
        assert page.inner_text("#told") == "no script ran"


def test_axe_sees_an_unlabelled_input_under_a_policy_that_forbids_inline_scripts(chromium, site):
    page = new_context(chromium).new_page()
    page.goto(f"{site}/unlabelled")
    assert [line.split(":")[0] for line in real_parts.axe_violations(page)] == ["label"]
    page.goto(f"{site}/labelled")
    assert real_parts.axe_violations(page) == []
    page.close()


def in_own_thread(function):
    """What the function returns or raises, far from the event loop of this module's browser."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function).result()


def test_after_the_browser_is_closed_asyncio_runs_as_before():
    async def answer():
        return 42

    def launch_close_and_run():
        with real_parts.launched_chromium() as browser:
            assert browser.is_connected()
        assert not browser.is_connected()
        return asyncio.run(answer())

    assert in_own_thread(launch_close_and_run) == 42


def test_two_connections_see_one_table_of_a_fresh_database(postgres_url):
    one, two = create_engine(postgres_url), create_engine(postgres_url)
    assert one.dialect.name == "postgresql"
    assert inspect(one).get_table_names() == []
    with one.begin() as connection:
        connection.execute(text("CREATE TABLE response (value integer)"))
        connection.execute(text("INSERT INTO response VALUES (3), (4)"))
    with two.connect() as connection:
        assert connection.scalar(text("SELECT sum(value) FROM response")) == 7
    one.dispose()
    two.dispose()


def databases(url: URL) -> set[str]:
    engine = create_engine(url.set(database="postgres"))
    with engine.connect() as connection:
        names = set(connection.scalars(text("SELECT datname FROM pg_database")))
    engine.dispose()
    return names


def test_two_fresh_databases_are_separate_and_are_dropped_with_connections_open(postgres_server):
    with real_parts.fresh_database(postgres_server) as first:
        with real_parts.fresh_database(postgres_server) as second:
            one, two = create_engine(first), create_engine(second)
            with one.begin() as connection:
                connection.execute(text("CREATE TABLE response (value integer)"))
            assert inspect(one).get_table_names() == ["response"]
            assert inspect(two).get_table_names() == []
            assert {one.url.database, two.url.database} <= databases(one.url)
        assert two.url.database not in databases(one.url)
    assert one.url.database not in databases(make_url(first))
    one.dispose()
    two.dispose()


def test_a_free_port_can_be_listened_on(free_port):
    with socket.create_server(("127.0.0.1", free_port)) as listener:
        assert listener.getsockname()[1] == free_port


def test_what_is_missing_is_skipped_at_home_and_fails_where_ci_is_set(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="No part"):
        real_parts.missing("No part.")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="CI is set"):
        real_parts.missing("No part.")


def test_a_browser_that_cannot_start_is_missed_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for folder in ("PLAYWRIGHT_BROWSERS_PATH", "TMPDIR"):
        monkeypatch.setenv(folder, str(tmp_path))
    with pytest.raises(pytest.skip.Exception) as told:
        in_own_thread(real_parts.launched_chromium().__enter__)
    assert "make browser" in str(told.value)
    assert "\n" not in str(told.value)
