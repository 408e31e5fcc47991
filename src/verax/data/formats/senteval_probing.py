"""SentEval's probing tasks (Conneau et al. 2018): one file a task, ``split TAB label TAB sentence``."""

from __future__ import annotations

from pathlib import Path

from verax.data.formats.shipped import bad_line, content_lines
from verax.data.records import Records, number_labels, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError

PARTS = {"tr": 0, "va": 1, "te": 2}


@dataset_formats.register("senteval-probing")
def senteval_probing(path: Path, choice: Choice) -> Records:
    """Sentences with a linguistic label, such as the main verb's tense, with the publisher's split."""
    choice.among("senteval-probing")
    if path.is_dir():
        raise VeraxError(f"{str(path)!r} is a folder; name one task's file in it, such as past_present.txt.")
    texts, names, parts = [], [], []
    for number, line in content_lines(path):
        cells = line.split("\t")
        if len(cells) != 3 or cells[0] not in PARTS:
            raise bad_line(number, path, "'tr, va or te TAB label TAB sentence'")
        parts.append(PARTS[cells[0]])
        names.append(cells[1])
        texts.append(cells[2])
    labels, class_names = number_labels(names)
    return text_records(texts, labels, class_names, parts)
