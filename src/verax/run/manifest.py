"""A run folder's manifest.json (what was asked, with what, where and when), and checksums of its files."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from verax.codec import check_version
from verax.errors import VeraxError
from verax.installed import VERSION
from verax.run.canonical import canonical, write_json, write_whole
from verax.run.jobs import Store
from verax.text import listed

SEAL = "sha256.json"
MANIFEST = "manifest.json"
FORMAT = 1
DIGEST_BYTES = 32


@dataclass(frozen=True)
class Verified:
    """What a look at all files of a folder found.

    Attributes:
        folder: which.
        files: how many have the content that the manifest says.
        problems: a sentence for each that has not.
        unsaid: whether the manifest says nothing of the results, as those of earlier versions.
    """

    folder: Path
    files: int
    problems: tuple[str, ...]
    unsaid: bool = False


def file_hash(path: Path) -> str:
    """The SHA-256 of what a file holds."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The hashes of some files of a folder, by their names; those that are not there are left out."""
    return {name: file_hash(folder / name) for name in names if (folder / name).is_file()}


def seal(folder: Path) -> None:
    """Writes the hashes of all files of a folder of a cache into one more file."""
    write_json(folder / SEAL, file_hashes(folder, _names(folder)))


def is_whole(folder: Path) -> bool:
    """Whether all files of a sealed folder are there as they were; without a seal it is not known to be."""
    try:
        sealed = json.loads((folder / SEAL).read_bytes())
        return bool(sealed == file_hashes(folder, _names(folder)))
    except (OSError, ValueError, RecursionError):
        return False


def write_checked(path: Path, content: bytes) -> None:
    """Writes a file of a cache, whole or not at all, that begins with the hash of what it holds."""
    write_whole(path, hashlib.sha256(content).digest() + content)


