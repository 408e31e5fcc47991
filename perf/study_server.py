"""Steps per second of a served study beside oTree 6.0.15, on the same machine, in the same run, in turns.

    python perf/study_server.py                        # oTree is installed into a folder of its own, once
    python perf/study_server.py --participants 500 --turns 3 --database postgresql://...
    python perf/study_server.py --alone --seconds 20 --participants 50 200 500      # without oTree

A step is what a participant does with a page: POST the answers, GET the next page. Fifty people do this one after the
other without thinking, so both servers are at their limit. The client is the same small program for both, in one
process of its own; each person has an address of their own, as behind a proxy, since few places are held for one address
before anybody there has answered. Processor time per step, of the server, of PostgreSQL and of the client, says what a
quiet machine could do also where this one is not quiet. oTree runs as its documents say for production (`otree prodserver`: one process, SQLite), Verax with
`verax study serve` (two processes, SQLite, every answer on the disk before it is acknowledged).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import make_url

OTREE = "otree==6.0.15"
# Pages until everybody has a place in the design: a place takes ten times as long as a step, and is measured by
# perf/study_data.py.
BEFORE = 8
ROUNDS = 60  # pages of the oTree study: about as many as the example spec has
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "forward.toml"

APP = """
from otree.api import *

class C(BaseConstants):
    NAME_IN_URL = "items"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = {rounds}

class Subsession(BaseSubsession):
    pass

class Group(BaseGroup):
    pass

class Player(BasePlayer):
    answer = models.IntegerField(label="What does the model say?", choices=[[1, "negative"], [2, "positive"]],
                                 widget=widgets.RadioSelect)

class Item(Page):
    form_model = "player"
    form_fields = ["answer"]

page_sequence = [Item]
"""
PAGE = """{{{{ block title }}}}An item{{{{ endblock }}}}
{{{{ block content }}}}
<p>{text}</p>
{{{{ formfields }}}}
{{{{ next_button }}}}
{{{{ endblock }}}}
"""
TEXT = (
    "the film is a slow and careful study of a family that has lost its way, with one very fine performance at its "
    "centre and a last half hour that does not know when to end but nearly earns its tears"
)


# ---- One client for both


class Connection:
    """One person's browser: a kept-alive connection that follows redirects by itself."""

    def __init__(self, host: str, port: int, number: int = 0) -> None:
        self._host, self._port = host, port
        self._address = f"10.{number // 250}.{number % 250}.1"  # a network of their own
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, str, str]:
        """Status, where it redirects to, and the page; once more, as browsers do, where an idle connection was closed."""
        kept = self._writer is not None
        try:
            return await self._once(method, path, body)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            if not kept or getattr(error, "partial", b""):
                raise
            self.close()
            return await self._once(method, path, body)

    async def _once(self, method: str, path: str, body: bytes) -> tuple[int, str, str]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
        head += f"X-Forwarded-For: {self._address}\r\n"
        if method == "POST":
            head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(head.encode() + b"\r\n" + body)
        headers = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lengths = re.search(r"(?i)content-length: *(\d+)", headers)
        if re.search(r"(?i)\r\ntransfer-encoding: *chunked", headers):
            content = await self._chunks()
        else:
            content = await self._reader.readexactly(int(lengths[1])) if lengths else b""
        if re.search(r"(?i)\r\nconnection: *close", headers):
            self.close()
        where = re.search(r"(?i)\r\nlocation: *([^\r]*)", headers)
        return int(headers.split(" ", 2)[1]), where[1].strip() if where else "", content.decode()

    async def _chunks(self) -> bytes:
        content = b""
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            content += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readuntil(b"\r\n")
        return content

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    async def follow(self, method: str, path: str, body: bytes = b"") -> tuple[str, str]:
        """The address and the page at the end of all redirects."""
        status, where, page = await self.request(method, path, body)
        while status in (302, 303, 307):
            path = re.sub(r"^https?://[^/]+", "", where)
            status, where, page = await self.request("GET", path)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {page[:500]}")
        return path, page


