"""What is said first over several evaluations: each benchmark by its name; where they differ, how many of them."""

from __future__ import annotations

from verax.reporting.joint.evaluations import Evaluation, Standing, joint_verdict
from verax.results.units import Unit


def evaluation(name, kind="benchmark", **signs):
    standings = tuple(Standing(label, label, 80.0, 70.0, 90.0, sign=sign) for label, sign in signs.items())
    return Evaluation(name, kind, name, "area", Unit("per cent"), False, True, standings)


def test_one_benchmark_is_the_benchmark_and_names_of_explainers_stay_as_they_are():
    found = joint_verdict([evaluation("stains", lime="yes", shap="no")], ["lime", "shap"], "", "")
    assert found.sentence == "lime passes the benchmark."
    assert [row.words for row in found.judged] == ["passes the benchmark", "fails the benchmark"]
    nobody = joint_verdict([evaluation("stains", lime="open")], ["lime"], "", "")
    assert nobody.sentence == "No explainer is shown to pass the benchmark."


def test_rows_stand_in_the_order_of_the_numbers_that_are_drawn():
    numbers = {"shap": 70.0, "lime": 90.0, "greedy": 80.0}
    standings = tuple(Standing(name, name, number, None, None) for name, number in numbers.items())
    for better, order in ((True, ["lime", "greedy", "shap"]), (False, ["shap", "greedy", "lime"])):
        drawn = Evaluation(
            "stains", "benchmark", "stains", "area", Unit("per cent"), False, better, standings
        )
        found = joint_verdict([drawn], ["shap", "lime", "greedy"], "", "")
        assert [row.name for row in found.judged] == order


def test_of_several_benchmarks_each_is_told_by_its_name():
    evaluations = [evaluation("stains", lime="yes", shap="yes"), evaluation("words", lime="open", shap="no")]
    found = joint_verdict(evaluations, ["lime", "shap"], "", "")
    assert found.sentence == (
        "lime and shap pass the benchmark “stains”; no explainer is shown to pass the benchmark “words”."
    )
    assert [row.words for row in found.judged] == [
        "passes 1 of 2 benchmarks",
        "passes 1 and fails 1 of 2 benchmarks",
    ]
