"""The reviewer's page lists all pairs of a counterfactual study, and what is struck is left out of the next build."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verax.errors import VeraxError
from verax.reporting.study import pairs_of, write_review
from verax.studies.build.build import compose_study
from verax.studies.definition.study import Variant
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material


def study_of(name="counterfactual", **options):
    material = sample_material({"name": name, **options}, {"learning": 4, "test": 8})
    study = compose_study(material, make_protocol(material.spec.protocol), "")
    items = dict(study.items)
    for number, (key, item) in enumerate(items.items()):
        if item.variant is not None:
            items[key] = replace(item, part="test", place=100 + number)
    return replace(study, items=items)


def test_all_pairs_are_there_the_least_likely_first_with_what_differs_marked_in_both(tmp_path):
    study = study_of(test=8)
    first, second, *others = (item for item in study.items.values() if item.role == "test")
    made = {
        first.id: replace(
            first,
            input="do n't waste your money",
            variant=Variant("do n't city your money", ((7, 11),), 0, -9.0),
        ),
        second.id: replace(second, variant=replace(second.variant, likelihood=-0.5)),
    }
    study = replace(study, items={item.id: item for item in [*made.values(), *others]})
    pairs = pairs_of(study)
    assert len(pairs) == 8
    assert [pair.item for pair in pairs[:2]] == [first.id, second.id]
    assert [piece for piece, differs in pairs[0].original if differs] == ["waste"]
    assert [piece for piece, differs in pairs[0].changed if differs] == ["city"]
    page = tmp_path / "review.html"
    assert write_review(study, page) == 8
    html = page.read_text(encoding="utf-8")
    assert "don&#39;t <mark>city</mark> your money" in html
    assert f'"test {first.place}"' in html
    assert html.index("<mark>city</mark>") < html.index(f"<h2>{second.id}")


def test_a_study_without_changed_inputs_has_nothing_to_review(tmp_path):
    study = study_of("forward", learning=4, test=8)
    plain = {key: replace(item, variant=None) for key, item in study.items.items()}
    with pytest.raises(VeraxError, match="has no changed inputs to review"):
        write_review(replace(study, items=plain), tmp_path / "review.html")


def test_what_to_strike_is_an_input_of_the_test_part():
    assert make_protocol({"name": "counterfactual", "struck": ["test 512"]}).struck == ("test 512",)
    with pytest.raises(VeraxError, match="'i003' is no input; copy it from `verax study review`"):
        make_protocol({"name": "counterfactual", "struck": ["i003"]})
