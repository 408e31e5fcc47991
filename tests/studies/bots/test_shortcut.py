"""A machine that knows the task predicts without explanations: that is seen, and gone with masked labels."""

import re
from dataclasses import replace

import pytest

pytest.importorskip("httpx")

from rule_server import program_served
from verax.studies.analysis.analyse import analyse
from verax.studies.bots import run_bots
from verax.studies.bots.language import make_reader
from verax.studies.build.build import compose_study
from verax.studies.definition.study_files import save_study
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.results.study_summary import Options

CONDITIONS = ({"name": "plain"}, {"name": "method", "explainer": "lime"})


def study_called(names, tmp_path):
    """Forward simulation of made-up items, their classes called so on the pages."""
    material = sample_material(
        {"name": "forward"}, {"learning": 4, "test": 16}, conditions=CONDITIONS, options={"participants": 1}
    )
    material = replace(material, class_names=names)
    return material, save_study(
        compose_study(material, make_protocol(material.spec.protocol), ""), tmp_path / names[0]
    )


def knows(material):
    """A program that knows what the names mean: it finds the text on the page and the answer with that name."""
    meant = {item.input: ("negative", "positive")[item.prediction] for item in material.items}

    def says(prompt):
        page = prompt.rpartition("--- next page ---")[2]
        numbered = dict(re.findall(r"^(\d+)\. (.*)$", page, re.MULTILINE))
        here = " ".join(page.split())
        known = next((name for text, name in meant.items() if text in here), None)
        return next((number for number, label in numbered.items() if label == known), "1")

    return says


@pytest.mark.parametrize(
    ("names", "without"), [(("negative", "positive"), 1.0), (("A", "B"), 0.5)], ids=["known", "masked"]
)
def test_the_shortcut_is_seen_on_a_known_task_and_gone_with_masked_labels(
    names, without, served, tmp_path, monkeypatch
):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    material, study = study_called(names, tmp_path)
    run = served(study)
    with program_served(knows(material), [str(number) for number in range(1, 10)]) as url:
        reader = make_reader("openai:program", tmp_path / "transcripts", url, reading=4000, told=True)
        done = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 2, reader=reader)
    assert [one.status for one in done] == ["complete"] * 2
    summary = analyse(run.collected(), Options(replicates=50, bots=True))
    (table,) = [each for each in summary.tables if each.key == "normalised-gain"]
    (row,) = table.rows
    assert row["without"] == pytest.approx(without)
    assert row["with"] == pytest.approx(without)  # what it knew before, it does not gain
    assert any("they know the task" in note for note in table.notes) == (without == 1.0)
    assert table.sentence == "No condition is known to have helped the machines."
