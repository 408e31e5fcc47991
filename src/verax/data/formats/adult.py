"""The UCI Adult census table: as its repository ships it, and as Ribeiro et al. (2018) prepare it for anchors.

The preparation (their published loader): 12 of the 14 columns; education, marital status, occupation and
country merged into fewer categories; capital gain and loss as None, Low (up to the median of those above
zero) or High; age and hours per week cut at their quartiles over all 32,561 rows; the two classes balanced
at the smaller one, which makes 2 x 7,841 = 15,682 rows; an 80/10/10 split. Ours differs from their code
where that does not do what it is meant to:

- They balance by drawing rows *with* replacement, which repeats rows and puts copies of one row into train
  and test. We draw without replacement.
- Their code compares bytes with texts, so under Python 3 it merges no categories at all. Ours does.
- Equal rows are common here (many people share all 12 categories). Ours stay together in one part, so that
  no test row has been seen in training.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import IntArray
from verax.data.bins import Bins
from verax.data.reading import numbered_lines
from verax.data.records import SPLIT_80_10_10, Choice, Records, dataset_formats
from verax.data.table import Column, Schema
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = (
    "Age", "Workclass", "fnlwgt", "Education", "Education-Num", "Marital Status", "Occupation",
    "Relationship", "Race", "Sex", "Capital Gain", "Capital Loss", "Hours per week", "Country",
)  # fmt: skip
NUMERIC = ("Age", "fnlwgt", "Education-Num", "Capital Gain", "Capital Loss", "Hours per week")
# The sampling weight says nothing of the person, and Education-Num repeats Education.
UNUSED = ("fnlwgt", "Education-Num")
CLASS_NAMES = ("Less than $50,000", "More than $50,000")
INCOMES = {"<=50K": 0, ">50K": 1}

# Merged category: the raw categories in it. What is not listed keeps its name.
EDUCATION = {
    "Dropout": ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"),
    "High School grad": ("HS-grad", "Some-college"),
    "Associates": ("Assoc-acdm", "Assoc-voc"),
    "Prof-School": ("Prof-school",),
}
MARITAL_STATUS = {
    "Never-Married": ("Never-married",),
    "Married": ("Married-AF-spouse", "Married-civ-spouse"),
    "Separated": ("Married-spouse-absent", "Separated", "Divorced"),
}
OCCUPATION = {
    "Admin": ("Adm-clerical",),
    "Military": ("Armed-Forces",),
    "Blue-Collar": (
        "Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving",
    ),
    "White-Collar": ("Exec-managerial",),
    "Service": ("Other-service", "Priv-house-serv"),
    "Professional": ("Prof-specialty",),
    "Other": ("Protective-serv", "Tech-support"),
}  # fmt: skip
COUNTRY = {
    "British-Commonwealth": ("Canada", "England", "India", "Ireland", "Scotland"),
    "China": ("Hong", "Taiwan"),
    "Euro_1": ("France", "Germany", "Holand-Netherlands", "Italy"),
    "Euro_2": ("Greece", "Hungary", "Poland", "Portugal", "South"),
    "Latin-America": (
        "Dominican-Republic", "Guatemala", "Haiti", "Honduras", "Jamaica", "Mexico", "Nicaragua",
        "Outlying-US(Guam-USVI-etc)", "Puerto-Rico", "Trinadad&Tobago",
    ),
    "Other": ("Cuba", "Iran", "Japan"),
    "SE-Asia": ("Cambodia", "Laos", "Philippines", "Thailand", "Vietnam"),
    "South-America": ("Columbia", "Ecuador", "El-Salvador", "Peru"),
}  # fmt: skip
MERGED = {
    "Education": EDUCATION,
    "Marital Status": MARITAL_STATUS,
    "Occupation": OCCUPATION,
    "Country": COUNTRY,
}


def parse_rows(lines: Iterable[str], source: str) -> tuple[list[list[str]], list[int]]:
    """The 14 raw values and the class of every line of adult.data or adult.test.

    The test file starts with a comment ("|1x3 Cross validator") and ends its labels with a full stop.
    """
    rows, labels = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("|"):
            continue
        *values, income = map(str.strip, line.split(","))
        label = INCOMES.get(income.removesuffix("."))
        if len(values) != len(COLUMNS) or label is None:
            raise VeraxError(
                f"Line {number} of {source} is not a row of the Adult table (14 values, then <=50K or >50K, "
                "separated by commas); check that the file is adult.data or adult.test of the UCI repository."
            )
        rows.append(values)
        labels.append(label)
    return rows, labels


def raw_records(rows: list[list[str]], labels: list[int]) -> Records:
    """All 14 columns, numbers as numbers, all rows; "?" is a category."""
    categorical = [name for name in COLUMNS if name not in NUMERIC]
    schema = Schema.learn(rows, names=COLUMNS, categorical=categorical)
    return Records(
        schema.encode(rows), _numbers(labels), CLASS_NAMES, schema=schema, fractions=SPLIT_80_10_10
    )


def binned_records(rows: list[list[str]], labels: list[int]) -> Records:
    """The 12 columns of Ribeiro et al., all categorical, to be balanced."""
    import pandas as pd

    frame = _prepare(pd.DataFrame(rows, columns=list(COLUMNS)))
    schema = Schema.learn(
        frame, categorical=[name for name in frame if name not in ("Age", "Hours per week")]
    )
    encoded = schema.encode(frame)
    bins = Bins.learn(schema, encoded)
    columns = tuple(
        Column(column.name, bins.names[place], binned=True) if column.is_numeric else column
        for place, column in enumerate(schema.columns)
    )
    return Records(
        inputs=bins.assign(encoded).astype(np.float64),
        labels=_numbers(labels),
        class_names=CLASS_NAMES,
        schema=Schema(columns),
        fractions=SPLIT_80_10_10,
        balanced=True,
    )


def _prepare(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.drop(columns=list(UNUSED))
    for name, merged in MERGED.items():
        merged_name = {raw: new for new, raws in merged.items() for raw in raws}
        frame[name] = [merged_name.get(raw, raw) for raw in frame[name]]
    for name in ("Capital Gain", "Capital Loss"):
        amounts = frame[name].to_numpy(dtype=np.float64)
        median = np.median(amounts[amounts > 0]) if (amounts > 0).any() else 0.0
        frame[name] = np.select([amounts <= 0, amounts <= median], ["None", "Low"], "High")
    return frame


def _numbers(labels: list[int]) -> IntArray:
    return np.array(labels, dtype=np.int64)


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
        some_rows, some_labels = parse_rows((line for _, line in numbered_lines(file)), str(file))
        rows += some_rows
        labels += some_labels
        parts += [2 if file.name == "adult.test" else 0] * len(some_rows)
    records = raw_records(rows, labels)
    return replace(records, parts=np.array(parts, dtype=np.int8))
