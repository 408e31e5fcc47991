"""What a run with students is asked to do: options of the command line or a TOML file, checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from verax.benchmarks.measures.spec import Reason
from verax.benchmarks.spec_files import BenchmarkOptions, BenchmarkSpec

Student = Literal["linear", "tree", "neighbour", "network"]


class StudentsSpec(BenchmarkSpec):
    """A run with students: what `BenchmarkSpec` has, and these."""

    models: list[str] = Field(
        default=["logistic", "tree", "forest", "xgboost", "mlp"],
        min_length=1,
        description="E.g. 'forest,cnn(epochs=2),my_models:load' (verax list models); a function of your own is called "
        "with the stained dataset.",
    )
    students: list[Student] = Field(
        default=["linear", "tree", "neighbour", "network"],
        min_length=1,
        description="Learners that predict the model.",
    )
    sizes: list[Annotated[int, Field(ge=4, le=4096)]] = Field(
        default=[8, 16, 32, 64, 128],
        min_length=1,
        description="How many examples a student learns from; sizes with too few inputs are left out.",
    )
    reasons: list[Reason] = Field(
        default=["and", "or", "negated", "counts"],
        min_length=1,
        description="Sorts of planted reasons, taken in turn; tables have 'and' and 'negated'.",
    )
    stains: int = Field(
        default=8, ge=1, description="Planted reasons per dataset, one seed each; claims take six."
    )
    draws: int = Field(default=2, ge=1, description="Draws of examples for each stain and model.")
    inputs: int = Field(default=80, ge=10, description="Inputs that students are tested on, for each draw.")
    samples: int = Field(
        default=500, ge=2, description="Budget of every explainer that samples and was not given its own."
    )
    learnt: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="Accuracy with the planted reason below which a model is left out.",
    )

    @field_validator("sizes")
    @classmethod
    def _ascending(cls, sizes: list[int]) -> list[int]:
        return sorted(set(sizes))

    @field_validator("reasons")
    @classmethod
    def _each_once(cls, reasons: list[Reason]) -> list[Reason]:
        return list(dict.fromkeys(reasons))


class StudentsOptions(BenchmarkOptions, total=False):
    """The types of `StudentsSpec` for editors and type checkers; a test compares the two."""

    students: list[Student]
    sizes: list[int]
    reasons: list[Reason]
    stains: int
    draws: int
    learnt: float
