"""Checksums of files: a cache whose bytes changed is not used, and a result that was edited is told of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from verax.errors import VeraxError
from verax.run.canonical import write_json
from verax.run.store import Store

SEAL = "sha256.json"
MANIFEST = "manifest.json"


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
    except (OSError, ValueError):
        return False


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
    hashes = _hashes(manifest)
    problems = []
    for name, expected in (hashes or {}).items():
        try:
            if file_hash(folder / name) != expected:
                problems.append(f"{name} was changed after it was written")
        except OSError:
            problems.append(f"{name} is missing")
    outcomes = list(_outcomes(folder)) if jobs else []
    problems += [f"the outcome {name} is not what the run stored" for name, whole in outcomes if not whole]
    files = len(hashes or {}) + len(outcomes) - len(problems)
    return Verified(folder, files, tuple(problems), unsaid=hashes is None)


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
    return manifest


def _hashes(manifest: Mapping[str, object]) -> Mapping[str, str] | None:
    """What a manifest says of the files beside it; None if it says nothing."""
    if "files" in manifest:  # a built study
        said = manifest["files"]
    elif "study" in manifest:  # an analysis
        said = manifest.get("hashes")
    else:
        said = manifest.get("results")
    # A name that leads out of the folder is none of ours.
    known = isinstance(said, dict) and all(Path(name).name == name for name in said)
    return {str(name): str(hash) for name, hash in said.items()} if known and isinstance(said, dict) else None


def _outcomes(folder: Path) -> Iterator[tuple[str, bool]]:
    store = Store(folder)
    for path in sorted((folder / "jobs").glob("*/*.json")):
        yield path.stem[:12], store.get(path.stem) is not None
