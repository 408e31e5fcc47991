"""docs/statistics-library.md: every line runs, and every function of verax.stats has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from verax import stats

PAGE = (Path(__file__).parents[2] / "docs" / "statistics-library.md").read_text(encoding="utf-8")
CODE = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))


def test_every_line_runs_and_shows_an_estimate():
    names: dict[str, object] = {}
    for statement in ast.parse(CODE).body:
        line = ast.unparse(statement)
        if isinstance(statement, ast.Expr):
            assert eval(line, names) is not None, line
        else:
            exec(line, names)


@pytest.mark.parametrize("name", [name for name in stats.__all__ if name[0].islower()])
def test_every_function_has_a_line(name):
    assert f"stats.{name}(" in CODE
