"""What people say of how they found their answers, by task and condition, with a place to code it: the paper's Table 2.

Texts in people's own words may tell who they are: they stand in no summary and no report, only in a file that is asked
for by name. Whoever codes them writes a word into its column ``code``; the next analysis counts the codes.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verax.errors import VeraxError
from verax.results.tables import Column, Table, Value
from verax.studies.analysis.pooled import say
from verax.studies.answers.export_files import guarded, unguarded
from verax.studies.protocol.contract import Analysed
from verax.studies.protocols.reverse_turing.accuracy import by_training, task_name, task_of

STRATEGY = "strategy"
COLUMNS = ("task", "kind", "condition", "participant", "strategy", "code")


@dataclass(frozen=True)
class Strategy:
    """One page of the question.

    Attributes:
        task: by name.
        kind: "known" or "masked".
        condition: of the round that was over; empty where the question came once, at the end.
        participant: the pseudonym.
        text: what was written; empty where nothing was.
        code: what somebody who read it called it; empty until then.
    """

    task: str
    kind: str
    condition: str
    participant: str
    text: str
    code: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """By what a code is found again."""
        return self.task, self.condition, self.participant


def strategies_of(data: Analysed) -> list[Strategy]:
    """All pages of the question that those who are analysed were shown, answered or not.

    A page that was left empty leaves no answer: the question comes after each round of items, so whoever has answers
    to a round's items was asked.
    """
    named = by_training(data)
    written = named.responses[named.responses["question"] == STRATEGY]
    rounds = named.responses
    if data.parameters.get("strategy"):
        rounds = rounds[rounds["phase"].str.startswith("evaluation") | (rounds["question"] == STRATEGY)]
    else:
        rounds = written
    texts = {
        (condition or "", participant): str(text or "").strip()
        for condition, participant, text in zip(
            written["condition"], written["participant"], written["answer"], strict=True
        )
    }
    shown = dict.fromkeys(
        (condition or "", participant)
        for condition, participant in zip(rounds["condition"], rounds["participant"], strict=True)
    )
    task, kind = task_name(data), task_of(data)
    return [
        Strategy(task, kind, str(condition), str(participant), texts.get((condition, participant), ""))
        for condition, participant in shown
    ]


def strategy_table(asked: Sequence[Strategy]) -> Table | None:
    """How many wrote something, by task and condition, and how many of each code; None if nobody was asked."""
    if not asked:
        return None
    codes = sorted({one.code for one in asked if one.code})
    groups: dict[tuple[str, str, str], list[Strategy]] = {}
    for one in asked:
        groups.setdefault((one.task, one.kind, one.condition), []).append(one)
    rows = [_row(key, own, codes) for key, own in groups.items()]
    wrote = sum(bool(one.text) for one in asked)
    coded = sum(bool(one.code) for one in asked)
    return Table(
        key="strategies",
        title=say("strategies-title"),
        columns=(
            Column("task", say("column-task"), "text"),
            Column("kind", say("column-kind"), "text"),
            Column("condition", say("column-condition"), "text"),
            Column("asked", say("column-asked"), "count"),
            Column("wrote", say("column-wrote"), "count"),
            *(Column(f"code_{code}", code, "count") for code in codes),
        ),
        rows=tuple(rows),
        sentence=say("strategies", wrote=wrote, asked=len(asked), coded=coded),
        notes=(say("strategies-note"),),
    )


def _row(key: tuple[str, str, str], own: Sequence[Strategy], codes: Sequence[str]) -> dict[str, Value]:
    task, kind, condition = key
    times = Counter(one.code for one in own)
    return {
        "task": task,
        "kind": kind,
        "condition": condition,
        "asked": len(own),
        "wrote": sum(bool(one.text) for one in own),
        **{f"code_{code}": times[code] for code in codes},
    }


def coded_file(path: Path, asked: Sequence[Strategy]) -> list[Strategy]:
    """Writes what people wrote to a CSV file; codes that stand there already are kept, and given back with it."""
    codes = _codes(path) if path.exists() else {}
    coded = [replace(one, code=codes.get(one.key, "")) for one in asked]
    lost = sorted(set(codes) - {one.key for one in coded if one.text})
    if lost:
        task, condition, person = lost[0]
        raise VeraxError(
            f"{str(path)!r} has a code for {person} ({task}, {condition}) who wrote nothing in these studies "
            f"({len(lost):,} such in all); name another file, or analyse the studies that it was made from."
        )
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(COLUMNS)
            for one in coded:
                if one.text:
                    texts = (one.task, one.kind, one.condition, one.participant, one.text, one.code)
                    lines.writerow(map(guarded, texts))
    except OSError as error:
        raise VeraxError(f"The strategies cannot be written to {str(path)!r} ({error.strerror}).") from error
    return coded


def _codes(path: Path) -> Mapping[tuple[str, str, str], str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise VeraxError(f"{str(path)!r} cannot be read as a CSV file ({error}).") from error
    if any(None in line.values() or set(line) != set(COLUMNS) for line in lines):
        raise VeraxError(
            f"{str(path)!r} is no file of strategies: its columns must be {', '.join(COLUMNS)}; name another file."
        )
    plain = [{name: unguarded(value) for name, value in line.items()} for line in lines]
    return {
        (line["task"], line["condition"], line["participant"]): line["code"].strip()
        for line in plain
        if line["code"].strip()
    }
