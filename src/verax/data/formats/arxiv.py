"""Abstracts of the public arXiv metadata snapshot (JSON lines): computer science, mathematics or physics.

An article's ``categories`` ("cs.LG stat.ML") name archives. An abstract whose archives lie in exactly one
of the three fields is kept; those in several fields, or in none (statistics, economics, ...), are dropped
and counted. Mathematical physics (math-ph) is a physics archive at arXiv, and math.MP is but its second
name, so both count as physics. The archives of the 1990s count for the field they were merged into.
The primary category (cs.CL) is kept in the column ``category``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from verax.data.lines import json_objects
from verax.data.records import Records, counted, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError

CLASS_NAMES = ("computer science", "mathematics", "physics")
COMPUTER_SCIENCE = ("cs", "cmp-lg")
MATHEMATICS = ("math", "alg-geom", "dg-ga", "funct-an", "q-alg")
PHYSICS = (
    "physics", "astro-ph", "cond-mat", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph", "nlin",
    "nucl-ex", "nucl-th", "quant-ph", "acc-phys", "adap-org", "ao-sci", "atom-ph", "chao-dyn", "chem-ph",
    "comp-gas", "mtrl-th", "patt-sol", "plasm-ph", "solv-int", "supr-con",
)  # fmt: skip
FIELD_OF_ARCHIVE = {
    archive: field
    for field, archives in enumerate((COMPUTER_SCIENCE, MATHEMATICS, PHYSICS))
    for archive in archives
}


@dataset_formats.register("arxiv")
def arxiv(path: Path, choice: Choice) -> Records:
    """Abstracts that belong to computer science, mathematics or physics alone."""
    choice.among("arxiv")
    if path.is_dir():
        raise VeraxError(f"{str(path)!r} is a folder; name the JSON-lines file in it.")
    texts, labels, categories = [], [], []
    several = none = 0
    for number, article in json_objects(path):
        if "abstract" not in article or "categories" not in article:
            raise VeraxError(
                f"Line {number} of {path} lacks 'abstract' or 'categories' (its fields: "
                f"{', '.join(article)}); check that this is the arXiv metadata snapshot."
            )
        fields = article_fields(str(article["categories"]))
        if len(fields) == 1:
            texts.append(str(article["abstract"] or "").strip())
            labels.append(min(fields))
            categories.append(str(article["categories"]).split()[0])  # arXiv names the primary one first
        several += len(fields) > 1
        none += not fields
    notes = [
        counted(several, "abstract", "in more than one of the three fields dropped"),
        counted(none, "abstract", "in none of the three fields dropped"),
    ]
    return replace(text_records(texts, labels, CLASS_NAMES, notes=notes), columns={"category": categories})


def article_fields(categories: str) -> set[int]:
    """The fields (numbers of CLASS_NAMES) that an article's categories lie in."""
    archives = (
        "math-ph" if category == "math.MP" else category.split(".")[0] for category in categories.split()
    )
    return {FIELD_OF_ARCHIVE[archive] for archive in archives if archive in FIELD_OF_ARCHIVE}
