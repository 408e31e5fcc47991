"""What `verax explain` and `verax judge` can be asked: the options of the commands and of the functions in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from verax.options import DatasetOptions, DatasetSpec


class ExplainSpec(DatasetSpec):
    """Explanations side by side: which inputs of which model, by which methods; of the command alone."""

    in_python: ClassVar[bool] = False

    dataset: str = Field(
        default="rotten-tomatoes", description="A name (verax list datasets), or a file or folder."
    )
    model: str = Field(
        default="logistic",
        description="A name (verax list models), with options as in 'cnn(epochs=2)'; package.module:name, or a saved "
        "one.",
    )
    explainers: Sequence[str] = Field(
        default=("lime", "shap", "greedy"),
        description="Names with parameters, e.g. 'lime,shap(samples=500),greedy'.",
    )
    preset: str | None = Field(
        default=None,
        description="The methods of a paper instead, such as 'simulatability' (verax list presets).",
    )
    texts: Sequence[str] = Field(default=(), description="A text to explain.")
    rows: str | None = Field(
        default=None,
        description="A file of your own inputs, without labels, or a pattern such as 'months/*.csv': explain these. "
        "With a model that is fitted already no dataset is needed.",
    )
    numbers: Sequence[int] = Field(
        default=(), description="The number, from 0, of an input of the test part, or of a row of --rows."
    )
    n: int | None = Field(
        default=None,
        ge=1,
        description="Explain the first so many inputs of the test part, or of --rows; 3 if nothing is chosen.",
    )
    target: str | None = Field(
        default=None,
        description="The class to explain, by name or number; the predicted one by default.",
    )
    samples: int | None = Field(
        default=None,
        ge=2,
        description="Budget of every explainer that samples and was not given its own.",
    )
    seed: int = Field(default=0, description="Of the split, the model and the explainers.")
    fragments: int | None = Field(
        default=None,
        ge=1,
        description="Also show so many fragments for the class beside as many against it, one line a method.",
    )
    fragment_sizes: Sequence[Annotated[int, Field(ge=1)]] = Field(
        default=(1,), min_length=1, description="How many words a fragment may have, e.g. 2,3,4 for n-grams."
    )
    any_sign: bool = Field(
        default=False, description="Fragments of the highest and lowest scores, whatever their sign."
    )
    judge: bool = Field(
        default=True, description="Say first which of the methods to trust here; explains thrice."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> ExplainSpec:
        if self.preset is not None and "explainers" in self.model_fields_set:
            raise ValueError("preset names the explainers already; give either preset or explainers")
        if self.rows is not None and self.texts:
            raise ValueError(
                "rows names a file of inputs and texts are some of their own; give one of the two"
            )
        if self.fragments is None and (tuple(self.fragment_sizes) != (1,) or self.any_sign):
            raise ValueError("fragment_sizes and any_sign are of fragments; say how many, with fragments=3")
        return self


class JudgeSpec(DatasetSpec):
    """Which explainer to believe for a model."""

    objects: ClassVar[tuple[str, ...]] = ("explainers", "target")

    explainers: Sequence[str] = Field(
        default=("lime", "shap", "greedy"),
        description="Names with parameters, e.g. 'lime,shap(samples=500),greedy'.",
    )
    target: str | None = Field(
        default=None,
        description="The class to explain, by name or number; the predicted one by default.",
    )
    n: int | None = Field(
        default=None,
        ge=1,
        description="Judge on at most so many inputs; 20 of data with labels, and all that are given otherwise.",
    )
    seconds: float | None = Field(
        default=120.0,
        gt=0,
        description="How long it may take, about; what is left out is said. In Python, None sets no limit.",
    )
    plant: bool | None = Field(
        default=None,
        description="Plant known reasons in copies of the model; by default where it can be fitted again and labels "
        "are known.",
    )
    seed: int = Field(
        default=0,
        description="Of the split, of a ready-made model, of explainers given by name, and of what is drawn at random.",
    )


class JudgeOptions(DatasetOptions, total=False):
    """The types of `JudgeSpec` for editors and type checkers; a test compares the two."""

    n: int | None
    seconds: float | None
    plant: bool | None
    seed: int