async def at_once() -> None:
    """Nobody is waited for."""


async def verax_person(
    connection: Connection,
    right: dict[str, str],
    note: Callable[[float], None],
    others: Callable[[], Awaitable[object]] = at_once,
) -> None:
    """Enters, agrees, passes the screening test, waits for the others, and answers every page with the first option."""
    path, _ = await connection.follow("POST", "/enter")
    _, page = await connection.follow("POST", path, b"consent=yes")
    answered = 0
    while 'data-step="' in page:
        if answered == BEFORE:
            await others()
        # A few searches, as cheap as the other client's: reading pages is not what is measured.
        fields = [
            f"{name}={value}" for name, value in re.findall(r'name="(ord|nonce)" value="([^"]*)"', page)
        ]
        fields += [
            f"{name}={right.get(name, '1')}" for name in dict.fromkeys(re.findall(r'name="(q-[^"]+)"', page))
        ]
        began = time.perf_counter()
        _, page = await connection.follow("POST", path, "&".join(fields).encode())
        answered += 1
        if answered > BEFORE:
            note(time.perf_counter() - began)
    if "completion" not in page:
        raise RuntimeError(page)


async def otree_person(
    connection: Connection,
    start: str,
    note: Callable[[float], None],
    others: Callable[[], Awaitable[object]],
) -> None:
    """Joins, waits for the others, and answers every page."""
    path, page = await connection.follow("GET", start)
    await others()
    while 'name="answer"' in page:
        began = time.perf_counter()
        path, page = await connection.follow("POST", path, b"answer=1")
        note(time.perf_counter() - began)


async def crowd(
    people: Sequence[Callable[[Callable[[float], None], Callable[[], Awaitable[object]]], Awaitable[None]]],
    seconds: float | None,
    spenders: Mapping[str, Callable[[str, int], bool]],
) -> dict[str, float]:
    """All people at once, until the first one is done or the time is over: until then all are there."""
    took: list[float] = []
    all_in = asyncio.Barrier(len(people) + 1)
    tasks = [asyncio.ensure_future(person(took.append, all_in.wait)) for person in people]
    entered = asyncio.ensure_future(all_in.wait())
    await asyncio.wait([entered, *tasks], return_when=asyncio.FIRST_COMPLETED)
    if not entered.done():
        raise RuntimeError(f"Somebody could not enter: {[task.exception() for task in tasks if task.done()]}")
    before = {name: processor_seconds(wanted) for name, wanted in spenders.items()}
    began, spent = time.perf_counter(), time.process_time()
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    length, steps = time.perf_counter() - began, sorted(took)
    spent = time.process_time() - spent
    others = {name: processor_seconds(wanted) - before[name] for name, wanted in spenders.items()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
    return {
        "steps": len(steps),
        "steps_per_second": len(steps) / length,
        "p50_ms": 1000 * statistics.median(steps),
        "p95_ms": 1000 * steps[int(0.95 * len(steps))],
        "p99_ms": 1000 * steps[int(0.99 * len(steps))],
        "client_ms": 1000 * spent / len(steps),
    } | {f"{name}_ms": 1000 * used / len(steps) for name, used in others.items()}


def measure(kind: str, port: int, participants: int, seconds: float | None, details: dict) -> None:
    """The client's process: prints what it measured."""
    group, database = details["group"], details["database"]
    people = []
    spenders: dict[str, Callable[[str, int], bool]] = {
        "server": lambda _line, its_group: its_group == group,
        "postgres": lambda line, _group: bool(database) and line.startswith("postgres") and database in line,
    }
    for number in range(participants):
        connection = Connection("127.0.0.1", port, number)
        if kind == "verax":
            people.append(lambda *told, c=connection: verax_person(c, details["right"], *told))
        else:
            people.append(lambda *told, c=connection: otree_person(c, details["start"], *told))
    print(json.dumps(asyncio.run(crowd(people, seconds, spenders))))


def in_own_process(
    kind: str, port: int, participants: int, seconds: float | None, details: dict
) -> dict[str, float]:
    asked = json.dumps([kind, port, participants, seconds, details])
    command = [sys.executable, __file__, "--client", asked]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def processor_seconds(wanted: Callable[[str, int], bool]) -> float:
    """What the processes that are wanted, by command line and group, have used of the processor so far."""
    used = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if wanted(line, int(fields[2])):
                used += int(fields[11]) + int(fields[12])
    return used / os.sysconf("SC_CLK_TCK")


# ---- The two servers


@contextmanager
def running(
    command: list[str], folder: Path, port: int, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=os.environ | environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_for(port, server, folder / "server.log")
            yield server
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGTERM)
                try:
                    server.wait(30)
                except subprocess.TimeoutExpired:  # oTree after a crowd
                    os.killpg(server.pid, signal.SIGKILL)
                    server.wait()


def wait_for(port: int, server: subprocess.Popen, log: Path) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"The server ended: {log.read_text()}") from None
            time.sleep(0.1)
    raise SystemExit(f"The server does not answer: {log.read_text()}")


