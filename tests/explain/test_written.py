"""Written explanations: what they keep, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import verax
from verax.errors import VeraxError
from verax.explain import Cost, Explanation, Precomputed, Written
from verax.explain.checks import additive_text_model

RULE = Written(
    ("Conditions for 'neg':\n1. dull \n", "- | +0.2\n\n  indented"),
    target=0,
    target_name="neg",
    input="a dull film",
    legend="A rule.",
    details={"method": "anchor"},
    cost=Cost(rows=7),
    explainer="elsewhere",
)


def test_every_space_and_line_break_survives_json():
    again = Explanation.from_dict(json.loads(json.dumps(RULE.to_dict())))
    assert again == RULE
    assert again.paragraphs == ("Conditions for 'neg':\n1. dull \n", "- | +0.2\n\n  indented")
    assert (again.target, again.target_name, again.input, again.legend) == (
        0,
        "neg",
        "a dull film",
        "A rule.",
    )
    assert (again.details, again.cost, again.explainer) == ({"method": "anchor"}, Cost(rows=7), "elsewhere")


def test_a_row_survives_json_as_a_tuple():
    row = Written(("because",), 1, input=("Age = 37", "Sex = Male"))
    assert Explanation.from_dict(json.loads(json.dumps(row.to_dict()))) == row


def test_paragraphs_are_parted_by_an_empty_line():
    assert Written(("one\ntwo", "three"), 0).text == "one\ntwo\n\nthree"


def test_equal_but_for_the_cost():
    assert Written(("because",), 1, cost=Cost(seconds=1)) == Written(("because",), 1)
    assert hash(Written(("because",), 1, cost=Cost(seconds=1))) == hash(Written(("because",), 1))
    assert Written(("because",), 1) != Written(("because",), 0)


@pytest.mark.parametrize("paragraphs", [(), ("",), (" \n", "\t")])
def test_one_that_says_nothing_is_refused(paragraphs):
    with pytest.raises(VeraxError, match="must say something"):
        Written(paragraphs, 0)


def test_one_text_in_place_of_paragraphs_is_refused():
    with pytest.raises(VeraxError, match=r"use \(text,\)"):
        Written("because", 0)


@pytest.mark.parametrize(
    "data",
    [
        {"target": 0},
        {"paragraphs": ["because"]},
        {"paragraphs": [1], "target": 0},
        {"paragraphs": 3, "target": 0},
        {"paragraphs": ["because"], "target": "first"},
    ],
)
def test_what_cannot_be_read_is_one_sentence(data):
    with pytest.raises(
        VeraxError, match="of the kind 'written' needs 'paragraphs', 'target'; what was given"
    ):
        Explanation.from_dict({"kind": "written", **data})


def test_the_kind_is_known_without_importing_its_module():
    code = (
        "import json, sys, verax; found = verax.Explanation.from_dict(json.loads(sys.argv[1])); "
        "assert isinstance(found, verax.Written); print(found.legend)"
    )
    command = [sys.executable, "-c", code, json.dumps(RULE.to_dict())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "A rule.\n"
    assert verax.Written is Written


def test_one_that_was_made_elsewhere_is_found_by_its_input(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(RULE.to_dict()) + "\n", encoding="utf-8")
    model = additive_text_model()
    assert Precomputed(str(path)).explain(model, ["a dull film"]) == [RULE]
