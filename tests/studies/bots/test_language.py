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


def test_what_does_not_fit_the_models_window_is_cut_from_the_oldest_pages_and_never_from_the_question(
    reader, caplog
):
    asked = (PageQuestion("q", ("bad", "good")),)
    pages = [Page("step", questions=asked, html=f"<p>{n} film {n}</p>" * 40) for n in "ab"]

    def ask(labels):
        return verax.as_model(network(window=400), tokenizer=tokenizer(), prompt="{text}", labels=labels)

    made = reader(reading=5000, persona="You are a nurse.")
    made.ask = ask
    person = LanguagePerson(made, 0, 1)
    for page in pages:
        person.answer(page)
    lines = [json.loads(line) for line in next(made.transcripts.glob("*.jsonl")).read_text().splitlines()]
    for line in lines:
        assert line["before"].startswith("You are a nurse.\n\n")
        assert line["before"].endswith("1. bad\n2. good\nThe number of my answer is")
        assert len(tokenizer()(line["before"])["input_ids"]) < 400 - 40
    assert "b film b" in lines[1]["before"]
    assert caplog.text.count("reads less than reading=5000 characters") == 1


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


def asking(reader, chances=None, words=""):
    """A participant whose model gives these chances to what it is asked, and what it was asked."""
    made, seen = reader(), []
    made.chances = lambda before, options: (
        seen.append((before, options)) or np.array(chances(before, options))
    )
    made.words = lambda before: seen.append((before, 0)) or words
    return LanguagePerson(made, 0, 1), seen


def kept(tmp_path):
    (file,) = (tmp_path / "transcripts").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_an_order_is_asked_for_one_answer_after_the_other(reader, tmp_path):
    asked = PageQuestion("order", ("lime", "shap", "greedy"), kind="ranking")
    person, seen = asking(reader, lambda _, options: [*[0.0] * (options - 1), 1.0])  # always the last
    given = person.answer(Page("step", questions=(asked,), html="<p>x</p>"))
    assert given == {"order.3": "1", "order.2": "2", "order.1": "3"}
    assert [options for _, options in seen] == [3, 2]
    assert "Left are:\n1. lime\n2. shap\n" in seen[1][0]
    (line,) = kept(tmp_path)
    assert line["answer"] == "greedy, shap, lime"
    assert len(line["steps"]) == 2


def test_of_several_answers_each_is_asked_by_itself(reader, tmp_path):
    asked = PageQuestion("used", ("words", "numbers", "nothing"), kind="several")

    def chances(before, options):
        assert options == 2
        return (
            [0.9, 0.1] if "is: words." in before else [0.4, 0.6] if "is: nothing." in before else [0.1, 0.9]
        )

    person, _ = asking(reader, chances)
    page = Page("step", questions=(asked,), html="<p>x</p>")
    assert person.answer(page) == {"used.1": "1"}
    # Where none holds and one must, the one that comes nearest.
    person, _ = asking(reader, lambda before, _: [0.4, 0.6] if "is: numbers." in before else [0.3, 0.7])
    assert person.answer(page) == {"used.2": "1"}
    none = PageQuestion("used", ("words", "numbers"), required=False, kind="several")
    person, _ = asking(reader, lambda *_: [0.2, 0.8])
    assert person.answer(Page("step", questions=(none,), html="<p>x</p>")) == {}


@pytest.mark.parametrize(
    ("words", "number", "nonsense"),
    [(" 7, I think", "7", False), ("about 40 years", None, True), ("many", None, True)],
)
def test_a_number_is_read_and_nonsense_is_marked(reader, tmp_path, words, number, nonsense):
    asked = PageQuestion("sure", kind="number", bounds=(0.0, 10.0))
    person, _ = asking(reader, words=words)
    given = person.answer(Page("step", questions=(asked,), html="<p>x</p>"))
    assert 0 <= float(given["sure"]) <= 10
    assert number is None or given["sure"] == number
    (line,) = kept(tmp_path)
    assert line.get("nonsense", False) is nonsense
    assert line["reply"] == words


def test_more_than_nine_answers_have_letters_as_one_number_would_begin_another(reader):
    options = tuple(f"answer {n}" for n in range(11))
    page = Page("step", questions=(PageQuestion("q", options),), html="<p>x</p>")
    made = reader()
    given = LanguagePerson(made, 0, 1).answer(page)  # the tiny network itself
    assert 1 <= int(given["q"]) <= 11
    with pytest.raises(VeraxError, match="27 answers is more than a language model can be asked"):
        made.chances("x", 27)


def test_a_model_behind_an_endpoint_takes_part(made, served, tmp_path, monkeypatch):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    run = served(made("class-from-evidence"))
    with model_served(network(window=2048), tokenizer()) as (url, faults):
        reader = make_reader("openai:tiny", tmp_path / "transcripts", url, reading=300, told=True)
        (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=reader)
    assert done.status == "complete"
    assert faults.asked
    assert done.profile == "language model openai:tiny"


def test_a_model_in_a_folder_takes_part(made, served, tmp_path):
    network(window=2048).save_pretrained(tmp_path / "mine")
    with pytest.raises(VeraxError, match=r"There is no language model with its tokenizer in .*mine"):
        make_reader(str(tmp_path / "mine"), tmp_path)
    tokenizer().save_pretrained(tmp_path / "mine")
    run = served(made("class-from-evidence"))
    reader = make_reader(str(tmp_path / "mine"), tmp_path / "transcripts", reading=300, told=True)
    (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=reader)
    assert done.status == "complete"
    assert done.profile == f"language model {tmp_path / 'mine'}"


def test_a_limit_ends_a_participant_in_a_sentence_and_what_was_answered_is_kept(made, served, tmp_path):
    run = served(made("class-from-evidence"))
    record = tmp_path / "answers"
    with model_served(network(window=2048), tokenizer()) as (url, faults):
        name = f"openai:tiny(max_requests=3, record={str(record)!r})"
        reader = make_reader(name, tmp_path / "transcripts", url, reading=300, told=True)
        (done,) = run_bots(run.study, run.url, run.store.bot_pass(), "helped", 1, reader=reader)
    assert "limit of 3 requests; raise max_requests= to go on" in done.problem
    assert len(faults.asked) == len(list(record.rglob("*.json"))) == 3
    with pytest.raises(VeraxError, match="record=FOLDER, in which all of them count together"):
        make_reader("openai:tiny(max_requests=3)", tmp_path, url)


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
