"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from verax.errors import VeraxError
from verax.names import split_outside

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a built study.")]
Folders = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR...", help="The folder of a built study, or of several that are served together."
    ),
]
Database = Annotated[
    str | None,
    typer.Option(help="The URL of the answers' database; a SQLite file in the study's folder by default."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes on this machine.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")]
SummaryJson = Annotated[bool, typer.Option("--json", help="Print summary.json, and nothing else.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
DataFormat = Annotated[str | None, typer.Option(help="A published format (verax list formats).")]
RunFolder = Annotated[
    Path, typer.Option("--out", "-o", help="The run's folder; a stopped run goes on there.")
]
SpecFile = Annotated[
    Path | None, typer.Option("--spec", help="A TOML file with these options; the command line wins.")
]
Samples = Annotated[int | None, typer.Option(help="Budget of explainers that sample (1000).")]
Seed = Annotated[int | None, typer.Option(help="Of everything (0).")]
Split = Annotated[str | None, typer.Option(help="Train/validation/test, e.g. 80/10/10.")]
Limit = Annotated[int | None, typer.Option(help="Use at most so many inputs of each dataset.")]
TextColumn = Annotated[str | None, typer.Option(help="A file's column of texts ('text').")]
LabelColumn = Annotated[str | None, typer.Option(help="A file's column of labels ('label').")]
Cluster = Annotated[
    str | None,
    typer.Option(help="A Dask scheduler's address, e.g. tcp://host:8786; its workers do the jobs."),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Do again what failed.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Do everything again, whatever is stored.")]
Port = Annotated[int, typer.Option(help="Where the pages are served; 0 for any free port.")]
Host = Annotated[str, typer.Option(help="127.0.0.1 for this machine only, 0.0.0.0 for everybody.")]


def split_names(names: str) -> list[str]:
    """Names with commas between; those inside parentheses belong to a name's options."""
    return [name for name in split_outside(names) if name]


def given_names(names: str | None) -> list[str] | None:
    """The same, if any were given."""
    return None if names is None else split_names(names)


# What a sentence of `load_dataset` calls an option of the command line.
ARGUMENTS = {"text": "--text-column ", "label": "--label-column ", "format": "--format "}


@contextmanager
def options_for_arguments() -> Iterator[None]:
    """Lets a sentence that names an argument of ``load_dataset`` name the option of the command line."""
    try:
        yield
    except VeraxError as error:
        sentence = str(error)
        for argument, option in ARGUMENTS.items():
            sentence = re.sub(rf"\b{argument}=\s?", option, sentence)
        raise VeraxError(sentence) from error
