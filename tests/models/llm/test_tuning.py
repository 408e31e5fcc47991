"""Training the last layers: the same network, resumed where it stopped, read from disk when it was done before."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tiny_language import network, torch
from verax.errors import VeraxError
from verax.models.llm import tuning, weights
from verax.models.llm.tuning import KeptPrompts, PromptExamples, TuningSchedule, UpperLayers, tune

SCHEDULE = TuningSchedule(layers=2, epochs=4, patience=4, rate=0.01, batch=8)


@pytest.fixture
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path))
    return tmp_path / "llm" / "tuned"


def lesson(count, seed):
    """The answer is 10 where token 20 stands, else 11."""
    rng = np.random.default_rng(seed)
    prompts, answers = [], []
    for number in range(count):
        row = rng.integers(30, 60, rng.integers(3, 9)).tolist()
        if number % 2:
            row[int(rng.integers(len(row)))] = 20
        prompts.append(tuple(row))
        answers.append(10 if number % 2 else 11)
    return PromptExamples(prompts, np.array(answers), np.ones(count))


def chosen(model, prompt):
    """Which of the two answers is the likelier one."""
    logits = model(torch.tensor([prompt])).logits[0, -1]
    return 10 if logits[10] > logits[11] else 11


def test_the_upper_layers_alone_say_what_the_whole_network_says():
    model = network()
    upper = UpperLayers(model, 2)
    prompts = lesson(7, 0).prompts
    with torch.no_grad():
        found = upper.after(upper.states_below(prompts))
        for row, prompt in zip(found, prompts, strict=True):
            torch.testing.assert_close(row, model(torch.tensor([prompt])).logits[0, -1], atol=1e-4, rtol=1e-4)


def test_what_is_taught_is_learnt_and_only_by_the_last_layers(own_folder):
    model, before = network(), network().state_dict()
    taught = lesson(32, 1)
    tune(model, taught, taught, SCHEDULE, 0, "tiny")
    with torch.no_grad():
        said = [chosen(model, prompt) for prompt in taught.prompts]
    assert np.mean(np.array(said) == taught.answers) >= 0.9
    changed = {name for name, weight in model.state_dict().items() if not torch.equal(weight, before[name])}
    assert changed
    assert all(name.startswith(("model.layers.1.", "model.layers.2.")) for name in changed)
    assert not any(weight.requires_grad for weight in model.parameters())


def test_the_same_training_is_read_from_disk(own_folder, monkeypatch):
    first = network()
    tune(first, lesson(16, 1), lesson(8, 2), SCHEDULE, 0, "tiny")
    monkeypatch.setattr(tuning, "_train", None)  # it would not be called
    again = network()
    tune(again, lesson(16, 1), lesson(8, 2), SCHEDULE, 0, "tiny")
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(TypeError):
        tune(network(), lesson(16, 9), lesson(8, 2), SCHEDULE, 0, "tiny")  # other texts are another training


def test_weights_of_which_a_byte_changed_are_trained_again(own_folder):
    """torch reads such a file without a word."""
    first, again = network(), network()
    tune(first, lesson(16, 1), lesson(8, 2), SCHEDULE, 0, "tiny")
    [path] = own_folder.rglob("trained.pt")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    tune(again, lesson(16, 1), lesson(8, 2), SCHEDULE, 0, "tiny")
    assert path.read_bytes() != bytes(content)
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_weights_in_the_package_are_unpacked_again_where_a_byte_changed(
    own_folder, tmp_path, monkeypatch
):
    class Packed:
        config = SimpleNamespace(save_pretrained=lambda folder: (folder / "config.json").write_text("{}"))

        def save_pretrained(self, folder):
            (folder / "tokenizer.json").write_text("{}")

        def state_dict(self):
            return {"w": torch.arange(100.0)}

    unpacked = []
    packed = tmp_path / "weights.gguf"
    packed.write_bytes(b"packed")
    monkeypatch.setattr(weights, "packed_weights", lambda: packed)
    for name in ("AutoTokenizer", "AutoModelForCausalLM"):
        loads = SimpleNamespace(from_pretrained=lambda *_, **__: unpacked.append(1) or Packed())
        monkeypatch.setattr(f"transformers.{name}", loads)
    folder = weights.unpacked_weights()
    assert (weights.unpacked_weights(), len(unpacked)) == (folder, 2)
    file = folder / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert (weights.unpacked_weights(), len(unpacked)) == (folder, 4)
    assert file.read_bytes() == content


def test_an_interrupted_training_goes_on_after_its_last_epoch_to_the_same_weights(own_folder, monkeypatch):
    whole = network()
    tune(whole, lesson(32, 1), lesson(8, 2), SCHEDULE, 0, "whole")
    losses = []
    watch = tuning._loss

    def interrupted(*given):
        losses.append(watch(*given))
        if len(losses) == 3:
            raise KeyboardInterrupt
        return losses[-1]

    monkeypatch.setattr(tuning, "_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(network(), lesson(32, 1), lesson(8, 2), SCHEDULE, 0, "other")
    steps = []
    monkeypatch.setattr(tuning, "_loss", lambda *given: steps.append(1) or watch(*given))
    resumed = network()
    tune(resumed, lesson(32, 1), lesson(8, 2), SCHEDULE, 0, "other")
    assert len(steps) == 2  # the third epoch again, and the fourth
    for one, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    assert not list(own_folder.rglob("epoch.pt"))


def test_what_weighs_nothing_is_not_learnt(own_folder):
    plain, twice = lesson(32, 1), lesson(32, 1)
    wrong = PromptExamples(
        [*plain.prompts, *plain.prompts],
        np.concatenate([plain.answers, 21 - plain.answers]),  # the opposite answers, which count nothing
        np.repeat([1.0, 0.0], 32),
    )
    model = network()
    tune(model, wrong, lesson(16, 2), SCHEDULE, 0, "weighed")
    with torch.no_grad():
        said = [chosen(model, prompt) for prompt in twice.prompts]
    assert np.mean(np.array(said) == twice.answers) >= 0.9


def test_a_network_whose_layers_are_not_known_is_refused():
    with pytest.raises(VeraxError, match="fine-tune it yourself"):
        UpperLayers(network(family="gpt2"), 2)
    with pytest.raises(VeraxError, match="layers=9 does not fit a network of 3 layers"):
        UpperLayers(network(), 9)


def strayed(model, prompts):
    """How far the model is from the untrained one behind some prompts: the mean divergence."""
    with torch.no_grad():
        pairs = [
            [net(torch.tensor([prompt])).logits[0, -1].log_softmax(-1) for net in (network(), model)]
            for prompt in prompts
        ]
    return float(np.mean([(one.exp() * (one - other)).sum() for one, other in pairs]))


def test_behind_other_questions_a_trained_network_says_what_it_said_before(own_folder):
    taught = lesson(32, 1)
    others = [(*prompt, 70 + number % 3, 80) for number, prompt in enumerate(lesson(24, 3).prompts)]
    kept = KeptPrompts(others, [len(prompt) - 1 for prompt in others])
    free, held = network(), network()
    # So many steps that each of the 24 kept prompts is met twice, as where SmolLM2 is trained.
    schedule = replace(SCHEDULE, epochs=12, patience=12)
    tune(free, taught, taught, schedule, 0, "free")
    tune(held, taught, taught, schedule, 0, "held", kept)
    assert strayed(held, others) < strayed(free, others) / 2
    with torch.no_grad():
        said = [chosen(held, prompt) for prompt in taught.prompts]
    assert np.mean(np.array(said) == taught.answers) >= 0.9


def test_adapters_learn_in_the_place_of_the_layers_and_are_read_from_disk(own_folder, monkeypatch):
    pytest.importorskip("peft")
    schedule = replace(SCHEDULE, lora=4, rate=0.02)
    taught, model = lesson(32, 1), network()
    tuned = tune(model, taught, taught, schedule, 0, "adapters")
    assert tuned.state
    assert all("lora_" in name for name in tuned.state)
    with torch.no_grad():
        said = [chosen(model, prompt) for prompt in taught.prompts]
        assert np.mean(np.array(said) == taught.answers) >= 0.9
    before = network().state_dict()
    after = {name.replace(".base_layer", ""): weight for name, weight in model.state_dict().items()}
    assert all(torch.equal(after[name], weight) for name, weight in before.items())
    monkeypatch.setattr(tuning, "_train", None)  # it would not be called
    again = network()
    tune(again, taught, taught, schedule, 0, "adapters")
    with torch.no_grad():
        ids = torch.tensor([taught.prompts[0]])
        torch.testing.assert_close(again(ids).logits, model(ids).logits)
