"""What tests look at in other processes and in run folders."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from real_parts import LONG

HERE = Path(__file__).parent


def wait_until(condition: Callable[[], object], seconds: float = LONG) -> None:
    """Wait for something that other processes do."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("what was waited for did not happen")
        time.sleep(0.01)


def stored(folder: Path) -> set[str]:
    """The keys of the outcomes in a run folder."""
    return {path.stem for path in folder.glob("jobs/*/[0-9a-f]*.json")}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
