"""A judgement of explainers: the verdict, and the forms in which it is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from verax.errors import VeraxError
from verax.notebook import paragraph_html
from verax.results.findings import FLOOR, Finding, findings_json
from verax.results.findings import to_frame as findings_frame
from verax.results.render import heading, rows_of, table_html, to_latex, to_markdown, verdict_lines
from verax.results.tables import Column, Table
from verax.results.units import Unit
from verax.results.verdict import MARKS, Judged, Reference, Sign, Verdict
from verax.text import NOTHING, minus, p_number
from verax.workflows.judge_findings import Findings, Trial
from verax.workflows.judgement_words import area, rests_on, sentence

if TYPE_CHECKING:
    import pandas as pd

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
        from verax.report.explanations.explanations_page import write_page

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
