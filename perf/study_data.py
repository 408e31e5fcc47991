"""10,000 participants x 64 steps in a database: the time of the live overview, of exports, and of taking somebody in.

``python perf/study_data.py`` on SQLite, ``--postgres`` on a PostgreSQL server of its own. Every measurement runs in a new
process, so that its peak of memory is its own. ``--people 500`` is for a look while working.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sqlalchemy import insert

from verax.studies.build.build import compose_study
from verax.studies.protocol.common_steps import participant_class_names, participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.store import open_store
from verax.studies.store.clock import SECOND, to_micros, utc_now
from verax.studies.store.identifiers import new_code, new_token, token_hash
from verax.studies.store.participant.placing import step_records
from verax.studies.store.tables import consents, events, participants, responses, steps

AT_ONCE = 100
ENTERED = 300
LIMITS = {"overview": 1.0, "live": 1.0, "export": 60.0, "assignment": 0.020}
MOST_MEMORY = 300e6
WORDS = [
    "I",
    "looked",
    "at",
    "the",
    "marked",
    "words",
    "and",
    "guessed",
    "what",
    "the",
    "model",
    "would",
    "make",
    "of",
    "them",
    "=SUM(1)",
]


def large_study():
    """Forward simulation with 64 steps; nothing is trained."""
    options = {
        "title": "Ten thousand",
        "participants": 4000,
        "exclusion": [
            {"rule": rule} for rule in ("too-fast", "failed-checks", "left", "late", "same-answer")
        ],
        "timing": {"item_seconds": 60},
        "retention_days": 3650,
    }
    protocol = {"name": "forward", "learning": 7, "test": 20, "strategy": True}
    material = sample_material(protocol, {"learning": 7, "test": 20}, options=options)
    return replace(compose_study(material, make_protocol(material.spec.protocol), ""), hash="5" * 64)


def fill(url, people):
    """Writes so many participants, nine of ten of them complete, as the store would have."""
    study, draw = large_study(), random.Random(0)
    store = open_store(study, url)
    start = to_micros(utc_now()) - people * 60 * SECOND
    ids = {"participant": 1, "step": 1}
    for first in range(1, people + 1, AT_ONCE):
        tables = {table: [] for table in (participants, consents, steps, responses, events)}
        for number in range(first, min(first + AT_ONCE, people + 1)):
            add_person(tables, study, store.study_id, number, start + number * 50 * SECOND, ids, draw)
        store.database.write(
            lambda connection, tables=tables: [
                connection.execute(insert(table), rows) for table, rows in tables.items() if rows
            ]
        )
    store.database.write(lambda connection: follow_up(connection, people, store.study_id))
    store.close()
    return ids["step"] - 1


def add_person(tables, study, study_id, number, at, ids, draw):
    row = study.rows[number % len(study.rows)]
    planned = step_records(study, 0, participant_steps(study, row, number))
    end = len(planned) if number % 10 else draw.randrange(2, len(planned))
    complete, who, now = end == len(planned), ids["participant"], at
    ids["participant"] += 1
    for place, step in enumerate(planned):
        step |= {
            "id": ids["step"],
            "participant_id": who,
            "opened_at": None,
            "deadline_at": None,
            "closed_at": None,
        }
        ids["step"] += 1
        if place in (2, 3) and end > 3:
            step |= {"state": "skipped", "closed_at": now}
        elif place < end:
            opened, now = now, now + round(draw.lognormvariate(2, 0.6) * SECOND)
            step |= {"state": "closed", "opened_at": opened, "closed_at": now, "views": 1}
            tables[responses].append(answered(study, step, now, draw))
            if draw.random() < 0.02:
                tables[events].append(
                    {"participant_id": who, "ord": step["ord"], "type": "reload", "at": now, "data": {}}
                )
        tables[steps].append(step)
    tables[consents].append({"participant_id": who, "agreed": True, "text_sha256": "0" * 64, "at": at})
    tables[participants].append(
        {
            "id": who,
            "study_id": study_id,
            "token_hash": token_hash(new_token()),
            "status": "complete" if complete else "active",
            "is_bot": number % 50 == 0,
            "number": number,
            "design_row": row.number,
            "names": list(participant_class_names(study, number)),
            "phases": planned[-2]["phase_number"],
            "steps": len(planned),
            "current": min(end + 1, len(planned)),
            "hold_until": now + 3600 * SECOND,
            "version": "0.1.0",
            "created_at": at,
            "consented_at": at,
            "last_seen_at": now,
            "finished_at": now if complete else None,
            "completion_code": new_code() if complete else None,
            "platform": "prolific",
            "person_hash": token_hash(str(number)),
        }
    )


def answered(study, step, now, draw):
    answers, positions = {}, {}
    for question in study.screens[step["screen"]].questions:
        if question.kind == "text":
            answers[question.name] = " ".join(draw.choices(WORDS, k=20))
        else:
            positions[question.name] = draw.randrange(len(question.options)) + 1
            answers[question.name] = question.options[positions[question.name] - 1].means
    spent = (now - step["opened_at"]) // 1000
    client = {
        "shown": 130,
        "first_input": spent // 2,
        "submitted": spent,
        "visible_ms": spent - 140,
        "blurs": 0,
    }
    return {
        "step_id": step["id"],
        "answers": answers,
        "positions": positions,
        "received_at": now,
        "late": draw.random() < 0.01,
        "client": client,
    }


def follow_up(connection, people, study_id):
    """Counts where the store and the database count on."""
    connection.exec_driver_sql(f"UPDATE study SET consented = {people} WHERE id = {study_id}")
    if connection.dialect.name == "postgresql":
        for table in ("participant", "step"):
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            )
        connection.exec_driver_sql("ANALYZE")


def measure(what, url, folder):
    """One measurement, in this process: seconds, and how much the memory grew at most."""
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    from verax.studies.answers.collect import collect
    from verax.studies.answers.exclusion import apply_exclusions
    from verax.studies.answers.export import export_study
    from verax.studies.store.status import overview

    store = open_store(large_study(), url)
    works = {
        "exclusions, all": lambda: apply_exclusions(store),
        "exclusions, again": lambda: apply_exclusions(store),
        "overview": lambda: overview(store),
        "export csv": lambda: export_study(store, folder, ("csv",)),
        "export jsonl": lambda: export_study(store, folder, ("jsonl",)),
        "export parquet": lambda: export_study(store, folder, ("parquet",)),
        "export all, with texts": lambda: export_study(
            store, folder, ("csv", "jsonl", "parquet"), True, True
        ),
        "collect": lambda: collect(store),
    }
    if what == "live page, slowest of 5":
        cpu = time.process_time()
        found = {"seconds": max(live_pages(store)), "cpu": (time.process_time() - cpu) / 5}
    elif what == "assignment":
        cpu = time.process_time()
        seconds = [assign(store) for _ in range(ENTERED)]
        cpu = (time.process_time() - cpu) / ENTERED
        found = {"seconds": median(seconds), "p95": quantiles(seconds, n=20)[-1], "cpu": cpu}
    else:
        before, start, cpu = resident(), time.perf_counter(), time.process_time()
        works[what]()
        found = {
            "seconds": time.perf_counter() - start,
            "grown": peak() - before,
            "cpu": time.process_time() - cpu,
        }
    store.close()
    print(json.dumps(found))


def live_pages(store):
    """The seconds of five views of the experimenters' page over HTTP, each after its numbers have grown old."""
    import httpx

    from verax.studies.store.accounts import add_account
    from verax.web.app import make_app
    from web.serving import running

    add_account(store, "ada", "correct horse battery")
    with (
        running(make_app(store, store.study)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.post("/experimenter/sign-in", data={"name": "ada", "password": "correct horse battery"})
        for _ in range(5):
            time.sleep(2.5)
            start = time.perf_counter()
            assert "Ten thousand" in client.get("/experimenter").text
            yield time.perf_counter() - start


def assign(store):
    start = time.perf_counter()
    where = store.consent(store.enter(), True)
    assert where.status == "active"
    return time.perf_counter() - start


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def database(postgres, folder):
    if not postgres:
        yield f"sqlite:///{folder / 'answers.sqlite'}"
        return
    import real_parts

    with real_parts.running_postgres() as server, real_parts.fresh_database(server) as url:
        yield url


WHAT = (
    "exclusions, all",
    "exclusions, again",
    "overview",
    "live page, slowest of 5",
    "export csv",
    "export jsonl",
    "export parquet",
    "export all, with texts",
    "collect",
    "assignment",
)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--people", type=int, default=10_000)
    options.add_argument("--postgres", action="store_true")
    options.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        measure(*given.measure)
        return
    with tempfile.TemporaryDirectory() as name, database(given.postgres, Path(name)) as url:
        start = time.perf_counter()
        count = fill(url, given.people)
        kind = "PostgreSQL" if given.postgres else "SQLite"
        print(
            f"{kind}: {given.people:,} participants, {count:,} steps, filled in {time.perf_counter() - start:.0f} s"
        )
        for what in WHAT:
            command = [sys.executable, __file__, "--measure", what, url, str(Path(name) / "export")]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(f"{what:24} {line(what, found)}", flush=True)


def line(what, found):
    limit = LIMITS.get(what.split()[0])
    said = f"{found['seconds']:8.3f} s"
    if "p95" in found:
        said += f" median, {found['p95']:.3f} s p95"
    said += f" (of CPU {found['cpu']:7.3f} s)"
    if "grown" in found:
        said += f"   memory +{found['grown'] / 1e6:4.0f} MB"
    if limit is not None:
        reached = found["seconds"] < limit and found.get("grown", 0) < MOST_MEMORY
        said += f"   to reach: {limit:g} s, {'reached' if reached else 'NOT reached'}"
    return said


if __name__ == "__main__":
    main()
