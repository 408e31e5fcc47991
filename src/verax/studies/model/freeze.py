"""Freezing a study before its first participant: a dated hash of everything that was planned, for a pre-registration.

``freeze.json`` in the study's folder holds the hash of the study, of each of its parts, and of the analysis plan. From
then on the folder is loaded only as the study that was frozen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.run.canonical import canonical, write_json
from verax.studies.model.study import Study
from verax.version import VERSION

FREEZE = "freeze.json"
FORMAT = 1
# What a reader of a pre-registration calls the files of a study.
PARTS = {
    "spec": "spec.toml",
    "design": "study.json",
    "items": "items.jsonl",
    "screens": "screens.jsonl",
    "explanations": "explanations.jsonl",
}
PLAN = "analysis plan"


@dataclass(frozen=True)
class Frozen:
    """What was frozen, and when.

    Attributes:
        hash: of the study.
        parts: the hash of each part: spec, design, items, screens, explanations, and the analysis plan.
        at: the date and time in UTC, as ISO 8601.
        people: how many people had agreed to take part before; None if no database was looked at.
        version: of Verax.
    """

    hash: str
    parts: Mapping[str, str]
    at: str
    people: int | None
    version: str


def frozen(folder: str | Path) -> Frozen | None:
    """What a folder says was frozen there; None if nothing was."""
    path = Path(folder) / FREEZE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise ValueError(f"it is in format {record['format']}, and this version reads format {FORMAT}")
        return Frozen(
            record["hash"], dict(record["parts"]), record["frozen_at"], record["people"], record["verax"]
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VeraxError(
            f"{str(path)!r} does not say what was frozen ({error}); put back the file that `verax study freeze` wrote."
        ) from error


def check_frozen(folder: str | Path, study: Study) -> None:
    """Refuses a study that is another one than was frozen in its folder.

    Args:
        folder: whose manifest fits its files.
        study: what was read there.
    """
    before = frozen(folder)
    if before is None or before.hash == study.hash:
        return
    now = part_hashes(folder, study)
    changed = [name for name in now if now[name] != before.parts.get(name)]
    raise VeraxError(
        f"The study in {str(folder)!r} was frozen at {before.at} as {before.hash[:12]} and is {study.hash[:12]} now "
        f"(changed: {', '.join(changed) or 'nothing of its parts'}); put the frozen files back, or build the changed "
        "study into a new folder."
    )


def freeze_study(
    folder: str | Path,
    study: Study,
    *,
    people: int | None,
    again: bool = False,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Frozen:
    """Writes ``freeze.json``; a study is frozen once.

    Args:
        folder: of the study.
        study: as it is in the folder.
        people: how many have agreed to take part; None if nobody looked.
        again: freeze it anew, with the date of today; not once people take part.
        clock: the time, with a time zone.
    """
    before = frozen(folder)
    if before is not None and not again:
        raise VeraxError(
            f"The study in {str(folder)!r} is frozen since {before.at} as {before.hash[:12]}; run it as it is."
        )
    if before is not None and people:
        raise VeraxError(
            f"The study in {str(folder)!r} is frozen since {before.at}, and people have agreed to take part "
            f"({people}); it cannot be frozen again: build the changed study into a new folder."
        )
    at = clock().astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    made = Frozen(study.hash, part_hashes(folder, study), at, people, VERSION)
    record = {
        "format": FORMAT,
        "hash": made.hash,
        "parts": dict(made.parts),
        "frozen_at": made.at,
        "people": made.people,
        "verax": made.version,
    }
    write_json(Path(folder) / FREEZE, record)
    return made


def part_hashes(folder: str | Path, study: Study) -> dict[str, str]:
    """The hash of each part of a study, and of its analysis plan."""
    by_part = {
        part: hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest() for part, name in PARTS.items()
    }
    return by_part | {PLAN: hashlib.sha256(canonical(analysis_plan(study)).encode()).hexdigest()}


def analysis_plan(study: Study) -> dict[str, Any]:
    """What was planned to be done with the answers, and on how many people."""
    spec = study.spec
    return {
        "protocol": dict(spec.protocol),
        "conditions": [condition.model_dump(mode="json") for condition in spec.conditions],
        "targets": {str(row.number): row.target for row in study.rows},
        "exclusion": [rule.model_dump(mode="json") for rule in spec.exclusion],
        "analysis": spec.plan,
    }
