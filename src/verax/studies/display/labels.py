"""What the columns and values of a table are called on the pages: a spec's own words, and ready ones for known tables.

They are put on finished screens, so that no protocol needs to know of them and the data keep their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from verax.errors import VeraxError
from verax.studies.model.item import Item
from verax.studies.model.screen import (
    Bars,
    Block,
    Cell,
    Evidence,
    Excerpt,
    Grid,
    Lines,
    Row,
    Screen,
    Telling,
    Told,
)
from verax.studies.model.sources import Material
from verax.studies.model.spec_tables import Labels

# Which countries and occupations are grouped is in `verax.data.adult`: Euro_1 is France, Germany, Italy and the
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
READY = {"adult": ADULT}


def labels_of(material: Material) -> Labels:
    """The spec's labels over the ready ones; items that were made elsewhere have none of these: they stay as made."""
    own = material.spec.labels
    ours = all(item.dataset in READY and not item.source for item in material.items)
    ready = READY.get(material.items[0].dataset, Labels()) if ours and material.items else Labels()
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
    if isinstance(block, Told):  # what somebody else wrote, a quote, stays as it is
        return replace(block, parts=tuple(_telling(part, labels) for part in block.parts))
    return block


def _telling(part: Telling, labels: Labels) -> Telling:
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
    for column, called in labels.columns.items():
        text = re.sub(rf"(?<!\w){re.escape(column)}(?= (above|up to) \S)", called.replace("\\", r"\\"), text)
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
