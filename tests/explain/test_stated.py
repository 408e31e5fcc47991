"""What a language model says of itself is read as it comes, and nonsense is counted."""

import pytest

import verax
from tiny_language import LABELS, network, tokenizer
from verax.errors import VeraxError
from verax.explain.checks import check_explainer
from verax.explain.stated import read_list, read_reasoning
from verax.models.base import Model

TEXT = "The plot was dull, but the zebra sang."


@pytest.mark.parametrize(
    ("reply", "named", "unknown"),
    [
        (" dull, zebra\n\nReview: another", ("dull", "zebra"), 0),
        ("1. Dull\n2. zebra\n3. sang", ("dull", "zebra", "sang"), 0),
        ('- "zebra"\n- boring', ("zebra",), 1),
        ("I think dull and zebra.", ("dull", "zebra"), 3),
        ("\n\n", (), 0),
        ("%%% $$ 42", (), 0),
        ("lovely, great", (), 2),
        ("the", ("The", "the"), 0),
        ("The answer is:\n\nThe answer is:", (), 4),  # a sentence that has only sentence words of the text
    ],
)
def test_lists_are_read_in_any_form(reply, named, unknown):
    stated = read_list(reply, TEXT)
    assert stated.named == named
    assert stated.unknown == unknown


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ('dull" says that it was the plot', ("dull",)),  # the question ends with an open quote
        ("The word “zebra” and also «sang».", ("zebra", "sang")),
        ("It was the plot that was so dull", ("plot", "dull")),  # sentence words aside
        ("", ()),
    ],
)
def test_a_reasoning_names_what_it_quotes_and_else_what_it_mentions(reply, named):
    assert read_reasoning(reply, TEXT).named == named


class Parrot(Model):
    """A model that says what it is told to."""

    kind = "text"
    class_names = ("no", "yes")

    def __init__(self, said):
        self.said = said
        self.asked = []

    def predict_proba(self, inputs):
        import numpy as np

        return np.tile([0.2, 0.8], (len(inputs), 1))

    def reply(self, text, target, question, tokens):
        self.asked.append((text, target, question, tokens))
        return self.said


def test_the_first_word_that_is_named_scores_highest_and_only_so_many_count():
    parrot = Parrot("zebra, dull, plot, sang")
    (found,) = verax.explainer("self-report", words=3).explain(parrot, [TEXT])
    assert found.top(3) == [("zebra", 1.0), ("dull", pytest.approx(2 / 3)), ("plot", pytest.approx(1 / 3))]
    assert dict(found.top(8))["sang"] == 0.0
    assert found.details["nonsense"] is False
    assert found.details["reply"] == "zebra, dull, plot, sang"


def test_nonsense_is_counted_and_not_dropped():
    (found,) = verax.explainer("self-report").explain(Parrot("lorem ipsum"), [TEXT])
    assert found.details["nonsense"] is True
    assert found.details["unknown"] == 2
    assert not found.scores.any()


def test_after_its_answer_the_model_is_told_what_it_answered_and_before_it_is_not():
    parrot = Parrot("zebra")
    verax.explainer("self-report").explain(parrot, [TEXT])
    verax.explainer("self-report", when="before").explain(parrot, [TEXT])
    verax.explainer("chain-of-thought").explain(parrot, [TEXT])
    assert [target for _, target, _, _ in parrot.asked] == [1, None, None]


def test_wordings_differ():
    parrot = Parrot("zebra")
    for wording in range(3):
        verax.explainer("self-report", wording=wording).explain(parrot, [TEXT])
    assert len({question for _, _, question, _ in parrot.asked}) == 3
    with pytest.raises(VeraxError, match="wording=3 does not exist"):
        verax.explainer("self-report", wording=3)


def test_a_model_that_does_not_write_is_refused_in_a_sentence():
    plain = verax.as_model(lambda texts: [[0.5, 0.5]] * len(texts), class_names=("no", "yes"))
    masked = verax.as_model(
        network("masked"), tokenizer=tokenizer("masked"), prompt="{text} It was {mask}.", labels=LABELS
    )
    for model in (plain, masked):
        with pytest.raises(
            VeraxError, match=r"'self-report' needs a language model that answers in words.*lime"
        ):
            verax.explainer("self-report").explain(model, [TEXT])


@pytest.mark.parametrize("name", ["self-report", "chain-of-thought"])
@pytest.mark.parametrize("sort", ["causal", "seq2seq"])
def test_the_contract_holds_on_a_model_that_writes_anything(name, sort):
    model = verax.as_model(
        network(sort), tokenizer=tokenizer(sort), prompt="Review: {text}\nSo:", labels=LABELS
    )
    check_explainer(verax.explainer(name, tokens=6), model=model)


def test_a_local_model_replies_with_its_likeliest_words():
    import torch

    model = verax.as_model(network(), tokenizer=tokenizer(), prompt="Review: {text}\nSo:", labels=LABELS)
    ids = tokenizer()("Review: good\nSo: positive\n\nWhy?")["input_ids"]
    expected = []
    with torch.no_grad():
        for _ in range(5):
            expected.append(int(network()(torch.tensor([ids + expected])).logits[0, -1].argmax()))
            if expected[-1] == 3:
                break
    assert model.reply("good", 1, "Why?", 5) == tokenizer().decode(expected, skip_special_tokens=True)
