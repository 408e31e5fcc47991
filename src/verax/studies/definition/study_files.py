"""The folder of a built study: written, read, checked to be what was built, and frozen before the first participant.

``freeze.json`` in the study's folder holds the hash of the study, of each of its parts, and of the analysis plan. From
then on the folder is loaded only as the study that was frozen.

The folder holds ``spec.toml`` (as given), ``study.json``, ``items.jsonl``, ``screens.jsonl``, ``explanations.jsonl``
and ``manifest.json`` with the hash of each and of all. Answers live in a database beside them, outside of the hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from verax.codec import MisfitError, decode, encode, written
from verax.errors import VeraxError
from verax.foreign import check_foreign
from verax.installed import VERSION
from verax.run.canonical import canonical, write_json, write_whole
from verax.studies.definition.screen import read_screen
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import DesignRow, Item, Phase, Screening, Study
from verax.studies.definition.translations import Edition

FREEZE = "freeze.json"
# What a reader of a preregistration calls the files of a study.
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
    at: str = field(metadata=written("frozen_at"))
    people: int | None
    version: str = field(metadata=written("verax"))

    format: ClassVar = 1
    JSON: ClassVar = ("format", ...)


def frozen(folder: str | Path) -> Frozen | None:
    """What a folder says was frozen there; None if nothing was."""
    path = Path(folder) / FREEZE
    try:
        return decode(Frozen, json.loads(path.read_text(encoding="utf-8")), "it")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        reason = error.reason if isinstance(error, MisfitError) else error
        raise VeraxError(
            f"{str(path)!r} does not say what was frozen ({reason}); put back the file that `verax study freeze` wrote."
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
    write_json(Path(folder) / FREEZE, encode(made))
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


FROZEN = ("spec.toml", "study.json", "items.jsonl", "screens.jsonl", "explanations.jsonl")
MANIFEST = "manifest.json"
MEDIA = "media"
STUDY_FORMAT = 1


def save_study(study: Study, folder: str | Path) -> Study:
    """Writes the frozen files and then the manifest; the study with its hash."""
    folder = Path(folder)
    contents = _contents(study)
    # Without its manifest the folder is no study, until all files are there.
    (folder / MANIFEST).unlink(missing_ok=True)
    for name, content in contents.items():
        write_whole(folder / name, content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    total = _total(hashes)
    manifest = {"format": STUDY_FORMAT, "files": hashes, "hash": total}
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
    return replace(study, hash=total, home=str(folder))


def media_path(folder: str | Path, name: str, hash: str) -> Path:
    """Where a study keeps a picture, a sound or a film."""
    return Path(folder) / MEDIA / f"{hash}{Path(name).suffix.lower()}"


def _check_media(folder: Path, media: Mapping[str, str]) -> None:
    """Refuses a folder whose files are others than those that it was built with."""
    for name, known in media.items():
        path = media_path(folder, name, known)
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            found = ""
        if found != known:
            raise VeraxError(
                f"The file {name!r} of the study {str(folder)!r} is missing or was changed; put the old file back, as "
                f"{str(path)!r}."
            )


def load_study(folder: str | Path) -> Study:
    """The study in a folder, after a check that nothing was changed since it was built or, if it was, frozen."""
    study = read_study(folder)
    check_frozen(folder, study)
    return study


def read_study(folder: str | Path) -> Study:
    """The study in a folder, after a check that its files are those that were built, whatever was frozen there."""
    folder = Path(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        written, hashes, total = manifest["format"], manifest["files"], manifest["hash"]
        contents = {name: (folder / name).read_bytes() for name in FROZEN}
    except (FileNotFoundError, NotADirectoryError) as error:
        raise VeraxError(
            f"The folder {str(folder)!r} has no {Path(error.filename).name}; build a study with "
            "`verax study build SPEC --out DIR`."
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise VeraxError(f"{str(folder)!r} is not a study's folder ({MANIFEST}: {error}).") from error
    if written != STUDY_FORMAT:
        raise VeraxError(
            f"The study {str(folder)!r} is in format {written}, and this version reads format {STUDY_FORMAT}; run it "
            "with the version that built it, or build it again into a new folder."
        )
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != hashes.get(name):
            raise _changed(folder, name)
    if total != _total(hashes):
        raise _changed(folder, MANIFEST)
    study = replace(_from_contents(contents, total), home=str(folder))
    _check_media(folder, study.media)
    return study


def _changed(folder: Path, name: str) -> VeraxError:
    return VeraxError(
        f"The file {name} of the study {str(folder)!r} was changed after it was built; put the old file back, or build "
        "the study again into a new folder."
    )


def _total(hashes: Mapping[str, str]) -> str:
    return hashlib.sha256(canonical(dict(hashes)).encode()).hexdigest()


def _contents(study: Study) -> dict[str, bytes]:
    about = {
        "spec": study.spec.model_dump(mode="json"),
        "kind": study.kind,
        "class_names": list(study.class_names),
        "phases": encode([*study.phases.values()]),
        "rows": encode(study.rows),
        "screening": encode(study.screening),
        "models": dict(study.models),
        "data_hash": study.data_hash,
    }
    if study.code:
        about["code"] = dict(study.code)
    if study.editions:
        about["editions"] = {name: encode(edition) for name, edition in study.editions.items()}
    if study.phrases:
        about["phrases"] = {name: dict(texts) for name, texts in study.phrases.items()}
    if study.media:
        about["media"] = dict(study.media)
    return {
        "spec.toml": study.spec_text.encode(),
        "study.json": (json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode(),
        "items.jsonl": _lines(map(encode, study.items.values())),
        "screens.jsonl": _lines(
            {"key": key, "screen": encode(screen)} for key, screen in study.screens.items()
        ),
        "explanations.jsonl": _lines(study.explanations),
    }


def _lines(records: Any) -> bytes:
    return "".join(
        json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n" for record in records
    ).encode("utf-8", "surrogatepass")


def _as_it_was(spec: dict[str, Any]) -> dict[str, Any]:
    """What a study says of itself that was built before a spec could say more: it stays what it was."""
    screening = spec["screening"] and {"method": "excludes"} | spec["screening"]
    return {"answer_order": "fixed", "replace_excluded": 0} | spec | {"screening": screening}


def _from_contents(contents: Mapping[str, bytes], total: str) -> Study:
    about = json.loads(contents["study.json"])
    protocol = about["spec"]["protocol"]["name"]
    if ":" in protocol:
        check_foreign(protocol, "protocol")  # here, since other processes that serve the study ask nobody
    items = [decode(Item, json.loads(line), "an item") for line in contents["items.jsonl"].splitlines()]
    screens = [json.loads(line) for line in contents["screens.jsonl"].splitlines()]
    screening = about["screening"]
    return Study(
        spec=make_study_spec(_as_it_was(about["spec"])),
        kind=about["kind"],
        class_names=tuple(about["class_names"]),
        items={item.id: item for item in items},
        phases={phase["key"]: decode(Phase, phase, "a phase") for phase in about["phases"]},
        rows=tuple(decode(DesignRow, row, "a row of the design") for row in about["rows"]),
        screens={entry["key"]: read_screen(entry["screen"]) for entry in screens},
        screening=None if screening is None else decode(Screening, screening, "the screening"),
        explanations=tuple(json.loads(line) for line in contents["explanations.jsonl"].splitlines()),
        models=about["models"],
        data_hash=about["data_hash"],
        spec_text=contents["spec.toml"].decode(),
        hash=total,
        code=about.get("code", {}),
        editions={
            name: decode(Edition, edition, "an edition")
            for name, edition in about.get("editions", {}).items()
        },
        phrases=about.get("phrases", {}),
        media=about.get("media", {}),
    )
