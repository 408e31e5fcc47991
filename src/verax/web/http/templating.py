"""Templates become pages."""

from __future__ import annotations

from functools import cache
from typing import Any

from verax.studies.model.screen import LEVELS
from verax.web.participant.drawn_blocks import paragraphs

# Of a written answer, in characters; a form of several still passes the limit of a request.
LONGEST_TEXT = 4000


@cache
def environment() -> Any:
    """Jinja's environment: everything is escaped, and a name that is not there is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("verax.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["paragraphs"] = paragraphs
    made.globals |= {"levels": LEVELS, "longest_text": LONGEST_TEXT}
    return made


def draw(template: str, context: dict[str, Any]) -> str:
    """The page as HTML."""
    return str(environment().get_template(template).render(context))