def read_checked(path: Path) -> bytes | None:
    """What `write_checked` wrote; None if there is no such file, or a byte of it was changed."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    sum, held = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return held if hashlib.sha256(held).digest() == sum else None


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != SEAL)


def verify(folder: str | Path, *, jobs: bool = True) -> Verified:
    """Compares the files of a run, of a built study or of an analysis with the hashes in its manifest.

    Whoever changes a file and the manifest alike is not found.

    Args:
        folder: of any of these.
        jobs: whether the stored outcomes of a run's jobs are looked at too.

    Raises:
        VeraxError: there is no manifest, or it cannot be read.
    """
    folder = Path(folder)
    manifest = _manifest(folder)
    results, page = _hashes(manifest), _inside(manifest.get(PAGE)) or {}
    hashes = {**(results or {}), **page}
    problems = []
    for name, expected in hashes.items():
        try:
            if file_hash(folder / name) != expected:
                problems.append(f"{name} was changed after it was written")
        except OSError:
            problems.append(f"{name} is missing")
    outcomes = list(_outcomes(folder)) if jobs else []
    problems += [f"the outcome {name} is not what the run stored" for name, whole in outcomes if not whole]
    files = len(hashes) + len(outcomes) - len(problems)
    return Verified(folder, files, tuple(problems), unsaid=results is None)


def _manifest(folder: Path) -> Mapping[str, object]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise VeraxError(
            f"There is no {MANIFEST} in {str(folder)!r}; name the folder of a run, a study or an analysis."
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise VeraxError(f"{str(folder / MANIFEST)!r} cannot be read ({error}).") from error
    if not isinstance(manifest, dict):
        raise VeraxError(f"{str(folder / MANIFEST)!r} is no manifest.")
    if "files" not in manifest:  # a built study has a version of its own
        check_version(manifest, FORMAT, str(folder / MANIFEST))
    return manifest


def _hashes(manifest: Mapping[str, object]) -> Mapping[str, str] | None:
    """What a manifest says of the files beside it; None if it says nothing."""
    if "files" in manifest:  # a built study
        said = manifest["files"]
    elif "study" in manifest:  # an analysis
        said = manifest.get("hashes")
    else:
        said = manifest.get("results")
    return _inside(said)


def _inside(said: object) -> Mapping[str, str] | None:
    """Hashes by the names of files; None if there are none, or if a name leads out of the folder."""
    if not isinstance(said, dict) or any(
        Path(name).is_absolute() or ".." in Path(name).parts for name in said
    ):
        return None
    return {str(name): str(hash) for name, hash in said.items()}


def _outcomes(folder: Path) -> Iterator[tuple[str, bool]]:
    store = Store(folder)
    for path in sorted((folder / "jobs").glob("*/*.json")):
        yield path.stem[:12], store.get(path.stem) is not None


# What the file holds: plain JSON, of this version or an earlier one.
Manifest: TypeAlias = dict[str, Any]

logger = logging.getLogger(__name__)

NAME = "manifest.json"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "xgboost", "numba", "torch")
# The same library under another name of its distribution.
ALSO_CALLED = {"xgboost": "xgboost-cpu"}
PAGE = "page"  # the hashes of what is made of the results
IDENTITY = ("spec", "seeds", "hashes")  # what makes a run this run and no other


def start_manifest(
    folder: str | Path,
    spec: Mapping[str, object],
    hashes: Mapping[str, str] | None = None,
    seeds: object = None,
    code: Mapping[str, str] | None = None,
) -> Manifest:
    """Begin a run in a folder, or go on with it: check that it is the same run, and write its manifest.

    Args:
        folder: The run folder; made if absent.
        spec: Everything that was asked for, as plain data.
        hashes: Content hashes of the data, by their names.
        seeds: The seeds in use, in any plain shape, where the spec does not have them.
        code: Hashes of code and files of somebody's own that outcomes depend on, by their names. They may change from
            one call to the next, and one line tells of it: the keys of jobs have them, so that what depends on them is
            done again.

    Raises:
        VeraxError: The folder holds another run.
    """
    manifest = check_manifest(folder, spec, hashes, seeds)
    known = (manifest or {}).get("code", {})
    changed = [name for name, here in (code or {}).items() if known.get(name, here) != here]
    if changed:
        logger.warning(
            "%s changed since the run in %s began, so what depends on it is computed again.",
            listed(changed),
            folder,
        )
    now = {"at": _now(), "versions": library_versions(), "machine": machine()}
    if manifest is None:
        manifest = {
            "format": FORMAT,
            **_identity(spec, hashes, seeds),
            "versions": now["versions"],
            "machine": now["machine"],
            "started": now["at"],
            "continued": [],
        }
    elif manifest.get("finished") is None or manifest["versions"] != now["versions"]:
        manifest["continued"] = [*manifest.get("continued", []), now]
    if code:
        manifest["code"] = dict(code)
    manifest["finished"] = None
    manifest.pop("results", None)  # which are written again
    write_json(Path(folder) / NAME, manifest)
    return manifest


def finish_manifest(folder: str | Path) -> Manifest:
    """Note in the manifest that the run is complete."""
    manifest = _begun(folder)
    manifest["finished"] = _now()
    write_json(Path(folder) / NAME, manifest)
    return manifest


def note_results(folder: str | Path, names: Iterable[str]) -> Manifest:
    """Note in the manifest what the files of a complete run hold, so that it is seen when one is edited."""
    manifest = _begun(folder)
    manifest["results"] = file_hashes(Path(folder), names)
    write_json(Path(folder) / NAME, manifest)
    return manifest


def note_page(folder: str | Path, paths: Iterable[Path]) -> None:
    """The same for a report, its tables and figures; nothing in a folder without a manifest."""
    folder = Path(folder)
    if (folder / NAME).is_file():
        names = (path.relative_to(folder).as_posix() for path in paths)
        write_json(folder / NAME, {**_manifest(folder), PAGE: file_hashes(folder, names)})


def check_manifest(
    folder: str | Path,
    spec: Mapping[str, object],
    hashes: Mapping[str, str] | None = None,
    seeds: object = None,
) -> Manifest | None:
    """The manifest of a folder that holds this very run; None if it holds none yet.

    Raises:
        VeraxError: It holds another run; the sentence names what differs.
    """
    path = Path(folder) / NAME
    manifest = _read(path)
    if manifest is None:
        return None
    there = {name: manifest.get(name) for name in IDENTITY}
    here = json.loads(canonical(_identity(spec, hashes, seeds), "the spec of the run"))
    differing = list(_differences(there, here, ""))
    if differing:
        more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
        raise VeraxError(
            f"{folder} holds another run: {differing[0]}{more}; choose another --out, or delete that folder."
        )
    return manifest


def library_versions() -> dict[str, str | None]:
    """The versions of Python, Verax and the libraries on which numbers may depend; None for one not installed."""
    return {
        "python": platform.python_version(),
        "verax": VERSION,
        **{library: _installed(library) for library in LIBRARIES},
    }


def machine() -> dict[str, str | int | None]:
    """The kind of machine, without its name or its user's."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
    }


def _identity(
    spec: Mapping[str, object], hashes: Mapping[str, str] | None, seeds: object
) -> dict[str, object]:
    return {"spec": dict(spec), "seeds": seeds, "hashes": dict(hashes or {})}


def _read(path: Path) -> Manifest | None:
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise VeraxError(
            f"{path} cannot be read ({error}); choose another --out, or delete that folder."
        ) from error
    if not isinstance(manifest, dict) or not all(name in manifest for name in (*IDENTITY, "versions")):
        raise VeraxError(f"{path} is no manifest of a run; choose another --out.")
    check_version(manifest, FORMAT, str(path))
    return manifest


def _begun(folder: str | Path) -> Manifest:
    manifest = _read(Path(folder) / NAME)
    if manifest is None:
        raise VeraxError(f"{folder} has no {NAME}; begin the run first.")
    return manifest


def _differences(there: object, here: object, place: str) -> Iterator[str]:
    """Where two pieces of plain data differ, deepest first, as "spec.models[1] is 'a' there and 'b' here"."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted(there.keys() | here.keys()):
            inside = f"{place}.{key}" if place else key
            yield from _differences(there.get(key), here.get(key), inside)
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for index, (there_item, here_item) in enumerate(zip(there, here, strict=True)):
            yield from _differences(there_item, here_item, f"{place}[{index}]")
    elif there != here or type(there) is not type(here):
        yield f"{place} is {_short(there)} there and {_short(here)} here"


def _short(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _installed(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return _installed(ALSO_CALLED[library]) if library in ALSO_CALLED else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
