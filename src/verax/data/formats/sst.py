"""The Stanford Sentiment Treebank (Socher et al. 2013) as SentEval distributes it.

Three files sentiment-train, -dev and -test. Binary: ``text TAB label``, the train file also holds phrases;
fine: ``label text``, five classes. The whole sentences with two classes (6,920 to learn from, as papers have them) are
the fine ones without the neutral.
"""

from __future__ import annotations

from pathlib import Path

from verax.data.formats.shipped import bad_line, content_lines, part_files
from verax.data.records import Records, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError

CLASS_NAMES = {
    "binary": ("negative", "positive"),
    "fine": ("very negative", "negative", "neutral", "positive", "very positive"),
}
SENTENCES = "sentences"
# The fine files write brackets and slashes as the Penn Treebank does; the binary ones as everybody does.
TREEBANK = {"-lrb-": "(", "-rrb-": ")", "\\/": "/"}
# Of the five classes, which of two they are; the neutral one is neither.
OF_TWO = {0: 0, 1: 0, 3: 1, 4: 1}


@dataset_formats.register("sst")
def sst(path: Path, choice: Choice) -> Records:
    """Film reviews with the publisher's split; label="binary", "fine" or "sentences" if the folder holds both files."""
    wanted = choice.among("sst", (*CLASS_NAMES, SENTENCES))
    two = wanted == SENTENCES
    wanted = "fine" if two else wanted
    if (path / wanted).is_dir():
        path = path / wanted
    files = part_files(path, "sentiment-*", "sst")
    variant = _variant(files[0][1])
    if choice.label is not None and wanted != variant:
        raise VeraxError(
            f"{path} holds the {variant} labels of SST, not the {wanted} ones; name their folder."
        )
    texts, labels, parts = [], [], []
    for part, file in files:
        for number, line in content_lines(file):
            label, text = _parse(line, variant)
            if not (label.isdigit() and int(label) < len(CLASS_NAMES[variant])):
                raise bad_line(
                    number, file, "'text TAB 0 or 1'" if variant == "binary" else "'0 to 4, space, text'"
                )
            if two and int(label) not in OF_TWO:
                continue
            for written, meant in TREEBANK.items():
                text = text.replace(written, meant)
            texts.append(text.strip())
            labels.append(OF_TWO[int(label)] if two else int(label))
            parts.append(part)
    return text_records(texts, labels, CLASS_NAMES["binary" if two else variant], parts)


def _variant(path: Path) -> str:
    _, first = next(content_lines(path), (0, ""))
    return "binary" if "\t" in first else "fine"


def _parse(line: str, variant: str) -> tuple[str, str]:
    if variant == "binary":
        text, _, label = line.rpartition("\t")
        return label.strip(), text
    label, _, text = line.partition(" ")
    return label, text
