"""Starts the web application for tests: in a thread of this process or as processes of its own, and gets in its way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from starlette.types import ASGIApp

from real_parts import LONG, free_port
from verax.web.serve import BoundedProtocol

TESTS = Path(__file__).parents[1]
START = """
from sys import argv
from verax.web.serve import serve
serve(argv[1], database=argv[2] or None, port={}, workers={})
"""
# Holds an SQLite file as another program would, until its standard input ends.
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextmanager
def running(app: ASGIApp, grace: int | None = None) -> Iterator[str]:
    """The address of the running application; at its end it waits so many seconds, or for ever."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host="127.0.0.1",
            port=port,
            log_level="critical",
            ws="none",
            lifespan="on",
            http=BoundedProtocol,
            timeout_graceful_shutdown=grace,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@dataclass
class Running:
    """A server as its own process; what it said is known when it has ended."""

    process: subprocess.Popen
    said: str = ""
    complained: str = ""


@contextmanager
def started(folder: Path, database: str, *, port: int, workers: int) -> Iterator[subprocess.Popen]:
    """A server that answers; whoever asks for it ends it."""
    command = [sys.executable, "-c", START.format(port, workers), str(folder), database]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(TESTS)])}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            ready(process, port)
            yield process
        except BaseException:
            process.kill()
            raise


@contextmanager
def server(folder: Path, database: str, *, port: int, workers: int) -> Iterator[Running]:
    """A server, ended with Ctrl-C."""
    with started(folder, database, port=port, workers=workers) as process:
        running = Running(process)
        try:
            yield running
        finally:
            process.send_signal(signal.SIGINT)
            try:
                running.said, running.complained = process.communicate(timeout=LONG)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def ready(process: subprocess.Popen, port: int) -> None:
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(f"http://127.0.0.1:{port}/", timeout=LONG).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer")


def workers_of(process: subprocess.Popen) -> list[str]:
    """The processes under a server that are not Python's own helpers."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = {child: Path(f"/proc/{child}/cmdline").read_text() for child in children}
    return [child for child, line in lines.items() if "resource_tracker" not in line]


@contextmanager
def held(path: Path) -> Iterator[None]:
    """The file is locked by another process."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        yield
        other.stdin.close()
        assert other.wait(LONG) == 0
