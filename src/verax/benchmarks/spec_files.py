"""Specs of benchmarks: what every one of them is asked, and the files that hold it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from pydantic import BaseModel, Field, field_validator

from verax.data import Dataset, Part
from verax.errors import VeraxError
from verax.names import parse_name
from verax.options import DatasetOptions, DatasetSpec, RunOptions, no_such_option
from verax.toml_text import parse_toml

ExplainedPart = Literal["test", "train", "all"]


def with_explained_part(dataset: Dataset, part: ExplainedPart) -> Dataset:
    """The dataset with the inputs that are explained in the place of its test part; models learn from the same ones.

    Args:
        dataset: as it was split.
        part: its training part, or all three.
    """
    if part == "test":
        return dataset
    if part == "train":
        return replace(dataset, test=dataset.train)
    parts = list(dataset.parts.values())
    inputs = (
        [text for one in parts for text in one.inputs]
        if dataset.kind == "text"
        else np.concatenate([np.asarray(one.inputs) for one in parts])
    )
    rated = [one.ratings for one in parts if one.ratings is not None]
    ratings = np.concatenate(rated) if len(rated) == len(parts) else None
    return replace(dataset, test=Part(inputs, np.concatenate([one.labels for one in parts]), ratings))


# What belongs to a dataset: it may stand behind its name as well as in the spec, where it is meant for all of them.
OF_A_DATASET = tuple(DatasetSpec.model_fields)
OPTIONS_BEHIND = re.compile(r"(?P<name>[^()]+)\((?P<options>[^()]*=[^()]*)\)")


class BenchmarkSpec(DatasetSpec):
    """What every benchmark is asked; its own options come beside these."""

    # What is tested. In Python these are arguments of their own, which take objects as well as names.
    objects: ClassVar[tuple[str, ...]] = ("datasets", "models", "explainers")
    in_files: ClassVar[bool] = True

    datasets: list[str] = Field(
        default=["rotten-tomatoes"],
        min_length=1,
        description="Names or files; what holds for one of them alone stands behind it: phones.json(format=amazon).",
    )
    models: list[str] = Field(min_length=1, description="What is explained.")
    explainers: list[str] = Field(
        default=["lime", "shap", "greedy"],
        description="Names with parameters, e.g. 'lime,shap(samples=500),my_package.mine:Mine'.",
    )
    samples: int = Field(
        default=1000, ge=2, description="Budget of every explainer that samples and was not given its own."
    )
    inputs: int = Field(ge=1, description="Inputs explained for each model, at most.")
    seed: int = Field(default=0, description="Seed of everything that is random.")
    part: ExplainedPart = Field(
        default="test",
        description="Whose inputs are explained: those of the test part, of the training part, or all of them.",
    )

    @field_validator("datasets", "models", "explainers")
    @classmethod
    def _no_repeats(cls, names: list[str]) -> list[str]:
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated[0]!r} is named twice")
        return names

    def source(self, dataset: str) -> dict[str, object]:
        """The arguments of ``load_dataset`` for one of the datasets, and the part that is explained if not the test.

        Options that stand behind the dataset's own name count before those of the spec.
        """
        name, own = _with_options(dataset)
        options = {option: getattr(self, option) for option in OF_A_DATASET}
        return {"name_or_path": name, "seed": self.seed, **self.explained()} | {
            option: value for option, value in (options | own).items() if value is not None
        }

    def explained(self) -> dict[str, object]:
        """What a source says of the part that is explained: nothing if it is the test part."""
        return {} if self.part == "test" else {"part": self.part}


def _with_options(dataset: str) -> tuple[str, dict[str, object]]:
    """A dataset's name or path, and the options behind it: ``phones.json(format=amazon, limit=5000)``."""
    written = OPTIONS_BEHIND.fullmatch(dataset)
    if written is None or Path(dataset).exists():
        return dataset, {}
    # A path may hold what a name may not: only the options are read as those of a name.
    own = dict(parse_name(f"dataset({written['options']})", "dataset", "phones.json(format=amazon)").options)
    known = (*OF_A_DATASET, "ratings", "punctuation", "bands")
    for option in own:
        if option not in known:
            raise VeraxError(no_such_option(option, known))
    return written["name"], own


class BenchmarkOptions(DatasetOptions, RunOptions, total=False):
    """The types of `BenchmarkSpec` and `RunSpec` for editors and type checkers; a test compares them."""

    samples: int
    inputs: int
    seed: int
    part: ExplainedPart


def spec_options(spec: str | Path | BaseModel | Mapping[str, object], section: str) -> dict[str, object]:
    """The options of a spec: a TOML file or its text, under a section or at the top, or what such a file holds."""
    if isinstance(spec, BaseModel):
        return spec.model_dump(exclude_unset=True)
    if isinstance(spec, Mapping):
        options = dict(spec)
    else:
        is_text = isinstance(spec, str) and ("\n" in spec or "=" in spec)
        try:
            text = str(spec) if is_text else Path(spec).read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise VeraxError(f"There is no spec file {str(spec)!r}; check the path.") from error
        options = parse_toml(text, "The spec" if is_text else f"The spec {str(spec)!r}")
    inside = options.get(section, options)
    if isinstance(inside, list):
        inside = options  # an option that is called like the section: the measures of [measures]
    if not isinstance(inside, Mapping):
        raise VeraxError(f"{section} is {inside!r} in the spec; write its options below a line [{section}].")
    return dict(inside)
