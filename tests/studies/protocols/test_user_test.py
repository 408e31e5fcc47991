"""A user test: both parts by the same person with the same method, people as blocks across both."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from studies.analysis.frames import THREE, Person, collected, everybody, sample_study, summarised
from study_source import review_source
from verax.errors import VeraxError
from verax.stats import contrasts_with, responses
from verax.studies.analysis import Options, analysed
from verax.studies.analysis.analyse import pooled_findings
from verax.studies.analysis.between.effects import complete_pairs, paired
from verax.studies.analysis.between.pooled_simulation import _joined, _Study
from verax.studies.definition.own_questions import OwnQuestion
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material
from verax.studies.protocols.user_test.parts import part_of

TABLE = {"name": "user-test", "learning": 4, "test": 8, "changed": 8}
ROLES = {"learning": 4, "test": 8, "changed": 8}
FAST = Options(replicates=150)


@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_keeps_the_contract(kind, classes):
    check_protocol(sample_material(TABLE, ROLES, conditions=THREE, kind=kind, classes=classes))


def test_both_parts_come_one_after_the_other_with_one_method():
    study = check_protocol(sample_material(TABLE | {"leaf": True}, ROLES, conditions=THREE))
    for row in study.rows:
        steps = participant_steps(study, row, 1)
        phases = list(dict.fromkeys(step.phase for step in steps if step.item))
        assert phases == [
            "forward-learning", "forward-pre", "forward-explained", "forward-post",
            "counterfactual-pre", "counterfactual-post",
        ]  # fmt: skip
        assert {step.condition for step in steps if step.item} == {row.condition}
    assert study.phases["forward-learning"].leaf
    assert not study.phases["counterfactual-pre"].leaf


def test_no_input_is_in_both_parts():
    made = make_protocol(TABLE | {"learning": 8, "test": 16, "changed": 16})
    items = made.items(review_source(TABLE, conditions=list(THREE)))
    assert len({item.id for item in items}) == len(items)
    inputs = {role: {item.input for item in items if item.role == role} for role in ("test", "changed")}
    assert not inputs["test"] & inputs["changed"]
    assert all((item.variant is not None) == (item.role == "changed") for item in items)


@pytest.mark.parametrize("few", [8, 16])
def test_people_with_less_time_have_a_share_of_the_same_inputs(few):
    """The paper: 16 or 32 inputs for each person, all of the same data points."""
    source = review_source(TABLE, conditions=list(THREE))
    whole = make_protocol(TABLE | {"test": 32, "changed": 32}).items(source)
    fewer = make_protocol(TABLE | {"test": few, "changed": few, "of": 32}).items(source)
    for role, count in (("learning", 4), ("test", few), ("changed", few)):
        own, every = ([item for item in items if item.role == role] for items in (fewer, whole))
        assert len(own) == count
        assert {(item.input, item.variant) for item in own} <= {(item.input, item.variant) for item in every}
        cells = Counter((item.prediction, item.label, item.flips) for item in own)
        assert len(set(cells.values())) == 1
    assert [item.id for item in fewer] == [f"i{number:03d}" for number in range(1, len(fewer) + 1)]
    with pytest.raises(VeraxError, match="12 of 32 inputs are no even share"):
        make_protocol(TABLE | {"test": 12, "changed": 12, "of": 32}).items(source)


def right(person, place, phase):
    """Which answers are right: some before, more after where there are explanations."""
    before = (person.number + place) % 3 != 0
    return before or (phase.endswith("post") and person.row > 0 and (person.number * place) % 2 == 0)


def taken(**more):
    study = sample_study(TABLE, ROLES, conditions=THREE, **more)
    places = {name: place for place, name in enumerate(study.items)}

    def answer(person, step, question):
        if question.name == "rating":
            return 1 + places[step.item] % 7
        item = study.items[step.item]
        said = item.variant.prediction if item.role == "changed" else item.prediction
        return said if right(person, places[step.item], step.phase) else 1 - said

    people = [*everybody(study, 7), Person(22, 1, status="active", left=True, until="counterfactual-pre")]
    return collected(study, people, answer)


@pytest.fixture(scope="module")
def found():
    return taken()


def test_people_are_blocks_across_both_parts(found):
    """The contrast with no explanation is the estimator's with the parts as strata that share their participants."""
    summary = summarised(found, FAST)
    study = found.study
    tests = [(place, item) for place, item in enumerate(study.items.values()) if item.role != "learning"]
    rows = [
        (
            person.number,
            item.id,
            ("none", "lime", "shap")[person.row],
            float(right(person, place, "post")),
            float(right(person, place, "pre")),
            item.role,
        )
        for person in everybody(study, 7)
        for place, item in tests
    ]
    direct = contrasts_with(responses(*(np.array(column) for column in zip(*rows, strict=True))), "none")
    by_key = {one["key"]: one for one in summary["primary"]["estimates"]}
    for one in direct:
        estimate = by_key[f"{one.name.split(' - ')[0]}-vs-none"]
        assert estimate["estimate"] == pytest.approx(100 * one.estimate)
        assert (estimate["low"], estimate["high"]) == pytest.approx((100 * one.low, 100 * one.high))
        assert estimate["participants"] == 14
    keys = [table["key"] for table in summary["tables"]]
    assert {"contrast", "change", "paper-1", "paper-2", "forward-change", "counterfactual-change"} <= set(
        keys
    )
    assert len(keys) == len(set(keys))


