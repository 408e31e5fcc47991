"""Explanations that tell the truth let somebody predict the model on changed inputs; others do not."""

import numpy as np
import pytest

import verax
from rule_server import served
from tiny_language import LABELS, network, tokenizer
from verax.benchmarks.simulatability import (
    SimulationQuestion,
    WordStudent,
    in_words,
    language_simulator,
    reads_words,
    simulatability,
)
from verax.errors import VeraxError
from verax.explain.checks import check_explainer
from verax.models.base import Model

REASONS = ["zebra", "lamp", "river", "violin", "carpet", "tower", "onion", "ladder"]
TEXTS = [f"one two {word} three four five" for word in REASONS]


class Reasoned(Model):
    """Says yes where one of the reasons stands."""

    kind = "text"
    class_names = ("no", "yes")

    def predict_proba(self, inputs):
        yes = np.array([bool(set(text.split()) & set(REASONS)) for text in inputs], dtype=float)
        return np.stack([1 - yes, yes], axis=1)


def written(texts):
    return [verax.Written((text,), 1, "yes") for text in texts]


TRUE = written(f"Because it speaks of a {word}." for word in REASONS)
FALSE = written("Because it says three." for _ in REASONS)


def test_true_explanations_are_told_from_those_that_say_nothing():
    found = simulatability(Reasoned(), {"true": TRUE, "false": FALSE}, TEXTS, changes=4)
    true, false = found.found
    assert true.accuracy["with"] == 1.0
    # Without any, a reader says that nothing changes: right where it does not.
    assert true.accuracy["without"] == pytest.approx(1 - found.flipped / found.changed)
    assert true.accuracy["shuffled"] == true.accuracy["without"]  # another input's word is never there
    assert true.gain.mean == pytest.approx(found.flipped / found.changed)
    assert true.p == pytest.approx(2 * 2 / 2**8)  # all eight inputs on one side; twice for two explainers
    assert false.over_shuffled.mean == 0.0
    assert "they help to predict the model" in found.sentences[1]
    assert "they are not known to help" in found.sentences[2]
    assert found.changed == 4 * len(TEXTS)
    assert found.flipped == 2 * len(TEXTS)


def test_the_same_comes_out_again_and_in_any_order_of_explainers():
    one = simulatability(Reasoned(), {"a": TRUE, "b": FALSE}, TEXTS)
    other = simulatability(Reasoned(), {"b": FALSE, "a": TRUE}, TEXTS)
    assert one.found == other.found[::-1]


def test_attributions_are_given_in_words():
    scores = verax.Attribution(("bad", "zebra", "two"), np.array([-2.0, 1.0, 0.5]), 1, "yes")
    assert in_words(scores) == "The words that speak for this answer most: zebra, two"
    found = simulatability(Reasoned(), {"greedy": verax.explainer("greedy")}, TEXTS)
    assert found.found[0].accuracy["with"] == 1.0


def test_a_reader_takes_words_and_not_the_sentence_they_stand_in():
    asked = SimulationQuestion("it was dull", "no", "It was dull.", "was dull", ("no", "yes"))
    assert reads_words([asked]) == ["no"]
    gone = SimulationQuestion("it was dull", "no", "It was Dull.", "it was", ("no", "yes"))
    assert reads_words([gone]) == ["yes"]


def test_a_student_learns_how_far_explanations_can_be_believed():
    texts = [f"one two {REASONS[n % 8]} three four five n{'abcdefghijklmnop'[n]}" for n in range(16)]
    true = written(f"Because it speaks of a {REASONS[n % 8]}." for n in range(16))
    # Names all that does not matter: the answer stays when it goes.
    opposite = written("Because it says one two three four five." for _ in texts)
    given = {"true": true, "opposite": opposite}
    student = {one.explainer: one for one in simulatability(Reasoned(), given, texts, WordStudent()).found}
    reader = {one.explainer: one for one in simulatability(Reasoned(), given, texts).found}
    assert student["true"].accuracy["with"] == reader["true"].accuracy["with"] == 1.0
    assert student["true"].p < 0.01
    # One who takes it at its word is misled; one who learns is not.
    assert reader["opposite"].accuracy["with"] < 0.5
    assert student["opposite"].accuracy["with"] >= student["opposite"].accuracy["without"]
    # Every explanation is the same, so that another input's tells as much.
    assert student["opposite"].over_shuffled.mean == 0.0


