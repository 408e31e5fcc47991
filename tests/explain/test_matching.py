"""Tokens as other tools write them are the words of the text; what matches nothing is said."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import verax
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import Attribution
from verax.explain.checks import additive_text_model
from verax.explain.explanation import by_word
from verax.explain.matching import match_columns, match_text


def scores_at(tokens, text, scores=None):
    """(word, score, where) of what is matched, and the tokens that are not."""
    numbers = range(1, len(tokens) + 1) if scores is None else scores
    given = Attribution(tuple(tokens), np.array(numbers, dtype=float), 1, input=text)
    found = match_text(given, text)
    made = found.attribution
    spans = [None] * len(made.features) if made.spans is None else [places[0] for places in made.spans]
    return list(zip(made.features, made.scores.tolist(), spans, strict=True)), found.unmatched, made.details


def test_tokens_of_the_shap_package_are_words():
    """Each with the white space and the punctuation after it; the word that stands twice has two scores."""
    found, unmatched, _ = scores_at(["Dee ", "is ", "good, ", "Dee"], "Dee is good, Dee")
    assert found == [("Dee", 1, (0, 3)), ("is", 2, (4, 6)), ("good", 3, (7, 11)), ("Dee", 4, (13, 16))]
    assert unmatched == ()


@pytest.mark.parametrize(
    ("tokens", "text", "words"),
    [
        (["walk", "##ing", "un", "##fair"], "walking unfair", {"walking": 3, "unfair": 7}),
        (["▁walk", "ing", "▁un", "fair"], "walking unfair", {"walking": 3, "unfair": 7}),
        (["walk", "ing", "Ġun", "fair"], "walking unfair", {"walking": 3, "unfair": 7}),
        (["walk", "ing</w>", "unfair</w>"], "walking unfair", {"walking": 3, "unfair": 3}),
        (["walk@@", "ing", "un@@", "fair"], "walking unfair", {"walking": 3, "unfair": 7}),
        # Uncased: by place, since two words read the same.
        (["cafe", "walk", "##ing", "cafe"], "Café walking cafe", {"Café": 1, "walking": 5, "cafe": 4}),
        # A byte-level tokenizer cuts letters beyond ASCII into bytes.
        (["ĠèĮ", "¶", "Ġtea"], "茶 tea", {"茶": 3, "tea": 3}),
        # What white space or hyphens do not part is several words here; each has the token's score.
        (["don't", "well-made"], "don't be well-made", {"don": 1, "t": 1, "well": 2, "made": 2}),
        # A piece that looks like another word of the text.
        (["fi", "the", "lm", "fi", "##lm"], "fi the lm film", {"fi": 1, "the": 2, "lm": 3, "film": 9}),
        # White space of any sort, and more of it than in the text.
        (["  good\n", "\tfilm"], "good film", {"good": 1, "film": 2}),
    ],
)
def test_pieces_add_up_to_their_word(tokens, text, words):
    found, unmatched, _ = scores_at(tokens, text)
    assert {word: score for word, score, _ in found} == words
    assert unmatched == ()


def test_tokens_in_another_order_are_matched_by_name_and_added_up():
    found, unmatched, _ = scores_at(["good ", "good ", "film"], "film: good, good")
    assert found == [("good", 3, None), ("film", 3, None)]
    assert unmatched == ()


def test_letter_case_counts_where_it_decides():
    assert scores_at(["GOOD ", "film"], "a Good film")[0] == [("Good", 1, None), ("film", 2, None)]
    found, unmatched, details = scores_at(["good", "film"], "Good GOOD film")
    assert found == [("film", 2, None)]
    assert unmatched == ("good",)
    assert details == {"not matched": ["good"]}


def test_what_stands_for_no_word_is_left_out_and_named():
    found, unmatched, details = scores_at(["[CLS]", "a", "film", ".", "👍", "[SEP]"], "a film. 👍")
    assert found == [("a", 2, None), ("film", 3, None)]
    assert unmatched == ()
    assert details == {"left out": ["[CLS]", ".", "👍", "[SEP]"]}


def test_pieces_that_cover_no_whole_word_are_not_guessed():
    """'a' is the beginning of 'as', and stands itself at two places of which one is meant."""
    found, _, _ = scores_at(["a", "a"], "as a b a c a")
    assert found == [("a", 3, None)]
    assert scores_at(["##ing", "walk"], "walking")[1] == ("##ing", "walk")


def test_what_verax_wrote_itself_stays_as_it_is():
    made = Attribution(("film", "good"), np.array([0.5, 1.0]), 1, input="a good film, a film")
    assert match_text(made, made.input).attribution is made
    placed = Attribution(("film",), np.array([0.5]), 1, input="a good film", spans=(((7, 11),),))
    assert match_text(placed, placed.input).attribution is placed


TEXTS = [
    "The walking man was unfair, wasn't he? The man walked.",
    "An über-good film: walking, talking and WALKING again; a café in Köln.",
    "naïve the the the unfair unfairness of it all 茶 and 👍 talks",
]


def tokenizer_of(sort):
    """A small tokenizer of a sort, trained on the texts so that most words have pieces."""
    if sort == "wordpiece":
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=90, special_tokens=["[UNK]"])
    elif sort == "metaspace":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.BpeTrainer(vocab_size=90)
    elif sort == "end of word":
        made = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.decoder = decoders.BPEDecoder()
        trainer = trainers.BpeTrainer(vocab_size=110, end_of_word_suffix="</w>")
    else:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator(TEXTS, trainer)
    return made


@pytest.mark.parametrize("sort", ["wordpiece", "metaspace", "end of word", "byte level"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_offsets_of_real_tokenizers_give_the_same_sums(sort, text):
    """The tokenizer knows where each piece stands: sums over a word's places, found from the pieces' names alone."""
    encoded = tokenizer_of(sort).encode(text)
    assert len(encoded.tokens) > len(split_words(text)), "the tokenizer makes no pieces"
    scores = np.random.default_rng(0).normal(size=len(encoded.tokens))
    words = split_words(text)
    expected = np.zeros(len(words))
    for token, score, (start, end) in zip(encoded.tokens, scores, encoded.offsets, strict=True):
        if token == "▁":  # white space by itself, which the tokenizer puts on the first letter of a text
            continue
        for place, (first, last) in enumerate(words.places):
            if start < last and first < end:
                expected[place] += score
    given = Attribution(tuple(encoded.tokens), scores, 1, input=text)
    found = match_text(given, text)
    assert found.unmatched == ()
    made = found.attribution
    assert made.features == tuple(words.words)
    np.testing.assert_allclose(made.scores, expected, atol=1e-12)
    assert made.spans == tuple((span,) for span in words.places) or len(set(words.words)) == len(words)


def test_columns_under_other_names_are_found_and_added_up():
    columns = ("petal length (cm)", "length", "Sex")
    given = Attribution(
        ("4.9 < petal length (cm) <= 5.1", " sex ", "cat__Sex_Male", "age"), np.array([1.0, 2, 4, 8]), 0
    )
    found = match_columns(given, columns)
    assert dict(zip(found.attribution.features, found.attribution.scores.tolist(), strict=True)) == {
        "petal length (cm)": 1,
        "Sex": 6,
    }
    assert found.unmatched == ("age",)


def file_of(tmp_path, *lines):
    path = tmp_path / "made elsewhere.jsonl"
    path.write_text("\n".join(json.dumps({"kind": "attribution", "target": 1} | line) for line in lines))
    return verax.explainer("precomputed", path=str(path))


def test_precomputed_tokens_reach_the_words_of_the_text(tmp_path):
    text = "the good film, the end"
    explainer = file_of(
        tmp_path,
        {"input": text, "features": ["the ", "good ", "film, ", "the ", "end"], "scores": [1, 5, 0.5, 2, 0]},
    )
    (found,) = explainer.explain(additive_text_model(), [text], [1])
    words = by_word(found)
    assert dict(zip(words.features, words.scores.tolist(), strict=True)) == {
        "the": 3,
        "good": 5,
        "film": 0.5,
        "end": 0,
    }


def test_few_tokens_without_a_match_are_one_sentence(tmp_path, caplog):
    texts = ["the good film has a fine end", "a bad film"]
    explainer = file_of(
        tmp_path,
        {
            "input": texts[0],
            "features": ["the", "good", "movie", "has", "a", "fine", "end"],
            "scores": [1] * 7,
        },
        {"input": texts[1], "features": ["a", "bad", "film"], "scores": [1, 2, 3]},
    )
    with caplog.at_level(logging.WARNING, logger="verax"):
        found = explainer.explain(additive_text_model(), texts, [1, 1])
    (record,) = caplog.records
    assert "1 of 10 tokens found no match" in record.getMessage()
    assert "'movie' of input 0 (counted from 0)" in record.getMessage()
    assert found[0].details == {"not matched": ["movie"]}
    assert "film" not in found[0].features


def test_many_tokens_without_a_match_are_an_error(tmp_path):
    texts = ["a bad film", "the good film"]
    explainer = file_of(
        tmp_path,
        {"input": texts[0], "features": ["a", "bad", "film"], "scores": [1, 2, 3]},
        {"input": texts[1], "features": ["le", "bon", "film"], "scores": [1, 2, 3]},
    )
    with pytest.raises(
        VeraxError,
        match=r"2 of 3 tokens that .*jsonl' has for input 1 \(counted from 0\) \('the good film'\) are not in it: "
        r"'le' and 'bon'; give the tokens",
    ):
        explainer.explain(additive_text_model(), texts, [1, 1])
