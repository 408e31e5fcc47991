"""What a staining run is asked to do: options of the command line or a TOML file, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from verax.benchmarks.spec_files import BenchmarkOptions, BenchmarkSpec, spec_options
from verax.options import checked_spec, default_of

# A region has so many training inputs, and such a share of them, unless another number is asked for.
SMALLEST_REGION, SMALLEST_SHARE = 30, 0.01
SMALLEST_PLANTED = 20


class StainSpec(BenchmarkSpec):
    """A staining run: what `BenchmarkSpec` has, and these. The defaults are the paper's where it gives them."""

    models: list[str] = Field(
        default=["logistic", "tree", "forest", "xgboost", "mlp"],
        min_length=1,
        description="E.g. 'forest,cnn(epochs=2),my_models:load' (verax list models); a function of your own is called "
        "with the stained dataset.",
    )
    explainers: list[str] = Field(
        default=default_of(BenchmarkSpec, "explainers"),
        description="E.g. 'lime,shap(samples=500),my_package.mine:Mine'; random always takes part, ground-truth where "
        "it can be read.",
    )
    stains: int = Field(
        default=10,
        ge=1,
        description="Stains per dataset, one seed each; claims take six, and 20 tell explainers apart.",
    )
    size: int = Field(default=2, ge=1, le=4, description="Features of a rule, |F|.")
    rules: int = Field(default=1, ge=1, le=10, description="Rules of a stain; a planted one has one.")
    negated: int = Field(default=0, ge=0, description="Negated features of a rule; fewer than it has.")
    at_least: int = Field(
        default=1, ge=1, description="How often a stained word must occur; above 1 models must read counts."
    )
    words: Literal["presence", "counts"] = Field(default="presence", description="What models of texts read.")
    min_share: float = Field(
        default=0.15,
        gt=0,
        lt=1,
        description="Share of training inputs that a feature must occur in, at least.",
    )
    min_region: int | None = Field(
        default=None,
        ge=1,
        description="Training inputs of a rule's region, at least; 30 and one in a hundred if not given.",
    )
    min_flipped: int = Field(default=5, ge=1, description="Test inputs that a rule must flip, at least.")
    weight: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        default=50,
        description="How often a stained training input counts; auto, which planted stains have by default, is as "
        "often as it takes.",
    )
    plant: bool = Field(
        default=False,
        description="Put stains into inputs chosen at random, instead of drawing them from what the inputs hold; for "
        "your own data and models this is the default.",
    )
    plant_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Share of the inputs that get all features of a planted stain; found by the run if not given.",
    )
    decoy_share: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="Share of the inputs that get all of them but one, for each; found by the run if not given.",
    )
    new_words: bool = Field(default=False, description="Plant made-up words.")
    plant_column: str | None = Field(
        default=None,
        description="Of records with several texts, the column that planted words go to; all of them in turn if not "
        "given.",
    )
    learnt: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="Accuracy on the stained region below which a model is left out of the scores.",
    )
    inputs: int = Field(default=50, ge=1, description="Flipped test inputs explained per stain, at most.")

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
        planting = self.planting()
        if planting is not None and planting.share + self.size * planting.decoys > 1:
            raise ValueError(
                f"plant_share={planting.share} and {self.size} times decoy_share={planting.decoys} are more than "
                "all inputs; make one of them smaller"
            )
        return self

    @property
    def ceiling(self) -> float:
        """The largest area under the recall curve: negated features cannot be named."""
        from verax.benchmarks.staining.scores import ceiling

        return ceiling(self.size - self.negated)

    @property
    def searches(self) -> bool:
        """Whether the run finds out by itself how stains are planted."""
        return self.plant and self.plant_share is None and self.decoy_share is None

    def request(self) -> StainRequest:
        """What each stain should be like."""
        return StainRequest(
            self.size, self.rules, self.negated, self.min_share, self.min_region, self.min_flipped
        )

    def planting(self) -> Planting | None:
        """How stains are planted, or what is tried first for that; None if they are drawn."""
        if not self.plant:
            return None
        usual = Planting(new_words=self.new_words, first_seed=self.seed, column=self.plant_column)
        return replace(
            usual,
            share=usual.share if self.plant_share is None else self.plant_share,
            decoys=usual.decoys if self.decoy_share is None else self.decoy_share,
        )


@dataclass(frozen=True)
class StainRequest:
    """What a stain should be like.

    Attributes:
        size: how many features a rule has, |F|.
        rules: how many rules.
        negated: how many of a rule's features are negated.
        min_share: a feature's condition holds in at least this share of the training inputs.
        min_region: a rule's region has at least so many training inputs; if None, 30 and one in a hundred: a model that
            sees few knows them by their other words.
        min_flipped: at least so many test inputs have their label flipped by a rule.
    """

    size: int = default_of(StainSpec, "size")
    rules: int = default_of(StainSpec, "rules")
    negated: int = default_of(StainSpec, "negated")
    min_share: float = default_of(StainSpec, "min_share")
    min_region: int | None = default_of(StainSpec, "min_region")
    min_flipped: int = default_of(StainSpec, "min_flipped")

    def smallest_region(self, training_inputs: int, *, planted: bool = False) -> int:
        """How many training inputs a region must have; fewer where chance decides which, as for planted stains."""
        if self.min_region is not None:
            return self.min_region
        smallest = SMALLEST_PLANTED if planted else SMALLEST_REGION
        return max(smallest, round(SMALLEST_SHARE * training_inputs))


@dataclass(frozen=True)
class Planting:
    """How stains are planted.

    Attributes:
        share: of the inputs of each part that get all features.
        decoys: of the inputs that get all features but one, for each of them.
        new_words: made-up words, which no text has, instead of rare ones of the set.
        first_seed: the seed of the first stain: stains share no words while there are enough.
        every: a word is put into a text once for so many of its words, and once at the least; once if 0. One word among
            hundreds is too little for a model that divides by the length of a text.
        ends: numbers are planted at the end of their column that lies farther out, in the outer fifth of its quarter. A
            linear model cannot tell values in the middle of a column from those on both sides.
        balanced: unstained training inputs of other classes than the stain's count more often, so that its label does
            not become the commonest. A model that learns little says that one everywhere.
        weight: the smallest that "auto" tries.
        compared: inputs of a part, at the most, that all get the stain, to judge a model by; a thousand show its
            accuracy to a point or so.
        column: of records with several texts, the one that words go to; all in turn if None.
    """

    share: float = 0.25
    decoys: float = 0.15
    new_words: bool = default_of(StainSpec, "new_words")
    first_seed: int = default_of(StainSpec, "seed")
    every: int = 0
    ends: bool = False
    balanced: bool = False
    weight: int = 1
    compared: int = 1000
    column: str | None = None


class StainOptions(BenchmarkOptions, total=False):
    """The types of `StainSpec` for editors and type checkers; a test compares the two."""

    stains: int
    size: int
    rules: int
    negated: int
    at_least: int
    words: Literal["presence", "counts"]
    min_share: float
    min_region: int | None
    min_flipped: int
    weight: int | Literal["auto"]
    plant: bool
    plant_share: float | None
    decoy_share: float | None
    new_words: bool
    plant_column: str | None
    learnt: float


def make_spec(options: Mapping[str, Any]) -> StainSpec:
    """A spec from options; what is wrong with them is one sentence."""
    return checked_spec(StainSpec, options)


def read_spec(spec: str | Path | StainSpec | Mapping[str, object]) -> dict[str, object]:
    """The options of a spec: a TOML file or its text, under ``[stain]`` or at the top, or what such a file holds."""
    return spec_options(spec, "stain")
