"""A paper's folder: what is run for it, small and in full, and the numbers that it printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from verax.errors import VeraxError

# Beside the package's modules where it was installed; otherwise at the top of the source tree.
INSTALLED, SOURCE = Path(__file__).parents[1] / "examples", Path(__file__).parents[3] / "examples"
# In a folder of their own: "verax study build FOLDER" builds every spec that lies beside them.
ABOUT, PUBLISHED = "paper/run.toml", "paper/published.toml"
# Papers whose folders are called by what they are about.
ALSO = {
    "hase-bansal-2020": "hase-bansal",
    "lertvittayakumjorn-2019": "human-grounded",
    "gonzalez-sogaard-2020": "reverse-turing",
}
# What stands in a spec for the folder with files that do not come with Verax.
DATA = "{data}"


Kind = TypeVar("Kind", bound=BaseModel)


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PaperBenchmark(_Table):
    """One benchmark of a paper.

    Attributes:
        name: of its folder.
        benchmark: which.
        groups: what its datasets (staining) or targets (rationale) are called in the paper's tables, in their order.
        options: of its spec.
    """

    name: str
    benchmark: Literal["stain", "rationale"]
    groups: list[str]
    options: dict[str, Any] = Field(default_factory=dict)


class Rehearsal(_Table):
    """The studies of a paper, answered by bots.

    Attributes:
        specs: files of the folder, in the order in which an analysis of several puts them.
        places: which columns of the paper's tables each of them fills, where some are left out; in order if empty.
        changes: what every spec says otherwise, see `with_changes`.
        own: the same for single specs, by their file.
        where_there: the same for single specs where a file is in the folder of --data, by that file.
        bots: how many answer each study.
        profile: who they are.
        replicates: of each bootstrap; as published if None.
    """

    specs: list[str]
    places: list[int] = Field(default_factory=list)
    changes: dict[str, Any] = Field(default_factory=dict)
    own: dict[str, dict[str, Any]] = Field(default_factory=dict)
    where_there: dict[str, dict[str, dict[str, Any]]] = Field(default_factory=dict)
    bots: int = Field(default=24, ge=1)
    profile: str = "helped(base=0.65, by=0.1)"
    replicates: int | None = None

    def changes_of(self, spec: str, data: Path | None = None) -> dict[str, Any]:
        """What a spec says otherwise.

        Args:
            spec: its file.
            data: the folder with files that do not come with Verax.
        """
        made = with_changes(self.changes, self.own.get(spec, {}))
        for file, changes in self.where_there.items():
            if data is not None and (data / file).exists():
                made = with_changes(made, changes.get(spec, {}))
        return made


class Size(_Table):
    """What is run in one size.

    Attributes:
        note: what a reader of the tables must know of it.
        otherwise: what is not as in the paper's own size, a sentence each.
        runs: benchmarks.
        studies: analysed together.
        alone: studies that are analysed one by one.
    """

    note: str = ""
    otherwise: list[str] = Field(default_factory=list)
    runs: list[PaperBenchmark] = Field(default_factory=list)
    studies: Rehearsal | None = None
    alone: Rehearsal | None = None

    @property
    def rehearsals(self) -> list[Rehearsal]:
        """All studies that bots answer."""
        return [one for one in (self.studies, self.alone) if one is not None]


class PaperFile(_Table):
    """What paper/run.toml holds.

    Attributes:
        title: of the paper.
        citation: who, where and when.
        rerun: "yes" or "no, because ...": whether its authors could run it again from this folder.
        differences: what is not as published in the paper's own size either, a sentence each.
        small, full: what is run.
    """

    title: str
    citation: str
    rerun: str
    differences: list[str]
    small: Size
    full: Size


class PublishedTable(_Table):
    """A table (or figure) with its printed numbers.

    Attributes:
        key: by which our numbers are found: a table of an analysis, or of `verax.workflows.paper`.
        name: what the paper calls it.
        page: where it stands; None where the text that was read says no pages, and
        section: is told in its place.
        title: what it says.
        columns: heading and the key of our number, for each.
        rows: heading, the key of our row, and the printed cells; "" where nothing is printed.
        best: which number of a column is printed bold: the lowest or the highest; none if empty.
        note: what a reader must know.
    """

    key: str
    name: str
    page: int | None = None
    section: str = ""
    title: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, str, list[float | int | str]]]
    best: Literal["", "low", "high"] = ""
    note: str = ""


class PublishedFile(_Table):
    """What paper/published.toml holds."""

    tables: list[PublishedTable]


@dataclass(frozen=True)
class Paper:
    """A paper's folder, read.

    Attributes:
        name: of the folder.
        folder: where it lies.
        about: what is run.
        published: what the paper printed.
    """

    name: str
    folder: Path
    about: PaperFile
    published: tuple[PublishedTable, ...]


def papers_folder() -> Path:
    """Where the papers' folders are."""
    return INSTALLED if INSTALLED.exists() else SOURCE


