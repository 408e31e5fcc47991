"""What a verification with rationale models is asked to do: options of the command line or a TOML file, checked."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from verax.benchmarks.spec_files import BenchmarkOptions, BenchmarkSpec
from verax.options import default_of

Difficulty = Literal["easy", "hard", "published"]
# Strict inputs of each target, at least, for a verdict on them alone.
ENOUGH = 20


class RationaleSpec(BenchmarkSpec):
    """A verification run: what `BenchmarkSpec` has, and these. The defaults are the paper's where it gives them."""

    datasets: list[str] = Field(
        default=default_of(BenchmarkSpec, "datasets"),
        min_length=1,
        description="Datasets of texts: names or files.",
    )
    models: list[str] = Field(
        default=["rationale"],
        min_length=1,
        description="'rationale' trains targets; or folders of saved rationale models.",
    )
    explainers: list[str] = Field(
        default=default_of(BenchmarkSpec, "explainers"),
        description="E.g. 'lime,shap(samples=500),lime-package,my_package.mine:Mine'; random and oracle always take "
        "part.",
    )
    target_models: int = Field(
        default=3, ge=1, description="Models trained for each dataset and difficulty, with a seed each."
    )
    difficulty: list[Difficulty] = Field(
        default=["easy", "hard"],
        min_length=1,
        description="Easy targets are taught to select the same words whichever others go, hard ones only when all "
        "others go at once; published ones neither: as in the paper, texts where that fails are pruned.",
    )
    share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Share of words that targets shall select; by the length of the texts if not given.",
    )
    max_words: int = Field(default=200, ge=2, description="Texts are cut to so many words.")
    epochs: int | None = Field(
        default=None,
        ge=1,
        description="Epochs of the targets' training; the model's own number if not given.",
    )
    tau: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="A selected word is clearly relevant if the output moves by so much without it.",
    )
    subsets: int = Field(
        default=20,
        ge=0,
        description="Random deletions tried before an input is called strict, besides each single one.",
    )
    order: Literal["absolute", "signed"] = Field(
        default="absolute", description="Rank words by the size of their scores, or by their signed value."
    )
    inputs: int = Field(default=200, ge=1, description="Inputs explained per target, at most.")
    ratings: bool = Field(default=False, description="Labels are ratings between 0 and 1 (format lei-beer).")
    # It changes no number, so that a finished run can be asked for other inputs.
    only_shown: ClassVar[tuple[str, ...]] = ("show",)
    show: list[int] = Field(
        default=[],
        description="Inputs whose rankings the report shows as heat maps, by the column 'input' of results.parquet; a "
        "short one of each target if none is named.",
    )

    @field_validator("difficulty")
    @classmethod
    def _difficulties(cls, names: list[Difficulty]) -> list[Difficulty]:
        return list(dict.fromkeys(names))

    def source(self, dataset: str) -> dict[str, object]:
        """The arguments of ``load_dataset`` for one of the datasets."""
        return super().source(dataset) | ({"ratings": True} if self.ratings else {})


class RationaleOptions(BenchmarkOptions, total=False):
    """The types of `RationaleSpec` for editors and type checkers; a test compares the two."""

    target_models: int
    difficulty: list[Difficulty]
    share: float | None
    max_words: int
    epochs: int | None
    tau: float
    subsets: int
    order: Literal["absolute", "signed"]
    ratings: bool
    show: list[int]
