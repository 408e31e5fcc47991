"""``verax study init`` asks, again where it must, loses nothing, and writes a spec that can be built."""

from __future__ import annotations

import json

import pytest
import typer

from verax.studies.definition.spec import read_study_spec
from verax.studies.protocol.contract import make_protocol, protocols
from verax.workflows.spec_draft import SpecDraft

FLAGS = (
    "--title", "Films", "--dataset", "reviews.csv", "--label-column", "label", "--text-column", "text",
    "--explainers", "greedy", "--participants", "2", "--items", "4", "--contact", "Ada",
)  # fmt: skip


@pytest.fixture
def typed(monkeypatch):
    """Answers what is asked from a list; Ctrl-C when there is nothing left. What was asked is returned."""
    asked = []

    def answers(*given):
        left = list(given)
        asked.clear()

        def prompt(question, default, err):
            asked.append(question)
            if not left:
                raise typer.Abort
            return left.pop(0) or default

        monkeypatch.setattr(typer, "prompt", prompt)
        return asked

    return answers


def test_options_alone_write_a_spec_that_builds(verax, folder):
    ended = verax("study", "init", "mine.toml", *FLAGS, "--yes")
    assert ended.status == 0
    assert "verax study build mine.toml --out studies/mine" in ended.out
    # A model that is wrong on some reviews of each class, as the protocol wants them.
    rows = [f"a {('good', 'bad')[n % 2]} film of {1000 + n},{n % 2}" for n in range(200)]
    (folder / "reviews.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    (folder / "unsure.py").write_text(
        "def load(dataset):\n"
        "    return lambda texts: [[0.2, 0.8] if text[-2:-1] in ('1', '3', '5') else [0.9, 0.1] for text in texts]\n"
    )
    text = (folder / "mine.toml").read_text().replace('model = "logistic"', 'model = "unsure:load"')
    (folder / "mine.toml").write_text(text)
    ended = verax("--trust", "unsure", "study", "build", "mine.toml", "--out", "studies/mine", "--json")
    assert ended.status == 0, ended.err
    built = json.loads(ended.out)
    assert (built["title"], list(built["conditions"])) == ("Films", ["none", "greedy", "random"])


@pytest.mark.parametrize(
    ("entry", "ends"),
    [
        ("prolific", ["complete", "screened-out", "declined", "full"]),
        ("mturk", []),
        ("link", []),
        ("code", []),
    ],
)
def test_the_recruiting_block_is_that_of_the_platform(verax, folder, entry, ends):
    ended = verax("study", "init", "mine.toml", "--entry", entry, "--yes")
    assert ended.status == 0, ended.err
    spec = read_study_spec(folder / "mine.toml")
    assert spec.entry == entry
    assert list(spec.recruiting.urls) == ends
    assert spec.recruiting.sandbox == (entry == "mturk")
    assert ("[recruiting]" in (folder / "mine.toml").read_text()) == (entry in ("prolific", "mturk"))


@pytest.mark.parametrize("protocol", sorted(protocols.names()))
def test_every_protocol_gets_a_spec_in_order(protocol):
    draft = SpecDraft(explainers="lime(samples=500),lime,greedy").with_answer("protocol", protocol)
    draft.check()
    spec = draft.to_toml()
    assert 'name = "lime-2"' in spec
    assert 'explainer = "lime(samples=500)"' in spec
    assert 'name = "random"' in spec


def test_bad_answers_are_asked_again(verax, folder, typed):
    asked = typed(
        "", "forwards", "forward", "no such set", "reviews.csv", "text", "labels", "label", "", "lyme", "greedy",
        "many", "0", "3", "-3", "8", "Ada", "by plane", "link",
    )  # fmt: skip
    ended = verax("study", "init")
    assert ended.status == 0, ended.err
    spec = read_study_spec("study.toml")
    make_protocol(spec.protocol).check(spec)
    assert (spec.dataset, spec.source) == ("reviews.csv", {"text": "text", "label": "label"})
    assert (spec.participants, spec.protocol["test"], spec.texts.contact) == (3, 8, "Ada")
    assert len(asked) == 19
    for sentence in (
        "did you mean 'forward'?",
        "no such set",
        "did you mean 'lime'?",
        "'many' is not a whole number",
    ):
        assert sentence in ended.err
    assert ended.err.count("Please answer again.") == 8
    assert not (folder / "study.toml.answers").exists()


def test_ctrl_c_loses_no_answer(verax, folder, typed):
    typed("Films", "forward", "rotten-tomatoes", "tree")
    ended = verax("study", "init", "mine.toml")
    assert ended.status == 130
    assert "the same command goes on from there" in ended.err
    assert not (folder / "mine.toml").exists()
    asked = typed("greedy", "4", "", "", "")
    assert verax("study", "init", "mine.toml").status == 0
    assert "Explainers" in asked[0]
    spec = read_study_spec("mine.toml")
    assert (spec.title, spec.model, spec.participants) == ("Films", "tree", 4)


def test_an_older_file_is_not_overwritten(verax, folder):
    (folder / "mine.toml").write_text("mine")
    ended = verax("study", "init", "mine.toml", *FLAGS, "--yes")
    assert ended.status == 2
    assert "--force" in ended.err
    assert (folder / "mine.toml").read_text() == "mine"
