"""Texts, rows and columns as people read them.

Only what stands between words is changed. So every word keeps its marks, and a place in the text its word.

They are put on finished screens, so that no protocol needs to know of them and the data keep their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from verax.arrays import FloatArray
from verax.data.table import Column, Schema
from verax.data.words import MARK, WORD, unmarked
from verax.errors import VeraxError
from verax.phrases import LANGUAGE, language_spoken
from verax.phrases import say as say_phrase
from verax.studies.definition.screen import (
    Bars,
    Block,
    Cell,
    Evidence,
    Excerpt,
    Grid,
    Lines,
    Row,
    Screen,
    WordedExplanation,
    WordedPart,
)
from verax.studies.definition.spec_tables import Labels
from verax.studies.definition.study import Item, Material

say = partial(say_phrase, "described")
TOKENISED = re.compile(r"\w [,.;:!?](\s|$)|\w n't\b|\w '(s|re|ve|ll|d|m)\b|(^|\s)(``|\() \w", re.IGNORECASE)
# What closes clings to the word before, what opens to the word after.
CLOSE, OPEN = frozenset(",.;:!?%)]}…"), frozenset("([{$#")
# What the Penn Treebank cuts off a word, besides n't.
ENDINGS = frozenset({"s", "re", "ve", "ll", "d", "m"})
# Bytes of Windows that were read as something else.
WINDOWS = str.maketrans(
    {"\x85": "…", "\x91": "‘", "\x92": "’", "\x93": "“", "\x94": "”", "\x96": "–", "\x97": "—"}
)


def readable(text: str) -> str:
    """A text as people write it; one that nobody cut into tokens stays as it is."""
    words, gaps = WORD.findall(text), WORD.split(text)
    pieces = zip(readable_gaps(text, gaps, words), [*words, ""], strict=True)
    return unmarked("".join(gap + word for gap, word in pieces))


def readable_gaps(text: str, gaps: Sequence[str], words: Sequence[str]) -> list[str]:
    """What stands between the words of a text, as people write it.

    Args:
        text: the text, which tells whether it was cut into tokens.
        gaps: what stands before the first word, between the words, and after the last.
        words: one fewer; none of them is changed.
    """
    plain = [gap.translate(WINDOWS) for gap in gaps]
    if TOKENISED.search(unmarked(text)) is None:
        return plain
    if MARK in text:
        return _around_marks(plain, words)
    is_open = dict.fromkeys("\"'", False)
    return [
        _contracted(_closed_up(gap, place > 0, is_open), plain, words, place)
        for place, gap in enumerate(plain)
    ]


def _around_marks(gaps: Sequence[str], words: Sequence[str]) -> list[str]:
    """Without the space before a mark that closes and after one that opens, where marks are words of their own."""
    after = [False, *(unmarked(word) in OPEN for word in words)]
    before = [*(unmarked(word) in CLOSE for word in words), False]
    return [
        "" if gap.isspace() and (opens or closes) else gap
        for gap, opens, closes in zip(gaps, after, before, strict=True)
    ]


def _closed_up(gap: str, after_word: bool, is_open: dict[str, bool]) -> str:
    """The gap without the spaces that part its marks from the words they belong to."""
    gap = gap.replace("``", '"').replace("''", '"')
    made, space, clings = "", "", False
    for place, mark in enumerate(gap):
        if mark.isspace():
            space += mark
            continue
        next_to_space = gap[place + 1 : place + 2].isspace() or place + 1 == len(gap)
        closes, opens = mark in CLOSE, mark in OPEN
        # A quotation mark between spaces closes what was opened, or opens; others already cling to something.
        if mark in is_open and (space or not (made or after_word)) and (next_to_space or mark == '"'):
            closes, opens = is_open[mark], not is_open[mark]
            is_open[mark] = opens
        made += ("" if (closes and (made or after_word)) or clings else space) + mark
        space, clings = "", opens
    if "\n" in space:
        clings = False
    return made + ("" if clings else space)


def _contracted(gap: str, gaps: Sequence[str], words: Sequence[str], place: int) -> str:
    """The gap, if it is within a word or number that was cut: nothing but what belongs there."""
    if not 0 < place < len(words):
        return gap
    before, after = words[place - 1], words[place]
    if (
        gaps[place] == " "
        and after.lower() == "n"
        and gaps[place + 1].startswith("'")
        and words[place + 1 : place + 2]
    ):
        return "" if words[place + 1].lower() == "t" else gap
    if gaps[place] == " '" and after.lower() in ENDINGS:
        return "'"
    if gaps[place] == " . " and before.isdecimal() and after.isdecimal():
        return "."
    if gaps[place] == " , " and before.isdecimal() and len(before) <= 3 and re.fullmatch(r"\d{3}", after):
        return ","
    return gap


# "Age <= 28.00", "28.00 < Age <= 37.00", "Age > 48.00", wherever it stands in a line.
RANGE = re.compile(r"(?:-?[\d.]+ < )?([^\W\d][^|<>=]*?) (?:<=|>) -?\d[\d.]*")


def readable_row(schema: Schema, row: Sequence[float] | FloatArray) -> tuple[tuple[str, str], ...]:
    """An encoded row as pairs of a column and its value as people read it."""
    return tuple(
        (column.name, _readable(schema, place, column, float(row[place])))
        for place, column in enumerate(schema.columns)
    )


def _readable(schema: Schema, place: int, column: Column, value: float) -> str:
    if column.categories is not None and column.binned:
        return _readable_range(column.name, column.categories[int(value)])
    text = schema.describe(place, value)
    return text.removeprefix(f"{column.name} = ") if " = " in text else say("missing")


def ranges_in_words(line: str) -> str:
    """A line of an explanation with its ranges in words: "Age above 28, up to 37"."""
    return RANGE.sub(lambda found: f"{found[1]} {_readable_range(found[1], found[0])}", line)


def row_in_words(row: Sequence[str]) -> tuple[str, ...]:
    """A row of a table of an explanation; ranges of the column that it is named after go without the name."""
    name, *rest = row
    return tuple(map(ranges_in_words, (name, *(_readable_range(name, cell) for cell in rest))))


def _readable_range(name: str, category: str) -> str:
    """The range in "28.00 < Age <= 37.00" in words, without the column's name, which stands beside it."""
    low, name_found, high = category.partition(name)
    if not name_found:
        return category
    if low.endswith(" < ") and high.startswith(" <= "):
        return say("between", low=_trimmed(low[:-3]), high=_trimmed(high[4:]))
    if not low and high.startswith(" <= "):
        return say("up-to", high=_trimmed(high[4:]))
    if not low and high.startswith(" > "):
        return say("above", low=_trimmed(high[3:]))
    return category


