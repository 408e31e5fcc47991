"""Punctuation marks as words: models read them, explainers score them, pages mark them, with nothing else to say."""

import numpy as np
import pytest

from verax.data import load_dataset
from verax.data.vectors import word_vectors
from verax.data.words import MARK, unmarked, with_punctuation
from verax.explain import Lime
from verax.explain.greedy import Greedy
from verax.models.ready import fit_model
from verax.perturb.paths.bag_of_words import lexicon_for
from verax.studies.display.readable import readable
from verax.studies.display.stimulus import text_tokens


@pytest.fixture(scope="module")
def exclaimed(tmp_path_factory):
    """Texts whose class is whether they end in "!"; no word tells it."""
    rng = np.random.default_rng(2)
    words = np.array(["film", "plot", "actor", "scene", "story", "song", "train", "house"])
    file = tmp_path_factory.mktemp("marks") / "texts.csv"
    lines = [
        f'"{" ".join(rng.choice(words, 5))} , {" ".join(rng.choice(words, 2))} {".!"[number % 2]}",{number % 2}'
        for number in range(200)
    ]
    file.write_text("text,label\n" + "\n".join(lines), encoding="utf-8")
    return load_dataset(file, punctuation=True)


def test_a_model_learns_from_marks_and_explainers_name_them(exclaimed):
    model = fit_model("logistic", exclaimed, seed=0)
    inputs = exclaimed.test.inputs[:6]
    assert np.array_equal(np.argmax(model.predict_proba(inputs), axis=1), exclaimed.test.labels[:6])
    for explainer in (Lime(samples=300, seed=0), Greedy()):
        for explanation in explainer.explain(model, inputs):
            first = explanation.features[int(np.argmax(np.abs(explanation.scores)))]
            assert unmarked(first) in (".", "!"), explainer


def test_the_fast_path_counts_marks_as_the_model_does(exclaimed):
    model = fit_model("logistic", exclaimed, seed=0)
    assert not isinstance(lexicon_for(model.vectorizer), str)
    text = exclaimed.test.inputs[0]
    without = text.replace(f"{MARK}!", "").replace(f"{MARK}.", "")
    (explanation,) = Greedy().explain(model, [text], targets=[1])
    removed = model.predict_proba([text])[0, 1] - model.predict_proba([without])[0, 1]
    scores = {
        unmarked(word): score for word, score in zip(explanation.features, explanation.scores, strict=True)
    }
    mark = "!" if "!" in scores else "."
    assert np.isclose(np.abs(scores[mark]), abs(removed))


def test_a_glove_file_knows_marks_by_their_own_character(tmp_path):
    file = tmp_path / "glove.txt"
    file.write_text("film 1 0\n, 0 2\n", encoding="utf-8")
    vectors = word_vectors(str(file), [with_punctuation("film, film!")])
    assert vectors.words == ("film", ",", f"{MARK},")
    assert vectors.raw[2].tolist() == [0, 2]


def test_pages_show_marks_where_people_write_them_and_can_mark_them():
    text = with_punctuation("a good film , not bad .")
    assert readable(text) == "a good film, not bad."
    comma = text.index(f"{MARK},")
    tokens = text_tokens(text, [((comma, comma + 2), (3, 1))])
    assert "".join(unmarked(token.text) for token in tokens) == "a good film, not bad."
    assert [unmarked(token.text) for token in tokens if token.level] == [","]
