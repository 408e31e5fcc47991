"""Several studies pooled as in the paper: text and tabular data, forward and counterfactual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from studies.analysis.frames import (
    THREE,
    collected,
    drawn,
    everybody,
    sample_study,
    simulated_answers,
    summarised,
)
from verax.errors import VeraxError
from verax.stats import hase2020, responses
from verax.stats.crossed.between import changes
from verax.studies.analysis import Options
from verax.studies.analysis.analyse import analysed, pooled_findings
from verax.studies.analysis.between.effects import complete_pairs, paired
from verax.studies.analysis.between.pooled_simulation import pooled_simulation

FAST = Options(replicates=150)
CELLS = [("text", "forward"), ("text", "counterfactual"), ("table", "forward"), ("table", "counterfactual")]


@pytest.fixture(scope="module")
def four():
    """Four studies with two methods, four people each and sixteen items; the ids of items collide."""
    found = []
    for number, (kind, protocol) in enumerate(CELLS):
        roles = {"learning": 4, "test": 16} if protocol == "forward" else {"test": 16}
        study = sample_study({"name": protocol, **roles}, roles, kind=kind, conditions=THREE[1:])
        right = drawn((4, 4), 16, 0.1, seed=number, missing=0.05)
        found.append(collected(study, everybody(study, 4), simulated_answers(study, right, number)))
    return found


@pytest.fixture(scope="module")
def tables(four):
    found = pooled_simulation([analysed(one) for one in four], FAST)
    made, problems = found.tables, found.problems
    assert problems == ()
    return {table.key: table for table in made}


def rows_of(table, by="condition"):
    return {row[by]: row for row in table.rows}


def own_change(one, name):
    """Change of a condition in one study: the mean over its people, and how many items they answered twice."""
    pairs = complete_pairs(paired(one.responses, "prediction"))
    own = pairs[pairs["condition"] == name]
    return (own["post"] - own["pre"]).groupby(own["participant"]).mean().mean(), len(own)


def test_a_study_without_a_condition_is_named():
    roles = {"learning": 4, "test": 16}
    studies = [
        sample_study({"name": "forward", **roles}, roles, conditions=conditions)
        for conditions in (THREE, THREE[:2])
    ]
    made = pooled_simulation(
        [
            analysed(collected(study, everybody(study, 3), simulated_answers(study, drawn((3, 3, 3), 16))))
            for study in studies
        ],
        Options(estimator="crossed", replicates=100),
    ).tables
    notes = next(table.notes for table in made if table.key == "change-by-domain")
    assert "text, shap: No participant in study 2: the estimate is over the other strata." in notes


def test_four_people_in_a_condition_make_no_change_clear():
    """Everybody gains half of the items, some one more: p is tiny, and four people are too few for it."""
    roles = {"learning": 4, "test": 16}
    found = []
    for kind in ("text", "table"):
        study = sample_study({"name": "forward", **roles}, roles, kind=kind, conditions=THREE[1:])
        right = drawn((4, 4), 16)
        pre, post = np.zeros_like(right.pre), np.zeros_like(right.post)
        post[..., ::2] = 1
        post[0, ::2, 1] = 1
        gained = replace(right, pre=pre, post=post)
        found.append(analysed(collected(study, everybody(study, 4), simulated_answers(study, gained))))
    made = pooled_simulation(found, Options(estimator="crossed", replicates=100)).tables
    table = next(table for table in made if table.key == "change-by-domain")
    assert rows_of(table)["lime"]["text_p_adjusted"] < 0.05
    assert table.sentence.startswith("No Change is clear.")


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("change-by-domain", {"text": (0, 1), "tabular": (2, 3)}),
        ("change-by-test", {"forward": (0, 2), "counterfactual": (1, 3)}),
    ],
)
def test_change_is_the_mean_of_the_studies_of_a_group(four, tables, key, groups):
    rows = rows_of(tables[key])
    for group, places in groups.items():
        for name in ("lime", "shap"):
            parts = [own_change(four[place], name) for place in places]
            assert rows[name][f"{group}_change"] == pytest.approx(
                100 * np.mean([change for change, _ in parts])
            )
            assert rows[name][f"{group}_n"] == sum(n for _, n in parts)
            low, high = rows[name][f"{group}_interval"]
            assert low < rows[name][f"{group}_change"] < high
        assert rows["all conditions"][f"{group}_n"] == rows["lime"][f"{group}_n"] + rows["shap"][f"{group}_n"]


def test_the_published_table_is_the_published_procedure_on_the_pooled_rows(four, tables):
    parts = [complete_pairs(paired(four[place].responses, "prediction")) for place in (0, 1)]
    columns = [
        np.concatenate([f"{place}:" + part["participant"] for place, part in enumerate(parts)]),
        np.concatenate([f"{place}:" + part["item"] for place, part in enumerate(parts)]),
        *(np.concatenate([part[name] for part in parts]) for name in ("condition", "pre", "post")),
    ]
    direct = hase2020.change(*columns, replicates=150)
    rows = rows_of(tables["paper-1"])
    for one in direct.methods:
        assert rows[one.method]["text_change"] == pytest.approx(100 * one.change.estimate)
        assert rows[one.method]["text_ci"] == pytest.approx(100 * one.change.half_width)
        assert rows[one.method]["text_p"] == one.change.p
    assert rows["User Avg."]["text_pre"] == pytest.approx(columns[3].mean())
    assert "Reproduction" in tables["paper-1"].sentence


def test_ratings_are_pooled_by_kind_of_data(four, tables):
    answers = [one.responses[one.responses["question"] == "rating"] for one in four]
    for domain, places in {"text": (0, 1), "tabular": (2, 3)}.items():
        for name in ("lime", "shap"):
            parts = [answers[place] for place in places]
            values = np.concatenate(
                [part.loc[part["condition"] == name, "answer"].astype(float) for part in parts]
            )
            row = next(
                r for r in tables["ratings-by-domain"].rows if (r["domain"], r["condition"]) == (domain, name)
            )
            assert row["n"] == len(values)
            assert row["spread"] == pytest.approx(values.std(ddof=1))
        sides = [row for row in tables["ratings-by-correctness-and-domain"].rows if row["domain"] == domain]
        assert [row["model"] for row in sides] == ["right", "wrong", "difference"]
        assert sides[0]["n"] + sides[1]["n"] == sides[2]["n"]


def test_one_study_alone_is_its_own_table(four):
    (table,) = (
        one for one in pooled_simulation([analysed(four[0])], FAST).tables if one.key == "change-by-domain"
    )
    own = next(one for one in summarised(four[0], FAST)["tables"] if one["key"] == "change")
    for row in own["rows"][1:]:
        pooled = rows_of(table)[row["condition"]]
        assert pooled["text_change"] == pytest.approx(row["change"])
        assert pooled["text_interval"] == pytest.approx(row["interval"])
        assert pooled["text_p"] == pytest.approx(row["p"])


def test_the_summary_has_the_pooled_tables_beside_its_own(four):
    summary = summarised(four[0], Options(estimator="crossed", replicates=100), others=four[1:2])
    keys = [table["key"] for table in summary["tables"]]
    assert "change" in keys
    assert [key for key in keys if key not in ("sample", "time")][-5:] == [
        "change-by-domain", "change-by-test", "ratings-by-domain", "ratings-by-correctness-and-domain",
        "rating-and-correctness-2",
    ]  # fmt: skip


def test_a_study_cannot_be_pooled_with_itself(four):
    with pytest.raises(VeraxError, match="A study is given twice"):
        pooled_findings([analysed(four[0]), analysed(four[1]), analysed(four[0])], FAST)


def test_other_protocols_cannot_be_pooled(four):
    study = sample_study(
        {"name": "model-choice", "test": 4, "items_per_participant": 4}, {"test": 4}, conditions=THREE[1:]
    )
    other = analysed(collected(study, [], lambda *_: None))
    with pytest.raises(VeraxError, match="is a model-choice study: it cannot be pooled with a forward study"):
        pooled_findings([analysed(four[0]), other], FAST)
    with pytest.raises(VeraxError, match="is a forward study: it cannot be pooled with a model-choice study"):
        pooled_findings([other, analysed(four[0])], FAST)


def linked(taken, links):
    """The same answers; people with these numbers are known by these names in other studies."""
    people = taken.participants.copy()
    people["link"] = [links.get(number) for number in people["number"]]
    return replace(taken, participants=people)


def test_linked_people_are_one_unit_in_all_studies(four):
    """The same four people of each method in the forward and the counterfactual test, on text: blocks across both."""
    links = {number: f"h{number}" for number in range(1, 9)}
    apart = pooled_simulation([analysed(one) for one in four[:2]], FAST).tables
    joined = pooled_simulation([analysed(linked(one, links)) for one in four[:2]], FAST).tables
    by_key = [{table.key: table for table in tables} for tables in (apart, joined)]
    rows_apart, rows_joined = (rows_of(tables["change-by-domain"]) for tables in by_key)
    pairs = [
        complete_pairs(paired(one.responses, "prediction")).assign(test=place)
        for place, one in enumerate(four[:2])
    ]
    for name in ("lime", "shap"):
        assert rows_joined[name]["text_change"] == pytest.approx(rows_apart[name]["text_change"])
        # A person's value is the mean of both tests, and there are four of them, not eight.
        columns = [np.concatenate([part[column] for part in pairs]) for column in ("participant", "item")]
        items = np.concatenate([f"{place}:" + part["item"] for place, part in enumerate(pairs)])
        methods = np.concatenate([part["condition"] for part in pairs])
        direct = {
            one.name: one
            for one in changes(
                responses(
                    columns[0],
                    items,
                    methods,
                    np.concatenate([part["post"] for part in pairs]),
                    np.concatenate([part["pre"] for part in pairs]),
                    np.concatenate([part["test"] for part in pairs]),
                )
            )
        }
        assert rows_joined[name]["text_interval"] == pytest.approx(
            [100 * direct[name].low, 100 * direct[name].high]
        )
        assert rows_joined[name]["text_interval"] != pytest.approx(rows_apart[name]["text_interval"])
    assert any("8 people are linked over studies; 8 people" in note for note in joined[0].notes)
    assert any("Nobody is linked" in note for note in apart[0].notes)


def test_who_saw_two_methods_in_two_studies_is_resampled_as_one(four):
    """Person 1 saw lime on text and, as person 5, shap on tables: the published bootstrap draws both together."""
    text, table = linked(four[0], {1: "same"}), linked(four[2], {5: "same"})
    made = {one.key: one for one in pooled_simulation([analysed(text), analysed(table)], FAST).tables}
    parts = [complete_pairs(paired(one.responses, "prediction")) for one in (text, table)]
    names = [
        np.where(part["participant"] == f"p{who:010x}", "person same", f"{place}:" + part["participant"])
        for place, (part, who) in enumerate(zip(parts, (1, 5), strict=True))
    ]
    columns = [
        np.concatenate(names),
        np.concatenate([f"{place}:" + part["item"] for place, part in enumerate(parts)]),
        *(np.concatenate([part[name] for part in parts]) for name in ("condition", "pre", "post")),
    ]
    direct = hase2020.change(*columns, replicates=150)
    rows = rows_of(made["paper-2"])
    for one in direct.methods:
        assert rows[one.method]["forward_change"] == pytest.approx(100 * one.change.estimate)
    assert rows_of(made["change-by-test"])["lime"]["forward_n"] > 0


def test_a_refusal_says_what_can_be_pooled(four):
    study = sample_study(
        {"name": "model-choice", "test": 4, "items_per_participant": 4}, {"test": 4}, conditions=THREE[1:]
    )
    other = analysed(collected(study, [], lambda *_: None))
    with pytest.raises(VeraxError, match="forward can be pooled with each other and with counterfactual"):
        pooled_findings([analysed(four[0]), other], FAST)
