"""What a verification with rationale models is asked to do: options of the command line or a TOML file, checked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from verax.benchmarks.spec_files import BenchmarkOptions, BenchmarkSpec

Difficulty = Literal["easy", "hard"]


class RationaleSpec(BenchmarkSpec):
    """A verification run: what `BenchmarkSpec` has, and these. The defaults are the paper's where it gives them.

    Attributes:
        models: what is explained: "rationale" trains targets; a folder of ``save_model`` is one that is there already.
        explainers: names with parameters; ``random`` and ``oracle`` always take part.
        targets: how many rationale models are trained for each dataset and difficulty, with a seed each.
        difficulty: "easy" targets are taught to select the same words whichever others go, "hard" ones only when all
            others go at once, which is as much as the paper asks for.
        share: of words that targets shall select; by the length of the texts if None.
        max_words: texts are cut to so many words.
        epochs: of training; the recipe's own number if None.
        tau: a selected word is clearly relevant if the output moves by so much without it.
        subsets: random deletions that are tried before an input is called strict, besides each single one.
        order: "absolute" ranks words by the size of their scores, "signed" by their value.
        ratings: the labels are ratings between 0 and 1 (format lei-beer).
    """

    models: list[str] = Field(default=["rationale"], min_length=1)
    targets: int = Field(default=3, ge=1)
    difficulty: list[Difficulty] = Field(default=["easy", "hard"], min_length=1)
    share: float | None = Field(default=None, gt=0, lt=1)
    max_words: int = Field(default=200, ge=2)
    epochs: int | None = Field(default=None, ge=1)
    tau: float = Field(default=0.1, gt=0, le=1)
    subsets: int = Field(default=20, ge=0)
    order: Literal["absolute", "signed"] = "absolute"
    inputs: int = Field(default=200, ge=1)
    ratings: bool = False

    @field_validator("difficulty")
    @classmethod
    def _difficulties(cls, names: list[Difficulty]) -> list[Difficulty]:
        return list(dict.fromkeys(names))

    def source(self, dataset: str) -> dict[str, object]:
        """The arguments of ``load_dataset`` for one of the datasets."""
        return super().source(dataset) | ({"ratings": True} if self.ratings else {})


class RationaleOptions(BenchmarkOptions, total=False):
    """What a verification can be told besides its datasets, models and explainers; see `RationaleSpec`."""

    targets: int
    difficulty: list[Difficulty]
    share: float | None
    max_words: int
    epochs: int | None
    tau: float
    subsets: int
    order: Literal["absolute", "signed"]
    ratings: bool
