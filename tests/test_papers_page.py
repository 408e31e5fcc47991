"""docs/papers.md: written from the papers' folders, whose numbers are what the code and the examples have."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from verax.errors import VeraxError
from verax.workflows.paper_files import known_papers, read_paper

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "papers_page.py"))
ROWS = [
    pytest.param(where, value, id=f"{name}: {element}")
    for name in known_papers()
    for element, _, where, value in SCRIPT["settings_of"](name)["rows"]
]


def test_the_page_is_what_the_papers_folders_say():
    written = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert written == SCRIPT["page"](), "run scripts/papers_page.py"
    for name in known_papers():
        for sentence in read_paper(name).about.differences:
            assert f"- {sentence}\n" in written


@pytest.mark.parametrize(("where", "value"), ROWS)
def test_what_a_paper_says_in_numbers_is_what_the_code_and_the_examples_have(where, value):
    assert SCRIPT["plain"](SCRIPT["value_of"](where)) == value


def test_every_paper_has_rows_that_are_compared_with_the_code():
    assert len(known_papers()) == 5
    for name in known_papers():
        assert len(SCRIPT["settings_of"](name)["rows"]) >= 8
        assert len(read_paper(name).about.differences) >= 8


def test_every_example_of_the_reverse_turing_test_is_a_spec_that_its_protocol_takes():
    from verax.studies.definition.spec import read_study_spec
    from verax.studies.protocol.contract import make_protocol

    files = sorted((ROOT / "examples" / "reverse-turing").glob("*.toml"))
    assert len(files) == 7
    for file in files:
        spec = read_study_spec(file)
        make_protocol(spec.protocol).check(spec)
        assert "/" not in spec.protocol["task"]
        # What a known task is about, and no more: how to answer is said to all alike.
        assert "you" not in (spec.texts.task or "").split(), file.name


def test_the_five_tasks_can_be_served_together():
    pytest.importorskip("starlette")
    from verax.studies.definition.spec import read_study_spec
    from verax.web.app import check_alike

    folder = ROOT / "examples" / "reverse-turing"
    names = ("sst", "hateval", "sentence-length", "subject-number", "tense")
    studies = [SimpleNamespace(spec=read_study_spec(folder / f"{name}.toml")) for name in names]
    check_alike(studies)
    assert len({study.spec.own_name for study in studies}) == 5
    other = studies[0].spec.model_copy(
        update={"texts": studies[0].spec.texts.model_copy(update={"welcome": "Hi."})}
    )
    with pytest.raises(VeraxError, match=r"texts\.welcome differs"):
        check_alike([SimpleNamespace(spec=other), studies[1]])
