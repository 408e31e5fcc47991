"""Language models as participants: they read the real pages, answer every protocol's questions, and are marked."""

import json

import numpy as np
import pytest

import verax
from completion_server import served as model_served
from studies.bots.conftest import STUDIES
from tiny_language import network, share_smollm2, tokenizer
from verax.errors import VeraxError
from verax.studies.bots import run_bots
from verax.studies.bots.language import LanguagePerson, Reader, make_reader, page_text
from verax.studies.bots.page import Page, PageQuestion


@pytest.fixture
def reader(tmp_path):
    """The tiny network as a participant."""

    def make(**options):
        def ask(labels):
            return verax.as_model(network(window=2048), tokenizer=tokenizer(), prompt="{text}", labels=labels)

        return Reader("tiny", ask, tmp_path / "transcripts", **{"reading": 300, "told": True, **options})

    return make


PROTOCOLS = (
    "forward",
    "counterfactual, table, in words",
    "reverse-turing, masked",
    "model-choice",
    "class-from-evidence",
    "uncertain-case",
)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_is_answered_to_its_end(made, served, reader, name):
    assert name in STUDIES
    run = served(made(name))
    made_reader = reader()
    (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=made_reader)
    assert (done.status, done.problem) == ("complete", "")
    found = run.collected()
    assert found.participants.bot.all()
    assert found.responses.score.notna().sum() >= 6
    # What is stored is what the transcript says.
    lines = [json.loads(line) for line in (made_reader.transcripts / "tiny-1.jsonl").read_text().splitlines()]
    positions = {
        (line["step"], line["question"]): line["options"].index(line["answer"]) + 1
        for line in lines
        if "options" in line
    }
    stored = found.responses[found.responses.position.notna()]
    assert len(stored)
    for row in stored.itertuples():
        assert positions[row.step, row.question] == row.position
    assert all(sum(line["chances"]) == pytest.approx(1, abs=0.01) for line in lines if "chances" in line)


def test_the_page_is_read_as_a_screen_reader_reads_it():
    html = (
        "<head><title>no</title><style>p {}</style></head><nav>no</nav><p>Read <b>this</b>.</p>"
        "<p class=input>a <span class='w h3 for'>good<span class=vh> (strongly for)</span></span> film</p>"
        "<label><span class=label>positive</span></label><script>no</script>"
    )
    assert page_text(html) == "Read this.\na good (strongly for) film\npositive"


def test_what_was_read_and_answered_before_is_remembered_as_far_as_the_budget_goes(reader):
    page = Page("step", questions=(PageQuestion("prediction", ("bad", "good")),), html="<p>A film.</p>")
    long = reader(reading=1000, persona="You are a nurse.")
    seen = []
    long.chances = lambda before, options: seen.append(before) or np.array([0.1, 0.9])
    person = LanguagePerson(long, 0, 1)
    assert person.answer(page) == {"prediction": "2"}
    person.answer(page)
    assert seen[0].startswith("You are a nurse.\n\nA film.")
    assert "A film.\n(I answered: good)\n\n--- next page ---\nA film." in seen[1]
    assert seen[1].endswith("1. bad\n2. good\nThe number of my answer is")
    short = reader(reading=7)
    short.chances = lambda before, options: seen.append(before) or np.array([0.1, 0.9])
    LanguagePerson(short, 0, 1).answer(page)
    assert seen[-1].startswith("A film.\n\nThe question 'prediction'")


def test_the_likeliest_answer_is_given_and_with_a_temperature_others_too_the_same_each_time(reader):
    page = Page("step", questions=(PageQuestion("q", ("a", "b")),), html="<p>x</p>")

    def answers(**options):
        made = reader(**options)
        made.chances = lambda before, options: np.array([0.6, 0.4])
        return [LanguagePerson(made, 0, number).answer(page)["q"] for number in range(40)]

    assert set(answers()) == {"1"}
    drawn = answers(temperature=1.0)
    assert 8 <= drawn.count("2") <= 24
    assert drawn == answers(temperature=1.0)


def test_a_model_behind_an_endpoint_takes_part(made, served, tmp_path, monkeypatch):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    run = served(made("class-from-evidence"))
    with model_served(network(window=2048), tokenizer()) as (url, faults):
        reader = make_reader("openai:tiny", tmp_path / "transcripts", url, reading=300, told=True)
        (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=reader)
    assert done.status == "complete"
    assert faults.asked
    assert done.profile == "language model openai:tiny"


def test_who_does_not_understand_the_screening_test_is_screened_out_as_people_are(made, served, reader):
    run = served(made("class-from-evidence"))
    (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=reader(told=False))
    assert done.status in ("screened-out", "complete")
    lines = [json.loads(line) for line in next(reader().transcripts.glob("*.jsonl")).read_text().splitlines()]
    assert not any("told" in line for line in lines)


def test_smollm2_takes_part(made, served, tmp_path):
    share_smollm2()
    run = served(made("class-from-evidence"))
    reader = make_reader("smollm2", tmp_path, reading=300, told=True)
    (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=reader)
    assert done.status == "complete"


def test_an_unknown_model_or_one_without_an_address_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(VeraxError, match="There is no language model 'gpt' that can take part"):
        make_reader("gpt", tmp_path, None, "", 0.0, 300)
    with pytest.raises(VeraxError, match="needs its name and the endpoint's address"):
        make_reader("openai:gpt", tmp_path, None, "", 0.0, 300)
