"""``verax list`` and the options without a command."""

import json
import re

import pytest

from verax import __version__
from verax.data import dataset_formats, datasets
from verax.explain import explainers
from verax.measures import measures
from verax.models import models


@pytest.mark.parametrize(
    ("sort", "registry"),
    [("explainers", explainers), ("models", models), ("datasets", datasets), ("formats", dataset_formats)],
)
def test_every_registered_name_is_listed_with_its_first_line(verax, sort, registry):
    ended = verax("list", sort)
    assert ended.status == 0
    words = " ".join(ended.out.split())
    # Other tests of this process may have registered things of their own.
    ours = [name for name in registry if registry.get(name).__module__.startswith("verax.")]
    assert len(ours) > 3
    for name in ours:
        assert re.search(rf"^{re.escape(name)}  ", ended.out, re.MULTILINE)
        assert " ".join(registry.get(name).__doc__.split("\n")[0].replace("`", "").split()[:5]) in words


def test_explainers_are_listed_with_parameters_and_defaults(verax):
    out = " ".join(verax("list", "explainers").out.split())
    assert "samples=5000, seed=0, kernel_width=None, features=None, selection='auto'" in out


def test_measures_are_listed_with_direction_range_and_cost(verax):
    out = " ".join(verax("list", "measures").out.split())
    assert "Lower is better, from -1 to 1; it asks the model. shares=" in out
    assert "Lower is better, from 0 on; it explains again. explainer, versions=5" in out
    assert "Higher is better, up to 1; it asks the model. draws=32" in out
    assert "Higher is better, from 0 to 1; it asks nothing of the model. other, k=5" in out
    listed = {one["name"]: one for one in json.loads(verax("list", "measures", "--json").out)["measures"]}
    for name in measures:
        one = measures.get(name)
        ends = [end if abs(end) < float("inf") else None for end in (one.low, one.high)]
        shown = listed[name]
        assert [shown["better"], shown["low"], shown["high"], shown["costs"]] == [
            one.better,
            *ends,
            one.costs,
        ]


def test_everything_is_listed_when_nothing_is_named(verax):
    out = verax("list").out
    for heading in ("Explainers", "Models", "Datasets", "Formats", "Protocols"):
        assert re.search(rf"^{heading}$", out, re.MULTILINE)
    assert re.search("^lime  ", out, re.MULTILINE)
    assert re.search("^forward  ", out, re.MULTILINE)
    assert "`" not in out


def test_help_offers_no_list_that_does_not_exist(verax):
    offered = re.search(r"One of: ([\w, \n│]+);", verax("list", "--help").out)
    assert offered is not None
    for sort in re.findall(r"\w+", offered[1]):
        assert verax("list", sort).status == 0


def test_an_unknown_list_names_the_known_ones(verax):
    ended = verax("list", "explainer")
    assert ended.status == 2
    assert "choose one of: explainers, models" in ended.err


def test_version(verax):
    assert verax("--version").out == f"verax {__version__}\n"


def test_help_shows_examples(verax):
    out = verax("--help").out
    assert "verax explain --text" in out
    assert "verax list explainers" in out


def test_a_preset_names_the_methods_of_a_paper(verax):
    ended = verax("list", "explainers", "--preset", "human-grounded")
    assert ended.status == 0
    assert "LRP (N)" in ended.out
    assert "of 2, 3 or 4 words, of any sign" in " ".join(ended.out.split())
    assert 'conditions = "human-grounded"' in ended.out
    assert verax("list", "models", "--preset", "human-grounded").status == 2
    assert "there are: human-grounded" in verax("list", "explainers", "--preset", "grounded").err
