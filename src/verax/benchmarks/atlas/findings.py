"""What an atlas found: values of all runs as estimates, verdicts and the sentences that answer its question.

Every claim sentence is one family of corrections: the first sentence (planted reasons on all sorts of models), the
sentence on each sort of model (all benchmarks of it), and each situation (all benchmarks on one dataset and model).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from scipy.special import ndtri

from verax.benchmarks.atlas.plan import PlannedRun, cell_command, overall_command
from verax.benchmarks.atlas.spec import AtlasSpec, Test
from verax.benchmarks.contract import Failure
from verax.benchmarks.sanity import MEASURE as CORRELATED
from verax.benchmarks.sanity import finding as sanity_finding
from verax.codec import Record
from verax.measures import measure
from verax.phrases import say
from verax.results.findings import FLOOR, FORMAT, Finding
from verax.results.units import NONE, Unit
from verax.results.verdict import Sign
from verax.stats import Difference, Estimate, joint_differences, mean_interval, mean_share, sharing
from verax.stats.estimate import t_critical
from verax.stats.thresholds import ALPHA, FEWEST_FLIPPED, FEWEST_UNITS

PER_CENT, POINTS = Unit("per cent"), Unit("points")
# A method that is above random by less than this share is of no use, if its interval shows as much.
MARGIN = 0.05
POWER = 0.8
# More than this is no advice.
MOST_NEEDED = 10_000
# The area under the recall curve of two reasons: among one feature there can be one of them.
MOST_AREA = 0.95
ALL = "all datasets"
# Of more leaders than this, those who are not among them are named.
MOST_NAMED = 4


@dataclass(frozen=True)
class Measured:
    """What a benchmark of the atlas measures: in words, its unit, the better direction, and what the units are."""

    words: str
    unit: Unit
    better: Literal["higher", "lower"]
    counted: str
    share: bool = False


MEASURED: dict[Test, Measured] = {
    "planted": Measured("planted reasons found, area under recall curve", PER_CENT, "higher", "stains", True),
    "drawn": Measured("drawn stains found, area under recall curve", PER_CENT, "higher", "stains", True),
    "rationale": Measured(
        "inputs with a word that does nothing above a clearly relevant one",
        PER_CENT,
        "lower",
        "targets",
        True,
    ),
    "measures": Measured("", NONE, "higher", "stains"),
    "students": Measured("what learners gain in predicting the model", POINTS, "higher", "stains"),
    "sanity": Measured(CORRELATED, NONE, "lower", "models that know nothing"),
}


@dataclass(frozen=True)
class Value:
    """One value of one method on one independent unit.

    Attributes:
        test, dataset, model: the benchmark and the situation.
        method: the explainer.
        unit: the stain, target or repeat.
        parts: what the unit consists of: words or columns, which other units may have too.
        value: shares from 0 to 1, gains as differences of shares.
        measure: which automatic measure, where the benchmark has several.
    """

    test: Test
    dataset: str
    model: str
    method: str
    unit: str
    parts: tuple[str, ...]
    value: float
    measure: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The unit among all."""
        return self.test, self.dataset, self.unit


@dataclass(frozen=True)
class AtlasCell:
    """One method by one benchmark in one situation, or over the datasets of one sort of model.

    Attributes:
        finding: the estimate and what may be said.
        above_random: how much better than random, in the finding's unit, with its interval; None without.
        beats, beaten_by: other methods that it is shown to be better than, and worse than.
        needed: units (stains) in all with which what is open would probably be decided; None where nothing is open, or
            where more of the same would not help.
        run: the folder of its evidence, below the atlas' own; empty for what rests on several.
        command: that makes just this cell again; for the control it is that of any method.
    """

    finding: Finding
    above_random: float | None = None
    above_low: float | None = None
    above_high: float | None = None
    beats: tuple[str, ...] = ()
    beaten_by: tuple[str, ...] = ()
    needed: int | None = None
    run: str = ""
    command: str = ""


