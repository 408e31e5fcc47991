"""Every dataset is loaded here: by name, from a file, in a published format, or from what is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.data.dataset import Dataset
from verax.data.files import SUFFIXES, file_records, file_suffix, frame_records
from verax.data.inputs import as_frame, plain_inputs
from verax.data.records import Choice, Records, build_dataset, dataset_formats, datasets
from verax.data.table import Schema
from verax.data.words import with_punctuation
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd


LABEL = "label"
# What publishers call the parts of a set.
PARTS = {"train": 0, "training": 0, "validation": 1, "valid": 1, "dev": 1, "test": 2}


@dataclass(frozen=True, eq=False)
class InMemory:
    """A dataset in memory as a frame.

    Attributes:
        frame: its inputs and labels.
        name: what to call it.
        class_names: the names of the classes that the labels number, if they do.
        parts: the part of each row, if it came in parts.
    """

    frame: pd.DataFrame
    name: str
    class_names: tuple[str, ...] | None = None
    parts: tuple[int, ...] | None = None


def in_memory_records(given: object, choice: Choice, schema: Schema | None) -> tuple[Records, str]:
    """What an object holds, and its name."""
    held = _in_memory(given, choice.label or LABEL)
    records = frame_records(held.frame, choice, schema, held.class_names)
    if held.parts is not None:
        records = replace(records, parts=np.array(held.parts, dtype=np.int8))
    return records, held.name


def _in_memory(given: Any, label: str) -> InMemory:
    if isinstance(given, Mapping):
        return _of_parts(given, label)
    if isinstance(given, tuple) and len(given) == 2:
        return InMemory(_beside_labels(given[0], given[1], label), "inputs and labels")
    frame = as_frame(given)
    if frame is None:
        raise VeraxError(
            f"A {type(given).__name__} is no dataset; give a name, a file, a DataFrame with a column of labels, a "
            "Hugging Face Dataset, or (inputs, labels)."
        )
    name = getattr(frame, "attrs", {}).get("name", type(given).__name__)
    return InMemory(frame, str(name), _class_names(given, label))


def _of_parts(given: Mapping[str, Any], label: str) -> InMemory:
    """A Hugging Face DatasetDict, or any other dict of parts."""
    import pandas as pd

    frames = {str(name): as_frame(part) for name, part in given.items()}
    unknown = [name for name, frame in frames.items() if frame is None or name.lower() not in PARTS]
    if unknown or not frames:
        raise VeraxError(
            f"A dict of the keys {', '.join(frames)} is no dataset; its keys are train, validation and test, and its "
            "values tables."
        )
    known = {PARTS[name.lower()]: frame for name, frame in frames.items() if frame is not None}
    parts = tuple(part for part, frame in known.items() for _ in range(len(frame)))
    names = [_class_names(part, label) for part in given.values()]
    return InMemory(pd.concat(known.values(), ignore_index=True), type(given).__name__, names[0], parts)


def _beside_labels(inputs: object, labels: object, label: str) -> pd.DataFrame:
    """Inputs and labels as one frame; texts are its column ``text``."""
    import pandas as pd

    plain, given = plain_inputs(inputs), plain_inputs(labels)
    column = as_frame(given)
    values = given if column is None else column.iloc[:, 0].tolist()
    if len(plain) != len(values):
        raise VeraxError(
            f"There are {len(plain)} inputs but {len(values)} labels; give one label for each input."
        )
    if (frame := as_frame(plain)) is not None:
        if label in frame.columns:
            raise VeraxError(
                f"The inputs have a column {label!r} of their own; rename it, or leave the labels out."
            )
        return frame.reset_index(drop=True).assign(**{label: list(values)})
    if len(plain) and not isinstance(plain[0], str):
        frame = pd.DataFrame(plain)
        return frame.rename(columns=lambda name: f"x{name}").assign(**{label: list(values)})
    return pd.DataFrame({"text": list(plain), label: list(values)})


def _class_names(given: object, label: str) -> tuple[str, ...] | None:
    """The names that a Hugging Face Dataset has for its labels."""
    features = getattr(given, "features", None)
    names = getattr(features.get(label), "names", None) if isinstance(features, Mapping) else None
    return None if names is None else tuple(str(name) for name in names)


def load_dataset(
    name_or_path: str | Path | pd.DataFrame | object,
    *,
    format: str | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    schema: Schema | None = None,
    split: Sequence[float] | str | None = None,
    seed: int = 0,
    limit: int | None = None,
    ratings: bool = False,
    punctuation: bool = False,
    bands: int | str | Sequence[float] | None = None,
) -> Dataset:
    """Loads a dataset and splits it into train, validation and test.

    Args:
        name_or_path: a dataset's name (``verax list datasets``), ``package.module:function``, or a file or
            folder; or a DataFrame (of pandas, polars or pyarrow) or a Hugging Face Dataset, whose columns are read as
            those of a file (``frame.attrs["name"]`` is its name) and whose parts and class names are kept; or
            ``(inputs, labels)``.
        format: the published format of the file or folder; not needed for CSV, JSON lines and Parquet.
        text: the column of the texts, "text" unless told otherwise. If the file has no such column, all
            columns but the label form a table. Of several texts (premise and hypothesis) their columns, as a list or
            with commas between; an input is then a record, one text with a line for each column.
        label: the column of the labels, "label" unless told otherwise. Where a published format holds several
            labels, which of them.
        schema: the columns of a table, instead of learning them from the file.
        split: shares of train, validation and test, such as (0.7, 0.1, 0.2) or "70/10/20", or how many inputs each
            shall have, drawn at random: "6000/1500/10000". By default the
            publisher's own split if there is one, else 70/10/20 (80/10/10 for Adult and breast-cancer).
        seed: of the split, of balancing and of ``limit``.
        limit: at most so many inputs, drawn at random with the shares of parts and classes kept.
        ratings: ratings as they are, between 0 and 1, in each part's ``ratings`` (``lei-beer``); an input's label is
            then the nearer end, and none is dropped for lying between.
        punctuation: every punctuation mark of a text is a word of its own, which models read, explainers score and
            pages mark; otherwise marks only separate words.
        bands: of a column of numbers (``label="price"``): into how many bands with about equally many inputs it is cut,
            or where they meet, as in [100, 200]; the bands are the classes, and a regressor is asked for its band.
    """
    named = text if text is None or isinstance(text, str) else ",".join(text)
    cut = bands if bands is None or isinstance(bands, int | str) else tuple(bands)
    choice = Choice(text=named, label=label, ratings=ratings, bands=cut)

    def marked(records: Records) -> Records:
        if not punctuation:
            return records
        if not isinstance(records.inputs, list):
            raise VeraxError(f"{name!r} is a table, which has no punctuation; leave punctuation out.")
        return replace(records, inputs=[with_punctuation(text) for text in records.inputs])

    if ratings and format is None:
        raise VeraxError(
            "Only some published formats hold ratings (lei-beer); name one with format=..., or leave ratings out."
        )
    if not isinstance(name_or_path, str | Path):
        records, name = in_memory_records(name_or_path, choice, schema)
        return build_dataset(marked(records), name, split=split, seed=seed, limit=limit)
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
    return build_dataset(marked(records), name, split=split, seed=seed, limit=limit)


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
    if name in datasets:
        return True
    looks_like_path = "/" in name or "\\" in name or file_suffix(Path(name)) in SUFFIXES
    return not looks_like_path and not Path(name).exists()


def _existing(path: Path) -> Path:
    if not path.exists():
        raise VeraxError(
            f"There is no file or folder {str(path)!r}; check the path (looked in {Path.cwd()})."
        )
    return path