def test_a_student_predicts_on_inputs_that_it_did_not_learn_from():
    learnt_from, predicted_on = [], []

    class Watched:
        def learn(self, questions, answers):
            learnt_from.append({asked.text for asked in questions})
            assert len(questions) == len(answers)

            def predict(asked):
                predicted_on.append({one.text for one in asked})
                return [one.answer for one in asked]

            return predict

    simulatability(Reasoned(), {"true": TRUE}, TEXTS, Watched())
    assert len(learnt_from) == 3 * 5  # three ways of showing, five groups of inputs
    for known, asked in zip(learnt_from, predicted_on, strict=True):
        assert not known & asked
        assert known | asked == set(TEXTS)
    assert set().union(*predicted_on[:5]) == set(TEXTS)


def test_a_student_says_what_always_happened_and_knows_more_than_two_classes():
    names = ("no", "maybe", "yes")

    def asked(changed, answer="yes"):
        return SimulationQuestion("a b c", answer, "Because of b.", changed, names)

    stays = WordStudent().learn([asked("a c")], ["yes"])
    assert stays([asked("a")]) == ["yes"]
    changes = WordStudent().learn([asked("a c"), asked("c")], ["maybe", "maybe"])
    assert changes([asked("a")]) == ["maybe"]
    assert changes([asked("a", "no")]) == ["maybe"]  # of what it never saw, the first other class
    assert changes([]) == []


def test_a_language_model_predicts_and_classes_may_have_names_that_tell_nothing():
    asked = []

    class Predicts(Model):
        kind = "text"
        class_names = ("A", "B")

        def predict_proba(self, inputs):
            asked.extend(inputs)
            return np.tile([0.1, 0.9], (len(inputs), 1))

    found = simulatability(
        Reasoned(), {"true": TRUE}, TEXTS, language_simulator(Predicts()), changes=2, names=("A", "B")
    )
    assert found.found[0].accuracy["with"] == pytest.approx(1 - found.flipped / found.changed)
    assert "Its explanation: Because it speaks of a zebra." in asked[0]
    assert asked[0].endswith("\nThe program says:")
    assert not any("yes" in question for question in asked)
    with pytest.raises(VeraxError, match=r"says A, B, and the classes are no, yes"):
        simulatability(Reasoned(), {"true": TRUE}, TEXTS, language_simulator(Predicts()))


def test_a_model_behind_an_endpoint_predicts(tmp_path):
    with served() as url:
        options = verax.EndpointOptions(record=tmp_path)
        far = verax.as_model(
            "openai:program", base_url=url, prompt="{text}", labels=["negative", "positive"], endpoint=options
        )
        found = simulatability(
            Reasoned(), {"true": TRUE[:3]}, TEXTS[:3], language_simulator(far), names=("negative", "positive")
        )
    assert set(found.answers.predicted) <= {"negative", "positive"}
    assert list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"inputs": TEXTS[:1]}, "give two or more"),
        ({"names": ("A",)}, "names= needs 2 different names"),
        ({"explainers": {"short": TRUE[:2]}}, "short has 2 explanations of 8 inputs"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(options, sentence):
    given = {"explainers": {"true": TRUE}, "inputs": TEXTS, **options}
    with pytest.raises(VeraxError, match=sentence):
        simulatability(Reasoned(), given.pop("explainers"), given.pop("inputs"), **given)


def test_free_text_is_what_the_model_writes_and_silence_is_marked():
    model = verax.as_model(network(), tokenizer=tokenizer(), prompt="Review: {text}\nSo:", labels=LABELS)
    check_explainer(verax.explainer("free-text", tokens=5), model=model)
    (found,) = verax.explainer("free-text", tokens=5).explain(model, ["a dull plot"])
    assert found.kind == "written"
    assert found.details["nonsense"] is (found.text == "...")
