"""HatEval (SemEval 2019 task 5): hate against immigrants and women in tweets, CSV ``id,text,HS,TR,AG``."""

from __future__ import annotations

from pathlib import Path

from verax.data.files import read_cells
from verax.data.formats.shipped import bad_line, part_files
from verax.data.records import Records, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError

# What 0 and 1 mean. TR and AG are only ever 1 where HS is 1.
CLASS_NAMES = {
    "HS": ("not hateful", "hateful"),
    "TR": ("generic target", "individual target"),
    "AG": ("not aggressive", "aggressive"),
}


@dataset_formats.register("hateval")
def hateval(path: Path, choice: Choice) -> Records:
    """Tweets, hateful or not (label="HS"); "TR" and "AG" are whom it targets and whether it is aggressive."""
    label = choice.among("hateval", tuple(CLASS_NAMES))
    texts: list[str] = []
    labels: list[int] = []
    parts: list[int] = []
    for part, file in part_files(path, "*.csv", "hateval"):
        cells = read_cells(file)
        for name in ("text", label):
            if name not in cells.columns:
                raise VeraxError(f"{file} has no column {name!r}; it has: {', '.join(cells.columns)}.")
        values = [str(value).strip() for value in cells.columns[label]]
        for place, value in zip(cells.places, values, strict=True):
            if value not in ("0", "1"):
                raise bad_line(int(place.split()[1]), file, f"labelled 0 or 1 in {label}")
        texts += map(str, cells.columns["text"])
        labels += map(int, values)
        parts += [part] * len(cells.places)
    return text_records(texts, labels, CLASS_NAMES[label], parts)
