"""docs/papers.md: what it says of our numbers is what the code and the examples have."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import BaseModel

from verax.studies.protocol.contract import protocols

ROOT = Path(__file__).parents[1]
PAPERS = 5
COLUMNS = ["element", "the paper", "Verax", "differs", "check"]
# protocol P.x = v | example F path = v | field M:C.x = v | python M:x = v
CHECK = re.compile(r"`(protocol|example|field|python) (.+?) = (.+)`")


def sections():
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    titles = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(titles[::2], titles[1::2], strict=True))


def rows(section):
    """The cells of the table of a paper, without its head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert cells[0] == COLUMNS
    return cells[2:]


def all_checks():
    return [(title, row[0], row[4]) for title, text in sections().items() for row in rows(text) if row[4]]


def value_of(kind, path):
    """What the code or the example has."""
    if kind == "protocol":
        name, field = path.split(".")
        return protocols.get(name).model_fields[field].default
    if kind == "example":
        file, where = path.split(" ")
        spec = tomllib.loads((ROOT / "examples" / file).read_text(encoding="utf-8"))
        return reduce(_inside, re.findall(r"[^.\[\]]+", where), spec)
    module, name = path.split(":")
    if kind == "python":
        return reduce(getattr, name.split("."), import_module(module))
    of, field = name.split(".")
    made = getattr(import_module(module), of)
    if issubclass(made, BaseModel):
        return made.model_fields[field].default
    return next(one.default for one in dataclasses.fields(made) if one.name == field)


def _inside(table, part):
    return table[int(part)] if isinstance(table, list) else table[part]


def test_each_paper_has_a_paragraph_and_a_table_that_says_what_differs():
    found = sections()
    assert len(found) == PAPERS
    for title, text in found.items():
        paragraph = text.strip().split("\n\n")[0]
        assert len(paragraph.split()) > 25, title
        assert not paragraph.startswith("|"), title
        for row in rows(text):
            assert len(row) == len(COLUMNS), row
            assert row[0], row
            assert row[1], row
            assert row[2], row


def test_every_paper_has_rows_that_are_compared_with_the_code():
    counted = [title for title, _, _ in all_checks()]
    assert all(counted.count(title) >= 6 for title in sections())


@pytest.mark.parametrize(("title", "element", "check"), all_checks())
def test_a_number_on_the_page_is_that_of_the_code(title, element, check):
    match = CHECK.fullmatch(check)
    assert match, f"{title}, {element}: {check} is no check"
    kind, path, said = match.groups()
    expected = tomllib.loads(f"x = {said}")["x"]
    value = value_of(kind, path)
    assert (list(value) if isinstance(value, tuple) else value) == expected


def test_every_example_of_the_reverse_turing_test_is_a_spec_that_its_protocol_takes():
    from verax.studies.definition.spec import read_study_spec
    from verax.studies.protocol.contract import make_protocol

    files = sorted((ROOT / "examples" / "reverse-turing").glob("*.toml"))
    assert len(files) == 6
    for file in files:
        spec = read_study_spec(file)
        make_protocol(spec.protocol).check(spec)
        assert "/" not in spec.protocol["task"]
        # What a known task is about, and no more: how to answer is said to all alike.
        assert "you" not in (spec.texts.task or "").split(), file.name