@dataclass(frozen=True)
class OpenPair:
    """Two methods that find planted reasons better than chance, of which neither is shown to be better.

    Attributes:
        model: the sort of model.
        ahead, behind: the methods, by what was seen so far.
        difference: in points, with its interval where there is one.
        n: stains so far.
        needed: stains in all that would probably decide; None where none would, at the difference that was seen.
    """

    model: str
    ahead: str
    behind: str
    difference: float | None
    low: float | None
    high: float | None
    n: int
    needed: int | None

    @property
    def same(self) -> bool:
        """Whether both have the same value on every stain."""
        return self.difference == 0 and self.low is None

    @property
    def alike(self) -> bool:
        """Whether the interval lies within five points, so that it hardly matters which is better."""
        most = 100 * MARGIN
        return self.low is not None and self.high is not None and -most < self.low <= self.high < most


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper that needs no people, made again: nothing is claimed about it.

    Attributes:
        paper: its authors and year.
        title: the table's name, where it stands, and what it says.
        columns: their headings.
        rows: a heading, and for each column the published number and ours; empty where there is none.
        notes: what was run.
        run: the folder of the run, below the atlas' own.
        command: that makes it again.
    """

    paper: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    notes: tuple[str, ...]
    run: str
    command: str


@dataclass(frozen=True)
class AtlasSummary(Record):
    """Everything that an atlas found, without a trace of when or where it ran.

    Attributes:
        spec: what was asked.
        added: explainers that came later.
        sentences: the answer first, then one for each sort of model.
        families: what each correction is over, in sentences.
        headline: planted reasons over all datasets, for each sort of model: what the first sentence claims.
        cells: each benchmark over all datasets, and in each situation.
        undecided: pairs of methods that the first sentence leaves open.
        failures: what failed, by run and method.
        published: tables of papers, made again.
    """

    spec: AtlasSpec
    added: tuple[str, ...]
    sentences: tuple[str, ...]
    families: tuple[str, ...]
    headline: tuple[AtlasCell, ...]
    cells: tuple[AtlasCell, ...]
    undecided: tuple[OpenPair, ...] = field(default=())
    failures: tuple[Failure, ...] = field(default=())
    published: tuple[PublishedTable, ...] = field(default=())

    benchmark: ClassVar = "atlas"
    findings_format: ClassVar = FORMAT
    JSON: ClassVar = (..., "benchmark", "findings_format", "findings")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One table: what the first sentence claims, then everything else."""
        return tuple(cell.finding for cell in (*self.headline, *self.cells))


Values = Sequence[Value]


def summarise(
    spec: AtlasSpec,
    added: Sequence[str],
    values: Values,
    runs: Sequence[PlannedRun],
    failures: Sequence[Failure],
    published: Sequence[PublishedTable] = (),
) -> AtlasSummary:
    """Estimates, verdicts and sentences of all values."""
    places: dict[tuple[str, ...], PlannedRun] = {
        (run.test, *run.situation, method): run for run in runs for method in (*run.explainers, FLOOR)
    }
    variants = {one.method for one in values if _is_variant(one.method, spec)}
    compared = [one for one in values if one.method not in variants]
    models = list(dict.fromkeys(one.model for one in values))
    tests = [test for test in spec.benchmarks if any(one.test == test for one in values)]

    def cells(own: Values, whole: bool, family: str) -> list[AtlasCell]:
        # Values of two measures are never put together: their scales, and which way is better, may differ.
        kinds = [
            (test, used)
            for test in tests
            for used in dict.fromkeys(one.measure for one in own if one.test == test)
        ]
        grouped = [[one for one in own if (one.test, one.measure) == kind] for kind in kinds]
        return _judged(grouped, _differences(grouped), whole, family, places)

    # Errors on rationale models are on another scale, on which less is better: they have a table of their own.
    primary = [one for one in compared if one.test == "planted"]
    groups = [
        [one for one in primary if one.model == model]
        for model in dict.fromkeys(one.model for one in primary)
    ]
    differences = _differences(groups)
    headline = _judged(groups, differences, True, say("atlas", "family-headline"), places)
    found: list[AtlasCell] = []
    sentences = [_headline(headline)]
    for model in models:
        own = cells(
            [one for one in compared if one.model == model], True, say("atlas", "family-model", model=model)
        )
        found += own
        sentences.append(_model_sentence(model, own))
    for dataset, model in dict.fromkeys((one.dataset, one.model) for one in values):
        here = [one for one in compared if (one.dataset, one.model) == (dataset, model)]
        found += cells(here, False, say("atlas", "family-situation", model=model, dataset=dataset))
        others = [
            one for one in values if (one.dataset, one.model) == (dataset, model) and one.method in variants
        ]
        found += [
            _placed(AtlasCell(_estimated(group, False)), places)
            for group in _grouped(others, lambda one: one.method).values()
        ]
    headline, found = ([_repeated(cell, spec) for cell in own] for own in (headline, found))
    return AtlasSummary(
        spec=spec,
        added=tuple(added),
        sentences=tuple(sentences),
        families=tuple(
            dict.fromkeys(one.finding.family for one in (*headline, *found) if one.finding.family)
        ),
        headline=tuple(headline),
        cells=tuple(found),
        undecided=tuple(_open_pairs(headline, groups, differences)),
        failures=tuple(failures),
        published=tuple(published),
    )


