"""What an atlas is asked to hold: its options, and what its two sizes are."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from verax.options import RunOptions, Spec

# In the order of the page: the benchmarks whose truth is known come first.
Test = Literal["planted", "drawn", "rationale", "measures", "students", "sanity"]
TESTS: tuple[Test, ...] = ("planted", "drawn", "rationale", "measures", "students", "sanity")
# What may be asked for: also published tables made again, numbers beside numbers, about which nothing is claimed.
Part = Literal["planted", "drawn", "rationale", "measures", "students", "sanity", "papers"]
PAPERS: Part = "papers"


class AtlasSpec(Spec):
    """An atlas; what is not given is of its size."""

    size: Literal["small", "full"] = Field(
        default="full", description="small takes minutes and decides little; full takes a night."
    )
    datasets: list[str] = Field(default=[], description="Names or files; those of the size if not given.")
    models: list[str] = Field(
        default=[], description="Sorts of models (verax list models); those of the size if not given."
    )
    explainers: list[str] = Field(
        default=[],
        description="Names with parameters; all that apply to a model if not given. random always takes part.",
    )
    tests: list[Part] = Field(
        default=[],
        description="Benchmarks, and papers: published tables that need no people. Those of the size if not given.",
    )
    stains: int | None = Field(
        default=None, ge=1, description="Known reasons for each dataset and model; claims take six."
    )
    inputs: int | None = Field(default=None, ge=2, description="Inputs explained for each of them, at most.")
    samples: int | None = Field(
        default=None,
        ge=2,
        description="Budget: rows that an explainer may ask a model for, for each explanation.",
    )
    budgets: list[Annotated[int, Field(ge=2)]] = Field(
        default=[], description="Other budgets of explainers that sample, for the view at equal time."
    )
    seed: int = Field(default=0, description="Seed of everything that is random.")

    in_files: ClassVar[bool] = True

    @field_validator("tests")
    @classmethod
    def _in_order(cls, tests: list[Part]) -> list[Part]:
        return [test for test in (*TESTS, PAPERS) if test in tests]

    @property
    def benchmarks(self) -> list[Test]:
        """The benchmarks, without the papers."""
        return [test for test in TESTS if test in self.of_size("tests")]

    @property
    def papers(self) -> bool:
        """Whether published tables are made again."""
        return PAPERS in self.of_size("tests")

    def of_size(self, name: str) -> Any:
        """An option as it was given, or else as the size has it."""
        given = getattr(self, name)
        return SIZES[self.size][name] if given is None or given == [] else given


class AtlasOptions(RunOptions, total=False):
    """The types of `AtlasSpec` for editors and type checkers; a test compares the two."""

    size: Literal["small", "full"]
    datasets: list[str]
    models: list[str]
    explainers: list[str]
    tests: list[Part]
    stains: int | None
    inputs: int | None
    samples: int | None
    budgets: list[int]
    seed: int


# What a size holds. Bags of words of whole reviews take long to plant reasons in, so that sets are cut.
SIZES: dict[str, dict[str, Any]] = {
    "small": {
        "datasets": ["rotten-tomatoes(limit=2000)", "breast-cancer"],
        "models": ["logistic", "tree", "forest", "xgboost", "hist-gradient-boosting", "mlp", "cnn(epochs=3)"],
        "tests": list(TESTS),
        "stains": 12,
        "inputs": 6,
        "samples": 256,
        "budgets": [64],
    },
    "full": {
        "datasets": [
            "rotten-tomatoes",
            "imdb(limit=5000)",
            "adult",
            "adult-raw(limit=8000)",
            "breast-cancer",
        ],
        "models": [
            "logistic",
            "tree",
            "forest",
            "xgboost",
            "hist-gradient-boosting",
            "mlp",
            "cnn",
            "bilstm",
            "transformer-mean",
            "smollm2-tuned",
        ],
        "tests": [*TESTS, PAPERS],
        "stains": 20,
        "inputs": 20,
        "samples": 1000,
        "budgets": [64, 256, 4000],
    },
}
