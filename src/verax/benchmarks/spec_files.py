"""Specs of benchmarks: options checked in one sentence, and read from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from verax.errors import VeraxError

Spec = TypeVar("Spec", bound=BaseModel)


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
