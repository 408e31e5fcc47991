"""What explanations say over many inputs: mean size of scores, every score, scores over values, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import as_frame, as_objects, cells_of, has_no_value, is_date, plain_inputs, to_number
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation, by_word
from verax.phrases import say as say_phrase
from verax.results.figures import (
    Dependence,
    Figure,
    Interval,
    Intervals,
    Matrix,
    Points,
    Swarm,
    SwarmRow,
)
from verax.results.tables import (
    Table,
    build_table,
    count,
    interval,
    number,
    share,
    text,
    to_latex,
    to_markdown,
)
from verax.results.units import SCORE_SIZE
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.rank_correlations import spearman_rows
from verax.text import minus

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "global-view")

Given = Sequence[Explanation] | Mapping[str, Sequence[Explanation]]
# So many features are drawn, and over the values of so many scores are; so many points of each.
FEATURES, DEPENDENCES, MOST_POINTS = 10, 4, 300
# Agreement also counts how many of the first so many features two methods share.
TOP = 3
# A column with more categories shows the most common ones, and the others as one.
MOST_CATEGORIES = 12
OTHERS = "(others)"


@dataclass(frozen=True)
class Importance:
    """The mean size of a feature's score by one method, over inputs."""

    method: str
    feature: str
    estimate: Estimate
    signed: float
    having: int


@dataclass(frozen=True)
class MethodAgreement:
    """How much two methods agree: the mean rank correlation over inputs, and the share of first features in common."""

    first: str
    second: str
    correlation: Estimate | None
    shared: float


