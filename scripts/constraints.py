"""Prints the versions that are installed here, as constraints for pip; see `make constraints`."""

from __future__ import annotations

from importlib.metadata import distributions

# Chosen by the Makefile, ours, or of the environment itself; and what torch brings for a graphics card.
LEFT_OUT = ("torch", "verax-xai", "pip", "setuptools", "wheel", "triton")
HEAD = """# The versions with which the tests passed: `make test` installs these, so that they pass next year too.
# Made by `make constraints`. torch is not here: it is installed before, as the Makefile says.
"""


def main() -> None:
    """Prints them."""
    versions = {
        found.metadata["Name"].lower().replace("_", "-"): found.version.partition("+")[0]
        for found in distributions()
    }
    kept = sorted(
        name for name in versions if name not in LEFT_OUT and not name.startswith(("nvidia-", "cuda-"))
    )
    print(HEAD + "\n".join(f"{name}=={versions[name]}" for name in kept))


if __name__ == "__main__":
    main()
