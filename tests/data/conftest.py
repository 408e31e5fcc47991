"""Where the published sets lie, if they do, and files written by tests."""

import gzip
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture
def shared():
    """A function from a name to a path of the published sets; skips the test where they are not present."""

    def find(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"no {name} beside the repository")
        return path

    return find


@pytest.fixture
def needs_package():
    """A function that skips the test where a package with data is not installed; it is never imported."""

    def check(name):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"the package {name} is not installed (verax-xai[data])")

    return check


@pytest.fixture
def write(tmp_path):
    """A function that writes a text (or bytes) to a file in a temporary folder and returns its path."""

    def to(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return to