def test_the_papers_tables_count_who_left_after_the_first_part(found):
    """Person 22 answered the forward part in both rounds and left: eight items more there, none in the other."""
    tables = {table["key"]: table for table in summarised(found, FAST)["tables"]}
    rows = {row["condition"]: row for row in tables["paper-2"]["rows"]}
    assert (rows["lime"]["forward_n"], rows["lime"]["counterfactual_n"]) == (8 * 8, 7 * 8)


def test_nobody_is_called_linked_where_nobody_was_asked(found):
    """The parts of a user test share their people; over two user tests only those are linked who agreed to it."""
    said = (
        "Both parts of a user test are by the same people: each is one unit of all intervals and resampling."
    )
    (alone,) = (table for table in summarised(found, FAST)["tables"] if table["key"] == "paper-1")
    assert alone["notes"][-1] == said
    both = [analysed(found), analysed(taken(kind="table"))]
    (pooled,) = (table for table in pooled_findings(both, FAST).tables if table.key == "paper-1")
    assert pooled.notes[-1].startswith(f"{said} Nobody is linked over studies")
    # The first three of each agreed, and are the same people.
    links = [f"h{place}" if place < 3 else None for place in range(len(both[0].intended_participants))]
    both = [
        replace(
            data,
            participants=data.participants.assign(link=links[: len(data.participants)]),
            intended_participants=data.intended_participants.assign(link=links),
        )
        for data in both
    ]
    (pooled,) = (table for table in pooled_findings(both, FAST).tables if table.key == "paper-1")
    assert "3 people are linked over studies; 3 people took part in several of these" in pooled.notes[-1]


def test_each_part_alone_is_its_own_study(found):
    data = analysed(found)
    forward, changed = (part_of(data, part) for part in ("forward", "counterfactual"))
    assert set(forward.responses["phase"]) >= {"pre", "post"}
    assert {item.role for item in changed.study.items.values()} == {"test"}
    assert forward.person(0)["p0000000001"] == changed.person(1)["p0000000001"]
    items = summarised(found, FAST)["items"]
    assert len(items) == 16
    assert [bool(one["changed"]) for one in items] == [False] * 8 + [True] * 8


def test_questions_of_ones_own_around_the_parts_do_not_stop_the_analysis(found):
    asked = {"name": "course", "question": "A course?", "answers": ("Yes", "No"), "place": "first"}
    spec = found.study.spec.model_copy(update={"questions": (OwnQuestion(**asked),)})
    asking = replace(found, study=replace(found.study, spec=spec))
    tables = {table["key"]: table for table in summarised(asking, FAST)["tables"]}
    assert (
        tables["paper-2"]["rows"]
        == {table["key"]: table for table in summarised(found, FAST)["tables"]}["paper-2"]["rows"]
    )
    assert part_of(analysed(asking), "forward").study.spec.questions == ()


def test_user_tests_on_text_and_tables_are_pooled_as_in_the_paper(found):
    both = [analysed(found), analysed(taken(kind="table"))]
    tables = {table.key: table for table in pooled_findings(both, FAST).tables}
    rows = {row["condition"]: row for row in tables["paper-1"].rows}
    assert (rows["shap"]["text_n"], rows["shap"]["tabular_n"]) == (7 * 16, 7 * 16)


def test_inputs_of_a_build_for_people_with_less_time_are_the_same_items_in_the_papers_tables(found):
    """Half of the items under other ids: an item is drawn with the answers of both builds."""
    data = analysed(found)
    kept = [name for place, name in enumerate(data.study.items) if place % 2]
    ids = {name: f"j{place:03d}" for place, name in enumerate(kept)}
    items = {ids[name]: replace(data.study.items[name], id=ids[name]) for name in kept}

    def of(rows):
        own = rows[rows["item"].isna() | rows["item"].isin(kept)]
        return own.assign(item=own["item"].map(ids))

    short = replace(
        data,
        study=replace(data.study, items=items, hash="f" * 64),
        responses=of(data.responses),
        intended=of(data.intended),
    )
    tables = {table.key: table for table in pooled_findings([data, short], FAST).tables}
    rows = {row["condition"]: row for row in tables["paper-1"].rows}
    assert rows["shap"]["text_n"] == 7 * (16 + 8)
    parts = [part_of(one, name) for one in (data, short) for name in ("forward", "counterfactual")]
    studies = [_Study(part, place) for place, part in enumerate(parts)]
    pairs = _joined(studies, lambda one: complete_pairs(paired(one.intended, one.scored)))
    assert pairs["item"].nunique() == 16
    of_one = pairs[pairs["item"] == pairs["item"].iloc[-1]]
    assert of_one["study"].nunique() == 2
    assert set(of_one["test"]) == {"counterfactual"}
