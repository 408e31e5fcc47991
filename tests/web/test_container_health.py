"""The command by which the container of examples/compose.yaml is asked for its health, run against a server."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import yaml

from real_parts import free_port
from small_study import small_study
from verax.studies.store import open_store
from verax.studies.store.database import engine as database_module
from verax.web.app import make_app
from web.serving import LONG, held, running

COMPOSE = Path(__file__).parents[2] / "examples" / "compose.yaml"
PLACE = "127.0.0.1:8000"  # of the server inside of the container


def asked(address: str) -> int:
    """The status with which the command of the health check ends, for a server at another place."""
    study = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["study"]
    assert f"--port {PLACE.split(':')[1]}" in study["command"]
    kind, program, *arguments = study["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")  # no shell; the image is python's
    told = [word.replace(PLACE, address.removeprefix("http://")) for word in arguments]
    assert told != arguments
    return subprocess.run([sys.executable, *told], capture_output=True, timeout=LONG, check=False).returncode


def test_a_container_is_healthy_while_its_study_can_store_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.5)
    path = tmp_path / "answers.sqlite"
    study = small_study()
    with closing(open_store(study, f"sqlite:///{path}")) as store:
        # Asked from inside, whatever name people know it by.
        with running(make_app(store, study, hosts=["study.example.org"])) as address:
            assert asked(address) == 0
        with held(path), running(make_app(store, study)) as address:
            assert asked(address) != 0
    assert asked(f"http://127.0.0.1:{free_port()}") != 0
