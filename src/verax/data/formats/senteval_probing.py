"""SentEval's probing tasks (Conneau et al. 2018): one file a task, ``split TAB label TAB sentence``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from verax.data.formats.shipped import bad_line, known_parts
from verax.data.lines import numbered_lines
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
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != 3 or cells[0] not in PARTS:
            raise bad_line(number, path, "'tr, va or te TAB label TAB sentence'")
        parts.append(PARTS[cells[0]])
        names.append(cells[1])
        texts.append(cells[2])
    labels, class_names = number_labels(names)
    shipped = known_parts(parts)
    records = text_records(texts, labels, class_names)
    return records if shipped is None else replace(records, parts=np.array(shipped, dtype=np.int8))
