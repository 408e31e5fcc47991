"""Serves a study beside what this process does: for simulated people, who need a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from verax.errors import VeraxError

SERVE = "import sys; from verax.web.serve import serve; serve(sys.argv[2:], sys.argv[1] or None, port=0)"
PREVIEW = (
    "import sys; from verax.web.preview import preview; preview(sys.argv[1], int(sys.argv[2]), sys.argv[3])"
)
ADDRESS = re.compile(r"(?:is served .*at|can be looked at under) (https?://\S+)")
# A server that was told to end is waited for so many seconds.
ENDS = 20


@contextmanager
def serving_aside(folder: str | Path | Sequence[str | Path], database: str | None = None) -> Iterator[str]:
    """Serves a study on a free port of this machine, in a process of its own; its address.

    Args:
        folder: of the study, or the folders of several that are served together.
        database: its URL; a SQLite file in the study's folder if None.
    """
    folders = [folder] if isinstance(folder, str | Path) else folder
    with _aside(SERVE, database or "", *map(str, folders)) as address:
        yield address


@contextmanager
def previewing_aside(folder: str | Path, port: int = 0, host: str = "127.0.0.1") -> Iterator[str]:
    """Serves a study to look at, in a process of its own; its address. Nothing is recorded.

    Args:
        folder: of the study.
        port: 0 takes any free one.
        host: the address to listen at.
    """
    with _aside(PREVIEW, str(folder), str(port), host) as address:
        yield address


@contextmanager
def _aside(code: str, *arguments: str) -> Iterator[str]:
    """Runs code that prints where it serves in a new process; ends it afterwards."""
    command = [sys.executable, "-c", code, *arguments]
    # It finds what this process finds, as a protocol in the current folder; and Ctrl-C is not for it, but for us.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as complaints:
        server = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            start_new_session=True,
        )
        try:
            yield _address(server, complaints)
        finally:
            _end(server)


def _address(server: subprocess.Popen[str], complaints: TextIO) -> str:
    assert server.stdout is not None
    for line in server.stdout:
        said = ADDRESS.search(line)
        if said is not None:
            return said[1]
    server.wait()
    complaints.seek(0)
    lines = complaints.read().splitlines()
    reason = lines[-1].removeprefix("verax.errors.VeraxError: ") if lines else "it said nothing"
    raise VeraxError(f"The study could not be served: {reason}")


def _end(server: subprocess.Popen[str]) -> None:
    server.terminate()
    try:
        server.communicate(timeout=ENDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()
