"""Whom to pay: approve, reject, screen out or give back, and the bonus, by the ids of the platform.

A platform's id of a person is never stored; see `verax.studies.store.identifiers`. So the ids come from the platform's
own list, are hashed with the study's key, and are looked for by their hash. What is written says nothing of answers,
and once somebody's data are deleted, by their wish or since the time is over, nobody can be found by an id any more.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import partial
from pathlib import Path
from typing import Literal

from sqlalchemy import bindparam, select

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.studies.answers.exclusion import apply_exclusions, checks_failed
from verax.studies.answers.export_files import guarded, replaced
from verax.studies.answers.flat_records import View, read_participants, read_responses, view
from verax.studies.definition.spec_tables import Bonus
from verax.studies.store.store import Store
from verax.studies.store.tables import participants

say = partial(say_phrase, "payments")

Decision = Literal["approve", "reject", "screen-out", "return", "wait", "unknown"]
# By what became of somebody; who completed the study and failed its checks is rejected.
DECISIONS: Mapping[str, Decision] = {
    "complete": "approve",
    "failed": "reject",
    "screened-out": "screen-out",
    "over-quota": "return",
    "declined": "return",
    "full": "return",
    "withdrawn": "return",
    "left": "return",
    "invited": "return",
    "active": "wait",
    "unknown": "unknown",
}
# What platforms call the column of the ids in their own files.
ID_COLUMNS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker_id", "worker id")
PAYMENTS = "payments.csv"
FILES = (PAYMENTS, "approve.txt", "reject.csv", "screen-out.txt", "assignments.csv", "bonus.csv")
CENT = Decimal("0.01")

ASSIGNMENTS = select(participants.c.person_hash, participants.c.return_to).where(
    participants.c.study_id == bindparam("study_id"), participants.c.person_hash.is_not(None)
)


@dataclass(frozen=True)
class Payment:
    """What is to be done for one person.

    Attributes:
        person: the platform's id.
        decision: see `DECISIONS`; "return" asks the person to give the place back, "wait" until they are done.
        reason: why, in a sentence.
        bonus: in the currency of the study on the platform.
        bonus_reason: what it is paid for.
        assignment: MTurk's, if the person came from there.
    """

    person: str
    decision: Decision
    reason: str
    bonus: Decimal = Decimal(0)
    bonus_reason: str = ""
    assignment: str = ""


def read_ids(path: Path) -> list[str]:
    """The ids in a file: the platform's own list as CSV, with its column of ids, or one id a line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(map(str.strip, row))]
    except (OSError, ValueError, csv.Error) as error:
        raise VeraxError(f"{str(path)!r} cannot be read ({error}).") from error
    if not rows:
        raise VeraxError(f"There is no id in {str(path)!r}.")
    heads = [head.lower() for head in rows[0]]
    place = next((heads.index(name) for name in ID_COLUMNS if name in heads), None)
    if place is None and len(rows[0]) > 1:
        raise VeraxError(
            f"{str(path)!r} has no column of ids; it should be called 'Participant id' (Prolific) or 'WorkerId' "
            "(MTurk), or the file should have one id a line."
        )
    column = (
        [row[0] for row in rows] if place is None else [row[place] for row in rows[1:] if len(row) > place]
    )
    return list(dict.fromkeys(id for id in column if id))


def payments(store: Store, ids: Sequence[str]) -> list[Payment]:
    """What is to be done for each person; rules of exclusion are applied first."""
    platform = store.study.spec.entry
    if platform not in ("prolific", "mturk"):
        raise VeraxError(
            f"People enter this study by {platform!r}, so nobody is paid by a platform; the completion codes of those "
            "who are done are in `verax study export --identifying`."
        )
    apply_exclusions(store)
    with view(store, identifying=True) as seen:
        people = {str(one["person_hash"]): one for one in read_participants(seen) if one["person_hash"]}
        measured = _measured(seen) if store.study.spec.recruiting.bonus else {}
        sent = seen.work.connection.execute(ASSIGNMENTS, {"study_id": seen.work.study_id})
        assignments = {one.person_hash: str((one.return_to or {}).get("assignmentId", "")) for one in sent}
    return [
        _payment(store, id, people.get(hash), measured, assignments.get(hash, ""))
        for id in ids
        for hash in [store.person_hash(platform, id)]
    ]


