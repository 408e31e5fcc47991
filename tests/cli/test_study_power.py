"""``verax study power`` as a person types it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest

SPEC = """
title = "A test"
dataset = "rotten-tomatoes"
protocol = { name = "reverse-turing", training = 0, evaluation = 6 }
participants = 2

[[conditions]]
name = "none"

[[conditions]]
name = "lime"
explainer = "lime"

[[conditions]]
name = "random"
like = "lime"
"""


@pytest.fixture
def spec(folder):
    (folder / "spec.toml").write_text(SPEC)
    return folder


def test_a_table_and_a_sentence_say_how_many_people_are_needed(spec, verax):
    ended = verax("study", "power", "spec.toml", "--effect", "25", "--participants", "1,4", "--studies", "60")
    assert ended.status == 0
    rows = [line.split() for line in ended.out.splitlines() if line.strip().startswith("18 ")]
    assert [row[:3] for row in rows] == [["18", "1", "6"], ["18", "2", "12"], ["18", "4", "24"]]
    assert "this study finds an effect of 25 points (lime against none, within people)" in " ".join(
        ended.out.split()
    )
    assert "docs/results/calibration.md" in ended.out
    assert not list(spec.glob("*.svg"))


def test_the_figure_and_the_numbers_are_written_where_asked(spec, verax):
    ended = verax(
        *("study", "power", "spec.toml", "--participants", "4", "--items", "9"),
        *("--studies", "30", "--out", "plans/one", "--json"),
    )
    printed = json.loads(ended.out)
    assert printed == json.loads((spec / "plans/one/power.json").read_text())
    assert {(row["participants"], row["items"]) for row in printed["rows"]} == {
        (2, 18),
        (4, 18),
        (2, 27),
        (4, 27),
    }
    figure = (spec / "plans/one/power.svg").read_text()
    assert ElementTree.fromstring(figure).tag.endswith("svg")
    assert "27 items" in figure


def test_the_same_seed_gives_the_same_numbers(spec, verax):
    first, again, other = (
        verax(
            "study", "power", "spec.toml", "--participants", "2", "--studies", "40", "--json", "--seed", seed
        )
        for seed in ("3", "3", "4")
    )
    assert first.out == again.out
    assert first.out != other.out


def test_the_check_prints_rates_with_intervals(spec, verax):
    ended = verax("study", "power", "spec.toml", "--check", "--studies", "2", "--out", "plans")
    assert ended.status == 0
    found = json.loads((spec / "plans/check.json").read_text())
    assert found["studies"] == 2
    assert found["sentence"] in " ".join(ended.out.split())
    assert "studies that claim one, uncorrected" in ended.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--participants", "ten"], "participants.0 must be a whole number"),
        (["--items", "0"], "items.0 must be at least 1"),
        (["--effect", "0"], "The effect is 0 points"),
        (["--power", "2"], "power must be less than 1"),
        (["--check", "--studies", "0"], "studies must be at least 1"),
    ],
)
def test_bad_options_end_in_one_sentence(spec, verax, given, said):
    ended = verax("study", "power", "spec.toml", *given)
    assert ended.status == 2
    assert said in " ".join(ended.err.split())


def test_a_missing_spec_is_named(folder, verax):
    ended = verax("study", "power", "nowhere.toml")
    assert ended.status == 2
    assert "There is no spec file 'nowhere.toml'" in ended.err
