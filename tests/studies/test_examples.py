"""The ready specs are in order, and the docs name everything that a spec may say."""

import runpy
from pathlib import Path

import pytest
from pydantic import BaseModel

from verax.data.records import datasets
from verax.explain.base import explainers
from verax.studies.definition.own_questions import OwnQuestion, Quota
from verax.studies.definition.spec import StudySpec, read_study_spec
from verax.studies.definition.spec_tables import NONE, Bonus, Condition, ScreeningQuestion, WorseModel
from verax.studies.protocol.contract import make_protocol, protocols

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
DOCS = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "study-spec.md").read_text(encoding="utf-8")


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


def test_the_reference_has_every_field_of_a_spec_as_its_class_declares_it():
    written = runpy.run_path(str(ROOT / "scripts" / "options_tables.py"))
    assert written["with_tables"](REFERENCE) == REFERENCE, "run scripts/options_tables.py"
    tables: list[type[BaseModel]] = [
        StudySpec,
        Condition,
        WorseModel,
        ScreeningQuestion,
        Bonus,
        OwnQuestion,
        Quota,
    ]
    tables += [
        field.annotation
        for field in StudySpec.model_fields.values()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    ]
    for table in [*tables, *(protocols.get(name) for name in protocols.names())]:
        assert f"<!-- fields of {table.__module__}:{table.__name__} -->" in REFERENCE
        assert set(table.model_fields) <= set(written["described"](table))
    assert "| `participants` | whole number, at least 1 | `10` | How many shall complete" in REFERENCE
    assert '| `late` | `"flag"` or `"close"` | `"flag"` | ' in REFERENCE


def test_the_docs_name_every_protocol():
    for name in protocols.names():
        assert f"\n| `{name}` | " in DOCS
        assert f"### `{name}`" in REFERENCE
