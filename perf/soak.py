"""A served study under bots for hours, killed again and again: memory, file handles, disk and lost answers.

    python perf/soak.py --minutes 120 --out soak          # 25 bots, a kill -9 every five minutes
    python perf/soak.py --minutes 5 --kill-every 1 --database postgresql:///soak

The server is the real command with two processes. What is killed alternates: everything at once, one process of the
two, the parent alone. Every minute a line is added to `minutes.jsonl`; in the end every answer that a bot was told is
stored is looked up in the database, and `summary.json` says what was found.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import func, select

from study_server import build_verax, free_port
from verax.studies.bots import BotRun, run_bots, summarise
from verax.studies.bots.web import Progress
from verax.studies.definition.study_files import load_study
from verax.studies.store import Store, open_store
from verax.studies.store.identifiers import token_hash
from verax.studies.store.tables import participants, responses, steps

PROFILES = "helped=0.6,double-clicker(copies=3)=0.2,reloader=0.2"
KILLS = ("all", "worker", "parent")
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
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Until it answers; the seconds that it took. A port that is not free yet is waited for."""
        began = time.monotonic()
        while time.monotonic() < began + STARTS:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    self._command, stdout=self._log, stderr=self._log, start_new_session=True
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
        "disk_mb": round(sum(file.stat().st_size for file in folder.glob("answers.sqlite*")) / 1e6, 2),
        "log_kb": round((folder / "server.log").stat().st_size / 1e3, 1),
        "stored": store.database.read(lambda connection: connection.execute(count).scalar_one()),
    }


def missing_answers(store: Store, runs: list[BotRun]) -> tuple[int, int]:
    """How many answers bots were told are stored, and how many of those are not there as they gave them."""
    query = (
        select(participants.c.token_hash, steps.c.ord, responses.c.positions)
        .join_from(responses, steps)
        .join(participants)
    )
    rows = store.database.read(lambda connection: connection.execute(query).all())
    there = {(row.token_hash, row.ord): row.positions for row in rows}
    told = lost = 0
    for run in runs:
        for answer in run.acknowledged:
            told += 1
            positions = there.get((token_hash(run.token), answer.ord))
            is_there = positions is not None and (
                not answer.question or positions.get(answer.question) == answer.position
            )
            lost += not is_there
    return told, lost


def soak(given: argparse.Namespace, out: Path) -> dict[str, object]:
    out.mkdir(parents=True, exist_ok=True)
    build_verax(out / "study", 2000)
    database = given.database or f"sqlite:///{out / 'answers.sqlite'}"
    study = load_study(out / "study")
    pages, stop = [0], threading.Event()

    def told(progress: Progress) -> None:
        pages[0] = progress.pages
        stop.wait(1 / given.pages_per_second)  # all bots together do not send more than this

    kills: list[dict[str, object]] = []
    with closing(open_store(study, database)) as store, ThreadPoolExecutor(1) as thread:
        server = Server(out / "study", database, out)
        server.start()
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
        minutes = 0
        while minutes < given.minutes and not bots.done():
            minutes += 1
            time.sleep(max(0.0, began + 60 * minutes - time.monotonic()))
            line = {"minute": minutes, "acknowledged": pages[0]} | sample(server, out, store)
            if minutes % given.kill_every == 0 and minutes < given.minutes:
                what = KILLS[len(kills) % len(KILLS)]
                kills.append({"what": what, "seconds_until_healthy": round(server.kill(what), 1)})
                line["killed"] = kills[-1]
            with open(out / "minutes.jsonl", "a") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
        stop.set()
        runs = bots.result(300)
        server.end()
        told_count, lost = missing_answers(store, runs)
    summary = _summary(out, runs) | {"kills": len(kills), "answers_told": told_count, "answers_lost": lost}
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
    parser.add_argument("--kill-every", type=int, default=5, help="minutes")
    parser.add_argument("--bots", type=int, default=25, help="at once")
    parser.add_argument("--pages-per-second", type=float, default=5.0, help="of all bots together, at most")
    parser.add_argument("--database", help="SQLite in the folder by default")
    parser.add_argument("--out", type=Path, help="where the results go; a temporary folder by default")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="verax-soak-"))
    print(json.dumps(soak(given, out.resolve()), indent=2))


if __name__ == "__main__":
    main()
