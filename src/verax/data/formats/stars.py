"""Reviews with stars, JSON lines (plain or gzip): Amazon's and Goodreads' as McAuley's group publishes them.

One and two stars are negative, four and five positive; three stars, and Goodreads' zero for "no rating",
are dropped and counted.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from verax.data.encoding import to_number
from verax.data.lines import json_objects
from verax.data.records import Records, counted, text_records
from verax.data.registry import Choice, dataset_formats
from verax.errors import VeraxError


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