def _is_variant(method: str, spec: AtlasSpec) -> bool:
    """Whether a method is another budget of one, which only the view at equal time has."""
    return any(method.endswith(f"(samples={budget})") for budget in spec.of_size("budgets")) and (
        method not in spec.explainers
    )


def _grouped(values: Iterable[Value], of: object) -> dict[str, list[Value]]:
    assert callable(of)
    found: dict[str, list[Value]] = defaultdict(list)
    for one in values:
        found[of(one)].append(one)
    return found


def _better(group: Values) -> Literal["higher", "lower"]:
    one = group[0]
    return measure(one.measure).definition.better if one.measure else MEASURED[one.test].better


def _differences(groups: Sequence[Values]) -> list[list[Difference]]:
    """All pairs of methods in each group, as one family; none where methods are held to a limit instead."""
    tables, parts = [], {}
    for group in groups:
        if group[0].test == "sanity":
            continue
        sign = 1.0 if _better(group) == "higher" else -1.0
        table: dict[str, dict[tuple[str, str, str], float]] = defaultdict(dict)
        for one in group:
            table[one.method][one.key] = sign * one.value
            parts[one.key] = frozenset((one.test, one.dataset, part) for part in one.parts or (one.unit,))
        tables.append(dict(table))
    found = iter(joint_differences(tables, parts))
    return [[] if group[0].test == "sanity" else next(found) for group in groups]


def _judged(
    groups: Sequence[Values],
    differences: Sequence[Sequence[Difference]],
    whole: bool,
    family: str,
    places: Mapping[tuple[str, ...], PlannedRun],
) -> list[AtlasCell]:
    """The cells of several tables of values whose claims are one family.

    Args:
        groups: the values of one benchmark on one sort of model each.
        differences: of each group.
        whole: whether a group is over all datasets.
        family: in words.
        places: where the evidence lies.
    """
    claims = _claims(differences)
    cells = []
    for group, own in zip(groups, differences, strict=True):
        if group[0].test == "sanity":
            continue
        for method, values in _grouped(group, lambda one: one.method).items():
            cells.append(_cell(_estimated(values, whole), method, own, family, claims))
    for group in groups:
        if group[0].test == "sanity":
            cells += _sanity(group, whole, family)
    return [_placed(cell, places) for cell in cells]


def _claims(differences: Sequence[Sequence[Difference]]) -> int:
    return sum(each.p is not None for own in differences for each in own)


def _open_pairs(
    cells: Sequence[AtlasCell], groups: Sequence[Values], differences: Sequence[Sequence[Difference]]
) -> Iterable[OpenPair]:
    """What the first sentence leaves open: pairs of methods that are better than chance and not told apart."""
    able = {(one.finding.model, one.finding.method) for one in cells if one.finding.sign in ("yes", "part")}
    claims = _claims(differences)
    for group, own in zip(groups, differences, strict=True):
        model = group[0].model
        unit = MEASURED[group[0].test].unit
        for each in own:
            both = {(model, each.first), (model, each.second)} <= able
            if both and each.verdict not in ("first", "second"):
                ahead = _turned(each) if (each.mean or 0.0) < 0 else each
                yield OpenPair(
                    model=model,
                    ahead=ahead.first,
                    behind=ahead.second,
                    difference=unit.of(ahead.mean),
                    low=unit.of(ahead.low),
                    high=unit.of(ahead.high),
                    n=ahead.n,
                    needed=needed_units(ahead, claims),
                )


