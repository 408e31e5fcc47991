"""Several simulation studies pooled as in the paper of Hase and Bansal (2020): its Tables 1, 2, 3 and 5.

The paper has four: text and tabular data, forward and counterfactual. Conditions are matched by name. Items of two
studies are one item where both ask the same about the same input, as a build for people with less time does; otherwise
they are different items whatever their ids. People who agreed to be linked are one person in all studies, so that
nobody is two independent ones; others are counted in each study that they took part in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from verax.codec import encoded
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.tables import Column, Table, Value
from verax.results.units import POINTS
from verax.run.canonical import canonical
from verax.stats.crossed.between import changes
from verax.stats.crossed.result import Crossed
from verax.stats.responses import responses
from verax.studies.analysis.between.change_tables import ALL
from verax.studies.analysis.between.effects import (
    claimed_items,
    complete_pairs,
    counted_answers,
    paired,
    ratings,
    ratings_as_published,
)
from verax.studies.analysis.between.hase2020 import (
    PAPER,
    before_of_highest,
    published_change,
    published_ratings,
    published_sides,
    published_table,
)
from verax.studies.analysis.between.ratings import correctness_table, rating_table, ratings_table
from verax.studies.analysis.pooled import Several, pool, say
from verax.studies.analysis.primary import FindingsCollector
from verax.studies.protocol.contract import Analysed, Findings
from verax.studies.results.study_summary import Options

if TYPE_CHECKING:
    from verax.stats.crossed.claims import Items

say_analysis = partial(say_phrase, "analysis")
DOMAINS = {"text": "text", "table": "tabular"}


@dataclass(frozen=True, eq=False)
class _Study:
    """One study, and where it stood among those that were given."""

    data: Analysed
    place: int

    @property
    def answers(self) -> pd.DataFrame:
        """The paper counts people too who left early."""
        return self.data.intended if len(self.data.intended) else self.data.responses


class Simulations(Several[_Study]):
    """The paper's tables over several studies, our own estimates beside them."""

    def title(self, data: Analysed) -> str:
        """The study's own name."""
        return data.study.spec.own_name

    def study(self, data: Analysed, title: str, place: int) -> _Study:  # noqa: ARG002
        """As it is: every table counts other answers of it."""
        return _Study(data, place)

    def add(self, gathered: FindingsCollector, studies: Sequence[_Study], options: Options) -> None:
        """All tables that can be made."""
        plain = next((one.data.control for one in studies if one.data.control is not None), None)
        practice = (
            say_analysis("practice") if plain is None else say_analysis("practice-compare", control=plain)
        )
        makers = _published(studies, options) if options.estimator != "crossed" else {}
        makers |= _own(studies, options, practice) | _by_rating(studies, options)
        for what, make in makers.items():
            gathered.add(what, make)

    def over_people(self, key: str) -> bool:  # noqa: ARG002
        """Every table joins the people of all studies."""
        return True


def pooled_simulation(studies: Sequence[Analysed], options: Options) -> Findings:
    """The paper's tables over several studies, our own estimates beside them, and what cannot be made."""
    return pool(studies, options, Simulations())


Makers = dict[str, Callable[[], Table]]


def _published(studies: Sequence[_Study], options: Options) -> Makers:
    """Tables 1, 2, 3 and 5 by the published rule: whose answers count, and how."""
    pairs = _joined(studies, lambda one: complete_pairs(paired(counted_answers(one, options), one.scored)))
    rated = _joined(studies, ratings_as_published)
    order = _order(studies)
    methods = tuple(dict.fromkeys(name for study in studies for name in study.data.explained_methods))

    def changed(key: str, by: str) -> Table:
        found = {name: published_change(rows, options) for name, rows in _groups(pairs, by)}
        table = published_table(key, say("paper-change", by=by, paper=PAPER), found, order)
        compared = [(name, before_of_highest(rows)) for name, rows in _groups(pairs, by)]
        said = tuple(
            f"{name.capitalize()}: {sentence}" for name, sentence in compared if sentence is not None
        )
        return replace(table, notes=(*table.notes, *said))

    domains = dict(_groups(rated, "domain"))
    made: list[tuple[int, Callable[[], Table]]] = [
        (1, lambda: changed("paper-1", "domain")),
        (2, lambda: changed("paper-2", "test")),
        (
            3,
            lambda: published_ratings(
                "paper-3", say("paper-ratings", paper=PAPER), domains, methods, options
            ),
        ),
        (5, lambda: published_sides("paper-5", say("paper-sides", paper=PAPER), domains, methods, options)),
    ]
    return {say("paper-table", number=number): make for number, make in made}


