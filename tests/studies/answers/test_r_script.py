"""The script of an export: fits the primary model where R is there, and gives what the data hold."""

from __future__ import annotations

import csv
import shutil
import subprocess

import numpy as np
import pytest

from small_study import small_study
from verax.studies.answers.export import export_study
from verax.studies.answers.export_files import r_script
from verax.studies.store import open_store

RSCRIPT = shutil.which("Rscript")


def test_the_script_comes_with_an_export_in_csv_and_names_the_reference_first(tmp_path):
    store = open_store(small_study(), f"sqlite:///{tmp_path / 'a.db'}")
    export_study(store, tmp_path / "csv")
    export_study(store, tmp_path / "parquet", formats=("parquet",))
    store.close()
    script = (tmp_path / "csv" / "analysis.R").read_text(encoding="utf-8")
    assert 'levels = c("none", ' in script
    assert 'levels = c("test")' in script
    assert not (tmp_path / "parquet" / "analysis.R").exists()


@pytest.mark.skipif(RSCRIPT is None, reason="there is no R here")
def test_r_finds_the_effect_that_is_in_the_answers(tmp_path):
    """Forty people, six items: log odds of 0 before and of 1.5 after, in the condition with explanations only."""
    (tmp_path / "analysis.R").write_text(r_script(small_study()).replace('c("test")', 'c("pre", "post")'))
    rng = np.random.default_rng(0)
    names = next(line for line in r_script(small_study()).splitlines() if "condition, levels" in line)
    first, second = names.split("c(")[1].split(")")[0].replace('"', "").split(", ")[:2]
    people = [(f"p{number}", (first, second)[number % 2]) for number in range(60)]
    with (tmp_path / "participants.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["participant", "bot", "status", "condition", "language", "excluded"])
        lines.writerows([name, "false", "complete", shown, "en", "false"] for name, shown in people)
        left_out = (
            ["out", "false", "complete", second, "en", "true"],
            ["bot", "true", "complete", second, "en", "false"],
        )
        lines.writerows(left_out)
    with (tmp_path / "responses.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["participant", "phase_kind", "phase", "item", "condition", "score"])
        for name, shown in people:
            for phase in ("pre", "post"):
                odds = 1.5 if phase == "post" and shown == second else 0.0
                for item in range(12):
                    right = rng.random() < 1 / (1 + np.exp(-odds))
                    lines.writerow([name, "test", phase, f"i{item}", "", int(right)])
        lines.writerows([line[0], "test", "post", "i0", "", 0] for line in left_out)
    done = subprocess.run(
        [RSCRIPT, str(tmp_path / "analysis.R")], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert "1440 scored answers of 60 participants" in done.stdout  # nobody who is excluded, and no bot
    with (tmp_path / "model.csv").open() as file:
        fitted = {line["term"]: float(line["Estimate"]) for line in csv.DictReader(file)}
    effect = next(value for term, value in fitted.items() if ":" in term)
    assert 0.9 < effect < 2.1
