"""The ready specs are in order, and the docs name everything that a spec may say."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from verax.data.records import datasets
from verax.explain.base import explainers
from verax.studies.definition.spec import StudySpec, read_study_spec
from verax.studies.definition.spec_tables import NONE, Condition, ScreeningQuestion, WorseModel
from verax.studies.protocol.contract import make_protocol, protocols

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
DOCS = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")


def test_every_protocol_has_an_example():
    names = {read_study_spec(path).protocol["name"] for path in EXAMPLES}
    assert names == set(protocols.names())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_in_order_and_use_what_comes_with_verax(path):
    spec = read_study_spec(path)
    make_protocol(spec.protocol).check(spec)
    assert spec.dataset in datasets.names()
    for condition in spec.conditions:
        assert condition.explainer == NONE or condition.explainer in explainers.names()
    assert any(condition.kind == "control" for condition in spec.conditions)
    assert f"examples/{path.name}" in path.read_text(encoding="utf-8")


def test_the_docs_name_every_field_of_a_spec():
    tables: list[type[BaseModel]] = [StudySpec, Condition, WorseModel, ScreeningQuestion]
    tables += [
        field.annotation
        for field in StudySpec.model_fields.values()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    ]
    missing = [
        f"{table.__name__}.{name}"
        for table in tables
        for name in table.model_fields
        if not any(
            f"{before}{name}{after}" in DOCS for before in ("`", "`.", "`[", "`[[") for after in ("`", "]")
        )
    ]
    assert missing == []


def test_the_docs_name_every_protocol_and_its_parameters():
    for name in protocols.names():
        assert f"### `{name}`" in DOCS
        for parameter in protocols.get(name).model_fields:
            assert f"`{parameter}`" in DOCS or f"`{parameter} = " in DOCS