@dataclass(frozen=True, eq=False)
class GlobalView:
    """What explanations of many inputs say together.

    A notebook shows it, ``print`` says it; `page`, `write`, `to_frame`, `to_latex` and `to_markdown` give other forms.

    Attributes:
        kind: "text" or "table".
        inputs: how many were explained.
        methods: what made the explanations.
        features: the one with the largest share of all scores first, on average over methods.
        scores: of each method: an array (inputs, features); 0 where a text lacks the word.
        present: which input has which feature, (inputs, features).
        values: the inputs' values of a feature, as numbers or as texts; only of features whose values are known.
        importance: of each method and feature, in the order of features.
        agreement: of each two methods.
        notes: what a reader must know.
    """

    kind: str
    inputs: int
    methods: tuple[str, ...]
    features: tuple[str, ...]
    scores: Mapping[str, FloatArray]
    present: Any
    values: Mapping[str, Any]
    importance: tuple[Importance, ...]
    agreement: tuple[MethodAgreement, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it is."""
        return say("title", inputs=self.inputs, kind=self.kind)

    @property
    def sentence(self) -> str:
        """The answer: which feature comes first by which method, and who agrees."""
        firsts: dict[str, list[str]] = {}
        for method in self.methods:
            own = [one for one in self.importance if one.method == method]
            best = max(own, key=lambda one: one.estimate.mean)
            firsts.setdefault(best.feature, []).append(method)
        parts = ["; ".join(say("first", names=names, feature=name) for name, names in firsts.items()) + "."]
        pairs = [one for one in self.agreement if one.correlation is not None]
        pairs.sort(key=lambda one: -(one.correlation.mean if one.correlation else 0.0))
        first = "agree" if len(pairs) == 1 else "alike"
        for case, pair in zip((first, "least-alike"), (pairs[:1], pairs[1:][-1:]), strict=True):
            for one in pair:
                assert one.correlation is not None
                rho = minus(f"{one.correlation.mean:.2f}")
                parts.append(say(case, one=one.first, two=one.second, rho=rho))
        return " ".join(parts)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The numbers as people read them: a table for each method, and one of agreement."""
        return (*map(self._importance_table, self.methods), *self._agreement_table())

    def _importance_table(self, method: str) -> Table:
        own = [one for one in self.importance if one.method == method]
        own.sort(key=lambda one: -one.estimate.mean)
        return build_table(
            f"importance-{method}",
            say("importance-title", name=method),
            own,
            (
                text("feature", "Feature", lambda one: one.feature),
                number("mean", "Mean |score|", lambda one: one.estimate.mean, SCORE_SIZE),
                interval("interval", "95% interval of |score|", lambda one: _ends(one.estimate), SCORE_SIZE),
                count("n", "Inputs", lambda one: one.having),
            ),
            say("importance-sentence", inputs=self.inputs, kind=self.kind),
            [say("scales")] if len(self.methods) > 1 else [],
        )

    def _agreement_table(self) -> list[Table]:
        if not self.agreement:
            return []
        top = min(TOP, len(self.features))
        return [
            build_table(
                "agreement",
                say("agreement-title"),
                self.agreement,
                (
                    text("first", "Method", lambda one: one.first),
                    text("second", "and", lambda one: one.second),
                    number(
                        "rho",
                        "Rank correlation",
                        lambda one: None if one.correlation is None else one.correlation.mean,
                    ),
                    interval(
                        "interval",
                        "95% interval",
                        lambda one: None if one.correlation is None else _ends(one.correlation, None),
                    ),
                    count("n", "Inputs", lambda one: None if one.correlation is None else one.correlation.n),
                    share("shared", "Shared", lambda one: one.shared),
                ),
                say("agreement-sentence"),
                [say("shared-note", top=top)],
            )
        ]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The same as pictures, as data; `verax.reporting.figures.figure_svg` draws one."""
        drawn = self.features[:FEATURES]
        made = [self._importance_figure(method, drawn) for method in self.methods]
        made += [self._swarm(method, drawn) for method in self.methods]
        known = [name for name in drawn if name in self.values][:DEPENDENCES]
        made += [self._dependence(name) for name in known]
        if self.agreement:
            made.append(
                Figure("agreement", say("agreement-title"), self._matrix(), say("agreement-sentence"))
            )
        return tuple(made)

    def _importance_figure(self, method: str, drawn: Sequence[str]) -> Figure:
        own = {one.feature: one.estimate for one in self.importance if one.method == method}
        order = sorted(drawn, key=lambda name: -own[name].mean)
        rows = tuple(Interval(name, own[name].mean, *(_ends(own[name]) or (None, None))) for name in order)
        return Figure(
            f"importance-{method}",
            say("importance-title", name=method),
            Intervals(say("importance-label", name=method), None, rows),
            say("importance-sentence", inputs=self.inputs, kind=self.kind),
        )

    def _swarm(self, method: str, drawn: Sequence[str]) -> Figure:
        taken = _evenly(self.inputs)
        rows = []
        for name in drawn:
            column = self.features.index(name)
            there = [place for place in taken if self.present[place, column]]
            places = _places(self.values.get(name), self.inputs)
            scores = self.scores[method][:, column]
            rows.append(
                SwarmRow(name, tuple(map(float, scores[there])), tuple(places[place] for place in there))
            )
        coloured = any(place is not None for row in rows for place in row.places)
        return Figure(
            f"scores-{method}",
            say("swarm-title", name=method),
            Swarm(say("swarm-label", name=method), tuple(rows)),
            say(
                "swarm-sentence",
                kind=self.kind,
                coloured=coloured,
                drawn="all" if len(taken) == self.inputs else len(taken),
                inputs=self.inputs,
            ),
        )

    def _dependence(self, name: str) -> Figure:
        column, values = self.features.index(name), self.values[name]
        categories: tuple[str, ...] = ()
        if values.dtype == object:
            places, categories = _categories(values)
        else:
            places = values
        known = [place for place in _evenly(self.inputs) if not np.isnan(places[place])]
        points = tuple(
            Points(
                method,
                tuple(map(float, places[known])),
                tuple(map(float, self.scores[method][known, column])),
            )
            for method in self.methods
        )
        return Figure(
            f"dependence-{name}",
            say("dependence-title", feature=name),
            Dependence(name, say("dependence-label", feature=name), points, categories),
            say("dependence-sentence"),
        )

    def _matrix(self) -> Matrix:
        found = {(one.first, one.second): one.correlation for one in self.agreement}

        def cell(one: str, two: str) -> float | None:
            if one == two:
                return 1.0
            estimate = found.get((one, two)) or found.get((two, one))
            return None if estimate is None else estimate.mean

        return Matrix(
            self.methods, tuple(tuple(cell(one, two) for two in self.methods) for one in self.methods)
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each method and feature: the mean of |score| with its interval, and the mean of the score."""
        import pandas as pd

        rows = []
        for one in self.importance:
            low, high = _ends(one.estimate) or (None, None)
            rows.append(
                {
                    "method": one.method,
                    "feature": one.feature,
                    "mean_size": one.estimate.mean,
                    "low": low,
                    "high": high,
                    "mean_score": one.signed,
                    "inputs": one.having,
                }
            )
        return pd.DataFrame(rows)

    def to_latex(self) -> str:
        """The tables in LaTeX, for the package booktabs."""
        return "\n".join(map(to_latex, self.tables))

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return "\n".join(map(to_markdown, self.tables))

    def page(self, path: str | Path, made_by: str = "") -> Path:
        """Writes one HTML page that needs no network.

        Args:
            path: of the file.
            made_by: the command that made it, shown at the end.
        """
        from verax.reporting.run_page import global_page, render_page

        page = global_page(self.title, self.sentence, self.notes, self.figures, self.tables, made_by)
        _write(Path(path), render_page(page))
        return Path(path)

    def write(self, folder: str | Path, made_by: str = "") -> Path:
        """Writes ``index.html``, ``figures/*.svg``, ``tables/*.tex`` and ``*.md``, and ``scores.csv`` into a folder."""
        from verax.reporting.figures import figure_svg
        from verax.results.tables import file_name

        folder = Path(folder)
        self.page(folder / "index.html", made_by)
        for figure in self.figures:
            if not figure.is_empty:
                _write(folder / "figures" / f"{file_name(figure.key)}.svg", figure_svg(figure))
        for table in self.tables:
            _write(folder / "tables" / f"{file_name(table.key)}.tex", to_latex(table))
            _write(folder / "tables" / f"{file_name(table.key)}.md", to_markdown(table))
        _write(folder / "scores.csv", self.to_frame().to_csv(index=False))
        return folder

    def _repr_html_(self) -> str:
        from verax.reporting.run_page import global_fragment

        return global_fragment(self.sentence, self.notes, self.figures)

    def __str__(self) -> str:
        """For a terminal: the sentence, the first features of each method, agreement."""
        from verax.results.tables import table_lines

        lines = [self.sentence, ""]
        for table in self.tables:
            lines += [*table_lines(table)[: FEATURES + 2], ""]
        return "\n".join([*lines, *self.notes]).rstrip()


def global_view(explanations: Given, inputs: Any = None) -> GlobalView:
    """What explanations of many inputs say together, by one method or by several.

    Args:
        explanations: of the same inputs: a list, or a dict from what to call a method to its list, such as
            ``judged.explanations`` of `verax.judge`.
        inputs: the inputs that were explained, whose values colour the points; of rows they are otherwise read from
            what the explanations say of them.

    Example:
        >>> import verax
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> rows, kinds = load_iris(return_X_y=True, as_frame=True)
        >>> model = verax.as_model(LogisticRegression(max_iter=500).fit(rows, kinds), reference=rows)
        >>> shap = verax.explainer("shap").explain(model, rows[:50], targets=2)
        >>> print(verax.global_view({"shap": shap}, rows[:50]).sentence)
        shap gives “petal length (cm)” the largest scores on average.
    """
    scored, notes = _scored(explanations)
    first = next(iter(scored.values()))
    if any(len(own) != len(first) for own in scored.values()):
        sizes = ", ".join(f"{name} {len(own)}" for name, own in scored.items())
        raise VeraxError(
            f"The methods explain different numbers of inputs ({sizes}); give those of the same inputs."
        )
    kind = "text" if isinstance(first[0].input, str) and first[0].input else "table"
    names = list(dict.fromkeys(name for own in scored.values() for one in own for name in one.features))
    columns = {name: place for place, name in enumerate(names)}
    scores = {method: np.zeros((len(first), len(names))) for method in scored}
    present = np.zeros((len(first), len(names)), dtype=bool)
    for method, own in scored.items():
        for row, one in enumerate(own):
            places = [columns[name] for name in one.features]
            np.add.at(scores[method][row], places, one.scores)
            present[row, places] = True
    sizes_of = [np.abs(own).mean(axis=0) for own in scores.values()]
    shares = np.mean([size / (size.sum() or 1.0) for size in sizes_of], axis=0)
    order = np.argsort(-shares, kind="stable")
    features = tuple(names[place] for place in order)
    scores = {method: own[:, order] for method, own in scores.items()}
    present = present[:, order]
    importance = tuple(
        Importance(
            method,
            name,
            mean_interval(np.abs(own[:, place])),
            float(own[:, place].mean()),
            int(present[:, place].sum()),
        )
        for method, own in scores.items()
        for place, name in enumerate(features)
    )
    agreement, silent = _agreement(scores, present)
    if silent:
        notes.append(say("silent", pairs=silent))
    targets = list(dict.fromkeys(one.target_name or str(one.target) for one in first))
    if len(targets) > 1:
        notes.append(say("several-targets", names=sorted(targets)))
    values = {} if kind == "text" else _values(first, inputs, features)
    return GlobalView(
        kind,
        len(first),
        tuple(scored),
        features,
        scores,
        present,
        values,
        importance,
        agreement,
        tuple(notes),
    )


def _scored(explanations: Given) -> tuple[dict[str, list[Attribution]], list[str]]:
    """Scores of features by method; what gives none is told."""
    if isinstance(explanations, Mapping):
        named = {str(name): list(own) for name, own in explanations.items()}
    else:
        own = list(explanations)
        label = next((str(getattr(one, "explainer", "")) for one in own), "")
        named = {label.split("(")[0].rsplit(".", 1)[-1].lower() or "scores": own}
    if not any(named.values()):
        raise VeraxError("There is no explanation to look at; give those of some inputs.")
    scored: dict[str, list[Attribution]] = {}
    notes = []
    for name, own in named.items():
        strangers = [one for one in own if not isinstance(one, Explanation)]
        if strangers:
            raise VeraxError(
                f"{name} holds a {type(strangers[0]).__name__}, which is no explanation; give what an explainer's "
                "explain returns."
            )
        found = [one for each in own if (one := by_word(each)) is not None]
        if len(found) == len(own) and found:
            scored[name] = found
        else:
            notes.append(say("left-out", name=name))
    if not scored:
        raise VeraxError(
            "No method here gives scores of features; give explanations such as those of lime or shap."
        )
    return scored, notes


def _agreement(scores: Mapping[str, FloatArray], present: Any) -> tuple[tuple[MethodAgreement, ...], int]:
    """Rank correlations of each two methods, and how many pairs of explanations have none."""
    made, silent = [], 0
    for one, two in combinations(scores, 2):
        rhos, shared = [], []
        for row in range(len(present)):
            there = np.flatnonzero(present[row])
            mine, other = scores[one][row, there], scores[two][row, there]
            rho = spearman_rows(mine[None], other[None])[0] if len(there) > 1 else np.nan
            rhos.append(float(rho))
            top = min(TOP, len(there))
            if top:
                first, second = (
                    set(np.argsort(-np.abs(own), kind="stable")[:top].tolist()) for own in (mine, other)
                )
                shared.append(len(first & second) / top)
        known = [rho for rho in rhos if not np.isnan(rho)]
        silent += len(rhos) - len(known)
        estimate = mean_interval(known) if known else None
        made.append(MethodAgreement(one, two, estimate, float(np.mean(shared)) if shared else 0.0))
    return tuple(made), silent


def _values(explained: Sequence[Attribution], inputs: Any, features: Sequence[str]) -> dict[str, Any]:
    """The values of features whose column is known: numbers as floats, anything else as texts, None where missing."""
    if inputs is None:
        return _told_values(explained, features)
    plain = plain_inputs(inputs)
    if len(plain) != len(explained):
        raise VeraxError(
            f"There are {len(explained)} explanations for {len(plain)} rows; give the rows that were explained."
        )
    frame = as_frame(plain)
    if frame is None:
        # Rows without names are in the order of the explanations' features.
        rows = [list(row) for row in plain]
        if any(len(row) != len(explained[0].features) for row in rows):
            return _told_values(explained, features)
        found = dict(zip(explained[0].features, zip(*rows, strict=True), strict=True))
        return {name: _typed(as_objects(found[name])) for name in features}
    known: dict[str, Any] = {}
    for place, label in enumerate(frame.columns):
        if str(label) in features:
            column = frame.iloc[:, place]
            known[str(label)] = _years(column) if is_date(column.dtype) else _typed(cells_of(column))
    return known


def _told_values(explained: Sequence[Attribution], features: Sequence[str]) -> dict[str, Any]:
    """The values as explanations tell them: "column = value"."""
    told: dict[str, list[object]] = {}
    for one in explained:
        for part in one.input if isinstance(one.input, tuple) else ():
            name, equals, value = part.partition(" = ")
            if equals:
                told.setdefault(name, []).append(value)
    return {
        name: _typed(as_objects(told[name])) for name in features if len(told.get(name, ())) == len(explained)
    }


def _years(dates: Any) -> FloatArray:
    """Dates as years with their fraction; durations as days."""
    if dates.dtype.kind == "m":
        return np.asarray(dates.dt.total_seconds() / 86_400, dtype=np.float64)
    return np.asarray(dates.dt.year + (dates.dt.dayofyear - 1) / 365.25, dtype=np.float64)


def _typed(cells: Any) -> Any:
    """Cells as numbers where all are, else as texts; what is missing is NaN or None."""
    if not any(isinstance(cell, bool | np.bool_) for cell in cells):
        numbers = [to_number(cell) for cell in cells]
        if all(number is not None for number in numbers):
            return np.array(numbers, dtype=np.float64)
    return as_objects([None if has_no_value(cell) else str(cell) for cell in cells])


def _places(values: Any, size: int) -> list[float | None]:
    """Where each number lies among all, from 0 to 1; None for what has no order."""
    if values is None or values.dtype == object:
        return [None] * size
    known = np.sort(values[~np.isnan(values)])
    if not len(known) or known[0] == known[-1]:
        return [None] * size
    # Equal values lie at the middle of their places.
    low, high = np.searchsorted(known, values, "left"), np.searchsorted(known, values, "right") - 1
    middle = (low + high) / 2 / max(1, len(known) - 1)
    return [None if np.isnan(value) else float(place) for value, place in zip(values, middle, strict=True)]


def _categories(values: Any) -> tuple[FloatArray, tuple[str, ...]]:
    """Places of categories, the most common first; rare ones are one, and what is missing is NaN."""
    counts: dict[str, int] = {}
    for value in values:
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    order = sorted(counts, key=lambda name: (-counts[name], name))
    names = order if len(order) <= MOST_CATEGORIES else [*order[: MOST_CATEGORIES - 1], OTHERS]
    place = {name: min(number, len(names) - 1) for number, name in enumerate(order)}
    return np.array([np.nan if value is None else place[value] for value in values]), tuple(names)


def _evenly(size: int) -> list[int]:
    """Places of at most so many inputs, evenly taken."""
    if size <= MOST_POINTS:
        return list(range(size))
    return sorted({int(place) for place in np.linspace(0, size - 1, MOST_POINTS).round()})


def _ends(estimate: Estimate, least: float | None = 0.0) -> tuple[float, float] | None:
    """An interval; the mean of sizes is never below 0."""
    if estimate.low is None or estimate.high is None:
        return None
    if least is None:
        return max(-1.0, estimate.low), min(1.0, estimate.high)
    return max(least, estimate.low), estimate.high


def _write(path: Path, words: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        path.write_bytes(words.encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"Nothing can be written to {str(path)!r} ({error.strerror}); choose another place."
        ) from error