def _own(studies: Sequence[_Study], options: Options, practice: str) -> Makers:
    """The same by our own estimators, of people who completed the study."""
    pairs = _joined(studies, lambda one: complete_pairs(paired(one.responses, one.scored)))
    rated = _joined(studies, lambda one: ratings(one.responses))
    order = _order(studies)
    return {
        say("change", by="domain"): lambda: _change_table(
            "change-by-domain", "domain", pairs, order, practice
        ),
        say("change", by="test"): lambda: _change_table("change-by-test", "test", pairs, order, practice),
        say("ratings"): lambda: _ratings_table(rated, order, options),
        say("correctness"): lambda: _correctness_table(rated),
    }


def _by_rating(studies: Sequence[_Study], options: Options) -> Makers:
    """Whether ratings tell who is right, for each study in which both stand on one page (section 6.3 of the paper)."""
    makers: Makers = {}
    for study in studies:
        data, number = study.data, study.place
        rated = ratings(data.responses)
        # Alone, the first study has this table among its own.
        if not number or not len(rated) or not rated["score"].notna().any():
            continue
        published = None
        if options.estimator != "crossed":
            published = ratings_as_published(data)
            published = published[published["condition"].isin(data.explained_methods)]
        makers[say("rating-against-correctness", study=data.study.spec.own_name)] = partial(
            _rating_against_correctness, data, rated, published, number, options
        )
    return makers


def _rating_against_correctness(
    data: Analysed, rated: pd.DataFrame, published: pd.DataFrame | None, number: int, options: Options
) -> Table:
    table, _ = rating_table(rated, published, data.study.spec.rating.points, options)
    return replace(
        table,
        key=f"{table.key}-{number + 1}",
        title=f"{table.title}: {data.study.spec.own_name}",
    )


def _within_methods(rows: pd.DataFrame) -> pd.DataFrame:
    """People told apart between methods, which the estimators of single methods ask for."""
    return rows.assign(participant=rows["participant"] + " with " + rows["condition"].astype(str))


def _order(studies: Sequence[_Study]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for study in studies for one in study.data.conditions))


