"""UCI Adult as its repository ships it: adult.data (train) and adult.test, "?" for missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from verax.data import adult
from verax.data.lines import numbered_lines
from verax.data.records import Records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError


@dataset_formats.register("uci-adult")
def uci_adult(path: Path, choice: Choice) -> Records:
    """All 14 columns of all people, numbers as numbers; a folder keeps the publisher's test part."""
    choice.among("uci-adult")
    files = [path] if path.is_file() else [path / name for name in ("adult.data", "adult.test")]
    files = [file for file in files if file.is_file()]
    if not files:
        raise VeraxError(f"There is no adult.data in {str(path)!r}; name the folder or the file.")
    rows: list[list[str]] = []
    labels: list[int] = []
    parts: list[int] = []
    for file in files:
        some_rows, some_labels = adult.parse_rows((line for _, line in numbered_lines(file)), str(file))
        rows += some_rows
        labels += some_labels
        parts += [2 if file.name == "adult.test" else 0] * len(some_rows)
    records = adult.raw_records(rows, labels)
    return replace(records, parts=np.array(parts, dtype=np.int8))
