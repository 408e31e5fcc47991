"""Puts pages and papers into the wheel, for ``verax docs`` and ``verax paper``; all else is in pyproject.toml."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPages(build_py):
    """Copies both beside the package's modules; an editable installation reads them where they are."""

    def run(self) -> None:
        """Builds as always, then copies."""
        super().run()
        if self.editable_mode:
            return
        for page in (*Path("docs").rglob("*.md"), *Path("docs/server").iterdir()):
            if page.parts[1:] != ("reference", "results.md"):  # a site makes it of docstrings
                target = Path(self.build_lib, "verax", page)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, target)
        for paper in Path("examples").glob("*/paper"):
            shutil.copytree(paper.parent, Path(self.build_lib, "verax", paper.parent), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithPages})