def _payment(
    store: Store,
    id: str,
    person: Mapping[str, object] | None,
    measured: Mapping[str, Mapping[str, float]],
    assignment: str,
) -> Payment:
    if person is None:
        return Payment(id, "unknown", say("reason-unknown"))
    status, rules = str(person["status"]), person["rules"]
    assert isinstance(rules, list)
    failed = checks_failed(rules)
    if status == "complete" and failed:
        return Payment(id, DECISIONS["failed"], say("reason-failed", rules=failed), assignment=assignment)
    if status == "active" and person["left"]:
        status = "left"
    if DECISIONS[status] != "approve":
        return Payment(id, DECISIONS[status], say(f"reason-{status}"), assignment=assignment)
    minutes = person["minutes"]
    own = {
        **measured.get(
            str(person["participant"]), dict.fromkeys(("right", "answers", "points", "score"), 0.0)
        ),
        "minutes": float(minutes) if isinstance(minutes, int | float) else 0.0,
        "pages": float(str(person["done"])),
    }
    paid = [(rule, bonus_by(rule, own[rule.column])) for rule in store.study.spec.recruiting.bonus]
    reasons = [
        say("bonus", column=rule.column, value=f"{own[rule.column]:.3g}") for rule, amount in paid if amount
    ]
    total = sum((amount for _, amount in paid), Decimal(0))
    return Payment(id, "approve", say("reason-complete"), total, "; ".join(reasons), assignment)


def bonus_by(rule: Bonus, value: float) -> Decimal:
    """What a rule pays to somebody who has so much of its column, in full cents."""
    least = 0.0 if rule.at_least is None else rule.at_least
    if rule.at_least is not None and value < least:
        return Decimal(0)
    # Scores are sums of binary fractions: a hair below a whole unit is one.
    times = int(max(0.0, value - least) + 1e-9) if rule.for_each else 1
    amount = times * Decimal(str(rule.amount))
    if rule.most is not None:
        amount = min(amount, Decimal(str(rule.most)))
    return amount.quantize(CENT, ROUND_DOWN)


def _measured(seen: View) -> dict[str, dict[str, float]]:
    """By participant: what a bonus may be paid by, of their scored answers."""
    scores: dict[str, list[float]] = {}
    for answer in read_responses(seen):
        if isinstance(answer["score"], int | float):
            scores.setdefault(str(answer["participant"]), []).append(float(answer["score"]))
    return {
        name: {
            "right": float(sum(score == 1.0 for score in own)),
            "answers": float(len(own)),
            "points": sum(own),
            "score": sum(own) / len(own),
        }
        for name, own in scores.items()
    }


def write_payments(decided: Sequence[Payment], folder: Path, platform: str) -> list[str]:
    """Writes the lists in the forms in which the platform takes them, readable by their owner alone; their names."""
    bonuses = [one for one in decided if one.bonus]
    tables: dict[str, Iterator[Sequence[object]]] = {
        PAYMENTS: iter(
            [
                ("id", "decision", "reason", "bonus", "bonus_reason"),
                *(
                    (guarded(one.person), one.decision, one.reason, one.bonus or "", one.bonus_reason)
                    for one in decided
                ),
            ]
        )
    }
    if platform == "mturk":
        tables["assignments.csv"] = iter(
            [
                ("WorkerId", "AssignmentId", "Approve", "Reject"),
                *(
                    (one.person, one.assignment, "x" * (one.decision == "approve"), _why_not(one))
                    for one in decided
                    if one.decision in ("approve", "reject")
                ),
            ]
        )
        tables["bonus.csv"] = iter(
            [
                ("WorkerId", "AssignmentId", "BonusAmount", "Reason"),
                *((one.person, one.assignment, one.bonus, one.bonus_reason) for one in bonuses),
            ]
        )
    else:
        tables["approve.txt"] = ((one.person,) for one in decided if one.decision == "approve")
        tables["screen-out.txt"] = ((one.person,) for one in decided if one.decision == "screen-out")
        tables["reject.csv"] = ((one.person, one.reason) for one in decided if one.decision == "reject")
        tables["bonus.csv"] = ((one.person, one.bonus) for one in bonuses)
    with replaced(folder, FILES.__contains__) as unfinished:
        for name, rows in tables.items():
            opened = os.open(unfinished / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(opened, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
    return list(tables)


def _why_not(one: Payment) -> str:
    return one.reason if one.decision == "reject" else ""
