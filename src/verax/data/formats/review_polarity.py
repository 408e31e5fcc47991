"""Amazon Review Polarity (Zhang et al. 2015), as published: CSV without a header, ``class,title,text``.

Class 1 is negative, 2 positive. Title and text are one input, the title first. In a folder with train.csv and test.csv
the test file is the test part.
"""

from __future__ import annotations

import csv
from pathlib import Path

from verax.data.formats.shipped import bad_line, part_files
from verax.data.lines import not_utf8, open_text
from verax.data.records import Records, text_records
from verax.data.registry import Choice, dataset_formats

CLASSES = {"1": 0, "2": 1}


@dataset_formats.register("amazon-polarity")
def amazon_polarity(path: Path, choice: Choice) -> Records:
    """Amazon product reviews, negative or positive: CSV without a header, class (1 or 2), title, text."""
    choice.among("amazon-polarity")
    texts, labels, parts = [], [], []
    for part, file in part_files(path, "*.csv*", "amazon-polarity"):
        with open_text(file) as lines:
            rows = csv.reader(lines)
            try:
                for row in rows:
                    if len(row) != 3 or row[0] not in CLASSES:
                        raise bad_line(
                            rows.line_num, file, "a class (1 or 2), a title and a text, separated by commas"
                        )
                    title, text = (cell.strip() for cell in row[1:])
                    texts.append(f"{title}\n{text}" if title else text)
                    labels.append(CLASSES[row[0]])
                    parts.append(part)
            except UnicodeDecodeError as error:
                raise not_utf8(file, rows.line_num + 1) from error
            except csv.Error as error:
                raise bad_line(rows.line_num, file, f"CSV ({error})") from error
    return text_records(texts, labels, ("negative", "positive"), parts)
