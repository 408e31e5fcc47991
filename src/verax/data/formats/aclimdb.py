"""IMDb reviews as Maas et al. (2011) publish them: aclImdb/{train,test}/{neg,pos}/*.txt."""

from __future__ import annotations

from pathlib import Path

from verax.data.records import Records, counted, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError


@dataset_formats.register("aclimdb")
def aclimdb(folder: Path, choice: Choice) -> Records:
    """50,000 film reviews, negative or positive, with the publisher's test part; ``unsup`` is not read."""
    choice.among("aclimdb")
    texts, labels, parts = [], [], []
    for part, part_name in ((0, "train"), (2, "test")):
        for label, class_name in enumerate(("neg", "pos")):
            for file in sorted((folder / part_name / class_name).glob("*.txt")):
                try:
                    texts.append(file.read_text(encoding="utf-8"))
                except UnicodeDecodeError as error:
                    raise VeraxError(f"{file} is not UTF-8; save it as UTF-8 or remove it.") from error
                labels.append(label)
                parts.append(part)
    if not texts:
        raise VeraxError(f"There is no train/neg/*.txt in {str(folder)!r}; name the folder called aclImdb.")
    unlabelled = sum(1 for _ in (folder / "train" / "unsup").glob("*.txt"))
    note = counted(unlabelled, "unlabelled review", "(unsup) not read")
    return text_records(texts, labels, ("negative", "positive"), parts, [note])
