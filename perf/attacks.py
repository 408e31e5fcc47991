"""What strangers try against a served study, and what the others notice of it. Traffic goes to 127.0.0.1 only.

    python perf/attacks.py                       # some minutes; writes nothing but a temporary folder

Each attack is bounded, and runs against the real command with two processes. Beside it somebody answers page after page;
the waits of this person are compared with those before the attack. How each hole is closed is tested in
tests/web/test_abuse.py; this script says how large what is left of it is.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from study_server import Connection, build_verax, free_port, running, verax_person

PASSWORD = "correct horse battery"


class Target:
    """A server that runs, its database, and its log."""

    def __init__(self, folder: Path, port: int, right: dict[str, str]) -> None:
        self.folder, self.port, self.right = folder, port, right

    def connection(self) -> Connection:
        return Connection("127.0.0.1", self.port)

    def kept(self) -> float:
        """Megabytes of what is kept beside answers."""
        with closing(sqlite3.connect(self.folder / "answers.sqlite")) as connection:
            [(size,)] = connection.execute("SELECT coalesce(sum(length(data)), 0) FROM event")
        return size / 1e6

    def log(self) -> list[str]:
        return (self.folder / "server.log").read_text().splitlines()


@contextmanager
def served(folder: Path, study: Path, right: dict[str, str]) -> Iterator[Target]:
    port = free_port()
    url = f"sqlite:///{folder / 'answers.sqlite'}"
    base = [sys.executable, "-m", "verax.cli.main", "study"]
    account = [*base, "account", str(study), "anna", "--database", url]
    subprocess.run(account, input=PASSWORD.encode(), check=True, capture_output=True)
    with running(
        [*base, "serve", str(study), "--database", url, "--port", str(port), "--workers", "2"], folder, port
    ):
        yield Target(folder, port, right)


async def waits_beside(target: Target, attack: Callable[[], Awaitable[object]] | None) -> list[float]:
    """How long somebody's steps take during an attack; ten seconds' worth of them without one."""
    took: list[float] = []

    async def answering() -> None:
        while True:
            await verax_person(target.connection(), target.right, took.append)

    person = asyncio.ensure_future(answering())
    try:
        await (attack() if attack else asyncio.sleep(10))
    finally:
        person.cancel()
        await asyncio.gather(person, return_exceptions=True)
    return took


async def begun(target: Target) -> tuple[Connection, str]:
    connection = target.connection()
    path, _ = await connection.follow("POST", "/enter")
    await connection.follow("POST", path, b"consent=yes")
    return connection, path


async def statuses(requests: list[Awaitable[tuple[int, str, str]]]) -> dict[object, int]:
    found: dict[object, int] = {}
    for answer in await asyncio.gather(*requests, return_exceptions=True):
        status = answer[0] if isinstance(answer, tuple) else type(answer).__name__
        found[status] = found.get(status, 0) + 1
    return found


# ---- The attacks: each says what came of it


async def fill_the_disk(target: Target) -> str:
    before = target.kept()
    found: dict[int, int] = {}
    for _ in range(3):
        connection, path = await begun(target)
        body = b"ord=1&nonce=wrong&q-more=" + b"x" * 60_000
        for _ in range(200):
            status, _, _ = await connection.request("POST", path, body)
            found[status] = found.get(status, 0) + 1
    return (
        f"600 stale pages of 60 kB from 3 places: {found}; {target.kept() - before:.2f} MB of them are kept"
    )


async def sign_in_crowd(target: Target) -> str:
    body = urllib.parse.urlencode({"name": "anna", "password": "a wrong password"}).encode()
    found = await statuses(
        [target.connection().request("POST", "/experimenter/sign-in", body) for _ in range(60)]
    )
    return f"60 sign-ins at once: {found}"


async def hold_the_database(target: Target) -> str:
    holder = sqlite3.connect(target.folder / "answers.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")

    async def timed(path: str, method: str = "POST") -> tuple[int, float]:
        began = time.perf_counter()
        status, _, _ = await target.connection().request(method, path)
        return status, time.perf_counter() - began

    try:
        pressed = [asyncio.ensure_future(timed("/enter")) for _ in range(60)]
        await asyncio.sleep(1)
        pages = [await timed("/", "GET") for _ in range(20)]
        health = await timed("/health", "GET")
        answers = await asyncio.gather(*pressed)
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    longest = max(seconds for _, seconds in answers)
    return (
        f"60 who enter while another program holds SQLite: {sorted({status for status, _ in answers})}, the longest wait "
        f"{longest:.1f} s; the first page meanwhile {1000 * max(seconds for _, seconds in pages):.0f} ms at most; "
        f"/health says {health[0]} after {health[1]:.1f} s"
    )


async def dawdle(target: Target) -> str:
    def open_slowly(sent: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", target.port), timeout=60)
        connection.sendall(sent)
        return connection

    began = time.perf_counter()
    heads = [open_slowly(b"GET / HTTP/1.1\r\nHost: x\r\n") for _ in range(200)]
    bodies = [
        open_slowly(b"POST /enter HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx") for _ in range(200)
    ]
    for connection in heads + bodies:
        await asyncio.to_thread(connection.recv, 100)
        connection.close()
    return f"400 connections that send nothing more: all given up after {time.perf_counter() - began:.0f} s"


async def hang_up(target: Target) -> str:
    before = len(target.log())
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", target.port), timeout=60) as connection:
            connection.sendall(b"POST /enter HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")
    await asyncio.sleep(2)
    return f"200 clients that hang up: {len(target.log()) - before} lines in the log"


async def invent_people(target: Target) -> str:
    """Who enters beside it comes from the same address, and has a place already."""
    found: dict[object, int] = {}
    for _ in range(30):
        for status, many in (
            await statuses([target.connection().request("POST", "/enter") for _ in range(10)])
        ).items():
            found[status] = found.get(status, 0) + many
    return f"300 people who are invented at one address: {found}"


# The last one leaves nobody in from this address for a while.
ATTACKS = (fill_the_disk, sign_in_crowd, hold_the_database, dawdle, hang_up, invent_people)


def parent_of(port: int) -> int:
    """The process that was begun with this port; its workers do not have it in their commands."""
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdigit() and f"--port\0{port}" in (path / "cmdline").read_text():
                return int(path.name)
    raise SystemExit("The server is not there.")


def kill_the_parent(folder: Path, study: Path) -> str:
    port = free_port()
    command = [sys.executable, "-m", "verax.cli.main", "study", "serve", str(study), "--port", str(port)]
    command += ["--database", f"sqlite:///{folder / 'killed.sqlite'}", "--workers", "2"]
    with running(command, folder, port):
        began = time.perf_counter()
        os.kill(parent_of(port), signal.SIGKILL)
        while True:
            with socket.socket() as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    listener.bind(("127.0.0.1", port))
                    break
                except OSError:
                    time.sleep(0.05)
    return f"the parent alone is killed: its port is free after {time.perf_counter() - began:.1f} s"


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        right = build_verax(folder / "study", 1000)
        with served(folder, folder / "study", right) as target:
            _print("nothing", "", asyncio.run(waits_beside(target, None)))
            for attack in ATTACKS:
                said: list[str] = []

                async def run(attack=attack, said=said) -> None:
                    said.append(await attack(target))

                waits = asyncio.run(waits_beside(target, run))
                _print(attack.__name__.replace("_", " "), said[0], waits)
            print(f"tracebacks in the log: {sum(line.startswith('Traceback') for line in target.log())}")
        print(kill_the_parent(folder, folder / "study"))


def _print(name: str, said: str, waits: list[float]) -> None:
    beside = "no step was done meanwhile"
    if waits:
        beside = f"{len(waits)} steps of somebody else, median {1000 * statistics.median(waits):.0f} ms, longest {max(waits):.2f} s"
    print(f"{name}: {said}{'; ' if said else ''}{beside}", flush=True)


if __name__ == "__main__":
    main()
