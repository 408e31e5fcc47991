"""``verax bench measures`` and ``verax bench students`` on the command line."""

import json

from typer.testing import CliRunner

from helpers import make_texts
from verax.cli.main import app


def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    texts, labels = make_texts(700, seed=8, length=14)
    rows = [
        f"{text} {number % 97},{label}"
        for number, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return str(path)


def test_measures_are_compared_and_the_summary_is_printed_alone(tmp_path):
    asked = f"bench measures -d {reviews(tmp_path)} -m logistic -e greedy --stains 1 --inputs 4 --learnt 0".split()
    asked += ["--measures", "deletion,sufficiency(k=2)", "--out", str(tmp_path / "run")]
    ended = CliRunner().invoke(app, [*asked, "--json"])
    assert ended.exit_code == 0, ended.output
    summary = json.loads(ended.stdout)
    assert summary["measures"] == ["deletion", "sufficiency(k=2)"]
    again = CliRunner().invoke(app, asked)
    assert again.exit_code == 0
    assert "report.html" in again.stdout + again.stderr
    wrong = CliRunner().invoke(app, [*asked, "--measures", "deletions"])
    assert wrong.exit_code == 2


def test_students_learn_and_a_spec_file_is_read(tmp_path):
    spec = tmp_path / "spec.toml"
    lines = ["[students]", 'models = ["logistic"]', "sizes = [8]", 'students = ["linear"]', "stains = 1"]
    spec.write_text("\n".join(lines), encoding="utf-8")
    asked = f"bench students --spec {spec} -d {reviews(tmp_path)} -e greedy --draws 1 --inputs 10 --learnt 0".split()
    ended = CliRunner().invoke(app, [*asked, "--reasons", "and", "--out", str(tmp_path / "run"), "--json"])
    assert ended.exit_code == 0, ended.output
    summary = json.loads(ended.stdout)
    assert summary["sizes"] == [8]
    assert summary["students"] == ["linear"]
