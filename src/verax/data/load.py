"""One door to every dataset: by name, from a CSV, JSON-lines or Parquet file, or in a published format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verax.data.dataset import Dataset
from verax.data.files import SUFFIXES, file_records, file_suffix
from verax.data.held import held_records
from verax.data.records import Records, build_dataset
from verax.data.registry import Choice, dataset_formats, datasets
from verax.data.table import Schema
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd


def load_dataset(
    name_or_path: str | Path | pd.DataFrame | object,
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    schema: Schema | None = None,
    split: Sequence[float] | str | None = None,
    seed: int = 0,
    limit: int | None = None,
    ratings: bool = False,
) -> Dataset:
    """Loads a dataset and splits it into train, validation and test.

    Args:
        name_or_path: a dataset's name (``verax list datasets``), ``package.module:function``, or a file or
            folder; or a DataFrame (of pandas, polars or pyarrow) or a Hugging Face Dataset, whose columns are read as
            those of a file (``frame.attrs["name"]`` is its name) and whose parts and class names are kept; or
            ``(inputs, labels)``.
        format: the published format of the file or folder; not needed for CSV, JSON lines and Parquet.
        text: the column of the texts, "text" unless told otherwise. If the file has no such column, all
            columns but the label form a table.
        label: the column of the labels, "label" unless told otherwise. Where a published format holds several
            labels, which of them.
        schema: the columns of a table, instead of learning them from the file.
        split: shares of train, validation and test, such as (0.7, 0.1, 0.2) or "70/10/20". By default the
            publisher's own split if there is one, else 70/10/20 (80/10/10 for Adult and breast-cancer).
        seed: of the split, of balancing and of ``limit``.
        limit: at most so many inputs, drawn at random with the shares of parts and classes kept.
        ratings: ratings as they are, between 0 and 1, in each part's ``ratings`` (``lei-beer``); an input's label is
            then the nearer end, and none is dropped for lying between.
    """
    choice = Choice(text=text, label=label, ratings=ratings)
    if ratings and format is None:
        raise VeraxError(
            "Only some published formats hold ratings (lei-beer); name one with format=..., or leave ratings out."
        )
    if not isinstance(name_or_path, str | Path):
        records, name = held_records(name_or_path, choice, schema)
        return build_dataset(records, name, split=split, seed=seed, limit=limit)
    name = str(name_or_path)
    if format is not None:
        if schema is not None:
            raise VeraxError(f"The format {format!r} knows its own columns; leave schema out.")
        records = dataset_formats.get(format)(_existing(Path(name_or_path)), choice)
    elif isinstance(name_or_path, str) and _is_name(name):
        records = _by_name(name, choice, schema)
    else:
        records = _from_file(_existing(Path(name_or_path)), choice, schema)
    if ratings and records.ratings is None:
        raise VeraxError(f"{name!r} holds classes and no ratings; leave ratings out.")
    return build_dataset(records, name, split=split, seed=seed, limit=limit)


def _by_name(name: str, choice: Choice, schema: Schema | None) -> Records:
    source = datasets.get(name)
    if choice != Choice() or schema is not None:
        raise VeraxError(f"The dataset {name!r} knows its own columns; leave text, label and schema out.")
    return source()


def _from_file(path: Path, choice: Choice, schema: Schema | None) -> Records:
    if path.is_dir() or file_suffix(path) not in SUFFIXES:
        raise VeraxError(
            f"The format of {str(path)!r} is not clear from its name; say which it is: format= one of "
            f"{', '.join(dataset_formats)}, or use a file that ends in {', '.join(SUFFIXES)}."
        )
    return file_records(path, choice, schema)


def _is_name(name: str) -> bool:
    # A folder called "adult" in the current folder does not hide the dataset; Path("adult") or "./adult" is the folder.
    if name in datasets.names():
        return True
    looks_like_path = "/" in name or "\\" in name or file_suffix(Path(name)) in SUFFIXES
    return not looks_like_path and not Path(name).exists()


def _existing(path: Path) -> Path:
    if not path.exists():
        raise VeraxError(
            f"There is no file or folder {str(path)!r}; check the path (looked in {Path.cwd()})."
        )
    return path
