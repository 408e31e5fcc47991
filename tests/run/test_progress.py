"""Progress is for people at a terminal, and for nobody else."""

from __future__ import annotations

import os
import pty
import re

import pytest

from real_parts import LONG
from run.watching import HERE
from verax.run.progress import state_line


@pytest.mark.parametrize(
    ("total", "stored", "new", "failed", "elapsed", "line"),
    [
        (10, 0, 0, 0, 3.0, "0/10"),
        (10, 4, 0, 1, 3.0, "4/10, 1 failed"),
        (10, 0, 4, 0, 2.0, "4/10, 2.0/s, 0:03 left"),
        (100, 40, 10, 2, 600.0, "50/100, 1.0/min, 50:00 left, 2 failed"),
        (1000, 0, 1, 0, 10.0, "1/1000, 6.0/min, 2:46:30 left"),
        (5, 2, 3, 0, 6.0, "5/5, 30.0/min"),
    ],
)
def test_line_has_done_rate_time_left_and_failures(total, stored, new, failed, elapsed, line):
    assert state_line(total, stored, new, failed, elapsed) == line


def test_bar_is_drawn_on_a_terminal(tmp_path, runs, start):
    terminal, stderr = pty.openpty()
    run = start(
        HERE / "sample_run.py",
        *(tmp_path, runs, 1, 3, 0.0),
        stderr=stderr,
        stdout=-1,
        environment={"TERM": "xterm", "COLUMNS": "100"},
    )
    printed, _ = run.communicate(timeout=LONG)
    os.close(stderr)
    drawn = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert re.search(r"measuring .*4/4, .*/s, 1 failed", drawn)
    assert printed == b""


def test_nothing_is_said_where_nobody_looks(tmp_path, runs, start):
    run = start(HERE / "sample_run.py", tmp_path, runs, 1, 3, 0.0, stderr=-1, stdout=-1)
    assert run.communicate(timeout=LONG) == (b"", b"")
    assert run.returncode == 0


def test_importing_the_layer_imports_nothing_heavy(start):
    heavy = {"numpy", "rich", "distributed", "threadpoolctl"}
    script = f"import sys, verax.run; print(sorted({heavy} & set(sys.modules)))"
    printed, _ = start("-c", script, stdout=-1, text=True).communicate(timeout=LONG)
    assert printed == "[]\n"
