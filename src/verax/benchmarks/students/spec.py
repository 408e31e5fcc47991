"""What a run with students is asked to do: options of the command line or a TOML file, checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from verax.benchmarks.measures.spec import ReasonsOptions, ReasonsSpec

Student = Literal["linear", "tree", "neighbour", "network"]


class StudentsSpec(ReasonsSpec):
    """A run with students: what `ReasonsSpec` has, and these."""

    students: list[Student] = Field(
        default=["linear", "tree", "neighbour", "network"],
        min_length=1,
        description="Learners that predict the model.",
    )
    split: str | None = Field(
        default="60/20/20",
        description="Shares of train, validation and test; students learn from the last two, so that these are large.",
    )
    sizes: list[Annotated[int, Field(ge=4, le=4096)]] = Field(
        default=[8, 16, 32, 64, 128, 256, 512],
        min_length=1,
        description="How many examples a student learns from; sizes with too few inputs are left out, and said.",
    )
    stains: int = Field(
        default=10,
        ge=1,
        description="Planted reasons per dataset, one seed each; claims on seven methods take nine.",
    )
    draws: int = Field(default=2, ge=1, description="Draws of examples for each stain and model.")
    inputs: int = Field(default=80, ge=10, description="Inputs that students are tested on, for each draw.")

    @field_validator("sizes")
    @classmethod
    def _ascending(cls, sizes: list[int]) -> list[int]:
        return sorted(set(sizes))


class StudentsOptions(ReasonsOptions, total=False):
    """The types of `StudentsSpec` for editors and type checkers; a test compares the two."""

    students: list[Student]
    sizes: list[int]
    draws: int
