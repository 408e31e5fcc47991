"""Every phrase with extreme slots: none, one and many names, long ones, small and large numbers, every variant."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from fluent.syntax import FluentParser, ast
from fluent.syntax.visitor import Visitor

import verax
from verax.phrases import MANY, either, say, say_lines, speaking

FOLDER = files("verax.phrases") / "en"
AREAS = sorted(path.name.removesuffix(".ftl") for path in FOLDER.iterdir() if path.name.endswith(".ftl"))
NAMES = (["lime"], ["lime", "shap"], ["lime(samples=500, seed=1)", "shap", "my_package.module:MyExplainer"])
NUMBERS = (0, 1, 2, 12_345)
WORDS = ("lime", "87 to 100%")
# Slots that are lists without a phrase that asks how many names they have.
LISTS = {"shares", "found", "places", "cases", "datasets", "exceptions", "times", "costs", "values", "gains"}
LISTS |= {"problems", "models"}
# Slots with numbers that are never below two: what a test needs, at the least.
TWO_OR_MORE = {"needed", "most", "drawn", "now", "rows"}
# Phrases with many slots are tried with so many of all combinations.
MOST = 1500
# Slots whose numbers come as they are printed, never as a whole number that a noun would have to follow.
PRINTED = {"length": ("2.5", "45")}
PLAIN = (*WORDS, *NUMBERS)
PLURALS = ("zero", "one", "two", "few", "many", "other")
COUNTED = (
    "inputs|texts|records|words|values|participants|people|answers|minutes|seconds|days|attempts|items"
    "|stains|models|features|rows|cases|methods|explanations"
)
WRONG = re.compile(
    r"\.\.|,,|;;|\s[.,;:)]|\(\s|\(\)|  |None(?! of| can)|\{|\}|\b1 \w+s were\b|\.0\b(?!\d)| and [,.;]"
    rf"|(?<![\w.,])1 (new )?({COUNTED})\b|\bone (new )?({COUNTED})\b|[a-z.] and (?!Robot|Graubard|Young)[A-Z][a-z]"
)


class Slots(Visitor):
    """The slots of a phrase and of those that it refers to, with the variants that it chooses between by each."""

    def __init__(self, messages: dict[str, ast.Message]) -> None:
        self.messages = messages
        self.found: dict[str, set[str]] = {}

    def visit_MessageReference(self, node: ast.MessageReference) -> None:  # noqa: N802 - fluent's name
        self.visit(self.messages[node.id.name])

    def visit_VariableReference(self, node: ast.VariableReference) -> None:  # noqa: N802 - fluent's name
        self.found.setdefault(node.id.name, set())

    def visit_FunctionReference(self, node: ast.FunctionReference) -> None:  # noqa: N802 - fluent's name
        assert node.id.name == "NUMBER"
        for value in node.arguments.positional:
            assert isinstance(value, ast.VariableReference)
            self.found.setdefault(value.id.name, set()).add("other")

    def visit_SelectExpression(self, node: ast.SelectExpression) -> None:  # noqa: N802 - fluent's name
        if isinstance(node.selector, ast.VariableReference):
            keys = {
                key.name if isinstance(key, ast.Identifier) else key.value
                for key in (variant.key for variant in node.variants)
            }
            self.found.setdefault(node.selector.id.name, set()).update(keys)
        self.generic_visit(node)


def phrases(area):
    parsed = {
        name: FluentParser().parse((FOLDER / f"{name}.ftl").read_text(encoding="utf-8")).body
        for name in ("common", area)
    }
    assert not [entry.content for entry in parsed[area] if isinstance(entry, ast.Junk)]
    messages = {
        entry.id.name: entry for body in parsed.values() for entry in body if isinstance(entry, ast.Message)
    }
    for entry in parsed[area]:
        if isinstance(entry, ast.Message):
            slots = Slots(messages)
            slots.visit(entry)
            yield entry.id.name, slots.found


def values_of(slots, name):
    if name in PRINTED:
        return PRINTED[name]
    keys = slots[name]
    if name + MANY in slots or (name in LISTS and not keys):
        return (*NAMES, *([[]] if "0" in slots.get(name + MANY, ()) else ()))
    if name in TWO_OR_MORE and not keys:
        return NUMBERS[2:]
    if not keys:
        return PLAIN
    words = sorted(key for key in keys if key not in PLURALS and not key.isdecimal())
    return (*words, *(NUMBERS if len(words) < len(keys) else ()))


CASES = [(area, case, slots) for area in AREAS for case, slots in phrases(area)]


@pytest.mark.parametrize(
    ("area", "case", "slots"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_phrase_reads_well_with_extreme_slots(area, case, slots):
    names = [name for name in slots if not name.endswith(MANY)]
    # What a phrase does not choose by stands where it stands: all such slots take their extremes together.
    plain = [name for name in names if not slots[name] and values_of(slots, name) == PLAIN]
    chosen = [name for name in names if name not in plain]
    tried = list(product(PLAIN, *(values_of(slots, name) for name in chosen)))
    if len(tried) > MOST:
        tried = random.Random(0).sample(tried, MOST)
    said = {
        say(area, case, **dict.fromkeys(plain, value), **dict(zip(chosen, values, strict=True)))
        for value, *values in tried
    }
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


def test_a_list_of_which_one_holds_ends_with_or():
    assert [either(["a", "b", "c"][:many]) for many in range(4)] == ["", "a", "a or b", "a, b or c"]


def test_the_lines_of_a_phrase_are_a_question_and_its_answers():
    assert say_lines("forward", "may-look-back", kind="table") == (
        "May you look back at the records of the first look while you predict?",
        "- Yes, at any time",
        "- Yes, but only once",
        "- No",
    )


def test_what_a_language_lacks_is_said_in_english_and_logged_once(caplog):
    with speaking("tlh"):
        assert say("common", "list-or", first="a", last="b") == "a or b"
        assert say("common", "list-or", first="c", last="d") == "c or d"
    lacking = [record.getMessage() for record in caplog.records if "'tlh'" in record.getMessage()]
    assert lacking == ["There is no phrase 'list-or' of 'common' in 'tlh': it is said in English."]


@pytest.mark.parametrize("length", [200, 201, 2600, 50_000])
def test_slots_may_be_as_long_as_they_are(length):
    """Texts and lists of names come from people and their data; Fluent alone says 2,500 characters at a time."""
    first, last = "a" * length, "b" * length
    assert either([first, last]) == f"{first} or {last}"
    names = [f"column-{number}" for number in range(length // 10)]
    assert either(names) == f"{', '.join(names[:-1])} or {names[-1]}"


@pytest.mark.parametrize(
    "stumbled",
    [
        "do you say besides",
        "say that you can't say",
        "leaf back",
        "Page before",
        "right in half of them, for each of its answers",
        "How did you find your answers",
        "Text, explained",
        "Why does the model answer so",
        "the last 1 hours",
        "to help or to harm",
        "hang on",
        "people in a comparison",
    ],
)
def test_sentences_over_which_readers_stumbled_are_said_nowhere(stumbled):
    source = Path(verax.__file__).parent
    said = [
        *source.glob("phrases/*/*.ftl"),
        *source.glob("web/templates/*.html"),
        *source.glob("web/static/*.js"),
    ]
    assert len(said) > 50
    assert [path.name for path in said if stumbled in path.read_text(encoding="utf-8")] == []
