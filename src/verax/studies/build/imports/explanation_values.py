"""One imported explanation: scores that mark words or columns, or a text that is shown as it was written."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np

from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import Written
from verax.studies.model.item import Item
from verax.studies.model.spec_tables import Condition

# A cell that begins so is meant as JSON, and must be.
SCORES = re.compile(r'\s*(\[\s*[\[\]]|\{\s*["}])')
Scores = list[tuple[str, float]]
Span = tuple[int, int]
Row = tuple[tuple[str, str], ...]


def explanation(value: object, item: Item, names: tuple[str, ...], condition: Condition) -> Explanation:
    """The explanation in a cell, of the item's predicted class: positive scores speak for it.

    Args:
        value: a text, or scores: a list of [word, score], or an object of scores by word; also as JSON in a text.
        item: what is explained.
        names: of the classes.
        condition: what it is shown in; its parameter ``legend`` is shown below a text.
    """
    said = parse_scores(value)
    target, name, explainer = item.prediction, names[item.prediction], condition.explainer
    if isinstance(said, str):
        legend = str(condition.parameters.get("legend", ""))
        return Written((said,), target, name, shown_input(item.input), legend, explainer=explainer)
    if isinstance(item.input, str):
        return _of_text(said, item.input, target, name, explainer)
    return _of_row(said, item.input, target, name, explainer)


def parse_scores(value: object) -> str | Scores:
    """The scores in a cell, or the text that it holds."""
    if isinstance(value, str):
        text = value
        if not SCORES.match(text):
            return text
        try:
            value = json.loads(text)
        except ValueError as error:
            raise VeraxError(f"the scores {text[:60]!r} are not JSON ({error})") from error
    pairs = list(value.items()) if isinstance(value, dict) else value
    if isinstance(pairs, list) and all(map(_is_scored, pairs)):
        return [(str(feature), float(score)) for feature, score in pairs]
    raise VeraxError(
        f"the explanation {str(value)[:60]!r} is neither a text nor scores; write scores as "
        '[["word", 0.5], ...] or {"word": 0.5, ...}'
    )


def shown_input(given: str | Row) -> str | tuple[str, ...]:
    """An item's input as explanations keep it."""
    if isinstance(given, str):
        return given
    return tuple(f"{column} = {value}" for column, value in given)


def _is_scored(pair: object) -> bool:
    return (
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], int | float)
        and not isinstance(pair[1], bool)
    )


def _of_text(scores: Scores, text: str, target: int, name: str, explainer: str) -> Attribution:
    """Scores of words; a word is marked wherever it stands, or, scored as often as it stands, place by place."""
    times = Counter(word for word, _ in scores)
    places = {word: _places(word, text) for word in times}
    absent = [word for word in times if not places[word]]
    if absent:
        raise VeraxError(
            f"the word {absent[0]!r} has a score but is not in the "
            f"text{_more(len(absent) - 1, 'such words')}; write words as they stand there"
        )
    spans = []
    seen: Counter[str] = Counter()
    for word, _ in scores:
        if times[word] not in (1, len(places[word])):
            raise VeraxError(
                f"the word {word!r} has {times[word]} scores but stands {len(places[word])} times in the "
                "text; give it one, or one for each time"
            )
        spans.append(tuple(places[word]) if times[word] == 1 else (places[word][seen[word]],))
        seen[word] += 1
    features, numbers = (
        [word for word, _ in scores],
        np.array([score for _, score in scores], dtype=np.float64),
    )
    return Attribution(tuple(features), numbers, target, name, text, tuple(spans), explainer=explainer)


def _places(word: str, text: str) -> list[Span]:
    """Where a word stands, as a whole; as it is written, or else with other capitals."""
    before = r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", word) else ""
    pattern = before + re.escape(word) + after
    if not word.strip():
        return []
    exact = [match.span() for match in re.finditer(pattern, text)]
    return exact or [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _of_row(scores: Scores, row: Row, target: int, name: str, explainer: str) -> Attribution:
    """Scores of columns; those that are not given are 0."""
    columns = [column for column, _ in row]
    times = Counter(column for column, _ in scores)
    wrong = [column for column in times if column not in columns or times[column] > 1]
    if wrong:
        what = "is scored twice" if wrong[0] in columns else "is no column of the row"
        raise VeraxError(
            f"{wrong[0]!r} has a score but {what}{_more(len(wrong) - 1, 'such scores')}; the columns are "
            f"{', '.join(columns)}"
        )
    given = dict(scores)
    numbers = np.array([given.get(column, 0.0) for column in columns], dtype=np.float64)
    return Attribution(tuple(columns), numbers, target, name, shown_input(row), explainer=explainer)


def _more(count: int, what: str) -> str:
    return f" ({count} more {what})" if count else ""
