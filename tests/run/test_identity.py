"""What makes an object this object and no other."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

from verax.run.identity import identity

FACTOR = 2


def scaled(number, by=1):
    return number * by * FACTOR


class Scale:
    kinds = ("a", "b")

    def __init__(self, by):
        self.by = by

    def __call__(self, number):
        return scaled(number, self.by) if number in {"x", "y", "z"} else number


def made(source, name="thing"):
    """An object of code that no file holds, as in a notebook."""
    space = {"__name__": "__main__"}
    exec(source, space)
    return space[name]


def test_equal_objects_are_one_and_other_parameters_another():
    assert identity(Scale(1)) == identity(Scale(1))
    assert identity(Scale(1)) != identity(Scale(2))
    assert identity(Scale(np.arange(3))) == identity(Scale(np.arange(3)))
    assert identity(Scale(np.arange(3))) != identity(Scale(np.arange(4)))
    assert identity({1, 2, 3}) == identity({3, 2, 1})
    assert identity(partial(scaled, by=2)) != identity(partial(scaled, by=3))


CODE = """
LIMIT = 3
def inner(x): return x < LIMIT
class Kind:
    def explain(self, x):
        return [inner(y) for y in x]  # why
thing = Kind()
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("# why", "# because", True),
        ("\nclass", "\n\n\nclass", True),
        ("[inner(y)", "[not inner(y)", False),
        ("x < LIMIT", "x <= LIMIT", False),
        ("LIMIT = 3", "LIMIT = 4", False),
        ("class Kind:", "class Kind:\n    top = 5", False),
    ],
)
def test_code_that_an_object_runs_is_part_of_it(old, new, same):
    assert old in CODE
    assert (identity(made(CODE)) == identity(made(CODE.replace(old, new)))) is same


def test_what_calls_itself_or_holds_itself_has_an_end():
    assert identity(made("def thing(n): return n and thing(n - 1)"))
    loop: list[object] = []
    loop.append(loop)
    assert identity(loop)


def test_it_is_the_same_in_every_process():
    here = identity(Scale(3))
    code = "import sys; sys.path[:] = {paths!r}; from test_identity import *; print(identity(Scale(3)))"
    paths = [__file__.rpartition("/")[0], *sys.path]
    for seed in ("1", "2"):
        ended = subprocess.run(
            [sys.executable, "-c", code.format(paths=paths)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ended.stdout.strip() == here


@pytest.mark.parametrize("thing", [threading.Lock(), sys.__stderr__, iter([])])
def test_what_cannot_be_compared_has_none(thing):
    assert identity(Scale(thing)) is None
