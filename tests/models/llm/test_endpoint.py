"""Models behind an endpoint, asked over HTTP from a real server that is slowed, broken and killed."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("httpx")
import verax
from completion_server import served
from real_parts import LONG
from tiny_language import LABELS, network, share_smollm2, tokenizer, torch
from verax.errors import VeraxError
from verax.models.llm import client as client_module
from verax.models.llm.client import EndpointOptions

PROMPT = "Review: {text}\nSentiment:"
TEXTS = ["the plot was good", "a dull film", "fine", ""]


@pytest.fixture(scope="module")
def server():
    with served(network(), tokenizer()) as found:
        yield found


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(client_module, "FIRST_PAUSE", 0.001)


@pytest.fixture
def asked(server, tmp_path):
    """The address, the faults (none), and what makes a model there."""
    url, faults = server
    faults.fail.clear()
    faults.asked.clear()
    faults.logprobs = True

    def model(name="tiny", labels=LABELS, prompt=PROMPT, **options):
        given = EndpointOptions(**{"interface": "completions", "record": tmp_path / "answers", **options})
        return verax.as_model(f"openai:{name}", base_url=url, prompt=prompt, labels=labels, endpoint=given)

    return model, faults


def top_labels():
    """The two likeliest next tokens of the tiny network: labels that stand among the top ones."""
    with torch.no_grad():
        ids = tokenizer()(PROMPT.replace("{text}", TEXTS[0]), return_tensors="pt")["input_ids"]
        found = network()(ids).logits[0, -1].topk(20).indices.tolist()
    words = [tokenizer().decode([i]) for i in found]
    words = [word for word in words if word.strip().isalpha() and word.strip().isascii()]
    distinct = [words[0]]
    for word in words[1:]:
        if not any(
            a.strip().lower().startswith(b.strip().lower()) for a in distinct for b in [word]
        ) and not any(word.strip().lower().startswith(a.strip().lower()) for a in distinct):
            distinct.append(word)
    return {"first": distinct[0], "second": distinct[1]}


@pytest.mark.parametrize("interface", ["completions", "chat"])
def test_probabilities_are_those_of_the_tokens_that_begin_the_labels(asked, interface):
    model, _ = asked
    labels = top_labels()
    found = model(labels=labels, interface=interface).predict_proba(TEXTS[:1])
    ids = tokenizer()(PROMPT.replace("{text}", TEXTS[0]), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        top = network()(ids).logits[0, -1].double().log_softmax(-1).topk(20)
    shares = np.zeros(2)
    for number, label in enumerate(labels.values()):
        for token, value in zip(top.indices.tolist(), top.values.tolist(), strict=True):
            said = tokenizer().decode([token]).strip().lower()
            shares[number] += np.exp(value) if said and label.strip().lower().startswith(said) else 0.0
    np.testing.assert_allclose(found[0], shares / shares.sum(), atol=1e-6)


def test_the_same_question_is_asked_once_and_then_answered_from_disk(asked):
    model, faults = asked
    first = model()
    probabilities = first.predict_proba([*TEXTS, *TEXTS])
    assert len(faults.asked) == len(TEXTS)
    again = model(replay=True)  # nothing is sent
    np.testing.assert_array_equal(again.predict_proba(TEXTS), probabilities[: len(TEXTS)])
    assert len(faults.asked) == len(TEXTS)
    with pytest.raises(VeraxError, match="1 question of 1 are not among the answers in"):
        again.predict_proba(["something new"])


def test_an_answer_that_was_changed_on_the_disk_is_asked_again(asked, tmp_path):
    model, faults = asked
    first = model().predict_proba(TEXTS)
    many = len(faults.asked)
    for path in tmp_path.rglob("*.json"):
        kept = path.read_text()
        [number] = re.findall(r"-\d+\.(\d)", kept)[:1]
        path.write_text(kept.replace(f".{number}", f".{(int(number) + 1) % 10}", 1))
    assert np.array_equal(model().predict_proba(TEXTS), first)
    assert len(faults.asked) == many + len(TEXTS)
    for path in tmp_path.rglob("*.json"):  # of an earlier version, which was paid for
        kept = json.loads(path.read_text())
        del kept["sum"]
        path.write_text(json.dumps(kept))
    assert np.array_equal(model(replay=True).predict_proba(TEXTS), first)


def test_the_key_comes_from_the_environment_and_is_stored_nowhere(asked, monkeypatch, tmp_path):
    model, faults = asked
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    made = model(key="MY_KEY")
    made.predict_proba(TEXTS)
    assert set(faults.keys[-len(TEXTS) :]) == {"Bearer sk-very-secret"}
    kept = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert len(kept) == len(TEXTS)
    assert not any("secret" in text for text in kept)
    assert "secret" not in repr(made)


def test_without_log_probabilities_answers_are_drawn_and_the_error_is_said(asked, caplog):
    model, faults = asked
    faults.logprobs = False
    labels = top_labels()
    made = model(labels=labels, samples=40)
    found = made.predict_proba(TEXTS[:1])
    made.predict_proba(TEXTS[1:2])  # it is said once
    assert caplog.text.count("shares of 40 drawn answers, each with a standard error of up to 0.08") == 1
    drawn = [body for body in faults.asked if body["temperature"] > 0]
    assert sorted(body["seed"] for body in drawn) == sorted([*range(40)] * 2)
    # By hand, from what is kept on disk.
    counts = np.zeros(2)
    for path in Path(made.client.folder).rglob("*.json"):
        kept = json.loads(path.read_text())
        if kept["question"]["temperature"] > 0 and TEXTS[0] in kept["question"]["prompt"]:
            text = kept["answer"]["choices"][0]["text"].lower()
            places = [text.find(label.strip().lower()) for label in labels.values()]
            named = [place for place in places if place >= 0]
            if named:
                counts[places.index(min(named))] += 1
    expected = (counts + 0.5) / (counts + 0.5).sum() if counts.sum() else np.array([0.5, 0.5])
    np.testing.assert_allclose(found[0], expected, atol=1e-9)
    error = made.sampling_error(TEXTS[:1])
    np.testing.assert_allclose(error, np.sqrt(found * (1 - found) / 40))
    faults.logprobs = True
    assert model(prompt="{text}:").sampling_error(TEXTS[:1]) is None


def test_log_probabilities_in_another_form_or_refused_leave_answers_to_be_drawn(asked, tmp_path):
    model, faults = asked

    def at(folder, **options):  # one at a time: the server's draws share one stream of numbers
        return model(labels=top_labels(), record=tmp_path / folder, concurrency=1, **options)

    faults.logprobs = False
    expected = at("drawn", logprobs=False).predict_proba(TEXTS[:2])
    assert not any("logprobs" in body for body in faults.asked)  # nothing is asked in vain
    faults.logprobs = "odd"
    np.testing.assert_array_equal(at("odd").predict_proba(TEXTS[:2]), expected)
    faults.logprobs = "refused"
    with pytest.raises(VeraxError, match="with logprobs=False answers are drawn"):
        at("refused").predict_proba(TEXTS[:2])
    made = at("refused", logprobs=False)
    np.testing.assert_array_equal(made.predict_proba(TEXTS[:2]), expected)
    assert made.sampling_error(TEXTS[:2]).shape == (2, 2)


@pytest.mark.parametrize("fault", [429, 503, "nonsense", "slow"])
def test_what_goes_wrong_for_a_while_is_tried_again(asked, fault):
    model, faults = asked
    expected = model(record=None, concurrency=1).predict_proba(TEXTS[:2])
    faults.asked.clear()
    faults.fail[:] = [fault, fault]
    timeout = 0.5 if fault == "slow" else 60.0
    found = model(timeout=timeout, concurrency=1).predict_proba(TEXTS[:2])
    np.testing.assert_array_equal(found, expected)
    assert len(faults.asked) == 4


@pytest.mark.parametrize(
    ("faults_of", "sentence"),
    [
        ([500] * 9, r"did not answer after 3 tries \(status 500\); what it answered before is kept"),
        (["nonsense"] * 9, r"something that is not of the OpenAI interface"),
        ([401], r"refused with status 401 .*put the key into the environment variable OPENAI_API_KEY"),
        ([404], r"refused with status 404 .*so it is"),
        (["name"], r"was asked for 'tiny' and 'another-model' answered"),
    ],
)
def test_what_stays_wrong_is_a_sentence(asked, faults_of, sentence):
    model, faults = asked
    faults.fail[:] = faults_of
    with pytest.raises(VeraxError, match=sentence):
        model(retries=2, concurrency=1).predict_proba(TEXTS[:1])


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"max_requests": 2}, "limit of 2 requests; raise max_requests="),
        ({"max_tokens": 30}, "limit of 30 tokens; raise max_tokens="),
        ({"max_cost": 30e-6, "prompt_price": 1.0, "answer_price": 1.0}, "in money; raise max_cost="),
    ],
)
def test_a_limit_ends_the_run_and_nothing_that_was_paid_for_is_lost(asked, limits, sentence):
    model, faults = asked
    limited = model(concurrency=1, **limits)
    with pytest.raises(VeraxError, match=sentence):
        limited.predict_proba(TEXTS)
    sent = len(faults.asked)
    assert 0 < sent < len(TEXTS)
    model(concurrency=1).predict_proba(TEXTS)
    assert len(faults.asked) == len(TEXTS)  # only what was missing


@pytest.mark.parametrize(
    "limits",
    [{"max_tokens": 40}, {"max_cost": 40e-6, "prompt_price": 1.0, "answer_price": 1.0}, {"max_requests": 3}],
)
def test_what_is_under_way_counts_so_that_requests_side_by_side_pass_no_limit(asked, limits):
    model, faults = asked
    limited = model(concurrency=8, **limits)
    with pytest.raises(VeraxError, match="would go beyond the limit"):
        limited.predict_proba([f"the plot was good {n}" for n in range(8)])
    spent = limited.client.spent
    assert 0 < len(faults.asked) <= 3
    if "max_requests" not in limits:
        assert 0 < spent.tokens <= 40


def test_all_that_record_into_one_folder_count_together_and_time_outs_stay_counted(asked):
    model, faults = asked
    model(max_requests=2).predict_proba(TEXTS[:2])
    with pytest.raises(VeraxError, match="limit of 2 requests"):
        model(max_requests=2).predict_proba(TEXTS[2:3])
    assert len(faults.asked) == 2
    faults.fail[:] = ["slow"]
    with pytest.raises(VeraxError, match=r"did not answer after 1 try \(no answer within 0.2 seconds\)"):
        model(max_requests=9, timeout=0.2, retries=0).predict_proba(TEXTS[2:3])
    # It may have been paid for: three of three.
    with pytest.raises(VeraxError, match="limit of 3 requests"):
        model(max_requests=3).predict_proba(TEXTS[2:3])


def test_options_stand_behind_the_name_too(asked, server, tmp_path):
    url, faults = server
    name = f"openai:tiny(interface=completions, max_requests=1, record={str(tmp_path / 'own')!r})"
    made = verax.as_model(name, base_url=url, prompt=PROMPT, labels=LABELS)
    assert made.client.model == "tiny"
    with pytest.raises(VeraxError, match="limit of 1 request; raise max_requests="):
        made.predict_proba(TEXTS[:2])
    assert len(faults.asked) == 1


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "openai:tiny(max_request=5)",
            "has no option 'max_request'; a model behind an endpoint has interface, key",
        ),
        (
            "openai:tiny(max_requests=many)",
            "'max_requests' of the model 'openai:tiny' is 'many', which cannot be",
        ),
        ("openai:tiny(max_cost=1)", "max_cost=1 limits nothing .* give prompt_price= and answer_price= too"),
        ("openai:tiny(concurrency=0)", "concurrency=0 is too small; give 1 or more"),
    ],
)
def test_options_that_cannot_be_are_sentences(name, sentence):
    with pytest.raises(VeraxError, match=sentence):
        verax.as_model(name, base_url="http://x/v1", prompt=PROMPT, labels=LABELS)


def test_answers_without_a_place_are_not_asked_for(asked, tmp_path):
    model, faults = asked
    taken = tmp_path / "a-file"
    taken.write_text("")
    with pytest.raises(VeraxError, match=r"Answers cannot be kept in .*a-file"):
        model(record=taken).predict_proba(TEXTS[:1])
    assert not faults.asked


def test_a_dry_run_sends_nothing_and_counts_rows_and_tokens(asked):
    model, faults = asked
    dry = model(dry_run=True, prompt_price=2.0)
    verax.explainer("greedy").explain(dry, TEXTS[:1])
    assert not faults.asked
    assert dry.client.spent.planned == 5  # the text, and without each of its four words
    assert dry.client.spent.prompt_tokens > 20
    assert dry.client.spent.cost(dry.client.options) == pytest.approx(dry.client.spent.prompt_tokens * 2e-6)


def test_labels_that_begin_with_the_same_token_are_refused_when_that_is_seen(asked):
    model, _ = asked
    (first, _) = top_labels().values()
    with pytest.raises(VeraxError, match="begin with the same token"):
        model(labels={"a": f"{first}one", "b": f"{first}two"}).predict_proba(TEXTS[:1])


@pytest.mark.parametrize("logprobs", [True, False])
def test_an_answer_that_names_no_label_is_counted_told_and_says_nothing(asked, caplog, logprobs):
    model, faults = asked
    faults.logprobs = logprobs
    made = model(labels={"a": "qqqq", "b": "zzzz"})
    np.testing.assert_allclose(made.predict_proba(TEXTS[:1]), 0.5)
    assert made.unread == {PROMPT.replace("{text}", TEXTS[0])}
    assert "tiny named none of the labels 'qqqq', 'zzzz' behind 1 of 1 prompts" in caplog.text


def test_self_report_is_asked_after_the_answer_as_turns_of_a_chat(asked):
    model, faults = asked
    made = model(interface="chat", system="Be brief.")
    verax.explainer("self-report", tokens=4).explain(made, TEXTS[:1], 1)
    turns = [turn["role"] for turn in faults.asked[-1]["messages"]]
    assert turns == ["system", "user", "assistant", "user"]
    assert faults.asked[-1]["messages"][2]["content"] == "positive"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"labels": LABELS}, "needs its name and the endpoint's address"),
        (
            {"labels": LABELS, "base_url": "http://x/v1", "prompt": "no place"},
            "does not say where the text comes",
        ),
        ({"target": "x", "base_url": "http://x/v1"}, "does not give the log-probability of a given answer"),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_a_sentence(options, sentence, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(VeraxError, match=sentence):
        verax.as_model("openai:tiny", **{"prompt": PROMPT, **options})


def test_a_server_killed_in_the_middle_loses_no_answer_and_the_run_goes_on_later(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    here = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])}

    options = EndpointOptions(interface="completions", record=tmp_path, retries=1, concurrency=1, timeout=10)
    model = verax.as_model(
        "openai:tiny", base_url=f"http://127.0.0.1:{port}/v1", prompt=PROMPT, labels=LABELS, endpoint=options
    )
    process = subprocess.Popen([sys.executable, str(here / "completion_server.py"), str(port)], env=env)
    try:
        while True:
            assert process.poll() is None
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        model.predict_proba(TEXTS[:2])
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with pytest.raises(VeraxError, match="did not answer after 2 tries"):
        model.predict_proba(TEXTS)
    assert len(list(tmp_path.rglob("*.json"))) == 2
    with served(network(), tokenizer(), port=port):
        before = model.client.spent.requests
        found = model.predict_proba(TEXTS)
        assert model.client.spent.requests - before == 2
        assert np.isfinite(found).all()


def test_a_run_killed_in_the_middle_has_kept_what_was_answered(asked, server, tmp_path):
    model, faults = asked
    url, _ = server
    code = (
        "import verax\n"
        f"how = verax.EndpointOptions(interface='completions', concurrency=2, record={str(tmp_path)!r})\n"
        f"asked = {{'prompt': {PROMPT!r}, 'labels': {LABELS!r}, 'endpoint': how}}\n"
        f"model = verax.as_model('openai:tiny', base_url={url!r}, **asked)\n"
        "model.predict_proba([f'film {n}' for n in range(3000)])\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen([sys.executable, "-c", code], env=env)
    until = time.monotonic() + LONG
    while len(list(tmp_path.rglob("*.json"))) < 5:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = [json.loads(path.read_text())["question"]["prompt"] for path in tmp_path.rglob("*.json")]
    assert len(kept) >= 5
    assert len(faults.asked) - len(kept) <= 2  # those that were under way
    texts = [prompt.removeprefix("Review: ").removesuffix("\nSentiment:") for prompt in kept]
    again = model(record=tmp_path, replay=True)
    assert np.isfinite(again.predict_proba(texts)).all()


def test_smollm2_behind_an_endpoint_says_what_it_says_here(tmp_path):
    share_smollm2()
    from verax.models.llm.weights import smollm2

    here, pieces = smollm2()
    labels = {"negative": " negative", "positive": " positive"}
    examples = [("a joy from start to end", "positive"), ("a tired , dull mess", "negative")]
    texts = ["an excellent romp with heart", "a waste of time"]
    local = verax.as_model(here, tokenizer=pieces, prompt=PROMPT, labels=labels, examples=examples)
    with served(here, pieces, "SmolLM2") as (url, _):
        options = EndpointOptions(interface="completions", record=tmp_path)
        far = verax.as_model(
            "openai:SmolLM2", base_url=url, prompt=PROMPT, labels=labels, examples=examples, endpoint=options
        )
        np.testing.assert_allclose(far.predict_proba(texts), local.predict_proba(texts), atol=0.02)
        one, other = (verax.explainer("greedy").explain(model, texts[1:])[0] for model in (far, local))
        assert one.features[int(np.argmax(one.scores))] == other.features[int(np.argmax(other.scores))]
        assert far.reply(texts[0], 1, "Why?\nBecause", 8) == local.reply(texts[0], 1, "Why?\nBecause", 8)
