"""A study's folder: what may be built there, what must not be touched; pictures and sounds that are copied into it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from verax.errors import VeraxError
from verax.explain.base import explainers
from verax.models.ready import models, parse_model
from verax.models.resolve import is_saved
from verax.run.canonical import write_whole
from verax.run.identity import code_behind
from verax.studies.build.fitting import data_arguments, study_dataset
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import MANIFEST, frozen, load_study, media_path
from verax.studies.definition.translations import TRANSLATABLE
from verax.studies.display.markup import PICTURES, check_media, media_ending, spec_texts
from verax.studies.protocol.contract import protocols

# Where a build that is not finished keeps what it has.
BUILDING = ".build"
# How every SQLite database begins.
DATABASE = b"SQLite format 3\0"


def built_study(folder: Path, spec_text: str) -> Study | None:
    """The study in a folder, if it was built from this very spec, data and code, and nothing was changed since."""
    study = _of_this_spec(folder, spec_text)
    return None if study is None or changed_code(study) else study


def outdated(folder: Path, spec_text: str) -> tuple[str, ...]:
    """What changed of the code that the study in a folder was built with, from this very spec and data otherwise."""
    study = _of_this_spec(folder, spec_text)
    return () if study is None else changed_code(study)


def changed_code(study: Study) -> tuple[str, ...]:
    """What the spec calls the things whose code is another now."""
    if not study.code:
        return ()
    now = own_code(study.spec)
    return tuple(name for name, code in study.code.items() if now.get(name, code) != code)


def own_code(spec: StudySpec) -> dict[str, str]:
    """The code behind the names of a spec that are not Verax's own: dataset, models, explainers, protocol."""
    modules = {str(spec.protocol["name"]): protocols.module_of(str(spec.protocol["name"]))}
    if ":" in spec.dataset and not Path(spec.dataset).exists():
        modules[spec.dataset] = spec.dataset.partition(":")[0]
    of_conditions = (condition.model for condition in spec.conditions)
    for name in filter(None, (spec.model, spec.worse.model if spec.worse else None, *of_conditions)):
        if not is_saved(name):
            modules[name] = models.module_of(parse_model(name).name)
    for condition in spec.conditions:
        if condition.explainer and condition.kind != "none" and condition.like is None:
            modules[condition.explainer] = explainers.module_of(condition.explainer)
    return code_behind(modules)


def _of_this_spec(folder: Path, spec_text: str) -> Study | None:
    if not (folder / MANIFEST).exists():
        return None
    try:
        study = load_study(folder)
    except VeraxError:
        return None
    return study if study.spec_text == spec_text and not _data_changed(study) else None


def claim_folder(folder: Path, spec_text: str, *, force: bool) -> None:
    """Refuses a folder that holds answers or a frozen study, and, unless forced, one that holds another study.

    Args:
        folder: where a study shall be built.
        spec_text: its spec.
        force: whether another study there may be written over.
    """
    if folder.exists() and not folder.is_dir():
        raise VeraxError(f"{str(folder)!r} is a file; give the name of a folder for the study.")
    answers = sorted(path.name for path in folder.glob("*") if _is_database(path))
    if answers:
        raise VeraxError(
            f"The folder {str(folder)!r} holds answers ({', '.join(answers)}) and is never built over; choose another "
            "--out."
        )
    before = frozen(folder)
    if before is not None:
        raise VeraxError(
            f"The study in {str(folder)!r} is frozen since {before.at} and is never built over; choose another --out."
        )
    if force:
        return
    if (folder / MANIFEST).exists():
        raise VeraxError(
            f"The folder {str(folder)!r} holds a study of another spec or other data, or one that was changed; choose "
            "another --out, or build in its place with --force."
        )
    spec_there = folder / "spec.toml"
    if spec_there.exists() and spec_there.read_bytes() != spec_text.encode():
        raise VeraxError(
            f"The folder {str(folder)!r} holds another spec.toml; choose another --out, or write over it with --force."
        )


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(DATABASE)) == DATABASE


def _data_changed(study: Study) -> bool:
    """Whether the file that items were chosen from has other content now; one that is gone has not."""
    if not Path(study.spec.dataset).exists():
        return False
    return study_dataset(data_arguments(study.spec)).hash != study.data_hash


# ---- Pictures, sounds and films that the texts of a study show

MEGABYTE = 1_000_000
# More would keep participants waiting.
MOST_BYTES = {"picture": 5 * MEGABYTE, "sound or film": 50 * MEGABYTE}
# Names of files and models, which no page shows.
UNSHOWN = ("dataset", "source", "model")


def copy_media(spec: StudySpec, beside: Path | None, out: Path) -> dict[str, str]:
    """The hash of each file that a text of the spec shows, by name; all of them lie in the study's folder then.

    Args:
        spec: whose texts.
        beside: the folder of the spec's file, from which files are named.
        out: the study's folder.
    """
    said = spec.model_dump(mode="json")
    shown = {name: value for name, value in said.items() if name in (*TRANSLATABLE, "translations")}
    texts = {
        entry: text
        for entry, text in spec_texts(shown).items()
        if not set(entry.split(".")) & set(UNSHOWN) and "![" in text
    }
    hashes: dict[str, str] = {}
    for name in check_media(texts):
        content = _read_media(name, _media_beside(beside or Path(), name))
        hashes[name] = hashlib.sha256(content).hexdigest()
        place = media_path(out, name, hashes[name])
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, content)
    return hashes


def _media_beside(folder: Path, name: str) -> Path:
    """Where a file lies: a link that leads elsewhere could put anything of this machine on the pages."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise VeraxError(
            f"A text of the spec shows {name!r}, which is a link to a file elsewhere; copy the file itself beside the "
            "spec."
        )
    return path


def _read_media(name: str, path: Path) -> bytes:
    sort = "picture" if media_ending(name) in PICTURES else "sound or film"
    try:
        size = path.stat().st_size
        if size > MOST_BYTES[sort]:
            raise VeraxError(
                f"The file {name!r} has {size / MEGABYTE:.1f} MB, and a {sort} may have "
                f"{MOST_BYTES[sort] // MEGABYTE}; make it smaller."
            )
        return path.read_bytes()
    except OSError as error:
        raise VeraxError(
            f"A text of the spec shows {name!r}, which cannot be read ({error.strerror}); it is looked for beside the "
            f"spec, as {str(path)!r}."
        ) from error
