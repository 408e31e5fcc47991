"""Published texts with classes: reviews of films, products, books and beer, tweets, abstracts.

The Stanford Sentiment Treebank (Socher et al. 2013) as SentEval distributes it.

Three files sentiment-train, -dev and -test. Binary: ``text TAB label``, the train file also holds phrases;
fine: ``label text``, five classes. The whole sentences with two classes (6,920 to learn from, as papers have them) are
the fine ones without the neutral.

Amazon Review Polarity (Zhang et al. 2015), as published: CSV without a header, ``class,title,text``.

Class 1 is negative, 2 positive. Title and text are one input, the title first. In a folder with train.csv and test.csv
the test file is the test part.

Reviews with stars, JSON lines (plain or gzip): Amazon's and Goodreads' as McAuley's group publishes them.

One and two stars are negative, four and five positive; three stars, and Goodreads' zero for "no rating",
are dropped and counted.

Lei et al.'s (2016) BeerAdvocate reviews: gzip, ``rating rating rating rating rating TAB text``.

The five ratings, in [0, 1], are of appearance, aroma, palate, taste and overall. They become classes as in
later work on these files (Bao et al. 2018): up to 0.4 is negative, from 0.6 positive; those between are
dropped and counted, unless ratings are asked for as they are (``ratings=True``). In a folder with a train
and a heldout file, heldout is the test part.

Abstracts of the public arXiv metadata snapshot (JSON lines): computer science, mathematics or physics.

An article's ``categories`` ("cs.LG stat.ML") name archives. An abstract whose archives lie in exactly one
of the three fields is kept; those in several fields, or in none (statistics, economics, ...), are dropped
and counted. Mathematical physics (math-ph) is a physics archive at arXiv, and math.MP is but its second
name, so both count as physics. The archives of the 1990s count for the field they were merged into.
The primary category (cs.CL) is kept in the column ``category``.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from verax.data.files import read_cells
from verax.data.inputs import to_number
from verax.data.reading import (
    bad_line,
    content_lines,
    json_objects,
    not_utf8,
    numbered_lines,
    open_text,
    part_files,
)
from verax.data.records import Choice, Records, counted, dataset_formats, text_records
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


SST_CLASSES = {
    "binary": ("negative", "positive"),
    "fine": ("very negative", "negative", "neutral", "positive", "very positive"),
}
SST_SENTENCES = "sentences"
# The fine files write brackets and slashes as the Penn Treebank does; the binary ones as everybody does.
SST_TREEBANK = {"-lrb-": "(", "-rrb-": ")", "\\/": "/"}
# Of the five classes, which of two they are; the neutral one is neither.
SST_OF_TWO = {0: 0, 1: 0, 3: 1, 4: 1}


@dataset_formats.register("sst")
def sst(path: Path, choice: Choice) -> Records:
    """Film reviews with the publisher's split; label="binary", "fine" or "sentences" if the folder holds both files."""
    wanted = choice.among("sst", (*SST_CLASSES, SST_SENTENCES))
    two = wanted == SST_SENTENCES
    wanted = "fine" if two else wanted
    if (path / wanted).is_dir():
        path = path / wanted
    files = part_files(path, "sentiment-*", "sst")
    variant = _sst_variant(files[0][1])
    if choice.label is not None and wanted != variant:
        raise VeraxError(
            f"{path} holds the {variant} labels of SST, not the {wanted} ones; name their folder."
        )
    texts, labels, parts = [], [], []
    for part, file in files:
        for number, line in content_lines(file):
            label, text = _parse_sst(line, variant)
            if not (label.isdigit() and int(label) < len(SST_CLASSES[variant])):
                raise bad_line(
                    number, file, "'text TAB 0 or 1'" if variant == "binary" else "'0 to 4, space, text'"
                )
            if two and int(label) not in SST_OF_TWO:
                continue
            for written, meant in SST_TREEBANK.items():
                text = text.replace(written, meant)
            texts.append(text.strip())
            labels.append(SST_OF_TWO[int(label)] if two else int(label))
            parts.append(part)
    return text_records(texts, labels, SST_CLASSES["binary" if two else variant], parts)


def _sst_variant(path: Path) -> str:
    _, first = next(content_lines(path), (0, ""))
    return "binary" if "\t" in first else "fine"


def _parse_sst(line: str, variant: str) -> tuple[str, str]:
    if variant == "binary":
        text, _, label = line.rpartition("\t")
        return label.strip(), text
    label, _, text = line.partition(" ")
    return label, text


