"""What is installed: the version of Verax, and the packages that the core does without."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from verax.errors import VeraxError

# The name under which the package is published; it is imported, and called on the command line, as `verax`.
DISTRIBUTION = "verax-xai"

try:
    VERSION = version(DISTRIBUTION)
except PackageNotFoundError:  # run from a source tree that was not installed
    VERSION = "0"


def install_command(*extras: str) -> str:
    """What to type for Verax with some of its extras, as in ``pip install 'verax-xai[data,study]'``."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"


def require(purpose: str, *packages: str, extra: str) -> None:
    """Says at once what is missing, not after a minute of work.

    Args:
        purpose: What needs the packages, as the beginning of a sentence: "Serving a study".
        packages: By the names under which they are imported. They are looked for and not loaded.
        extra: The extra of Verax that brings them.
    """
    for package in packages:
        if find_spec(package) is None:
            raise VeraxError(
                f"{purpose} needs the package {package}; install it with {install_command(extra)}."
            )