def _estimated(values: Values, whole: bool) -> Finding:
    """The estimate of one method by one benchmark."""
    first = values[0]
    measured = MEASURED[first.test]
    numbers = [one.value for one in values]
    if measured.share:
        most = MOST_AREA if first.test in ("planted", "drawn") else 1.0
        shared = sharing(
            [frozenset((one.dataset, part) for part in one.parts or (one.unit,)) for one in values]
        )
        estimate = mean_share(numbers, shared, most)
    else:
        estimate = mean_interval(numbers)
        if len(numbers) < FEWEST_UNITS:
            estimate = Estimate(estimate.mean, None, None, estimate.n, estimate.spread, estimate.level)
    words = say("atlas", "measured-by", measure=first.measure) if first.measure else measured.words
    return Finding(
        method=first.method,
        measure=words,
        estimate=measured.unit.of(estimate.mean),
        low=measured.unit.of(estimate.low),
        high=measured.unit.of(estimate.high),
        unit=measured.unit,
        n=estimate.n,
        counted=measured.counted,
        better=_better(values),
        name=first.test,
        title=say("atlas", "title"),
        dataset=ALL if whole else first.dataset,
        model=first.model,
        scope="overall" if whole else "part",
    )


def _cell(
    made: Finding, method: str, differences: Sequence[Difference], family: str, claims: int
) -> AtlasCell:
    """A cell with what is shown of its method against random and against the others."""
    if method == FLOOR:
        return AtlasCell(made)
    beats, beaten, against = [], [], None
    for each in differences:
        if method not in (each.first, each.second):
            continue
        ahead = each if each.first == method else _turned(each)
        if ahead.second == FLOOR:
            against = ahead
        elif ahead.verdict == "first":
            beats.append(ahead.second)
        elif ahead.verdict == "second":
            beaten.append(ahead.second)
    if against is None:
        return AtlasCell(made, beats=tuple(beats), beaten_by=tuple(beaten))
    sign = _sign(against, beaten, MEASURED[made.name].share)  # type: ignore[index]
    unit = made.unit
    return AtlasCell(
        replace(
            made,
            p=against.p,
            p_adjusted=against.p_holm,
            family=family,
            compared_with=FLOOR,
            sign=sign,
        ),
        above_random=unit.of(against.mean),
        above_low=unit.of(against.low),
        above_high=unit.of(against.high),
        beats=tuple(beats),
        beaten_by=tuple(beaten),
        needed=needed_units(against, claims) if sign == "open" else None,
    )


def _turned(each: Difference) -> Difference:
    """The same difference seen from the other method."""
    return replace(
        each,
        first=each.second,
        second=each.first,
        mean=None if each.mean is None else -each.mean,
        low=None if each.high is None else -each.high,
        high=None if each.low is None else -each.low,
        wins=each.losses,
        losses=each.wins,
    )


def _sign(against: Difference, beaten: Sequence[str], share: bool) -> Sign:
    if against.verdict == "first":
        return "part" if beaten else "yes"
    little = share and against.high is not None and against.high < MARGIN
    return "no" if against.verdict == "second" or little else "open"


def needed_units(against: Difference, claims: int) -> int | None:
    """How many units would probably decide, if the true difference is the one that was seen.

    By the normal approximation with a power of 80%, at a level that is divided by the number of claims of the family.
    By flipped signs a p can at best halve with each unit more, so that few units are never said to be enough because
    they happen to agree. None where the method is not ahead, or where the differences have no spread.

    Args:
        against: the difference to random.
        claims: of the family.
    """
    if against.mean is None or against.mean <= 0:
        return None
    if against.n < FEWEST_FLIPPED:
        return FEWEST_FLIPPED  # no claim is made below
    if against.low is None or against.high is None:
        return None
    se = (against.high - against.low) / (2 * t_critical(against.level, against.n - 1))
    reach = float(ndtri(1 - ALPHA / (2 * max(claims, 1))) + ndtri(POWER))
    units = math.ceil(against.n * (reach * se / against.mean) ** 2)
    if against.p_holm is not None:
        units = max(units, against.n + math.ceil(math.log2(max(against.p_holm / ALPHA, 1.0))))
    return max(units, against.n + 1) if units <= MOST_NEEDED else None


