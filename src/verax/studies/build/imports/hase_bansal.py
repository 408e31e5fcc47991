"""The published test forms of Hase and Bansal (2020) as a study: every item and explanation as it stands in them.

Their repository holds, for texts and for tables, blank workbooks for each method: the learning items with labels, model
outputs and explanations, and the test items before (pre) and after (post) explanations, shuffled anew in each. Master
files hold what the model says of the test items.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.explain.kinds import Written
from verax.studies.build.explanations import Key
from verax.studies.build.imports.imported_study import Imported, notes_on, shown_input
from verax.studies.build.imports.records import (
    Record,
    Table,
    as_text,
    class_number,
    each,
    needed,
    read_table,
    unstarred,
)
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import Condition
from verax.studies.definition.study import Item, Variant
from verax.studies.display.legends import Kind, question_on
from verax.studies.protocol.contract import make_protocol

Domain = Literal["text", "tabular"]
Test = Literal["forward", "counterfactual", "user-test"]

CLASS_NAMES = {"text": ("neg", "pos"), "tabular": ("below $50K", "above $50K")}
# Those of the paper; there are also forms for another, which the paper leaves out.
METHODS = ("LIME", "Anchor", "prototype", "decision_boundary", "composite")
ALL_METHODS = (*METHODS, "omission")
# What kind of explanation each is, by which people are asked how to read it.
KINDS: dict[str, Kind] = {
    "LIME": "weights",
    "Anchor": "rule",
    "prototype": "exemplar",
    "decision_boundary": "path",
    "composite": "composite",
    "omission": "weights",
}
USER_TEST, CHANGED = "user-test", "changed"
NUMBERS = {
    "forward": "learning = 16\ntest = 32\nleaf = true\n",
    "counterfactual": "test = 32\n",
    USER_TEST: "learning = 16\ntest = 32\nchanged = 32\nleaf = true\n",
}
TASKS = {
    "text": (
        "A computer program, the model, reads a sentence of a film review and says whether the review is "
        "negative (neg) or positive (pos)."
    ),
    "tabular": (
        "A computer program, the model, reads what a census says of a person and says whether this person "
        "earns less than $50,000 a year (below $50K) or more (above $50K)."
    ),
}
# By section 3 of the paper; in the forms, evidence above zero is always for the second class.
LEGENDS = {
    "LIME": (
        "The {pieces} that matter most, with their weights: those greater than zero speak for {high}, those "
        "less than zero for {low}. Baseline and weights add up to the total evidence, an estimate of the "
        "probability of {high}."
    ),
    "Anchor": (
        "A rule: as long as the {one} has these {pieces}, the model very probably gives the same answer, "
        "whatever the rest is."
    ),
    "prototype": (
        "The known example that the model finds most similar. Evidence greater than zero speaks for {high}, "
        "less than zero for {low}; 10 is the most. Informative {pieces} are those that matter most for the "
        "similarity."
    ),
    "decision_boundary": (
        "Changes that lead to the other answer, step by step{stars}. The evidence margin is greater than "
        "zero where the model says {high}, and less than zero where it says {low}."
    ),
    "composite": (
        "Several explanations of the same answer: the {pieces} that matter most (numbers greater than zero "
        "speak for {high}, less than zero for {low}), conditions under which the model very probably gives "
        "the same answer, changes that lead to the other answer{stars}, and the known example that the model "
        "finds most similar."
    ),
    "omission": (
        "What each of these {pieces} adds to the evidence: numbers greater than zero speak for {high}, less "
        "than zero for {low}. The evidence margin is greater than zero where the model says {high}."
    ),
}


def hase_bansal_spec(domain: Domain, test: Test, methods: Sequence[str] = METHODS) -> str:
    """A spec with one condition for each method, as the text of a TOML file.

    Args:
        domain: "text" (film reviews) or "tabular" (incomes).
        test: the protocol.
        methods: the conditions, see ``ALL_METHODS``.
    """
    for value, known in (
        (domain, list(CLASS_NAMES)),
        (test, list(NUMBERS)),
        *((method, list(ALL_METHODS)) for method in methods),
    ):
        if value not in known:
            raise VeraxError(f"There are no forms for {value!r}; there are: {', '.join(known)}.")
    head = f"""\
# The published test forms of Hase and Bansal (2020), "Evaluating Explainable AI: Which Algorithmic Explanations
# Help Users Predict Model Behavior?". To change this file: verax study import hase-bansal ... --spec FILE
title = "Predicting what a computer program says"
name = {json.dumps(f"published forms, {domain}, {test}")}
dataset = {json.dumps(dataset_name(domain))}
model = {json.dumps(dataset_name(domain))}
class_names = {json.dumps(list(CLASS_NAMES[domain]))}

