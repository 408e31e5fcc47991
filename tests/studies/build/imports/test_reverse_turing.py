"""The published stimuli of the Reverse Turing Test as studies."""

import csv
import json

import pytest

from helpers import shared_data
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.studies.build.imports import import_stimuli, make_study

HEAD = [
    "", "Unnamed: 0", "train_text", "train_label", "train_enlabel", "train_model_pred",
    "test_text", "test_label", "test_enlabel", "test_model_pred",
]  # fmt: skip
NAMES = ("PAST", "PRES")


@pytest.fixture
def stimuli(tmp_path):
    """A task in the published format: three sets of 25 rows to learn from and 10 to be tested on."""
    folder = tmp_path / "past_present"
    folder.mkdir()
    for begins, size in (("train", 25), ("test", 10)):
        for number in (1, 2, 3):
            with (folder / f"{begins}_set{number}.csv").open("w", newline="", encoding="utf-8") as file:
                lines = csv.writer(file)
                lines.writerow(HEAD)
                for place in range(size):
                    row = 100 * number + place
                    cells = []
                    for part in ("learnt", "asked"):
                        label, said = place % 2, (place // 2) % 2
                        cells += [f"they {part} of row {row} .", NAMES[label], label, said]
                    lines.writerow([row, row, *cells])
    return folder


def test_people_learn_from_train_texts_of_train_sets_and_are_tested_on_test_texts_of_test_sets(stimuli):
    spec, _, made = import_stimuli(stimuli)
    assert [condition.name for condition in spec.conditions] == ["none"]
    assert "Of the three sets only the first 1" in made.notes[0]
    training = [item for item in made.items if item.role == "training"]
    tested = [item for item in made.items if item.role == "evaluation"]
    assert (len(training), len(tested)) == (25, 10)
    assert all("learnt" in item.input for item in training)
    assert all("asked" in item.input for item in tested)
    assert made.class_names == NAMES
    assert [(item.label, item.prediction) for item in tested[:4]] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert spec.protocol["masked"]


def test_scores_of_ones_own_make_the_papers_three_conditions(stimuli, tmp_path):
    _, _, one = import_stimuli(stimuli)
    with pytest.raises(VeraxError, match="has no explanation in the condition 'lime'"):
        import_stimuli(stimuli, _scores(tmp_path, [item.source for item in one.items]))
    sources = [
        f"{role} {number}-{100 * number + place}"
        for number in (1, 2, 3)
        for role, size in (("training", 25), ("evaluation", 10))
        for place in range(size)
    ]
    spec, text, made = import_stimuli(stimuli, _scores(tmp_path, sources))
    assert {item.group for item in made.items} == {0, 1, 2}
    study = make_study(spec, text, made, tmp_path / "study")
    assert len(study.rows) == 6
    assert len(study.items) == 3 * 35


def _scores(folder, sources):
    file = folder / "lime.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        lines = csv.writer(out)
        lines.writerow(["item", "condition", "explanation"])
        for source in sources:
            part = "learnt" if source.startswith("training") else "asked"
            text = f"they {part} of row {source.rpartition('-')[2]} ."
            scores = {word: 1.0 / (place + 1) for place, word in enumerate(split_words(text).distinct)}
            lines.writerow([source, "lime", json.dumps(scores)])
    return file


def test_another_folder_is_refused_and_a_strange_class_named(stimuli, tmp_path):
    with pytest.raises(VeraxError, match="is no folder of a task of the published stimuli"):
        import_stimuli(tmp_path)
    file = stimuli / "test_set1.csv"
    file.write_text(file.read_text(encoding="utf-8").replace(",0\n", ",7\n", 1), encoding="utf-8")
    with pytest.raises(VeraxError, match="test_model_pred is '7', which is no class of past_present"):
        import_stimuli(stimuli)


@pytest.mark.parametrize("task", ["binary", "sentence_length", "subj_number", "obj_number", "past_present"])
def test_the_published_stimuli_are_read(task):
    _, _, made = import_stimuli(shared_data("reverse-turing-stimuli") / task)
    assert [sum(item.role == role for item in made.items) for role in ("training", "evaluation")] == [25, 10]
    # They are not balanced as the paper says of its items: most answers of the model are right.
    assert sum(item.correct for item in made.items) > 20