POLARITY_CLASSES = {"1": 0, "2": 1}


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
                    if len(row) != 3 or row[0] not in POLARITY_CLASSES:
                        raise bad_line(
                            rows.line_num, file, "a class (1 or 2), a title and a text, separated by commas"
                        )
                    title, text = (cell.strip() for cell in row[1:])
                    texts.append(f"{title}\n{text}" if title else text)
                    labels.append(POLARITY_CLASSES[row[0]])
                    parts.append(part)
            except UnicodeDecodeError as error:
                raise not_utf8(file, rows.line_num + 1) from error
            except csv.Error as error:
                raise bad_line(rows.line_num, file, f"CSV ({error})") from error
    return text_records(texts, labels, ("negative", "positive"), parts)


@dataset_formats.register("amazon")
def amazon(path: Path, choice: Choice) -> Records:
    """Amazon product reviews: ``overall`` and ``reviewText``."""
    return _star_reviews(path, choice.text or "reviewText", choice.label or "overall")


@dataset_formats.register("goodreads")
def goodreads(path: Path, choice: Choice) -> Records:
    """Goodreads book reviews: ``rating`` and ``review_text``."""
    return _star_reviews(path, choice.text or "review_text", choice.label or "rating")


def _star_reviews(path: Path, text_field: str, star_field: str) -> Records:
    if path.is_dir():
        raise VeraxError(f"{str(path)!r} is a folder; name one JSON-lines file in it.")
    texts: list[str] = []
    labels: list[int] = []
    dropped: Counter[str] = Counter()
    has_text = False
    for number, review in json_objects(path):
        stars = _stars(review.get(star_field))
        if stars is None:
            raise VeraxError(
                f"Line {number} of {path} has no stars from 0 to 5 in {star_field!r} (its fields: "
                f"{', '.join(review)}); name the right field with label=..."
            )
        has_text = has_text or text_field in review
        if stars == 0:
            dropped["unrated review"] += 1
        elif 2 < stars < 4:
            dropped["three-star review"] += 1
        else:
            # Some reviews have stars and no text; those count as empty texts.
            texts.append(str(review.get(text_field) or ""))
            labels.append(int(stars >= 4))
    if not has_text:
        raise VeraxError(f"No line of {path} has the field {text_field!r}; name the right one with text=...")
    notes = [counted(n, what, "dropped") for what, n in sorted(dropped.items())]
    return text_records(texts, labels, ("negative", "positive"), notes=notes)


def _stars(value: object) -> float | None:
    stars = to_number(value)
    return stars if stars is not None and 0 <= stars <= 5 else None


BEER_ASPECTS = ("appearance", "aroma", "palate", "taste", "overall")
NEGATIVE_UP_TO = 0.4
POSITIVE_FROM = 0.6
MIDDLE = 0.5


@dataset_formats.register("lei-beer")
def lei_beer(path: Path, choice: Choice) -> Records:
    """Beer reviews, negative or positive on one aspect (label="aroma" and so on), by default appearance."""
    aspect = choice.among("lei-beer", BEER_ASPECTS)
    texts, ratings, parts = [], [], []
    undecided = 0
    for part, file in part_files(path, "*.txt*", "lei-beer"):
        for number, line in content_lines(file):
            rating = _beer_rating(line, aspect)
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


def _beer_rating(line: str, aspect: str) -> float | None:
    ratings, tab, _ = line.partition("\t")
    try:
        values = [float(value) for value in ratings.split()]
    except ValueError:
        return None
    if not tab or len(values) != len(BEER_ASPECTS) or not all(0 <= value <= 1 for value in values):
        return None
    return values[BEER_ASPECTS.index(aspect)]


# What 0 and 1 mean. TR and AG are only ever 1 where HS is 1.
HATEVAL_CLASSES = {
    "HS": ("not hateful", "hateful"),
    "TR": ("generic target", "individual target"),
    "AG": ("not aggressive", "aggressive"),
}


@dataset_formats.register("hateval")
def hateval(path: Path, choice: Choice) -> Records:
    """Tweets, hateful or not (label="HS"); "TR" and "AG" are whom it targets and whether it is aggressive."""
    label = choice.among("hateval", tuple(HATEVAL_CLASSES))
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
    return text_records(texts, labels, HATEVAL_CLASSES[label], parts)


ARXIV_CLASSES = ("computer science", "mathematics", "physics")
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
    return replace(text_records(texts, labels, ARXIV_CLASSES, notes=notes), columns={"category": categories})


def article_fields(categories: str) -> set[int]:
    """The fields (numbers of CLASS_NAMES) that an article's categories lie in."""
    archives = (
        "math-ph" if category == "math.MP" else category.split(".")[0] for category in categories.split()
    )
    return {FIELD_OF_ARCHIVE[archive] for archive in archives if archive in FIELD_OF_ARCHIVE}
