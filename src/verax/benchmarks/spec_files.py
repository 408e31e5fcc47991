"""Specs of benchmarks: options checked in one sentence, and read from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from verax.errors import VeraxError

Spec = TypeVar("Spec", bound=BaseModel)


class BenchmarkSpec(BaseModel):
    """What every benchmark is asked; its own options come beside these.

    Attributes:
        datasets: names or files.
        models: what is explained.
        explainers: names with parameters.
        samples: the budget of every explainer that samples and was not given its own.
        inputs: explained for each model, at the most.
        seed: of everything.
        split: shares of train, validation and test; the dataset's own default if None.
        limit: use at most so many inputs of each dataset.
        text, label, format: columns and format of dataset files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    datasets: list[str] = Field(default=["rotten-tomatoes"], min_length=1)
    models: list[str] = Field(min_length=1)
    explainers: list[str] = Field(default=["lime", "shap", "greedy"])
    samples: int = Field(default=1000, ge=2)
    inputs: int = Field(ge=1)
    seed: int = 0
    split: str | None = None
    limit: int | None = None
    text: str | None = None
    label: str | None = None
    format: str | None = None

    @field_validator("datasets", "models", "explainers")
    @classmethod
    def _no_repeats(cls, names: list[str]) -> list[str]:
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated[0]!r} is named twice")
        return names

    def source(self, dataset: str) -> dict[str, object]:
        """The arguments of ``load_dataset`` for one of the datasets."""
        options = {name: getattr(self, name) for name in ("split", "limit", "text", "label", "format")}
        return {"name_or_path": dataset, "seed": self.seed} | {
            name: value for name, value in options.items() if value is not None
        }


class BenchmarkOptions(TypedDict, total=False):
    """What any benchmark can be told besides its datasets, models and explainers; see `BenchmarkSpec`."""

    samples: int
    inputs: int
    seed: int
    split: str | None
    limit: int | None
    text: str | None
    label: str | None
    format: str | None


def checked_spec(kind: type[Spec], options: Mapping[str, Any]) -> Spec:
    """A spec from options; what is wrong with them is one sentence."""
    try:
        return kind(**options)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the spec"
        what = first["msg"].removeprefix("Value error, ")
        raise VeraxError(f"{where}: {what} (given: {first.get('input')!r}).") from error


def spec_options(spec: str | Path | BaseModel | Mapping[str, object], section: str) -> dict[str, object]:
    """The options of a spec: a TOML file or its text, under a section or at the top, or what such a file holds."""
    import tomllib

    if isinstance(spec, BaseModel):
        return spec.model_dump(exclude_unset=True)
    if isinstance(spec, Mapping):
        options = dict(spec)
    else:
        is_text = isinstance(spec, str) and ("\n" in spec or "=" in spec)
        try:
            options = tomllib.loads(str(spec) if is_text else Path(spec).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise VeraxError(f"There is no spec file {str(spec)!r}; check the path.") from error
        except tomllib.TOMLDecodeError as error:
            what = "The spec" if is_text else f"The spec {str(spec)!r}"
            raise VeraxError(f"{what} is not TOML ({error}).") from error
        except RecursionError as error:
            raise VeraxError(
                "The spec has lists or tables in each other that are too deep to be one."
            ) from error
    inside = options.get(section, options)
    if not isinstance(inside, Mapping):
        raise VeraxError(f"{section} is {inside!r} in the spec; write its options below a line [{section}].")
    return dict(inside)
