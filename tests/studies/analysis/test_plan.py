"""The margin of equivalence in a plan: a number with a unit; a text of older specs never loses its test in silence."""

import pytest

from studies.analysis.frames import collected, drawn, everybody, sample_study, simulated_answers, summarised
from verax.errors import VeraxError
from verax.results.units import POINTS, SCORE
from verax.studies.analysis import Options
from verax.studies.analysis.plan import margin_of, plan_problems
from verax.studies.definition.spec import StudySpec, parse_study_spec
from verax.studies.definition.spec_tables import Equivalence
from verax.studies.protocol.contract import Findings

SPEC = """
title = "A study"
dataset = "rotten-tomatoes"
protocol = {{ name = "forward" }}
conditions = [{{ name = "none" }}]
[analysis]
primary = "The contrast of each method with none"
{margin}
"""
FAST = Options(estimator="crossed", replicates=20)


def spec_with(margin: str) -> StudySpec:
    return parse_study_spec(SPEC.format(margin=margin))


def test_a_margin_is_a_number_with_a_unit():
    spec = spec_with('equivalence = { margin = 5, unit = "points" }')
    assert spec.analysis["equivalence"] == Equivalence(margin=5, unit="points")
    assert margin_of(spec.analysis, POINTS) == 5
    assert spec.plan["equivalence"] == "within 5 points"
    assert plan_problems(spec.analysis, Findings(), ()) == []


@pytest.mark.parametrize(
    ("margin", "says"),
    [
        ("equivalence = { margin = 5 }", "unit: this is missing; add it."),
        ('equivalence = { margin = 0, unit = "points" }', "margin must be more than 0."),
        ('equivalence = { margin = 5, unit = "apples" }', "unit must be 'points' or 'score'."),
        ('equivalence = { margin = 5, units = "points" }', "this is missing"),
        ("equivalence = 5", "a margin has a unit; write equivalence = { margin = 5,"),
        ('contrast = { margin = 5, unit = "points" }', "'contrast' is a text; only 'equivalence'"),
    ],
)
def test_a_margin_without_a_unit_or_under_another_name_is_refused(margin, says):
    with pytest.raises(VeraxError, match=f"the spec, analysis.*{says}"):
        spec_with(margin)


def test_a_margin_in_another_unit_is_not_tested():
    with pytest.raises(VeraxError, match=r'is in points, but differences here are in score.*unit = "score"'):
        margin_of({"equivalence": Equivalence(margin=5, unit="points")}, SCORE)
    assert margin_of({"equivalence": Equivalence(margin=0.1, unit="score")}, SCORE) == 0.1


@pytest.mark.parametrize(
    ("text", "margin"),
    [
        ("within 5 points", 5),
        ("a difference of 0.9 does not matter", 0.9),
        ("two one-sided tests at 5%, within 2.5 percentage points", 2.5),
        ("5% tests, 10 people", None),  # which of them?
        ("hardly any difference", None),
        ("0 points", None),
    ],
)
def test_a_text_of_an_older_spec_is_taken_if_it_is_clear_and_the_report_says_what_to_write(text, margin):
    plan = {"equivalence": text}
    assert margin_of(plan, POINTS) == margin
    (said,) = plan_problems(plan, Findings(), ())
    assert 'unit = "points" }' in said
    assert ("was taken from it" if margin else "equivalence was not tested") in said


def test_number_and_text_give_the_same_table():
    tables = []
    for planned in ("within 15 points", Equivalence(margin=15, unit="points")):
        study = sample_study({"name": "forward", "test": 16}, {"test": 16}, analysis={"equivalence": planned})
        answers = simulated_answers(study, drawn((6, 6, 6), 16, seed=4))
        found = summarised(collected(study, everybody(study, 6), answers), FAST)
        tables.append(next(one for one in found["tables"] if one["key"] == "equivalence"))
        assert tables[-1]["planned"]
        assert found["analysis_plan"] == {"equivalence": "within 15 points"}
    assert tables[0] == tables[1]
