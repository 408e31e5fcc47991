"""TOML that was made to fill the memory is refused before it is parsed; what people write is not."""

from __future__ import annotations

import tracemalloc

import pytest

from verax.errors import VeraxError
from verax.toml_text import MOST_PARTS, parse_toml


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 60_000) + " = 1",
        "x = 1\n[" + " . ".join(["a"] * 60_000) + "]",
        ".".join(['"a b"'] * 60_000) + " = 1",
        ".".join([r'"\""'] * 60_000) + " = 1",
        "x = [{" + ".".join(["a"] * 60_000) + " = 1}]",
        "x = " + "[" * 100_000,
        "x = " + "9" * 5000,
        "x = 1\n" * 200_000,
        "x = ",
    ],
)
def test_bombs_are_one_sentence_and_take_no_memory(text):
    tracemalloc.start()
    try:
        with pytest.raises(VeraxError, match=r"^The spec (is|has) ") as error:
            parse_toml(text, "The spec")
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_what_people_write_is_read():
    deep = ".".join(["a"] * MOST_PARTS)
    prose = "See www.example.org. Yes. No. " * 100
    text = f'{deep} = 1\nwords = "{prose}"\nlong = """\n{"A sentence. " * 500}\n"""\nnumbers = [1.5, 2.5]\n'
    assert parse_toml(text, "The spec")["words"] == prose
