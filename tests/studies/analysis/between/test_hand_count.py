"""The published tables against a count of the exported file by hand, with answers of people who left early."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from answering import answer_step, declared
from small_study import Clock
from studies.analysis.frames import summarised
from verax.studies.answers.collect import collect_export
from verax.studies.answers.export import export_study
from verax.studies.answers.flat_records import participant_records
from verax.studies.build.build import compose_study
from verax.studies.definition.screen import Question
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.results.study_summary import Options
from verax.studies.store import Store, open_store

ITEMS = 8
CONDITIONS = (
    {"name": "none"},
    {"name": "lime", "explainer": "lime"},
    {"name": "random", "like": "lime"},
)
# Of nine people, after how many pages of the second round each goes for good; nobody else leaves.
GOES_AFTER = {1: 3, 4: 6, 5: 0}


def take_part(store: Store, clock: Clock) -> None:
    """Nine people, three in each condition; what they answer differs by person, place and round."""
    for number in range(9):
        token = store.enter()
        store.consent(token, True)
        seen = Counter()

        def choose(question: Question, number: int = number, seen: Counter[str] = seen) -> str:
            seen[question.name] += 1
            return str(1 + (number + seen[question.name] * (2 + number % 3)) % len(question.options))

        while (where := store.look(token)) is not None and where.status == "active":
            in_post = where.phase is not None and where.phase.key == "post"
            if in_post and where.number_in_phase > GOES_AFTER.get(number, ITEMS):
                break
            answer_step(store, token, clock, 20, choose)
    clock.advance(24 * 3600)  # who has not come back by now has left


def counted_by_hand(folder: Path) -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[int]]]:
    """By condition: the scores before and after of each person's items that have both; and all ratings."""
    scores: dict[tuple[str, str, str], dict[str, float]] = {}
    ratings: dict[str, list[int]] = {}
    with (folder / "responses.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["question"] == "rating":
                ratings.setdefault(row["condition"], []).append(int(row["answer"]))
            elif row["question"] == "prediction":
                key = row["condition"], row["participant"], row["item"]
                scores.setdefault(key, {})[row["phase"]] = float(row["score"])
    pairs: dict[str, list[tuple[float, float]]] = {}
    for (condition, _, _), of in scores.items():
        if len(of) == 2:
            pairs.setdefault(condition, []).append((of["pre"], of["post"]))
    return pairs, ratings


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("rules", [(), ({"rule": "left"},)], ids=["no rule", "who left is excluded"])
def test_published_tables_are_what_the_export_says(
    clock: Clock, tmp_path: Path, rules: tuple[dict[str, str], ...]
) -> None:
    material = sample_material(
        {"name": "counterfactual", "test": ITEMS},
        {"test": ITEMS},
        conditions=CONDITIONS,
        options={"title": uuid4().hex, "screening": False, "participants": 3},
    )
    study = declared(compose_study(material, make_protocol(material.spec.protocol), ""), *rules)
    store = open_store(study, f"sqlite:///{tmp_path / 'answers.sqlite'}", clock=clock)
    take_part(store, clock)
    export_study(store, tmp_path / "out", ("csv",))
    pairs, ratings = counted_by_hand(tmp_path / "out")
    # Three people with eight items in each condition, less the pages that were not answered any more.
    assert sum(map(len, pairs.values())) == 9 * ITEMS - (8 - 3) - (8 - 6) - 8

    summary = summarised(collect_export(study, tmp_path / "out"), Options(replicates=60))
    tables = {table["key"]: {row["condition"]: row for row in table["rows"]} for table in summary["tables"]
              if table["key"] in ("change-hase2020", "ratings-hase2020", "change")}  # fmt: skip
    published = tables["change-hase2020"]
    assert {name: row["n"] for name, row in published.items() if name != "User Avg."} == {
        name: len(of) for name, of in pairs.items()
    }
    every = [before for of in pairs.values() for before, _ in of]
    assert published["User Avg."]["n"] == len(every)
    assert published["User Avg."]["pre"] == pytest.approx(mean(every))
    for one in summary["estimators"]["hase2020"]["change"]["methods"]:
        assert one["post"] == pytest.approx(mean([after for _, after in pairs[one["method"]]]))
    rated = tables["ratings-hase2020"]
    assert {name: row["n"] for name, row in rated.items()} == {"lime": len(ratings["lime"])}
    assert rated["lime"]["mean"] == pytest.approx(mean([float(value) for value in ratings["lime"]]))
    # Our own estimate counts those who completed the study.
    stayed = dict.fromkeys(pairs, 3 * ITEMS)
    for number in GOES_AFTER:
        stayed[gone_from(store, number)] -= ITEMS
    assert {name: row["n"] for name, row in tables["change"].items() if name in stayed} == stayed
    store.close()


def gone_from(store: Store, number: int) -> str:
    """The condition of the person who came so many others after the first."""
    return str(sorted(participant_records(store), key=lambda person: person["number"])[number]["condition"])
