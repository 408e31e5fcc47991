"""The folder of a built study: its files are written, read, and checked to be those that were built.

The folder holds ``spec.toml`` (as given), ``study.json``, ``items.jsonl``, ``screens.jsonl``, ``explanations.jsonl``
and ``manifest.json`` with the hash of each and of all. Answers live in a database beside them, outside of the hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.foreign import check_foreign
from verax.run.canonical import canonical, write_whole
from verax.studies.model.design_row import DesignRow
from verax.studies.model.freeze import check_frozen
from verax.studies.model.item import Item
from verax.studies.model.screen import Screen
from verax.studies.model.spec_file import make_study_spec
from verax.studies.model.steps import Phase, Screening
from verax.studies.model.study import Study

FROZEN = ("spec.toml", "study.json", "items.jsonl", "screens.jsonl", "explanations.jsonl")
MANIFEST = "manifest.json"
FORMAT = 1


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
    manifest = {"format": FORMAT, "files": hashes, "hash": total}
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
    return replace(study, hash=total)


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
    except (ValueError, KeyError, TypeError) as error:
        raise VeraxError(f"{str(folder)!r} is not a study's folder ({MANIFEST}: {error}).") from error
    if written != FORMAT:
        raise VeraxError(
            f"The study {str(folder)!r} is in format {written}, and this version reads format {FORMAT}; run it with "
            "the version that built it, or build it again into a new folder."
        )
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != hashes.get(name):
            raise _changed(folder, name)
    if total != _total(hashes):
        raise _changed(folder, MANIFEST)
    return _from_contents(contents, total)


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
        "phases": [asdict(phase) for phase in study.phases.values()],
        "rows": [row.to_dict() for row in study.rows],
        "screening": None if study.screening is None else asdict(study.screening),
        "models": dict(study.models),
        "data_hash": study.data_hash,
    }
    if study.code:
        about["code"] = dict(study.code)
    return {
        "spec.toml": study.spec_text.encode(),
        "study.json": (json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode(),
        "items.jsonl": _lines(item.to_dict() for item in study.items.values()),
        "screens.jsonl": _lines(
            {"key": key, "screen": screen.to_dict()} for key, screen in study.screens.items()
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
    items = [Item.from_dict(json.loads(line)) for line in contents["items.jsonl"].splitlines()]
    screens = [json.loads(line) for line in contents["screens.jsonl"].splitlines()]
    screening = about["screening"]
    return Study(
        spec=make_study_spec(_as_it_was(about["spec"])),
        kind=about["kind"],
        class_names=tuple(about["class_names"]),
        items={item.id: item for item in items},
        phases={phase["key"]: Phase(**phase) for phase in about["phases"]},
        rows=tuple(DesignRow.from_dict(row) for row in about["rows"]),
        screens={entry["key"]: Screen.from_dict(entry["screen"]) for entry in screens},
        screening=None if screening is None else Screening(**screening),
        explanations=tuple(json.loads(line) for line in contents["explanations.jsonl"].splitlines()),
        models=about["models"],
        data_hash=about["data_hash"],
        spec_text=contents["spec.toml"].decode(),
        hash=total,
        code=about.get("code", {}),
    )
