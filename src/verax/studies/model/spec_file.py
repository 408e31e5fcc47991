"""A spec from a TOML file or from options; what is wrong with them is one sentence."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from verax.errors import VeraxError
from verax.studies.model.spec import StudySpec
from verax.toml_text import parse_toml


def make_study_spec(options: dict[str, Any], source: str = "the spec") -> StudySpec:
    """A spec from options; what is wrong with them is one sentence."""
    try:
        return StudySpec(**options)
    except ValidationError as error:
        first, *others = error.errors()
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            what = _no_such_option(first["loc"])
        elif first["type"] == "missing":
            what = "this is missing; add it"
        more = f" ({len(others)} more to mend)" if others else ""
        place = f"{source}, {where}" if where else source
        raise VeraxError(f"{place}: {what}{more}{'' if (what + more).endswith('?') else '.'}") from error


def _no_such_option(place: tuple[int | str, ...]) -> str:
    """What may stand where an unknown option stands."""
    table: Any = StudySpec
    for part in place[:-1]:
        if isinstance(part, str) and part in table.model_fields:
            table = _table_of(table.model_fields[part].annotation)
    known = list(table.model_fields)
    near = difflib.get_close_matches(str(place[-1]), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
    return f"there is no such option; {hint}"


def _table_of(annotation: Any) -> Any:
    """The table inside an annotation such as ``list[Condition]`` or ``WorseModel | None``."""
    inside = [_table_of(argument) for argument in get_args(annotation)]
    return next((table for table in [annotation, *inside] if hasattr(table, "model_fields")), None)


def read_study_spec(path: str | Path) -> StudySpec:
    """The spec in a TOML file."""
    return parse_study_spec(read_spec_text(path), Path(path).name)


def read_spec_text(path: str | Path) -> str:
    """What a spec file holds, to the letter."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise VeraxError(f"There is no spec file {str(path)!r}; check the path.") from error
    except OSError as error:
        raise VeraxError(f"The spec {str(path)!r} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise VeraxError(f"The spec {str(path)!r} is not UTF-8 text ({error}).") from error


def parse_study_spec(text: str, source: str = "the spec") -> StudySpec:
    """The spec in the text of a TOML file; ``source`` is what errors call it."""
    return make_study_spec(parse_toml(text, source), source)