def otree_python(given: str | None) -> Path:
    """A Python with oTree; it pins libraries of 2020, so it has an environment of its own."""
    if given:
        return Path(given)
    folder = Path(tempfile.gettempdir()) / "verax-otree"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", OTREE], check=True)
    return python


def make_otree(python: Path, folder: Path) -> Path:
    otree = python.with_name("otree")
    subprocess.run(
        [otree, "startproject", "project"], cwd=folder, input=b"n\n", check=True, capture_output=True
    )
    project = folder / "project"
    (project / "items").mkdir()
    (project / "items" / "__init__.py").write_text(APP.format(rounds=ROUNDS))
    (project / "items" / "Item.html").write_text(PAGE.format(text=TEXT))
    with open(project / "settings.py", "a") as settings:
        settings.write(
            '\nSESSION_CONFIGS = [dict(name="items", app_sequence=["items"], num_demo_participants=1)]\n'
        )
    return project


def otree_session(port: int, participants: int) -> str:
    """A new session, as an experimenter makes one; where participants join."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/sessions",
        json.dumps({"session_config_name": "items", "num_participants": participants}).encode(),
        {"otree-rest-key": "k", "Content-Type": "application/json"},
    )
    made = json.loads(urllib.request.urlopen(request, timeout=300).read())
    return re.sub(r"^https?://[^/]+", "", made["session_wide_url"])


def build_verax(folder: Path, participants: int) -> dict[str, str]:
    """The forward example with room for everybody; the right answers of its screening test."""
    from verax.studies.build.build import build_study
    from verax.studies.definition.spec import parse_study_spec

    text = EXAMPLE.read_text().replace("participants = 10 ", f"participants = {participants} ")
    study = build_study(parse_study_spec(text), text, folder)
    return {f"q-{name}": str(answer) for name, answer in study.screening.answers.items()}


def free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def measure_otree(python: Path, folder: Path, participants: int, seconds: float | None) -> dict[str, float]:
    project, port = make_otree(python, folder), free_port()
    production = {
        "OTREE_PRODUCTION": "1",
        "OTREE_REST_KEY": "k",
        "OTREE_ADMIN_PASSWORD": "x",
        "OTREE_AUTH_LEVEL": "STUDY",
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",  # it starts itself once more
    }
    command = [str(python.with_name("otree")), "prodserver", f"127.0.0.1:{port}"]
    with running(command, project, port, **production) as server:
        details = {"start": otree_session(port, participants), "group": server.pid, "database": ""}
        return in_own_process("otree", port, participants, seconds, details)


def measure_verax(
    study: Path,
    url: str,
    folder: Path,
    workers: int,
    participants: int,
    seconds: float | None,
    right: dict[str, str],
) -> dict[str, float]:
    port = free_port()
    command = [sys.executable, "-m", "verax.cli.main", "study", "serve", str(study), "--database", url]
    command += ["--port", str(port), "--workers", str(workers), "--proxy", "127.0.0.1"]
    name = "" if url.startswith("sqlite") else str(make_url(url).database)
    with running(command, folder, port) as server:
        details = {"right": right, "group": server.pid, "database": name}
        return in_own_process("verax", port, participants, seconds, details)


# ---- Both in turns


@contextmanager
def fresh_database(server: str | None, folder: Path) -> Iterator[str]:
    """The URL of an empty database: a file, or one of its own on the server that is named."""
    if server is None:
        yield f"sqlite:///{folder / 'answers.sqlite'}"
        return
    import psycopg

    url, name = make_url(server), f"verax_perf_{os.getpid()}_{time.monotonic_ns()}"
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def compare(given: argparse.Namespace, participants: int) -> None:
    """Both in turns, and their medians; or Verax alone."""
    kinds = ("verax",) if given.alone else ("otree", "verax")
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    python = None if given.alone else otree_python(given.otree)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        right = build_verax(folder / "study", 4 * participants * given.turns)
        for turn in range(1, given.turns + 1):
            # Both begin each turn with an empty database: oTree gets slower with every session that it has seen.
            for kind in kinds if turn % 2 else kinds[::-1]:
                fresh = folder / f"{kind}-{turn}"
                fresh.mkdir()
                if kind == "otree":
                    assert python is not None
                    measured = measure_otree(python, fresh, participants, given.seconds)
                else:
                    with fresh_database(given.database, fresh) as url:
                        measured = measure_verax(
                            folder / "study", url, fresh, given.workers, participants, given.seconds, right
                        )
                found[kind].append(measured)
                print(f"turn {turn}   {kind:6}", _line(measured), flush=True)
    middle = {
        kind: {name: statistics.median(one[name] for one in all_) for name in all_[0]}
        for kind, all_ in found.items()
    }
    for kind, numbers in middle.items():
        print(f"median   {kind:6}", _line(numbers))
    verax = middle["verax"]
    whole = verax["server_ms"] + verax["postgres_ms"]
    print(
        f"{participants} participants at once: {whole:.2f} ms of the processor a step, so that two cores alone allow "
        f"{2000 / whole:.0f} steps a second, and {2000 / (whole + verax['client_ms']):.0f} with this client on them"
    )
    if "otree" in middle:
        ratio = verax["steps_per_second"] / middle["otree"]["steps_per_second"]
        print(
            f"oTree takes {middle['otree']['server_ms'] / whole:.1f} times as much of the processor for a step"
        )
        print(
            f"{ratio:.1f}x oTree's steps per second; p95 {verax['p95_ms']:.0f} ms beside its p50 of "
            f"{middle['otree']['p50_ms']:.0f} ms"
        )


def _line(measured: dict[str, float]) -> str:
    spent = "  ".join(
        f"{sort.removesuffix('_ms')} {measured[sort]:.2f}"
        for sort in ("server_ms", "postgres_ms", "client_ms")
        if sort in measured
    )
    return (
        f"{measured['steps_per_second']:7.1f} steps/s   p50 {measured['p50_ms']:7.1f} ms   "
        f"p95 {measured['p95_ms']:7.1f} ms   p99 {measured['p99_ms']:7.1f} ms   {measured['steps']:.0f} steps   "
        f"processor, ms a step: {spent}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--participants", type=int, nargs="+", default=[50], help="at once; several, one after the other"
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument(
        "--seconds", type=float, help="of one turn, at most; until the first is done otherwise"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes of Verax")
    parser.add_argument("--alone", action="store_true", help="without oTree")
    parser.add_argument(
        "--otree", help="a Python that has oTree; otherwise it is installed into a folder of its own"
    )
    parser.add_argument(
        "--database", help="a PostgreSQL server, as the URL of any database there; SQLite by default"
    )
    parser.add_argument("--client", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        measure(*json.loads(given.client))
        return
    for participants in given.participants:
        compare(given, participants)


if __name__ == "__main__":
    main()