[protocol]
name = {json.dumps(test)}
{NUMBERS[test]}
[screening]
method = "excludes"     # as published: who cannot say how to read the own method's explanations does not take part

[texts]
task = {json.dumps(TASKS[domain])}
"""
    return head + "".join(_condition(method, domain) for method in methods)


def dataset_name(domain: Domain) -> str:
    """What the forms' data is called in items."""
    return f"hase-bansal-2020-{domain}"


def _condition(method: str, domain: Domain) -> str:
    low, high = CLASS_NAMES[domain]
    is_text = domain == "text"
    legend = LEGENDS[method].format(
        one="text" if is_text else "record",
        pieces="words" if is_text else "values",
        stars=" (changed words stand between stars)" if is_text else "",
        low=low,
        high=high,
    )
    return f"""
[[conditions]]
name = {json.dumps(method)}
explainer = "imported"
parameters.legend = {json.dumps(legend)}
question = {_question(method, domain)}
"""


def _question(method: str, domain: Domain) -> str:
    """The question on how to read the explanations of a method, as TOML."""
    asked = question_on(KINDS[method], "text" if domain == "text" else "table")
    answers = json.dumps(asked.answers)
    return f"{{ question = {json.dumps(asked.question)}, answers = {answers}, correct = {asked.correct} }}"


PUBLISHED = Path("data", "HIT-data-public-final")
# What all forms of an item must agree on, where they have it.
SHARED = ("context", "label", "model", "perturbation")
EXPLANATIONS = ("explanation", "explanation_a", "explanation_b")
Row = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Forms:
    """The forms of one domain and test.

    Attributes:
        learning: the learning items with labels and model outputs; None in a test that has none.
        master: the test items with labels and model outputs.
        explained: for each method the form with its explanations.
        others: all further forms of these methods.
    """

    learning: Table | None
    master: Table
    explained: dict[str, Table]
    others: list[Table]


def import_hase_bansal(spec: StudySpec, folder: str | Path, domain: Domain) -> Imported:
    """Reads the forms for a spec whose conditions are named like their methods, see `hase_bansal_spec`.

    Args:
        spec: the protocol is "forward", "counterfactual", or "user-test", which has both.
        folder: a copy of the published repository, with the folders ``text`` and ``tabular``.
        domain: which of them.
    """
    if domain not in CLASS_NAMES:
        raise VeraxError(f"There are no forms for {domain!r}; there are: {', '.join(CLASS_NAMES)}.")
    names = CLASS_NAMES[domain]
    if spec.protocol["name"] == USER_TEST:
        return _both_parts(spec, folder, domain)
    methods = [condition for condition in spec.conditions if condition.kind != "none"]
    forms = _read(
        Path(folder) / domain / PUBLISHED, spec.protocol["name"], [method.name for method in methods]
    )
    agreed = _agreement(forms)
    # The authors took the learning items from their development set.
    learning = [] if forms.learning is None else _items(forms.learning, "learning", "validation", domain)
    unnumbered = learning + _items(forms.master, "test", "test", domain)
    items = [replace(item, id=f"i{number:03d}") for number, item in enumerate(unnumbered, start=1)]
    protocol = make_protocol(spec.protocol)
    explanations: dict[Key, Explanation] = {}
    for condition in methods:
        records = _by_id(forms.explained[condition.name])
        for item in items:
            if item.role in protocol.explained:
                explanations[item.id, condition.name, "model"] = _explanation(
                    records[item.source], item, names, condition
                )
    return Imported(
        kind="text" if domain == "text" else "table",
        class_names=names,
        items=tuple(items),
        explanations=explanations,
        notes=(*agreed, *notes_on(items, names, protocol)),
    )


def _both_parts(spec: StudySpec, folder: str | Path, domain: Domain) -> Imported:
    """The forms of both tests as one user test."""
    forward, changed = (
        import_hase_bansal(spec.model_copy(update={"protocol": {"name": test}}), folder, domain)
        for test in ("forward", "counterfactual")
    )
    numbers = {
        item.id: f"i{number:03d}" for number, item in enumerate(changed.items, start=len(forward.items) + 1)
    }
    items = [replace(item, id=numbers[item.id], role=CHANGED) for item in changed.items]
    explanations = {
        (numbers[item], condition, model): found
        for (item, condition, model), found in changed.explanations.items()
    }
    return replace(
        forward,
        items=(*forward.items, *items),
        explanations={**forward.explanations, **explanations},
        notes=tuple(dict.fromkeys((*forward.notes, *changed.notes))),
    )


