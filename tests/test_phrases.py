"""Every phrase with extreme slots: none, one and many names, long ones, small and large numbers, every variant."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from itertools import product

import pytest
from fluent.syntax import FluentParser, ast
from fluent.syntax.visitor import Visitor

from verax.phrases import MANY, say

FOLDER = files("verax.phrases") / "en"
AREAS = sorted(path.name.removesuffix(".ftl") for path in FOLDER.iterdir() if path.name.endswith(".ftl"))
NAMES = (["lime"], ["lime", "shap"], ["lime(samples=500, seed=1)", "shap", "my_package.module:MyExplainer"])
NUMBERS = (0, 1, 2, 12_345)
WORDS = ("lime", "87 to 100%")
# Slots that are lists without a phrase that asks how many names they have.
LISTS = {"shares", "found", "places", "cases", "datasets", "exceptions", "times", "costs", "values", "gains"}
LISTS |= {"problems", "models"}
# Slots with numbers that are never below two: what a test needs, at the least.
TWO_OR_MORE = {"needed", "most", "drawn", "now"}
# Phrases with many slots are tried with so many of all combinations.
MOST = 1500
PLURALS = ("zero", "one", "two", "few", "many", "other")
WRONG = re.compile(
    r"\.\.|,,|;;|\s[.,;:)]|\(\s|\(\)|  |None|\{|\}|\b1 \w+s were\b|\.0\b(?!\d)| and [,.;]"
    r"|\b1 (?:inputs|stains|models|words|features|rows|cases|methods|people|participants|explanations)\b"
)


class Slots(Visitor):
    """The slots of a phrase, with the variants that it chooses between by each of them."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {}

    def visit_VariableReference(self, node: ast.VariableReference) -> None:  # noqa: N802 - fluent's name
        self.found.setdefault(node.id.name, set())

    def visit_SelectExpression(self, node: ast.SelectExpression) -> None:  # noqa: N802 - fluent's name
        if isinstance(node.selector, ast.VariableReference):
            keys = {
                key.name if isinstance(key, ast.Identifier) else key.value
                for key in (variant.key for variant in node.variants)
            }
            self.found.setdefault(node.selector.id.name, set()).update(keys)
        self.generic_visit(node)


def phrases(area):
    parsed = FluentParser().parse((FOLDER / f"{area}.ftl").read_text(encoding="utf-8"))
    junk = [entry.content for entry in parsed.body if isinstance(entry, ast.Junk)]
    assert not junk
    for entry in parsed.body:
        if isinstance(entry, ast.Message):
            slots = Slots()
            slots.visit(entry)
            yield entry.id.name, slots.found


def values_of(slots, name):
    keys = slots[name]
    if name + MANY in slots or (name in LISTS and not keys):
        return (*NAMES, *([[]] if "0" in slots.get(name + MANY, ()) else ()))
    if name in TWO_OR_MORE and not keys:
        return NUMBERS[2:]
    if not keys:
        return (*WORDS, *NUMBERS)
    words = sorted(key for key in keys if key not in PLURALS and not key.isdecimal())
    return (*words, *(NUMBERS if len(words) < len(keys) else ()))


CASES = [(area, case, slots) for area in AREAS for case, slots in phrases(area)]


@pytest.mark.parametrize(
    ("area", "case", "slots"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_phrase_reads_well_with_extreme_slots(area, case, slots):
    names = [name for name in slots if not name.endswith(MANY)]
    tried = list(product(*(values_of(slots, name) for name in names)))
    if len(tried) > MOST:
        tried = random.Random(0).sample(tried, MOST)
    said = {say(area, case, **dict(zip(names, values, strict=True))) for values in tried}
    assert said
    for sentence in said:
        assert sentence == sentence.strip()
        assert not WRONG.search(sentence), sentence


@pytest.mark.parametrize("area", [area for area in AREAS if area != "common"])
def test_an_area_has_no_phrase_of_the_name_of_a_shared_one(area):
    assert not dict(phrases(area)).keys() & dict(phrases("common")).keys()


def test_a_slot_that_is_missing_and_a_phrase_that_is_not_there_are_told():
    assert (
        say("judge", "ahead", name="shap", names=["lime", "greedy", "anchor"])
        == "shap is ahead of lime, greedy and anchor"
    )
    with pytest.raises(KeyError, match="no phrase 'behind'"):
        say("judge", "behind")
    with pytest.raises(KeyError, match="names"):
        say("judge", "no-difference")
