"""A served study under bots for hours, disturbed again and again: memory, file handles, disk and lost answers.

    python perf/soak.py --minutes 120 --out soak          # 25 bots, a disturbance every five minutes
    python perf/soak.py --minutes 6 --disturb-every 0.75 --database postgresql:///soak

The server is the real command with two processes. Disturbances take turns: everything is killed, one process of the two,
the parent alone; the database is held by another program or cuts its connections; the answers move to another database
while people answer; everything is killed and comes back with the machine's clock half an hour behind, then half an hour
ahead. Every minute a line is added to `minutes.jsonl`; in the end every answer that a bot was told is stored is looked
up in the database: `summary.json` says how many are lost, altered or there twice.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import func, make_url, select

from study_server import build_verax, free_port
from verax.studies.answers.response_record import is_doubtful
from verax.studies.bots import BotRun, run_bots, summarise
from verax.studies.bots.web import Progress
from verax.studies.definition.study_files import load_study
from verax.studies.store import Store, open_store
from verax.studies.store.clock import BEGINNING, SECOND
from verax.studies.store.database.location import sqlite_file
from verax.studies.store.identifiers import token_hash
from verax.studies.store.tables import participants, responses, steps

PROFILES = "helped=0.6,double-clicker(copies=3)=0.2,reloader=0.2"
DISTURBANCES = ("all", "worker", "parent", "outage", "move", "clock")
OUTAGE_SECONDS = 12.0  # longer than the server waits for its database
CLOCK_STEPS = (-1800.0, 1800.0)  # seconds, in turns
STARTS = 240  # seconds until a server that was started must answer, on a busy machine
PATIENCE = 600.0  # seconds for which a bot tries again


class Server:
    """The server as its own processes, on one port, however often it is killed."""

    def __init__(self, study: Path, database: str, out: Path) -> None:
        self._port = free_port()
        self._command = [sys.executable, "-m", "verax.cli.main", "study", "serve", str(study)]
        self._command += ["--database", database, "--port", str(self._port), "--workers", "2"]
        self._log = open(out / "server.log", "a")  # noqa: SIM115
        self.url = f"http://127.0.0.1:{self._port}"
        self.starts = 0
        self.clock_step = 0.0  # by how much the clock of the machine is wrong when a server starts
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Until it answers; the seconds that it took. A port that is not free yet is waited for."""
        began = time.monotonic()
        while time.monotonic() < began + STARTS:
            if self._process is None or self._process.poll() is not None:
                beginning = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + self.clock_step
                self._process = subprocess.Popen(
                    self._command,
                    stdout=self._log,
                    stderr=self._log,
                    start_new_session=True,
                    env=os.environ | {BEGINNING: repr(beginning)},
                )
                self.starts += 1
            if self.health() == 200:
                return time.monotonic() - began
            time.sleep(0.5)
        raise SystemExit("The server does not answer; see server.log.")

    def health(self) -> int:
        """The status of /health; 0 if nobody answers."""
        try:
            return int(urllib.request.urlopen(f"{self.url}/health", timeout=20).status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def processes(self) -> list[int]:
        """The parent and its workers."""
        assert self._process is not None
        parent = self._process.pid
        with suppress(OSError):
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            lines = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
            return [parent, *(child for child, line in lines.items() if b"resource_tracker" not in line)]
        return [parent]

    def kill(self, what: str) -> float:
        """Kills all of it, one worker, or the parent alone, and waits until it serves again; how long that took."""
        assert self._process is not None
        pids = self.processes()
        if what == "worker" and len(pids) > 1:
            os.kill(pids[-1], signal.SIGKILL)
            return self.start()  # the parent begins another one
        if what == "parent":
            os.kill(pids[0], signal.SIGKILL)
        else:
            os.killpg(pids[0], signal.SIGKILL)
        self._process.wait(60)
        return self.start()

    def end(self) -> None:
        """As with Ctrl-C."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._log.close()


def memory_megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def sample(server: Server, folder: Path, store: Store) -> dict[str, object]:
    """How the server stands."""
    memory, handles = {}, {}
    for pid in server.processes():
        with suppress(OSError):
            memory[pid] = round(memory_megabytes(pid), 1)
            handles[pid] = len(os.listdir(f"/proc/{pid}/fd"))
    count = select(func.count()).select_from(responses)
    return {
        "health": server.health(),
        "memory_mb": memory,
        "handles": handles,
        "disk_mb": round(sum(file.stat().st_size for file in folder.glob("answers*.sqlite*")) / 1e6, 2),
        "log_kb": round((folder / "server.log").stat().st_size / 1e3, 1),
        "stored": store.database.read(lambda connection: connection.execute(count).scalar_one()),
    }


class Checked(NamedTuple):
    """What became of the answers that bots were told are stored."""

    told: int
    lost: int
    altered: int
    doubled: int


def checked_answers(store: Store, runs: list[BotRun]) -> Checked:
    """Looks up one by one what bots were told is stored."""
    query = (
        select(participants.c.token_hash, steps.c.ord, responses.c.positions)
        .join_from(responses, steps)
        .join(participants)
    )
    rows = store.database.read(lambda connection: connection.execute(query).all())
    there = {(row.token_hash, row.ord): row.positions for row in rows}
    told = lost = altered = 0
    for run in runs:
        for answer in run.acknowledged:
            told += 1
            positions = there.get((token_hash(run.token), answer.ord))
            lost += positions is None
            altered += (
                positions is not None
                and bool(answer.question)
                and positions.get(answer.question) != answer.position
            )
    return Checked(told, lost, altered, len(rows) - len(there))


def wrong_times(store: Store) -> tuple[int, int]:
    """How many answers have negative seconds, or more than a day; and how many of those an export would not mark."""
    query = select(steps.c.opened_at, responses.c.received_at, steps.c.views).join_from(responses, steps)
    rows = store.database.read(lambda connection: connection.execute(query).all())
    seconds = [((row.received_at - row.opened_at) / SECOND, row.views) for row in rows]
    wrong = [(time, views) for time, views in seconds if not 0 <= time <= 24 * 3600]
    return len(wrong), sum(not is_doubtful(time, None, views) for time, views in wrong)


class Disturbances:
    """Kills, outages, moves and clock steps in turn, each until the server answers again."""

    def __init__(self, server: Server, study: Path, database: str, out: Path) -> None:
        self._server, self._study, self._out = server, study, out
        self._database = self._at = database
        self.done: list[dict[str, object]] = []

    def next(self) -> dict[str, object]:
        """The next one, and how long it took."""
        what = DISTURBANCES[len(self.done) % len(DISTURBANCES)]
        began = time.monotonic()
        match what:
            case "outage":
                self._outage()
                self._server.start()
            case "move":
                self._move()
                self._server.start()
            case "clock":
                steps_before = sum(one["what"] == "clock" for one in self.done)
                self._server.clock_step = CLOCK_STEPS[steps_before % len(CLOCK_STEPS)]
                self._server.kill("all")
            case _:
                self._server.kill(what)
        self.done.append({"what": what, "seconds_until_healthy": round(time.monotonic() - began, 1)})
        return self.done[-1]

    def _outage(self) -> None:
        file = sqlite_file(self._at)
        if file is not None:
            with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as holder:
                holder.execute("BEGIN EXCLUSIVE")
                time.sleep(OUTAGE_SECONDS)
                holder.execute("ROLLBACK")
            return
        import psycopg

        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
        url = make_url(self._at).set(drivername="postgresql")
        with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as admin:
            for _ in range(round(OUTAGE_SECONDS)):
                admin.execute(cut, [url.database])
                time.sleep(1)

    def _move(self) -> None:
        number = sum(one["what"] == "move" for one in self.done) + 1
        if sqlite_file(self._at) is not None:
            target = f"sqlite:///{self._out / f'answers-{number}.sqlite'}"
        else:
            import psycopg

            url = make_url(self._database).set(drivername="postgresql")
            plain = url.render_as_string(hide_password=False)
            name = f"{url.database}_{os.getpid()}_{number}"
            with psycopg.connect(plain, autocommit=True) as admin:
                admin.execute(f"CREATE DATABASE {name}")
            target = url.set(database=name).render_as_string(hide_password=False)
        base = [sys.executable, "-m", "verax.cli.main", "study", "move", str(self._study)]
        moved = subprocess.run(
            [*base, "--database", self._at, "--to", target], capture_output=True, text=True, check=False
        )
        if moved.returncode:
            raise SystemExit(f"The answers could not be moved: {moved.stderr}")
        self._at = target


def soak(given: argparse.Namespace, out: Path) -> dict[str, object]:
    out.mkdir(parents=True, exist_ok=True)
    build_verax(out / "study", 2000)
    database = given.database or f"sqlite:///{out / 'answers.sqlite'}"
    study = load_study(out / "study")
    pages, stop = [0], threading.Event()

    def told(progress: Progress) -> None:
        pages[0] = progress.pages
        stop.wait(1 / given.pages_per_second)  # all bots together do not send more than this

    with closing(open_store(study, database)) as store, ThreadPoolExecutor(1) as thread:
        server = Server(out / "study", database, out)
        server.start()
        disturbances = Disturbances(server, out / "study", database, out)
        began = time.monotonic()
        bots = thread.submit(
            run_bots,
            study,
            server.url,
            store.bot_pass(),
            PROFILES,
            100_000,
            seed=1,
            concurrent=given.bots,
            progress=told,
            patience=PATIENCE,
            stop=stop,
        )
        minutes, following = 0, given.disturb_every
        while minutes < given.minutes and not bots.done():
            minutes += 1
            happened = []
            # None in the last half minute: bots that wait for a server that starts would not end in time.
            while following <= minutes and following <= given.minutes - 0.5:
                time.sleep(max(0.0, began + 60 * following - time.monotonic()))
                happened.append(disturbances.next())
                following += given.disturb_every
            time.sleep(max(0.0, began + 60 * minutes - time.monotonic()))
            line = {"minute": minutes, "acknowledged": pages[0]} | sample(server, out, store)
            line["disturbed"] = happened
            with open(out / "minutes.jsonl", "a") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
        stop.set()
        runs = bots.result(300)
        server.end()
        answers, (wrong, unmarked) = checked_answers(store, runs), wrong_times(store)
    counts = Counter(str(one["what"]) for one in disturbances.done)
    summary = _summary(out, runs) | {
        "disturbances": dict(counts),
        "answers_told": answers.told,
        "answers_lost": answers.lost,
        "answers_altered": answers.altered,
        "answers_doubled": answers.doubled,
        "times_that_cannot_be": wrong,
        "of_these_not_marked": unmarked,
    }
    (out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    return summary


def _summary(out: Path, runs: list[BotRun]) -> dict[str, object]:
    lines = [json.loads(line) for line in (out / "minutes.jsonl").read_text().splitlines()]
    log = (out / "server.log").read_text()
    begun = [run for run in runs if run.status != "not-begun"]
    return {
        "minutes": lines[-1]["minute"],
        "memory_mb_of_the_largest_process": [
            max(line["memory_mb"].values(), default=0) for line in (lines[0], lines[-1])
        ],
        "memory_mb_at_most": max(number for line in lines for number in line["memory_mb"].values()),
        "handles_at_most": max(number for line in lines for number in line["handles"].values()),
        "disk_mb": [lines[0]["disk_mb"], lines[-1]["disk_mb"]],
        "bytes_per_answered_page": round(
            1e6
            * (lines[-1]["disk_mb"] - lines[0]["disk_mb"])
            / max(1, lines[-1]["stored"] - lines[0]["stored"])
        ),
        "tracebacks": log.count("Traceback"),
        "log_kb": lines[-1]["log_kb"],
        "unhealthy_minutes": sum(line["health"] != 200 for line in lines),
    } | summarise(begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--disturb-every", type=float, default=5, help="minutes")
    parser.add_argument("--bots", type=int, default=25, help="at once")
    parser.add_argument("--pages-per-second", type=float, default=5.0, help="of all bots together, at most")
    parser.add_argument("--database", help="SQLite in the folder by default")
    parser.add_argument("--out", type=Path, help="where the results go; a temporary folder by default")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="verax-soak-"))
    print(json.dumps(soak(given, out.resolve()), indent=2))


if __name__ == "__main__":
    main()
