"""What the commands on a built study share: its folder, its database, and the check of what they need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verax.errors import VeraxError

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a built study.")]
Database = Annotated[
    str | None,
    typer.Option(help="The URL of the answers' database; a SQLite file in the study's folder by default."),
]


def check_installed() -> None:
    """Studies are built with the core; what serves them is an extra."""
    try:
        import alembic  # noqa: F401
        import sqlalchemy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise VeraxError(
            f"Serving a study needs the package {error.name}; install it with pip install 'verax[study]'."
        ) from error
