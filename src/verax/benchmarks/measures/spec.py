"""What a comparison of measures with known reasons is asked to do: options of the command line or a TOML file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from verax.benchmarks.spec_files import BenchmarkOptions, BenchmarkSpec

Reason = Literal["and", "or", "negated", "counts"]
MEASURES = [
    "comprehensiveness",
    "comprehensiveness(k=3)",
    "sufficiency",
    "sufficiency(k=3)",
    "naopc-comprehensiveness",
    "naopc-sufficiency",
    "soft-comprehensiveness",
    "soft-sufficiency",
    "deletion",
    "insertion",
    "decision-flip-fraction",
    "decision-flip-token",
    "log-odds",
    "faithfulness-correlation",
    "infidelity",
    "monotonicity",
    "monotonicity(steps=True)",
    "monotonicity-correlation",
    "entropy",
    "gini",
]


MODELS = ["logistic", "tree", "forest", "xgboost", "mlp"]


class ReasonsSpec(BenchmarkSpec):
    """What every benchmark with planted reasons is asked: what `BenchmarkSpec` has, and these."""

    models: list[str] = Field(
        default=MODELS,
        min_length=1,
        description="E.g. 'forest,cnn(epochs=2),my_models:load' (verax list models); a function of your own is called "
        "with the stained dataset.",
    )
    samples: int = Field(
        default=500, ge=2, description="Budget of every explainer that samples and was not given its own."
    )
    reasons: list[Reason] = Field(
        default=["and", "or", "negated", "counts"],
        min_length=1,
        description="Sorts of planted reasons, taken in turn: both words, either, one without another, each twice; "
        "tables have 'and' and 'negated'.",
    )
    stains: int = Field(ge=1, description="Planted reasons per dataset, one seed each.")
    learnt: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="Accuracy with the planted reason below which a model is left out.",
    )

    @field_validator("reasons")
    @classmethod
    def _each_once(cls, reasons: list[Reason]) -> list[Reason]:
        return list(dict.fromkeys(reasons))


class ReasonsOptions(BenchmarkOptions, total=False):
    """The types of `ReasonsSpec` for editors and type checkers."""

    reasons: list[Reason]
    stains: int
    learnt: float


class MeasuresSpec(ReasonsSpec):
    """A comparison of measures: what `ReasonsSpec` has, and these."""

    models: list[str] = Field(
        default=MODELS,
        min_length=1,
        description="E.g. 'forest,cnn(epochs=2),my_models:load' (verax list models); a function of your own is called "
        "with the stained dataset. 'rationale' needs no planted reason: its own are the words that it selects.",
    )
    measures: list[str] = Field(
        default=MEASURES,
        min_length=1,
        description="Measures that are compared with the truth, e.g. 'deletion,sufficiency(k=3)' (verax list "
        "measures).",
    )
    stains: int = Field(
        default=10,
        ge=1,
        description="Planted reasons per dataset, one seed each; claims on twenty measures take ten.",
    )
    inputs: int = Field(default=20, ge=2, description="Inputs explained per stain and model, at most.")
    replaced: bool = Field(
        default=True,
        description="Measure again with other things in the place of absent features (words of other texts, masks, "
        "means).",
    )


class MeasuresOptions(ReasonsOptions, total=False):
    """The types of `MeasuresSpec` for editors and type checkers; a test compares the two."""

    measures: list[str]
    replaced: bool
