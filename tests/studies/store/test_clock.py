"""The server's time goes on while the machine's clock is set."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

from verax.studies.store import clock


def test_a_step_of_the_machines_clock_changes_nothing(monkeypatch):
    before = clock.utc_now()
    assert abs(before - datetime.now(UTC)) < timedelta(minutes=1)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    after = clock.utc_now()
    assert timedelta(0) <= after - before < timedelta(minutes=1)


def test_it_never_goes_back():
    seen = [clock.utc_now() for _ in range(1000)]
    assert seen == sorted(seen)


def test_processes_have_the_time_of_the_one_that_starts_them(monkeypatch):
    """Also those that are started after the machine's clock was set."""
    monkeypatch.setattr(clock, "_beginning", clock._beginning - 7200)
    monkeypatch.setitem(os.environ, clock.BEGINNING, "")
    clock.share_clock()
    say = "from verax.studies.store.clock import utc_now; print(utc_now().isoformat())"
    said = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True).stdout
    assert abs(datetime.fromisoformat(said.strip()) - clock.utc_now()) < timedelta(minutes=1)