def _groups(rows: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    return [(str(name), own) for name, own in rows.groupby(column, sort=False)]


def _joined(studies: Sequence[_Study], frame: Callable[[Analysed], pd.DataFrame]) -> pd.DataFrame:
    """The rows of all studies, with their domain, test and study; participants and items told apart.

    An item of which two studies ask the same is one item, as in a build for people with less time.
    """
    parts = []
    for study, names in zip(studies, _names_of_items([study.data for study in studies]), strict=True):
        data, number = study.data, study.place
        rows = frame(data)
        parts.append(
            rows.assign(
                participant=rows["participant"].astype(str).map(data.person(number)),
                item=rows["item"].astype(str).map(names),
                domain=DOMAINS.get(data.study.kind, data.study.kind),
                test=data.study.spec.protocol["name"],
                study=f"study {number + 1}",
            )
        )
    joined = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    if not len(joined):
        raise VeraxError(f"None of the {len(studies)} studies has an answer that can be pooled.")
    return joined


def _names_of_items(studies: Sequence[Analysed]) -> list[dict[str, str]]:
    """By study and id, what an item is called over all: the same where the same is asked about the same input."""
    known: dict[str, str] = {}
    named: list[dict[str, str]] = []
    for number, data in enumerate(studies):
        asked_by = [data.study.kind, data.study.spec.protocol["name"]]
        own: dict[str, str] = {}
        for item in data.study.items.values():
            what = canonical([*asked_by, encoded(replace(item, id="", probabilities=(), group=0))])
            name = known.setdefault(what, f"{number}:{item.id}")
            own[item.id] = f"{number}:{item.id}" if name in own.values() else name
        named.append(own)
    return named


def _changes(pairs: pd.DataFrame, items: Items) -> dict[str, Crossed]:
    """Change by condition: the mean of the studies', each weighing the same."""
    # Who saw two methods, in two studies, is one person within each of them; no two methods are compared here.
    told = _within_methods(pairs)
    rows = responses(
        told["participant"], told["item"], told["condition"], told["post"], told["pre"], told["study"]
    )
    return {change.name: change for change in changes(rows, items)}


def _change_table(key: str, column: str, pairs: pd.DataFrame, order: tuple[str, ...], practice: str) -> Table:
    """n, Pre, Change, interval and p by condition, side by side for each value of a column."""
    groups = dict(_groups(pairs, column))
    lines: dict[str, dict[str, Value]] = {name: {"condition": name} for name in (ALL, *order)}
    notes: list[str] = []
    clear: list[str] = []
    for group, rows in groups.items():
        found = _changes(rows, claimed_items(rows))
        lines[ALL] |= _values(group, len(rows), float(rows["pre"].mean()), None)
        for name in order:
            own = rows[rows["condition"] == name]
            pre = float(own["pre"].mean()) if len(own) else None
            lines[name] |= _values(group, len(own), pre, found.get(name))
        notes += [f"{group}, {name}: {said}" for name, one in found.items() for said in one.warnings]
        clear += [
            say("changed-with", name=name, group=group)
            for name in order
            if name in found and found[name].verdict != "none"
        ]
    sentence = say("changed", names=clear) if clear else say("changed-none")
    return Table(
        key=key,
        title=say("change-title", studies=pairs["study"].nunique(), by=column),
        columns=(
            Column("condition", say("column-condition"), "text"),
            *(c for group in groups for c in _columns(group)),
        ),
        rows=tuple(lines.values()),
        sentence=f"{sentence} {practice}",
        notes=(say("change-note"), *notes),
    )


def _columns(group: str) -> tuple[Column, ...]:
    return (
        Column(f"{group}_n", f"n, {group}", "count"),
        Column(f"{group}_pre", f"Pre, {group}", "percent"),
        Column(f"{group}_change", f"Change, {group}", "number", "points"),
        Column(f"{group}_interval", f"95% interval, {group}", "interval", "points"),
        Column(f"{group}_p", f"p, {group}", "p"),
        Column(f"{group}_p_adjusted", f"p Holm, {group}", "p"),
    )


def _values(group: str, n: int, pre: float | None, change: Crossed | None) -> dict[str, Value]:
    return {
        f"{group}_n": n,
        f"{group}_pre": pre,
        f"{group}_change": None if change is None else POINTS.of(change.estimate),
        f"{group}_interval": None if change is None else POINTS.interval(change.low, change.high),
        f"{group}_p": None if change is None else change.p,
        f"{group}_p_adjusted": None if change is None else change.p_family,
    }


def _ratings_table(rated: pd.DataFrame, order: tuple[str, ...], options: Options) -> Table:
    """Ratings by condition and kind of data."""
    tables = _by_domain(
        _within_methods(rated), lambda rows: ratings_table(rows, order, claimed_items(rows), options.level)
    )
    title = say("ratings-title")
    return _stacked("ratings-by-domain", title, tables, next(iter(tables.values())).notes)


def _correctness_table(rated: pd.DataFrame) -> Table:
    """Ratings where the model is right and wrong, by kind of data."""
    tables = _by_domain(rated, lambda rows: correctness_table(rows, claimed_items(rows)))
    notes = [f"{domain}: {note}" for domain, table in tables.items() for note in table.notes]
    title = say("correctness-title")
    return _stacked("ratings-by-correctness-and-domain", title, tables, notes)


def _by_domain(rated: pd.DataFrame, table: Callable[[pd.DataFrame], Table]) -> dict[str, Table]:
    return {domain: table(rows) for domain, rows in _groups(rated, "domain")}


def _stacked(key: str, title: str, tables: Mapping[str, Table], notes: Iterable[str]) -> Table:
    """The same table of each kind of data, one below the other."""
    said = [
        say("data-sentence", domain=domain.capitalize(), sentence=table.sentence)
        for domain, table in tables.items()
    ]
    return Table(
        key=key,
        title=title,
        columns=(Column("domain", say("column-data"), "text"), *next(iter(tables.values())).columns),
        rows=tuple({"domain": domain, **row} for domain, table in tables.items() for row in table.rows),
        sentence=" ".join(said),
        notes=tuple(notes),
    )