def known_papers() -> list[str]:
    """The names of all papers."""
    return sorted(path.parents[1].name for path in papers_folder().glob(f"*/{ABOUT}"))


def read_paper(name: str | Path) -> Paper:
    """A paper by its name, or by the path of its folder."""
    folder = Path(name)
    if not (folder / ABOUT).is_file():
        folder = papers_folder() / ALSO.get(str(name), str(name))
    if not (folder / ABOUT).is_file():
        raise VeraxError(f"There is no paper {str(name)!r}; there are: {', '.join(known_papers())}.")
    about = _read(PaperFile, folder / ABOUT)
    published = _read(PublishedFile, folder / PUBLISHED)
    for table in published.tables:
        for heading, _, cells in table.rows:
            if len(cells) != len(table.columns):
                raise VeraxError(
                    f"{folder / PUBLISHED}: the row {heading!r} of {table.name} has {len(cells)} cells for "
                    f"{len(table.columns)} columns."
                )
    return Paper(folder.name, folder, about, tuple(published.tables))


def with_changes(spec: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with what is said otherwise.

    Tables are changed entry by entry, lists of tables by the tables' names; an empty text takes an entry away.
    """
    made = dict(spec)
    for name, value in changes.items():
        before = made.get(name)
        if value == "":
            made.pop(name, None)
        elif isinstance(before, Mapping) and isinstance(value, Mapping):
            made[name] = with_changes(before, value)
        elif (
            isinstance(before, list) and isinstance(value, list) and before and isinstance(before[0], Mapping)
        ):
            by_name = {one["name"]: one for one in value}
            made[name] = [with_changes(one, by_name.get(one["name"], {})) for one in before]
        else:
            made[name] = value
    return made


def with_data(run: PaperBenchmark, data: Path | None) -> tuple[PaperBenchmark | None, list[str]]:
    """A run with the files of a folder in place; datasets whose files are not there are left out, and named.

    Args:
        run: as the paper's folder has it.
        data: the folder with files that do not come with Verax.
    """
    datasets = [str(name) for name in run.options.get("datasets", [])]
    places = [str(name).replace(DATA, str(data)) for name in datasets]
    there = [
        DATA not in name or (data is not None and Path(place.partition("(")[0]).exists())
        for name, place in zip(datasets, places, strict=True)
    ]
    missing = [
        Path(name.partition("(")[0]).name
        for name, is_there in zip(datasets, there, strict=True)
        if not is_there
    ]
    if datasets and not any(there):
        return None, missing
    kept = [place for place, is_there in zip(places, there, strict=True) if is_there]
    groups = run.groups
    if run.benchmark == "stain":
        groups = [group for group, is_there in zip(groups, there, strict=True) if is_there]
    options = run.options | ({"datasets": kept} if datasets else {})
    return run.model_copy(update={"options": options, "groups": groups}), missing


def _read(kind: type[Kind], path: Path) -> Kind:
    import tomllib

    try:
        return kind(**tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise VeraxError(f"{path} cannot be read ({error.strerror}).") from error
    except tomllib.TOMLDecodeError as error:
        raise VeraxError(f"{path} is not TOML ({error}).") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise VeraxError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