def _trimmed(number: str) -> str:
    return number.removesuffix(".00")


# Which countries and occupations are grouped is in `verax.data.formats.adult`: Euro_1 is France, Germany, Italy and the
# Netherlands, Euro_2 is Greece, Hungary, Poland and Portugal; executives are "White-Collar".
ADULT = Labels(
    columns={
        "Workclass": "Employer",
        "Marital Status": "Marital status",
        "Relationship": "Role in the family",
        "Capital Gain": "Gains from investments",
        "Capital Loss": "Losses from investments",
        "Hours per week": "Hours of work a week",
        "Country": "Born in",
    },
    values={
        "Workclass": {
            "?": "not known",
            "Federal-gov": "federal government",
            "Local-gov": "local government",
            "Never-worked": "never worked",
            "Private": "private company",
            "Self-emp-inc": "self-employed, own company",
            "Self-emp-not-inc": "self-employed",
            "State-gov": "state government",
            "Without-pay": "works without pay",
        },
        "Education": {
            "Associates": "associate degree",
            "Bachelors": "bachelor's degree",
            "Doctorate": "doctorate",
            "Dropout": "left school early",
            "High School grad": "high school",
            "Masters": "master's degree",
            "Prof-School": "professional school",
        },
        "Marital Status": {
            "Married": "married",
            "Never-Married": "never married",
            "Separated": "separated or divorced",
            "Widowed": "widowed",
        },
        "Occupation": {
            "?": "not known",
            "Admin": "office clerk",
            "Blue-Collar": "manual work",
            "Military": "military",
            "Other": "other",
            "Professional": "professional",
            "Sales": "sales",
            "Service": "service",
            "White-Collar": "manager",
        },
        "Relationship": {
            "Husband": "husband",
            "Not-in-family": "not in a family",
            "Other-relative": "other relative",
            "Own-child": "child",
            "Unmarried": "unmarried",
            "Wife": "wife",
        },
        "Race": {
            "Amer-Indian-Eskimo": "American Indian or Eskimo",
            "Asian-Pac-Islander": "Asian or Pacific Islander",
            "Black": "Black",
            "Other": "other",
            "White": "White",
        },
        "Sex": {"Female": "female", "Male": "male"},
        "Capital Gain": {"High": "high", "Low": "low", "None": "none"},
        "Capital Loss": {"High": "high", "Low": "low", "None": "none"},
        "Country": {
            "?": "not known",
            "British-Commonwealth": "British Commonwealth",
            "Euro_1": "western Europe",
            "Euro_2": "southern or eastern Europe",
            "Latin-America": "Latin America",
            "Other": "other",
            "SE-Asia": "South-East Asia",
            "South-America": "South America",
            "United-States": "United States",
        },
    },
)
ADULT_IN_GERMAN = Labels(
    columns={
        "Age": "Alter",
        "Workclass": "Arbeitgeber",
        "Education": "Abschluss",
        "Marital Status": "Familienstand",
        "Occupation": "Beruf",
        "Relationship": "Rolle in der Familie",
        "Race": "Ethnische Zugehörigkeit",
        "Sex": "Geschlecht",
        "Capital Gain": "Gewinne aus Geldanlagen",
        "Capital Loss": "Verluste aus Geldanlagen",
        "Hours per week": "Arbeitsstunden pro Woche",
        "Country": "Geboren in",
    },
    values={
        "Workclass": {
            "?": "nicht bekannt",
            "Federal-gov": "Bundesbehörde",
            "Local-gov": "Gemeinde",
            "Never-worked": "nie gearbeitet",
            "Private": "Privatunternehmen",
            "Self-emp-inc": "selbstständig, eigene Firma",
            "Self-emp-not-inc": "selbstständig",
            "State-gov": "Behörde eines Bundesstaats",
            "Without-pay": "arbeitet ohne Bezahlung",
        },
        "Education": {
            "Associates": "Associate-Abschluss",
            "Bachelors": "Bachelor",
            "Doctorate": "Promotion",
            "Dropout": "Schule abgebrochen",
            "High School grad": "Highschool",
            "Masters": "Master",
            "Prof-School": "berufsbezogenes Studium",
        },
        "Marital Status": {
            "Married": "verheiratet",
            "Never-Married": "nie verheiratet",
            "Separated": "getrennt oder geschieden",
            "Widowed": "verwitwet",
        },
        "Occupation": {
            "?": "nicht bekannt",
            "Admin": "Bürokraft",
            "Blue-Collar": "körperliche Arbeit",
            "Military": "Militär",
            "Other": "anderer",
            "Professional": "akademischer Beruf",
            "Sales": "Verkauf",
            "Service": "Dienstleistung",
            "White-Collar": "Führungskraft",
        },
        "Relationship": {
            "Husband": "Ehemann",
            "Not-in-family": "außerhalb einer Familie",
            "Other-relative": "anderes Familienmitglied",
            "Own-child": "Kind",
            "Unmarried": "unverheiratet",
            "Wife": "Ehefrau",
        },
        "Race": {
            "Amer-Indian-Eskimo": "indigen (Amerika)",
            "Asian-Pac-Islander": "asiatisch oder pazifisch",
            "Black": "Schwarz",
            "Other": "andere",
            "White": "weiß",
        },
        "Sex": {"Female": "weiblich", "Male": "männlich"},
        "Capital Gain": {"High": "hoch", "Low": "niedrig", "None": "keine"},
        "Capital Loss": {"High": "hoch", "Low": "niedrig", "None": "keine"},
        "Country": {
            "?": "nicht bekannt",
            "British-Commonwealth": "Commonwealth",
            "China": "China",
            "Euro_1": "Westeuropa",
            "Euro_2": "Süd- oder Osteuropa",
            "Latin-America": "Lateinamerika",
            "Other": "anderswo",
            "SE-Asia": "Südostasien",
            "South-America": "Südamerika",
            "United-States": "Vereinigte Staaten",
        },
    },
)
# What is ready, by dataset and language.
READY: Mapping[str, Mapping[str, Labels]] = {"adult": {"en": ADULT, "de": ADULT_IN_GERMAN}}


