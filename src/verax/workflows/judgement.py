"""A judgement of explainers: the verdict in words (phrases of judge.ftl), and the forms in which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import ceil, isnan, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from verax.benchmarks.named_features import TOP
from verax.errors import VeraxError
from verax.notebook import paragraph_html
from verax.phrases import say as say_phrase
from verax.results.findings import FLOOR, Finding, findings_json
from verax.results.findings import to_frame as findings_frame
from verax.results.tables import (
    Column,
    Table,
    heading,
    rows_of,
    table_html,
    to_latex,
    to_markdown,
    verdict_lines,
)
from verax.results.units import Unit
from verax.results.verdict import MARKS, Judged, Reference, Sign, Verdict
from verax.stats.thresholds import ALPHA
from verax.text import NOTHING, minus, p_number
from verax.workflows.judge_findings import REDUNDANT, Findings, Trial

if TYPE_CHECKING:
    import pandas as pd


# From this share on, features that do nothing are worth a sentence.
SOME_IDLE = 0.1
# Reasons that planting tries.
STAINS = 6

say = partial(say_phrase, "judge")


def sentence(found: Findings) -> str:
    """The answer: whom to believe for this model, and what is said of the others."""
    if found.features < 2:
        return say("one-feature")
    judged = [trial for trial in found.trials if trial.silent < found.inputs]
    if not judged:
        return say("nothing-named", names=_names(found.trials), inputs=found.inputs)
    if all(trial.reached is None for trial in judged):
        return say("nothing-matters", inputs=found.inputs)
    if not any(trial.possible for trial in judged):
        return _too_few_inputs(found, judged)
    by_sign: dict[Sign, list[Trial]] = {"yes": [], "part": [], "open": [], "no": []}
    for trial in sorted(found.trials, key=lambda trial: -(trial.reached or 0.0)):
        by_sign[trial.sign].append(trial)
    speaking = [trial for trial in by_sign["open"] if trial.silent < found.inputs]
    cases = {
        "believe": by_sign["yes"],
        "a-part": by_sign["part"],
        "no-better": by_sign["no"],
        "not-shown": [trial for trial in speaking if trial.possible],
        "cannot-be-told": [trial for trial in speaking if not trial.possible],
    }
    told = {case: trials for case, trials in cases.items() if trials}
    clauses = [
        say(
            case,
            names=_names(trials),
            range=_range(trials),
            inputs=found.inputs,
            place="later" if number else "first",
        )
        for number, (case, trials) in enumerate(told.items())
    ]
    if not by_sign["yes"]:
        clauses.insert(0, say("believe-none", inputs=found.inputs))
    if silent := [trial for trial in found.trials if trial.silent == found.inputs]:
        clauses.append(say("names-nothing", names=_names(silent)))
    return f"{'; '.join(clauses)}.{_between(found, by_sign['yes'])}"


def _too_few_inputs(found: Findings, judged: Sequence[Trial]) -> str:
    """Why nothing can be shown, and how many inputs it would take."""
    smallest = min(trial.smallest for trial in judged)
    # With as many more inputs like these, the smallest p is its power; it has to hold after correction.
    alone = smallest ** (1 / found.inputs)
    needed = ceil(log(ALPHA / len(judged)) / log(alone)) if alone < 1 else 0
    return say(
        "too-few-inputs",
        inputs=found.inputs,
        features=round(found.features),
        kind=found.kind,
        chance=round(100 * smallest),
        needed=max(needed, found.inputs + 1) if needed else 0,
    )


def _names(trials: Sequence[Trial]) -> list[str]:
    return [trial.name for trial in trials]


def _range(trials: Sequence[Trial]) -> str:
    numbers = [round(100 * max(trial.reached or 0.0, 0.0)) for trial in trials]
    low, high = min(numbers), max(numbers)
    return f"{low}%" if low == high else f"{low} to {high}%"


def _between(found: Findings, good: Sequence[Trial]) -> str:
    """Differences between the good ones that survive correction."""
    names = _names(good)
    if len(names) < 2:
        return ""
    leads = [lead for lead in found.leads if lead.ahead in names and lead.behind in names]
    if not leads:
        return f" {say('no-difference', names=names)}"
    ahead = dict.fromkeys(lead.ahead for lead in leads)
    said = [
        say("ahead", name=name, names=[lead.behind for lead in leads if lead.ahead == name]) for name in ahead
    ]
    return f" {'; '.join(said)}."


def rests_on(found: Findings) -> list[str]:
    """What the verdict rests on and what it does not say, in a few sentences."""
    if found.features < 2:
        return []  # nothing was chosen: there is no verdict that rests on anything
    said = []
    if found.planted is not None:
        said.append(_of_planted(found))
    if found.redundant:
        said.append(say("several-reasons"))
    partial_ones = [
        trial.name
        for trial in found.trials
        if trial.sign == "part" and trial.enough > 0 and trial.needed <= REDUNDANT * trial.enough
    ]
    if partial_ones:
        said.append(say("enough-not-needed", names=partial_ones))
    idle = [
        f"{trial.name} {trial.idle:.0%}"
        for trial in found.trials
        if trial.idle > SOME_IDLE and not trial.control
    ]
    if idle:
        said.append(say("idle", shares=idle))
    seeds = [f"{trial.name} {trial.seeds:.0%}" for trial in found.trials if trial.seeds is not None]
    if seeds:
        said.append(say("seeds", shares=seeds))
    greedy = [trial.name for trial in found.trials if trial.removal]
    if greedy:
        said.append(say("removal", names=greedy))
    chosen = [found.chosen] if found.chosen else []
    return [*said, *found.notes, *chosen, say("method", most=TOP, kind=found.kind)]


def area(found: Findings, name: str) -> float | None:
    """The mean area under the recall curve of planted reasons, in per cent; None if none was measured."""
    own = (
        []
        if found.planted is None
        else [value for value in found.planted.areas.get(name, ()) if not isnan(value)]
    )
    return 100 * sum(own) / len(own) if own else None


def _of_planted(found: Findings) -> str:
    """What was found of planted reasons, the best first."""
    planted = found.planted
    assert planted is not None
    areas = {trial.name: value for trial in found.trials if (value := area(found, trial.name)) is not None}
    order = sorted(areas, key=lambda name: -areas[name])
    return say(
        "planted",
        stains=len(planted.stains),
        all="yes" if len(planted.stains) >= STAINS else "no",
        tried=STAINS,
        inputs=sum(planted.inputs),
        most=round(100 * planted.ceiling),
        found=[say("planted-found", name=name, area=round(areas[name])) for name in order],
        chance=round(100 * sum(planted.floor) / len(planted.floor)),
    )


# The columns of the table, and what each of them is.
COLUMNS = {
    "sign": "",
    "name": "explainer",
    "reached": "of the best",
    "interval": "95% interval",
    "p": "p",
    "needed": "needed",
    "enough": "enough",
    "idle": "idle",
    "seeds": "other seeds",
    "others": "others",
    "seconds": "seconds",
    "planted": "planted",
}
MEANING = (
    "Of the best: how far of the way from random features to the best possible. p: exact test against random features, "
    "corrected over all claims. Needed: points by which the explained class's probability falls without the named "
    "features. Enough: points by which it rises with nothing but them. Idle: named features that do nothing for the "
    "answer. Other seeds, others: named features that another seed, or the other explainers, name too. Seconds: for "
    "one explanation. Planted: how well planted reasons are found, in per cent."
)


@dataclass(frozen=True)
class Judgement(Findings):
    """What all explainers reached on the same predictions of one model, and which to believe.

    ``print`` shows the verdict, a notebook shows it with a table; `to_frame`, `to_dict`, `to_markdown`, `to_latex` and
    `page` give it in other forms. Inputs are counted from 0.
    """

    @property
    def verdict(self) -> Verdict:
        """The same in the form that reports begin with."""
        order: list[Sign] = ["yes", "part", "open", "no"]
        rows = sorted(self.trials, key=lambda trial: (order.index(trial.sign), -(trial.reached or 0.0)))
        judged = tuple(
            Judged(
                row.name, row.sign, row.words, _percent(row.reached), _percent(row.low), _percent(row.high)
            )
            if self.features > 1
            else Judged(row.name, "open", say("judged-nothing"), None)
            for row in rows
        )
        drawn = [end for row in judged for end in (row.estimate, row.low) if end is not None]
        return Verdict(
            sentence=sentence(self),
            judged=judged,
            measure="how far of the way from random features to the best possible, in per cent",
            rests_on=tuple(rests_on(self)),
            reference=Reference("random features", 0.0),
            ends=(min(0.0, *drawn, 0.0), 100.0),
            decimals=0,
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each explainer, as rows that benchmarks and studies have too."""
        shown = self.comparison
        return tuple(
            Finding(
                method=trial.name,
                measure="way from random features to the best possible",
                estimate=_percent(trial.reached),
                low=_percent(trial.low),
                high=_percent(trial.high),
                unit=Unit("per cent"),
                n=self.inputs,
                counted="inputs",
                p=trial.p,
                p_adjusted=trial.corrected,
                family="all claims of the verdict",
                compared_with=FLOOR,
                sign=trial.sign,
                name="judge",
                title="Judgement" if shown is None else f"Judgement, {shown.model}, {shown.dataset}",
                dataset="" if shown is None else shown.dataset,
                model="" if shown is None else shown.model,
            )
            for trial in self.trials
        )

    @property
    def believe(self) -> tuple[str, ...]:
        """The explainers that are shown to name what the model's answers rest on, the best first."""
        return tuple(row.name for row in self.verdict.judged if row.sign == "yes")

    def to_dict(self) -> dict[str, Any]:
        """All numbers, the verdict and the explanations as plain values for JSON."""
        verdict = self.verdict
        planted = None if self.planted is None else asdict(self.planted)
        if planted is not None:
            planted["features"] = [sorted(features) for features in planted["features"]]
        return {
            "verdict": verdict.sentence,
            "believe": list(self.believe),
            "inputs": self.inputs,
            "places": list(self.places),
            "seconds": self.seconds,
            "trials": [asdict(trial) | {"sign": trial.sign, "words": trial.words} for trial in self.trials],
            "leads": [asdict(lead) for lead in self.leads],
            "planted": planted,
            "rests_on": list(verdict.rests_on),
            **findings_json(self.findings),
            "explanations": {
                name: [each.to_dict() for each in own] for name, own in self.explanations.items()
            },
        }

    def to_frame(self, by: Literal["explainer", "input", "finding"] = "explainer") -> pd.DataFrame:
        """The numbers as a DataFrame.

        Args:
            by: a row for each explainer, for each explainer and input (counted from 0), or for each of `findings`.
        """
        import pandas as pd

        if by == "explainer":
            skipped = {"worths", "falls", "named"}
            rows: list[dict[str, Any]] = [
                {key: value for key, value in vars(trial).items() if key not in skipped}
                | {"sign": trial.sign, "words": trial.words}
                for trial in self.trials
            ]
            return pd.DataFrame(rows).rename(columns={"name": "explainer"})
        if by == "finding":
            return findings_frame(self.findings)
        if by != "input":
            raise VeraxError(f"There is no frame by {by!r}; it is by 'explainer', 'input' or 'finding'.")
        rows = [
            {"explainer": trial.name, "input": number, "named": named, "worth": worth, "fall": fall}
            for trial in self.trials
            for number, (named, worth, fall) in enumerate(
                zip(trial.named, trial.worths, trial.falls, strict=True)
            )
        ]
        return pd.DataFrame(rows)

    @property
    def table(self) -> Table:
        """The numbers as people read them, a row for each explainer."""
        shown = [key for key in COLUMNS if key != "planted" or self.planted is not None]
        by_name = {trial.name: trial for trial in self.trials}
        verdict = self.verdict
        return Table(
            key="judge",
            title="Which explainer to believe",
            columns=tuple(Column(key, COLUMNS[key], "text") for key in shown),
            rows=tuple(self._row(by_name[row.name]) for row in verdict.judged),
            sentence=verdict.sentence,
            notes=(MEANING, *verdict.rests_on),
        )

    def _row(self, trial: Trial) -> dict[str, str]:
        found = area(self, trial.name)
        return {
            "sign": MARKS[trial.sign],
            "name": trial.name,
            "reached": _share(trial.reached),
            "interval": _ends(trial.low, trial.high),
            "p": NOTHING if trial.corrected is None else p_number(trial.corrected),
            "needed": minus(f"{trial.needed:.0f}"),
            "enough": minus(f"{trial.enough:.0f}"),
            "idle": _share(trial.idle),
            "seeds": _share(trial.seeds),
            "others": _share(trial.others),
            "seconds": _seconds(trial.seconds),
            "planted": NOTHING if found is None else f"{found:.0f}",
        }

    def to_markdown(self) -> str:
        """The verdict and its table in Markdown."""
        return to_markdown(self.table)

    def to_latex(self) -> str:
        """The table in LaTeX, for the package booktabs, with the verdict as its caption."""
        return to_latex(self.table)

    def page(self, path: str | Path, made_by: str = "") -> Path:
        """Writes the verdict and all explanations side by side as one HTML page that needs no network.

        Args:
            path: of the file.
            made_by: the command that made it, shown at the end.
        """
        from verax.reporting.explanations import write_page

        if self.comparison is None:
            raise VeraxError("This judgement holds no explanations to show; make it with verax.judge.")
        table = self.table
        heads = tuple(map(heading, table.columns))
        rows = tuple(tuple(row) for row in rows_of(table))
        shown = replace(self.comparison, verdict=self.verdict, table=(heads, rows, MEANING))
        write_page(Path(path), [shown], "Which explanation to believe", made_by)
        return Path(path)

    def _repr_html_(self) -> str:
        table, verdict = self.table, self.verdict
        body = table_html(table)
        return paragraph_html(bold=verdict.sentence) + body + paragraph_html(*verdict.rests_on)

    def __str__(self) -> str:
        """The verdict for a terminal."""
        return "\n".join(verdict_lines(self.verdict))


def _seconds(seconds: float) -> str:
    if seconds < 0.001:
        return "< 0.001"
    return f"{seconds:.1f}" if seconds >= 0.1 else f"{seconds:.1g}"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _share(share: float | None) -> str:
    return NOTHING if share is None else minus(f"{100 * share:.0f}%")


def _ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NOTHING
    # Ends that would look alike have a digit more.
    digits = 0 if round(100 * low) < round(100 * high) else 1
    return f"{minus(f'{100 * low:.{digits}f}')} to {minus(f'{100 * high:.{digits}f}')}"
