"""docs/statistics-library.md: every line runs, and every function of verax.stats has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verax import stats

PAGE = (Path(__file__).parents[2] / "docs" / "statistics-library.md").read_text(encoding="utf-8")
LINES = [
    line
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line
]


def test_every_line_runs_and_shows_an_estimate():
    names: dict[str, object] = {}
    for line in LINES:
        call = line.split("#")[0].strip()
        if call.startswith("stats."):
            assert eval(call, names) is not None, call
        else:
            exec(line, names)


@pytest.mark.parametrize("name", [name for name in stats.__all__ if name[0].islower()])
def test_every_function_has_a_line(name):
    assert any(re.search(rf"\bstats\.{name}\(", line) for line in LINES)
