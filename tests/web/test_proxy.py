"""Behind a reverse proxy, and without one: whose word is taken for where a request comes from."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from real_parts import LONG, free_port
from small_study import small_study
from verax.errors import VeraxError
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store
from verax.web.serve import default_database, proxies, serve
from web.watching_tools import add_anna

# From one address ten at once, and one more every ten seconds; all together may try sixty times.
TRIES = 40
TESTS = Path(__file__).parents[1]
START = "import sys; from verax.web.serve import serve; serve(sys.argv[1], port=int(sys.argv[2]), proxy=sys.argv[3])"


@contextmanager
def server(folder: Path, proxy: str) -> Iterator[httpx.Client]:
    port = free_port()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(TESTS)])}
    command = [sys.executable, "-c", START, str(folder), str(port), proxy]
    with (
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=LONG) as client,
    ):
        try:
            until = time.monotonic() + LONG
            while time.monotonic() < until:
                assert process.poll() is None, "the server ended"
                try:
                    client.get("/")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield client
        finally:
            process.terminate()
            process.wait(LONG)


def own_link(client: httpx.Client, forwarded: dict[str, str]) -> tuple[str, str]:
    """The link that a participant is shown, which names the scheme, and the cookie that goes with it."""
    entered = client.post("/enter", headers=forwarded)
    page = client.get(entered.headers["location"], headers=forwarded).text
    link = next(line for line in page.splitlines() if 'class="link"' in line)
    return link, entered.headers["set-cookie"]


@pytest.mark.parametrize(("proxy", "believed"), [("192.0.2.1", False), ("10.0.0.0/8, 127.0.0.1", True)])
def test_forwarded_headers_count_only_from_a_proxy_that_was_named(tmp_path, proxy, believed):
    save_study(small_study(target=20), tmp_path)
    with server(tmp_path, proxy) as client:
        link, cookie = own_link(client, {"X-Forwarded-Proto": "https"})
        assert ("https://" in link, "http://" in link) == (believed, not believed)
        assert ("; secure" in cookie.lower()) is believed


def test_without_a_proxy_nobody_is_somebody_else_at_each_try(tmp_path):
    study = save_study(small_study(), tmp_path)
    with closing(open_store(study, default_database(tmp_path))) as store:
        for number in range(TRIES):
            add_anna(store, f"anna {number}")  # the password of a known name is quickly checked here
    with server(tmp_path, "") as client:
        tried = (
            client.post(
                "/experimenter/sign-in",
                data={"name": f"anna {number}", "password": "wrong password"},
                headers={"X-Forwarded-For": f"203.0.113.{number}"},
            ).status_code
            for number in range(TRIES)
        )
        assert 429 in tried  # at the eleventh, if no token has grown back


@pytest.mark.parametrize("proxy", ["localhost", "127.0.0.1:80", "10.0.0.1/8", "127.0.0.1,nginx"])
def test_what_is_no_address_is_a_sentence(tmp_path, proxy):
    with pytest.raises(VeraxError, match="is not the address of a reverse proxy"):
        serve(tmp_path, proxy=proxy)


def test_several_proxies_have_commas_between():
    assert proxies(" 127.0.0.1, ::1,10.0.0.0/8 ,") == ["127.0.0.1", "::1", "10.0.0.0/8"]
    assert proxies("*") == ["*"]
    assert proxies("") == []
