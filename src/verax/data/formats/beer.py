"""Lei et al.'s (2016) BeerAdvocate reviews: gzip, ``rating rating rating rating rating TAB text``.

The five ratings, in [0, 1], are of appearance, aroma, palate, taste and overall. They become classes as in
later work on these files (Bao et al. 2018): up to 0.4 is negative, from 0.6 positive; those between are
dropped and counted, unless ratings are asked for as they are (``ratings=True``). In a folder with a train
and a heldout file, heldout is the test part.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from verax.data.formats.shipped import bad_line, content_lines, part_files
from verax.data.records import Records, counted, text_records
from verax.data.registry import Choice, dataset_formats

ASPECTS = ("appearance", "aroma", "palate", "taste", "overall")
NEGATIVE_UP_TO = 0.4
POSITIVE_FROM = 0.6
MIDDLE = 0.5


@dataset_formats.register("lei-beer")
def lei_beer(path: Path, choice: Choice) -> Records:
    """Beer reviews, negative or positive on one aspect (label="aroma" and so on), by default appearance."""
    aspect = choice.among("lei-beer", ASPECTS)
    texts, ratings, parts = [], [], []
    undecided = 0
    for part, file in part_files(path, "*.txt*", "lei-beer"):
        for number, line in content_lines(file):
            rating = _rating(line, aspect)
            if rating is None:
                raise bad_line(number, file, "five ratings in [0, 1], a tab and a text")
            if NEGATIVE_UP_TO < rating < POSITIVE_FROM and not choice.ratings:
                undecided += 1
                continue
            texts.append(line.partition("\t")[2])
            ratings.append(rating)
            parts.append(part)
    note = counted(undecided, "review", f"with {aspect} between {NEGATIVE_UP_TO} and {POSITIVE_FROM} dropped")
    labels = [int(rating >= MIDDLE) for rating in ratings]
    records = text_records(texts, labels, ("negative", "positive"), parts, [note])
    return replace(records, ratings=np.array(ratings)) if choice.ratings else records


def _rating(line: str, aspect: str) -> float | None:
    ratings, tab, _ = line.partition("\t")
    try:
        values = [float(value) for value in ratings.split()]
    except ValueError:
        return None
    if not tab or len(values) != len(ASPECTS) or not all(0 <= value <= 1 for value in values):
        return None
    return values[ASPECTS.index(aspect)]
