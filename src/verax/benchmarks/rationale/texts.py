"""The texts of a verification: cut to what the targets read, so that every word of an input can be ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast

import numpy as np

from verax.benchmarks.explained_part import ExplainedPart, with_explained_part
from verax.data import Dataset, Part, load_dataset
from verax.data.words import WORD
from verax.errors import VeraxError
from verax.run.objects import fetch, is_reference


def load_texts(source: Mapping[str, object], max_words: int, data_hash: str | None = None) -> Dataset:
    """A dataset of texts, each cut behind its last word that is read; kept for the next job of this process.

    Args:
        source: the arguments of ``load_dataset``.
        max_words: of a text.
        data_hash: the dataset's content hash when the run was planned, if it was.
    """
    dataset = _load(tuple(sorted(source.items())), max_words)
    if data_hash is not None and dataset.hash != data_hash:
        raise VeraxError(
            f"The dataset {dataset.name!r} is not the one that this run was planned with; start a new run."
        )
    return dataset


@lru_cache(maxsize=2)
def _load(source: tuple[tuple[str, object], ...], max_words: int) -> Dataset:
    options = dict(source)
    name, part = options.pop("name_or_path"), cast(ExplainedPart, options.pop("part", "test"))
    if isinstance(name, str) and is_reference(name):
        given = fetch(name)
        assert isinstance(given, Dataset)
        dataset = given
    else:
        dataset = load_dataset(name, **options)  # type: ignore[arg-type]  # checked by the spec
    dataset = with_explained_part(dataset, part)
    _check(dataset)
    return replace(
        dataset,
        train=_cut(dataset.train, max_words),
        validation=_cut(dataset.validation, max_words),
        test=_cut(dataset.test, max_words),
    )


def _check(dataset: Dataset) -> None:
    if dataset.kind != "text":
        raise VeraxError(
            f"A rationale model selects words, and {dataset.name!r} is a table; give a dataset of texts."
        )
    if len(np.unique(dataset.train.labels)) < 2:
        raise VeraxError(
            f"All training texts of {dataset.name!r} are of one class, so nothing can be learnt from their words; give "
            "texts of two classes or more."
        )
    if not len(dataset.test):
        raise VeraxError(
            f"{dataset.name!r} has no test part to explain; give a split with one, e.g. 70/10/20."
        )
    longest = max((len(WORD.findall(text)) for text in dataset.test.inputs), default=0)
    if longest < 2:
        raise VeraxError(
            f"The texts of {dataset.name!r} have one word at the most, so there is nothing to select from; give longer "
            "ones."
        )


def _cut(part: Part, max_words: int) -> Part:
    return replace(part, inputs=[cut(str(text), max_words) for text in part.inputs])


def cut(text: str, max_words: int) -> str:
    """A text up to the end of its last word that is read; as it is if it has no more words."""
    for number, match in enumerate(WORD.finditer(text), start=1):
        if number == max_words:
            last = match.end()
        elif number > max_words:
            return text[:last]
    return text