def labels_of(material: Material) -> Labels:
    """The spec's labels over the ready ones; items that were made elsewhere have none of these: they stay as made."""
    own = material.spec.labels
    ours = all(item.dataset in READY and not item.source for item in material.items)
    by_language = READY[material.items[0].dataset] if ours and material.items else {}
    ready = by_language.get(language_spoken(), by_language.get(LANGUAGE, Labels()))
    _refuse_unknown(own, material.items)
    values = {
        column: {**ready.values.get(column, {}), **own.values.get(column, {})}
        for column in {*ready.values, *own.values}
    }
    return Labels(columns={**ready.columns, **own.columns}, values=values)


def labelled(screen: Screen, labels: Labels) -> Screen:
    """The screen with columns and values called by their labels."""
    return replace(screen, blocks=tuple(_labelled(block, labels) for block in screen.blocks))


def _refuse_unknown(own: Labels, items: tuple[Item, ...]) -> None:
    known = {column for item in items if not isinstance(item.input, str) for column, _ in item.input}
    for column in (*own.columns, *own.values):
        if column not in known:
            what = (
                f"there are {', '.join(sorted(known))}"
                if known
                else "they are for tables, and these are texts"
            )
            raise VeraxError(f"[labels] names the column {column!r}, which there is not; {what}.")


