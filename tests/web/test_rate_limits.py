"""Rate limits, with a clock that the test moves."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from real_parts import LONG
from small_study import Clock, small_study
from verax.studies.store import buckets as buckets_module
from verax.studies.store import open_store
from verax.studies.store.buckets import Buckets
from verax.studies.store.tables import buckets
from verax.web.requests import Limiter, client_key
from web.serving import running


class Seconds:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_is_emptied_and_fills_again():
    clock = Seconds()
    limiter = Limiter(rate=0.5, burst=3, clock=clock)
    assert [limiter.allow("a") for _ in range(4)] == [0, 0, 0, 2]
    clock.now += 1
    assert limiter.allow("a") == 1
    clock.now += 1
    assert [limiter.allow("a"), limiter.allow("a")] == [0, 2]
    clock.now += 1000
    assert [limiter.allow("a") for _ in range(4)] == [0, 0, 0, 2]


def test_each_key_has_its_own_bucket():
    limiter = Limiter(rate=1, burst=1, clock=Seconds())
    assert [limiter.allow("a"), limiter.allow("b"), limiter.allow("a")] == [0, 0, 1]


def test_looking_takes_nothing():
    limiter = Limiter(rate=1, burst=1, clock=Seconds())
    assert [limiter.wait("a"), limiter.wait("a"), limiter.allow("a"), limiter.wait("a")] == [0, 0, 0, 1]


def test_the_memory_is_bounded_and_the_latest_are_kept():
    limiter = Limiter(rate=0.001, burst=1, clock=Seconds(), most=100)
    for number in range(10_000):
        limiter.allow(str(number))
    assert len(limiter._full_at) == 100
    assert limiter.wait("9999") > 0
    assert limiter.wait("0") == 0


@given(
    rate=st.floats(0.01, 100),
    burst=st.integers(1, 20),
    pauses=st.lists(st.floats(0, 30), min_size=1, max_size=60),
)
def test_never_more_than_the_burst_and_what_grew_back(rate, burst, pauses):
    """For any beginning and end, so many were let through at most; and who waits as told is let through."""
    clock = Seconds()
    limiter = Limiter(rate, burst, clock=clock)
    passed = []
    for pause in pauses:
        clock.now += pause
        wait = limiter.allow("a")
        if wait:
            clock.now += wait
            assert limiter.allow("a") == 0
        passed.append(clock.now)
    for first, begin in enumerate(passed):
        for last, end in enumerate(passed[first:], start=first):
            assert last - first + 1 <= burst + rate * (end - begin) + 1e-3


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """A store whose clock stands until it is moved."""
    url = f"sqlite:///{tmp_path}/answers.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    opened = open_store(small_study(), url, clock=Clock())
    yield opened
    opened.close()


def test_processes_share_what_is_left(store):
    """Two limiters with memories of their own, as two processes have them."""
    here, there = (Limiter(rate=0.5, burst=4, name="x", shared=Buckets(store)) for _ in range(2))
    assert [limiter.allow("a") for limiter in (here, there, here, there)] == [0] * 4
    assert there.allow("a") == pytest.approx(2, abs=0.1)
    assert here.wait("a") == pytest.approx(2, abs=0.1)
    assert here.wait("b") == 0
    assert Limiter(rate=0.5, burst=4, name="y", shared=Buckets(store)).allow("a") == 0
    store.clock.advance(2)
    fresh = Limiter(rate=0.5, burst=4, name="x", shared=Buckets(store))
    assert fresh.wait("a") == 0
    assert fresh.allow("a") == 0
    assert fresh.allow("a") == pytest.approx(2, abs=0.1)


def test_a_clock_that_is_set_back_locks_nobody_out(store):
    limiter = Limiter(rate=0.5, burst=2, name="x", shared=Buckets(store))
    assert [limiter.allow("a"), limiter.allow("a")] == [0, 0]
    store.clock.advance(-24 * 3600)
    again = Limiter(rate=0.5, burst=2, name="x", shared=Buckets(store))
    assert again.allow("a") == 0
    assert again.allow("a") <= 4.1


def test_of_who_tries_only_a_keyed_hash_is_stored_and_not_for_long(store, monkeypatch):
    monkeypatch.setattr(buckets_module, "TIDY_SECONDS", -1)
    limiter = Limiter(rate=0.5, burst=2, name="x", shared=Buckets(store))

    def stored() -> list[str]:
        return store.database.read(lambda one: list(one.execute(select(buckets.c.key)).scalars()))

    limiter.allow("203.0.113.7")
    assert stored() == [store.keyed("bucket x 203.0.113.7")]
    store.clock.advance(60)
    limiter.allow("203.0.113.8")
    assert stored() == [store.keyed("bucket x 203.0.113.8")]


def key_of(address: str | None) -> str:
    return client_key(Request({"type": "http", "client": address and (address, 1)}))


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("a socket", "a socket"),
        (None, ""),
    ],
)
def test_one_home_is_one_key(address, key):
    assert key_of(address) == key


def test_a_proxy_may_say_where_a_request_comes_from():
    """The tests' server believes what comes from this machine, as `--proxy 127.0.0.1` does."""
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse(client_key(request)))])
    with running(app) as address:
        said = httpx.get(address, headers={"X-Forwarded-For": "203.0.113.9"}, timeout=LONG).text
    assert said == "203.0.113.9"
