"""Rotten Tomatoes snippets as Pang and Lee (2005) publish them: one a line, latin-1, a file per class."""

from __future__ import annotations

from pathlib import Path

from verax.data.lines import numbered_lines
from verax.data.records import Records, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError


@dataset_formats.register("rt-polarity")
def rt_polarity(folder: Path, choice: Choice) -> Records:
    """5,331 negative and 5,331 positive snippets of film reviews; no split is shipped."""
    choice.among("rt-polarity")
    texts: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(("rt-polarity.neg", "rt-polarity.pos")):
        path = folder / name
        if not path.is_file():
            raise VeraxError(
                f"There is no {name} in {str(folder)!r}; name the folder that holds it and its twin."
            )
        lines = [line.strip() for _, line in numbered_lines(path, encoding="latin-1")]
        texts += lines
        labels += [label] * len(lines)
    return text_records(texts, labels, ("negative", "positive"))
