"""Fixtures of the tests of runs; the processes that they start are ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def runs(tmp_path) -> Path:
    """Where jobs leave a file each time they run."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


@pytest.fixture
def start():
    """Start a command in Python that is killed when the test ends."""
    started: list[subprocess.Popen] = []

    def begin(*arguments: object, path: Path | None = None, **options) -> subprocess.Popen:
        paths = [str(path)] if path else []
        paths += filter(None, sys.path)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | options.pop("environment", {})
        process = subprocess.Popen([sys.executable, *map(str, arguments)], env=environment, **options)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
