"""What a staining run is asked to do: options of the command line or a TOML file, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from verax.benchmarks.spec_files import BenchmarkOptions, BenchmarkSpec, checked_spec, spec_options
from verax.benchmarks.staining.sampling import Planting, Wish

MODELS = ["logistic", "tree", "forest", "xgboost", "mlp"]


class StainSpec(BenchmarkSpec):
    """A staining run: what `BenchmarkSpec` has, and these. The defaults are the paper's where it gives them.

    Attributes:
        models: ready-made names, or ``package.module:function`` called with the stained dataset.
        explainers: names with parameters; ``random`` always takes part, ``ground-truth`` where it can be read.
        stains: how many stains per dataset; one seed each.
        size: |F|, features per rule.
        rules: rules per stain.
        negated: how many features of a rule are negated.
        at_least: how often a stained word must occur (needs words = "counts" above 1).
        words: what models of texts read, "presence" or "counts".
        min_share: features of a stain hold in at least this share of the training inputs.
        min_region: training inputs in a rule's region, at least; 30 and one in a hundred if None.
        min_flipped: test inputs with a flipped label, at least.
        weight: how many times a stained training input counts; the paper gives no number (see docs/staining.md).
            "auto" takes the smallest of a ladder with which the model surely learns its stain, judged on the validation
            part.
        plant: put stains into inputs chosen at random, instead of drawing them from what the inputs hold.
        plant_share: the share of the inputs that get all features of a planted stain.
        decoy_share: the share of the inputs that get all of them but one, for each of them.
        new_words: plant made-up words.
        learnt: accuracy on the stained region below which a model is left out of the scores.
        inputs: flipped test inputs explained per stain, at the most.
    """

    models: list[str] = Field(default=MODELS, min_length=1)
    stains: int = Field(default=5, ge=1)
    size: int = Field(default=2, ge=1, le=4)
    rules: int = Field(default=1, ge=1, le=10)
    negated: int = Field(default=0, ge=0)
    at_least: int = Field(default=1, ge=1)
    words: str = Field(default="presence", pattern="^(presence|counts)$")
    min_share: float = Field(default=0.15, gt=0, lt=1)
    min_region: int | None = Field(default=None, ge=1)
    min_flipped: int = Field(default=5, ge=1)
    weight: Annotated[int, Field(ge=1)] | Literal["auto"] = 50
    plant: bool = False
    plant_share: float = Field(default=0.25, gt=0, lt=1)
    decoy_share: float = Field(default=0.15, ge=0, lt=1)
    new_words: bool = False
    learnt: float = Field(default=0.95, ge=0, le=1)
    inputs: int = Field(default=50, ge=1)

    @field_validator("weight", mode="before")
    @classmethod
    def _number_or_auto(cls, weight: object) -> object:
        number = int(weight) if isinstance(weight, str) and weight.isdecimal() else weight
        if number != "auto" and not (isinstance(number, int | float) and number >= 1 and number % 1 == 0):
            raise ValueError("give a whole number of 1 or more, or 'auto'")
        return number

    @model_validator(mode="after")
    def _fits_together(self) -> StainSpec:
        if self.negated >= self.size:
            raise ValueError(
                f"negated={self.negated} leaves none of the {self.size} features to be found; negate fewer"
            )
        if self.at_least > 1 and self.words != "counts":
            raise ValueError(f"at_least={self.at_least} needs models that read counts; set words = 'counts'")
        if self.plant and self.rules > 1:
            raise ValueError(f"rules={self.rules}, but a planted stain has one; leave rules or plant out")
        if self.plant and self.plant_share + self.size * self.decoy_share > 1:
            raise ValueError(
                f"plant_share={self.plant_share} and {self.size} times decoy_share={self.decoy_share} are more than "
                "all inputs; make one of them smaller"
            )
        return self

    def wish(self) -> Wish:
        """What each stain should be like."""
        return Wish(self.size, self.rules, self.negated, self.min_share, self.min_region, self.min_flipped)

    def planting(self) -> Planting | None:
        """How stains are planted; None if they are drawn."""
        if not self.plant:
            return None
        return Planting(self.plant_share, self.decoy_share, self.new_words, self.seed)


class StainOptions(BenchmarkOptions, total=False):
    """What a staining run can be told besides its datasets, models and explainers; see `StainSpec`."""

    stains: int
    size: int
    rules: int
    negated: int
    at_least: int
    words: str
    min_share: float
    min_region: int | None
    min_flipped: int
    weight: int | Literal["auto"]
    plant: bool
    plant_share: float
    decoy_share: float
    new_words: bool
    learnt: float


def make_spec(options: Mapping[str, Any]) -> StainSpec:
    """A spec from options; what is wrong with them is one sentence."""
    return checked_spec(StainSpec, options)


def read_spec(spec: str | Path | StainSpec | Mapping[str, object]) -> dict[str, object]:
    """The options of a spec: a TOML file or its text, under ``[stain]`` or at the top, or what such a file holds."""
    return spec_options(spec, "stain")