def _read(folder: Path, test: str, methods: Sequence[str]) -> Forms:
    if test not in ("forward", "counterfactual"):
        raise VeraxError(
            f"There are forms for forward and counterfactual, and none for the protocol {test!r}."
        )
    unknown = [name for name in methods if name not in ALL_METHODS]
    if unknown:
        raise VeraxError(f"There are no forms for {unknown[0]!r}; there are: {', '.join(ALL_METHODS)}.")
    if not folder.is_dir():
        raise VeraxError(
            f"There is no folder {str(folder)!r}; give the folder of the published repository, in which that "
            "should be."
        )
    master = read_table(folder / "Master-Data-Files" / f"master-{test}.xlsx")
    tests = folder / "Tests" / test.capitalize()
    rounds = {
        when: {name: read_table(tests / f"{test}-{when}-{name}.xlsx") for name in methods}
        for when in ("pre", "post")
    }
    if test == "counterfactual":
        return Forms(None, master, rounds["post"], list(rounds["pre"].values()))
    explained = {name: read_table(tests / f"learning-{name}.xlsx") for name in methods}
    others = [form for forms in rounds.values() for form in forms.values()]
    return Forms(read_table(tests / "learning-blackbox.xlsx"), master, explained, others)


def _agreement(forms: Forms) -> list[str]:
    """Sentences that say which forms were compared; the first item on which two differ is an error."""
    explained = list(forms.explained.values())
    if forms.learning is None:
        compared = [(forms.master, forms.others + explained)]
    else:
        compared = [(forms.learning, explained), (forms.master, forms.others)]
    for first, others in compared:
        for other in others:
            _compare(first, other)
    return [
        f"{len(others)} forms agree with {first.path.name} on all {len(first.records)} items."
        for first, others in compared
    ]


def _compare(first: Table, other: Table) -> None:
    known, others = _by_id(first), _by_id(other)
    if known.keys() != others.keys():
        odd = sorted(known.keys() ^ others.keys())
        raise VeraxError(
            f"{first.path} and {other.path} have different items: {odd[0]} is in one of them only "
            f"({len(odd)} such items); get the published files again."
        )
    for name, record in others.items():
        for column in SHARED:
            if column in other.columns and record.cells.get(column) != known[name].cells.get(column):
                raise VeraxError(
                    f"The item {name} has another {column!r} in {record.where} than in {known[name].where}; "
                    "get the published files again."
                )


def _by_id(table: Table) -> dict[str, Record]:
    names = each(table.records, _source)
    by_id = dict(zip(names, table.records, strict=True))
    if len(by_id) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise VeraxError(f"{table.path} has the item {twice} twice; get the published files again.")
    return by_id


def _source(record: Record) -> str:
    return as_text(needed(record, "id"))


def _items(table: Table, role: str, part: str, domain: Domain) -> list[Item]:
    about = Item("", role, "", 0, 0, dataset=dataset_name(domain), part=part)
    return each(table.records, lambda record: _item(record, about, domain))


def _item(record: Record, about: Item, domain: Domain) -> Item:
    names = CLASS_NAMES[domain]
    context = as_text(needed(record, "context"))
    given: str | Row = context if domain == "text" else _row(context)
    changed = record.cells.get("perturbation")
    after = (
        None
        if changed is None
        else class_number(needed(record, "perturbation_model"), names, "perturbation_model")
    )
    return replace(
        about,
        input=given,
        label=class_number(needed(record, "label"), names, "label"),
        prediction=class_number(needed(record, "model"), names, "model"),
        place=int(_source(record)),
        source=_source(record),
        variant=None if changed is None or after is None else _variant(given, as_text(changed), after),
    )


def _row(context: str) -> Row:
    """The row in lines such as "Age = 37.00 < Age <= 48.00"."""
    pairs = [line.partition(" = ")[::2] for line in context.splitlines() if line.strip()]
    return tuple((column, value) for column, value in pairs)


def _variant(given: str | Row, changed: str, prediction: int) -> Variant:
    if isinstance(given, str):
        return Variant(*unstarred(changed), prediction)
    row = dict(given)
    for line in changed.splitlines():
        column, _, change = line.partition(" : ")
        before, _, after = change.partition(" --> ")
        if row.get(column) != before or not after:
            raise VeraxError(f"the change {line!r} does not fit the row")
        row[column] = after
    places = tuple(place for place, (column, value) in enumerate(given) if row[column] != value)
    return Variant(tuple(row.items()), places, prediction)


def _explanation(record: Record, item: Item, names: Sequence[str], condition: Condition) -> Written:
    paragraphs = tuple(as_text(record.cells[column]) for column in EXPLANATIONS if column in record.cells)
    if not paragraphs:
        raise VeraxError(
            f"The item {item.source} has no explanation in {record.where}; get the published files again."
        )
    return Written(
        paragraphs=paragraphs,
        target=item.prediction,
        target_name=names[item.prediction],
        input=shown_input(item.input),
        legend=str(condition.parameters.get("legend", "")),
        explainer=condition.name,
    )