def _sanity(group: Values, whole: bool, family: str) -> list[AtlasCell]:
    """Cells of the check by randomised weights, whose claims are against a limit and not against random."""
    methods = _grouped(group, lambda one: one.method)
    cells = []
    for method, values in methods.items():
        made = _estimated(values, whole)
        if method != FLOOR:
            judged = sanity_finding(method, [one.value for one in values], len(methods) - 1)
            said = say("atlas", "family-sanity", methods=len(methods) - 1, family=family)
            made = replace(made, sign=judged.sign, compared_with=judged.compared_with, family=said)
        cells.append(AtlasCell(made))
    return cells


def _placed(cell: AtlasCell, places: Mapping[tuple[str, ...], PlannedRun]) -> AtlasCell:
    made = cell.finding
    run = places.get((made.name, made.dataset, made.model, made.method))
    return cell if run is None else replace(cell, run=run.folder, command=cell_command(run, made.method))


def _repeated(cell: AtlasCell, spec: AtlasSpec) -> AtlasCell:
    """A cell over all datasets with its command; others have that of their run."""
    made = cell.finding
    if cell.command or made.method == FLOOR:
        return cell
    return replace(cell, command=overall_command(spec, made.name, made.model, made.method))


def leaders(cells: Iterable[AtlasCell]) -> list[str]:
    """Methods that are shown to be better than random and than another method, and worse than none."""
    return [one.finding.method for one in cells if one.finding.sign == "yes" and one.beats]


def _headline(cells: Sequence[AtlasCell]) -> str:
    """Which explainer for which sort of model, as far as it is decided; models with the same answer stand together."""
    answers: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for model in dict.fromkeys(one.finding.model for one in cells):
        own = [one for one in cells if one.finding.model == model and one.finding.method != FLOOR]
        best = leaders(own)
        others = [one.finding.method for one in own if one.finding.method not in best]
        able = [one.finding.method for one in own if one.finding.sign in ("yes", "part")]
        if len(best) > MOST_NAMED and len(others) < len(best):
            answers["lead-but", tuple(others)].append(model)
        elif best:
            answers["lead", tuple(best)].append(model)
        elif able:
            answers["tie", tuple(able)].append(model)
        elif all(one.finding.p is None for one in own):
            answers["few", ()].append(model)
        elif any(one.finding.sign == "open" for one in own):
            answers["open", ()].append(model)
        else:
            answers["none", ()].append(model)
    if not answers:
        return say("atlas", "headline-nothing")
    said = [
        say(
            "atlas",
            f"headline-{case}",
            models=[sort_words(one) for one in models],
            names=list(names) or ["-"],
        )
        for case in ("lead", "lead-but", "tie", "open", "none", "few")
        for (kind, names), models in answers.items()
        if kind == case
    ]
    return say("atlas", "headline", answers="; ".join(said))


def sort_words(model: str) -> str:
    """A sort of model in words, "decision trees"; what has none is called as it was named."""
    return say("atlas", "sort", name=model)


def _model_sentence(model: str, cells: Sequence[AtlasCell]) -> str:
    """What each benchmark shows on a sort of model; benchmarks that show the same stand together."""
    shown: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for test in dict.fromkeys(one.finding.name for one in cells):
        own = [one for one in cells if one.finding.name == test and one.finding.method != FLOOR]
        methods = sorted(dict.fromkeys(one.finding.method for one in own))
        able = {one.finding.method for one in own if one.finding.sign in ("yes", "part")}
        case = "all" if len(able) == len(methods) > 1 else "some" if able else "none"
        names = tuple(one for one in methods if one in able)
        shown[f"sanity-{case}" if test == "sanity" else case, names].append(say("atlas", f"test-{test}"))
    said = [
        say("atlas", f"model-{case}", tests=tests, names=list(names) or ["-"])
        for (case, names), tests in shown.items()
    ]
    sentence = say("atlas", "model-sentence", model=sort_words(model), tests="; ".join(said))
    return f"{sentence[:1].upper()}{sentence[1:]}"
