"""Table 4: three tasks beside each other, means of answers by hand, the best and what does not differ from it."""

from __future__ import annotations

import numpy as np
import pytest

from studies.analysis.frames import collected, everybody, sample_study, summarised
from verax.errors import VeraxError
from verax.results.tables import rows_of, to_latex, to_markdown
from verax.studies.analysis import Options
from verax.studies.analysis.analyse import analyse

CONDITIONS = (
    {"name": "lime", "explainer": "lime"},
    {"name": "shap", "explainer": "shap"},
    {"name": "random", "like": "lime"},
)
TASKS = ("uncertain-case", "model-choice", "class-from-evidence")
SHARES = {"lime": 0.95, "shap": 0.9, "random": 0.35}
FAST = Options(replicates=50)


def task(name, seed, conditions=CONDITIONS, **options):
    """One task that six people answered in every row; what share is right depends on the condition."""
    protocol = {"name": name, "test": 24, "items_per_participant": 12}
    study = sample_study(protocol, {"test": 12}, groups=2, conditions=conditions, **options)
    rng = np.random.default_rng(seed)

    def answer(person, step, question):
        right, sure = rng.random() < SHARES[step.condition], rng.random() < 0.5
        if name == "model-choice":
            return (1.0 if sure else 0.5) * (1 if right else -1)
        item = study.items[step.item]
        target = item.label if name == "uncertain-case" else item.prediction
        return f"{target if right else 1 - target}:{'certain' if sure else 'likely'}"

    return collected(study, everybody(study, 4), answer)


@pytest.fixture(scope="module")
def tasks():
    return [task(name, seed) for seed, name in enumerate(TASKS)]


@pytest.fixture(scope="module")
def found(tasks):
    return summarised(tasks[0], FAST, others=tasks[1:])


def table(found, key):
    return next(one for one in found["tables"] if one["key"] == key)


def test_methods_stand_down_and_tasks_and_parts_across_in_the_papers_order(found):
    made = table(found, "table-4")
    titles = [column["title"] for column in made["columns"]]
    assert titles[0] == "Method"
    assert [title.split(",")[0] for title in titles[1:]] == ["Task 1"] * 3 + ["Task 2"] * 3 + ["Task 3"] * 3
    assert [title.rsplit(": ")[1] for title in titles[1:4]] == ["all", "model right", "model wrong"]
    assert [row["condition"] for row in made["rows"]] == ["lime", "shap", "random", "Fleiss' kappa"]


def test_a_cell_is_the_mean_over_questions_of_the_mean_of_their_answers(found, tasks):
    choice = tasks[1]  # model-choice comes first in the table
    answers = choice.responses[choice.responses["score"].notna()]
    for name in SHARES:
        own = answers[answers["condition"] == name]
        by_hand = np.mean([part["score"].astype(float).mean() for _, part in own.groupby("item")])
        cell = next(row for row in table(found, "table-4")["rows"] if row["condition"] == name)["s0_all"]
        assert cell == pytest.approx(by_hand)


def test_the_best_is_marked_and_so_is_what_does_not_differ(found):
    rows = {row["condition"]: row for row in table(found, "table-4")["rows"]}
    for column in ("s0_all", "s1_all", "s2_all"):
        values = {name: rows[name][column] for name in SHARES}
        best = max(values, key=values.get)
        assert rows[best][f"{column}_mark"] == "best"
        assert rows["random"][f"{column}_mark"] == ""  # it is far below
    own = {row["condition"]: row for row in table(found, "table-4-estimates")["rows"]}
    assert "[" in own["lime"]["s0_all"]
    assert own["random"]["s0_all_mark"] == ""


def test_kappa_is_that_of_each_task_alone(found, tasks):
    alone = next(one for one in summarised(tasks[1], FAST)["tables"] if one["key"] == "agreement")["rows"][:2]
    kappas = next(row for row in table(found, "table-4")["rows"] if row["condition"] == "Fleiss' kappa")[
        "s0_all"
    ]
    assert kappas.replace("−", "-") == " / ".join(f"{row['kappa']:.3f}" for row in alone)


def test_marks_are_bold_and_underlined_wherever_tables_are_written(tasks):
    made = next(one for one in analyse(tasks[0], FAST, others=tasks[1:]).tables if one.key == "table-4")
    best = next(cell for cell in rows_of(made)[0] + rows_of(made)[1] if cell.mark == "best")
    assert f"**{best}**" in to_markdown(made)
    assert rf"\textbf{{{best}}}" in to_latex(made)
    assert "\\textbf{{" not in to_latex(made)


def test_the_page_shows_them_so(tasks):
    from verax.reporting.study import render_study_report

    summary = analyse(tasks[0], FAST, others=tasks[1:])
    page = render_study_report(summary)
    assert "<strong>" in page.split("Mean scores of all tasks, as published ")[1]


def test_two_data_sets_and_a_method_that_one_of_them_lacks():
    first, second = task("model-choice", 0), task("model-choice", 1, CONDITIONS[:2], dataset="other")
    found = summarised(first, FAST, others=[second])
    made = table(found, "table-4")
    assert len({column["title"].split(":")[0] for column in made["columns"][1:]}) == 2
    random = next(row for row in made["rows"] if row["condition"] == "random")
    assert "s1_all" not in random


def test_a_study_of_another_kind_cannot_be_pooled(tasks):
    forward = sample_study({"name": "forward"}, {"learn": 4, "pre": 4, "post": 4})
    with pytest.raises(VeraxError, match="it cannot be pooled with"):
        summarised(tasks[0], FAST, others=[collected(forward, everybody(forward, 1), lambda *_: 0)])
    with pytest.raises(VeraxError, match="given twice"):
        summarised(tasks[0], FAST, others=[tasks[0]])