def _labelled(block: Block, labels: Labels) -> Block:
    if isinstance(block, Row):
        return replace(block, cells=tuple(_cell(cell, labels) for cell in block.cells))
    if isinstance(block, Bars):
        return replace(block, pairs=tuple((_bar(name, labels), value) for name, value in block.pairs))
    if isinstance(block, Evidence):
        return replace(block, fragments=tuple(_pair(name, " = ", labels) for name in block.fragments))
    if isinstance(block, WordedExplanation):  # what somebody else wrote, a quote, stays as it is
        return replace(block, parts=tuple(_telling(part, labels) for part in block.parts))
    return block


def _telling(part: WordedPart, labels: Labels) -> WordedPart:
    match part:
        case Lines():
            return replace(part, text=_in_text(part.text, labels))
        case Grid():
            return replace(part, rows=tuple(_table_row(row, labels) for row in part.rows))
        case Excerpt():
            return part


def _cell(cell: Cell, labels: Labels) -> Cell:
    values: Mapping[str, str] = labels.values.get(cell.column, {})
    column = labels.columns.get(cell.column, cell.column)
    return replace(cell, column=column, value=values.get(cell.value, cell.value))


def _pair(said: str, joint: str, labels: Labels) -> str:
    """A column and its value in one line; anything else as it is."""
    column, found, value = said.partition(joint)
    if not found:
        return labels.columns.get(said, said)
    return f"{labels.columns.get(column, column)}{joint}{labels.values.get(column, {}).get(value, value)}"


def _bar(name: str, labels: Labels) -> str:
    """A column and its value; of weights also "Workclass = Private" and "Age up to 28"."""
    paired = _pair(name, ": ", labels)
    return _in_text(name, labels) if paired == name else paired


def _in_text(text: str, labels: Labels) -> str:
    """What an explanation says, with "Workclass = Private" and "Hours per week up to 40" wherever they stand."""
    # What stands before the number of a range: "above " or "up to ".
    begins = "|".join(
        re.escape(said.partition("|")[0]) for said in (say("above", low="|"), say("up-to", high="|"))
    )
    for column, called in labels.columns.items():
        text = re.sub(rf"(?<!\w){re.escape(column)}(?= ({begins})\S)", called.replace("\\", r"\\"), text)
    for column, values in labels.values.items():
        for value in sorted(values, key=len, reverse=True):
            said = rf"(?<!\w){re.escape(column)} = {re.escape(value)}(?![\w-])"
            text = re.sub(
                said, f"{labels.columns.get(column, column)} = {values[value]}".replace("\\", r"\\"), text
            )
    return text


def _table_row(row: tuple[str, ...], labels: Labels) -> tuple[str, ...]:
    """A row of a table, such as Workclass, Private, ?; or one whose cells name their columns themselves."""
    column, *said = row
    if column not in labels.columns and column not in labels.values:
        return tuple(_in_text(cell, labels) for cell in row)
    values = labels.values.get(column, {})
    return (labels.columns.get(column, column), *(values.get(value, value) for value in said))
