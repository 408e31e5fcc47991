"""The word list, by hand and against the parts of speech of a treebank."""

from __future__ import annotations

from collections import defaultdict

import pytest

from helpers import shared_data
from verax.data.formats.probing import read_sentences
from verax.data.words import Words
from verax.perturb.counterfactual.thesaurus import ADPOSITIONS, is_adposition, is_open, open_words

EDITABLE = {"NOUN", "PROPN", "VERB", "ADJ", "ADV", "ADP"}


def test_words_of_open_classes():
    words = "film Paris quickly watch DULL first of with unlike film's children's naïve"
    assert [word for word in words.split() if not is_open(word)] == []


def test_words_of_closed_classes():
    words = """
    the THIS every she Herself who and but because is would can't don't won’t it's He'll y'all not to
    two Hundred 7 1990s 3d . ... — '' 's ’ll n't & $
    """
    assert [word for word in words.split() if is_open(word)] == []


def test_adpositions_are_open_and_other_words_are_none():
    assert all(is_open(word) and is_adposition(word) for word in ADPOSITIONS.split())
    assert is_adposition("With")
    assert not is_adposition("film")
    assert not is_adposition("to")


@pytest.mark.parametrize(
    ("text", "editable"),
    [
        ("I don't know the film's plot", ["know", "film", "plot"]),
        ("They’ve won, it won't: he won't", ["won"]),
        ("it 's dull , does n't work", ["dull", "work"]),
        ("a well-acted, 90-minute movie", ["well", "acted", "minute", "movie"]),
        ("the actors' best t-shirt", ["actors", "best", "shirt"]),
        ("Awful.<br /><br />A mess", ["Awful", "mess"]),
        ("", []),
    ],
)
def test_contractions_are_seen_whole_in_a_text(text, editable):
    words = Words(text)
    assert [
        word for word, is_editable in zip(words.words, open_words(words), strict=True) if is_editable
    ] == editable


@pytest.mark.parametrize("part", ["dev", "test"])  # only the errors on dev were looked through
def test_the_list_agrees_with_a_treebank(part):
    path = shared_data("ud-english-ewt") / f"en_ewt-ud-{part}.conllu"
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for sentence in read_sentences(path):
        for token in sentence.tokens:
            counts[token.upos][is_open(token.form)] += 1
    right = sum(count[tag in EDITABLE] for tag, count in counts.items())
    assert right / sum(map(sum, counts.values())) > 0.95  # .961 on dev, .958 on test
    for tag in ("DET", "PRON", "AUX", "CCONJ", "NUM", "PART", "PUNCT"):
        assert counts[tag][False] / sum(counts[tag]) > 0.97, tag
    for tag in ("NOUN", "PROPN", "ADJ", "ADV"):
        assert counts[tag][True] / sum(counts[tag]) > 0.93, tag
    for tag in ("VERB", "ADP"):  # "have" and "do" are verbs too, and "to" an adposition
        assert counts[tag][True] / sum(counts[tag]) > 0.88, tag
