"""Answers before and after explanations; change per condition and its contrasts by the crossed estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.tables import Sources, Table, build_table, count, interval, number, p_value, share, text
from verax.results.units import NONE as PLAIN
from verax.results.units import POINTS, Ends
from verax.stats.crossed.between import changes, contrasts, contrasts_with
from verax.stats.crossed.result import Crossed
from verax.stats.estimate import mean_interval
from verax.stats.responses import Responses, responses
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA, FEWEST_ITEMS
from verax.studies.analysis.primary import estimate_of, sorted_out
from verax.studies.definition.spec_tables import NONE
from verax.studies.results.study_summary import Options, Primary, PrimaryEstimate
from verax.text import between, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.studies.definition.spec_tables import Condition
    from verax.studies.protocol.contract import Analysed
if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.definition.spec_tables import Condition


say = partial(say_phrase, "analysis")
PRE, POST, RATING = "pre", "post", "rating"
STRATUM = "stratum"
LEFT = "left"  # the exclusion rule of that name


def counted_answers(data: Analysed, options: Options) -> pd.DataFrame:
    """The answers that the paper counts; of people who saw a method's explanations alone, if that is wanted."""
    counted = answers_as_published(data)
    if not options.methods_only:
        return counted
    return counted[counted["condition"].isin(data.explained_methods)].reset_index(drop=True)


def answers_as_published(data: Analysed) -> pd.DataFrame:
    """The answers that the paper counts: also those of people who left early.

    Hase and Bansal (2020), section 4.2: people who were screened out or excluded do not count; of people who had to go
    before the end "we consider only task items answered in both Pre and Post test phases". So a rule that does no more
    than exclude who left excludes nobody here.
    """
    people = data.intended_participants
    counted = people["rules"].map(lambda rules: set(rules) <= {LEFT}) & (people["status"] != "screened-out")
    kept = data.intended[data.intended["participant"].isin(set(people.loc[counted, "participant"]))]
    # Of bots, if rules against haste leave nobody, everybody: as in the other tables.
    return data.responses if data.people == "bots" and not len(kept) else kept.reset_index(drop=True)


def paired(answers: pd.DataFrame, scored: str, balanced: str | None = None) -> pd.DataFrame:
    """Columns participant, item, condition, pre, post (scores), late (either was); sorted, pairs with a score only.

    Items that were chosen in equal numbers of two sorts (perturbations that flip the model's answer and others that do
    not) have their sort in a column ``stratum``: what differs between sorts is no chance of the items.

    Args:
        answers: with the columns of `verax.studies.answers.schema.RESPONSES`.
        scored: the question whose answers are scored.
        balanced: the column whose values the items were balanced over; None if over none.
    """
    wanted = answers["phase"].isin((PRE, POST)) & (answers["question"] == scored) & answers["score"].notna()
    kept = answers.loc[wanted, ["participant", "item", "condition", "phase", "score", "late"]]
    refuse_repeats(kept, ["participant", "item", "phase"])
    key = ["participant", "item", "condition"]
    before, after = (
        kept[kept["phase"] == phase]
        .rename(columns={"score": phase, "late": f"{phase}_late"})
        .drop(columns="phase")
        for phase in (PRE, POST)
    )
    both = before.merge(after, on=key, how="outer")
    both["late"] = both["pre_late"].eq(True) | both["post_late"].eq(True)
    columns = [*key, PRE, POST, "late"]
    if balanced is not None:
        sorts = answers.loc[wanted & answers[balanced].notna()].groupby("item")[balanced].first()
        both[STRATUM] = both["item"].map(sorts.astype(str)).fillna("unknown")
        columns.append(STRATUM)
    return both[columns].sort_values(key, ignore_index=True)


def ratings(answers: pd.DataFrame) -> pd.DataFrame:
    """Columns participant, item, condition, rating, model_correct, and score, of the answer on the same page if any."""
    rated = answers[(answers["question"] == RATING) & answers["answer"].notna()]
    refuse_repeats(rated, ["participant", "item", "phase"])
    same_page = answers.loc[answers["score"].notna(), ["participant", "step", "score"]]
    kept = rated[["participant", "item", "condition", "step", "answer", "model_correct"]]
    found = kept.merge(same_page, on=["participant", "step"], how="left")
    found["rating"] = found["answer"].astype(float)
    found["model_correct"] = found["model_correct"].astype(float)
    columns = ["participant", "item", "condition", "rating", "model_correct", "score"]
    return found[columns].sort_values(columns[:3], ignore_index=True)


def ratings_as_published(data: Analysed) -> pd.DataFrame:
    """Ratings of those whom the paper counts; a score stands beside a rating only where there is one before too."""
    answers = answers_as_published(data)
    found = ratings(answers)
    both = complete_pairs(paired(answers, data.scored))
    twice = set(zip(both["participant"], both["item"], strict=True))
    known = [pair in twice for pair in zip(found["participant"], found["item"], strict=True)]
    return found.assign(score=found["score"].where(known))


def refuse_repeats(rows: pd.DataFrame, key: list[str]) -> None:
    """Refuses two answers to one question: which of them counts cannot be known."""
    again = rows[rows.duplicated(key, keep="first")]
    if len(again):
        first = again.iloc[0]
        raise VeraxError(
            f"Participant {first['participant']} has two answers on item {first['item']} in the phase "
            f"{first['phase']!r} ({len(again):,} such in all): a row stands twice; export the answers again."
        )


def as_responses(pairs: pd.DataFrame, *, only: str | None = None) -> Responses:
    """The pairs as the stats layer takes them: Pre and Post, or one of them ("pre") as the only score."""
    return responses(
        pairs["participant"],
        pairs["item"],
        pairs["condition"],
        pairs[POST if only is None else only],
        pairs[PRE] if only is None else None,
        pairs.get(STRATUM),
    )


def complete_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Only items that were answered both before and after."""
    return pairs[pairs[PRE].notna() & pairs[POST].notna()]


def claimed_items(rows: pd.DataFrame) -> Items:
    """Whether a claim can be about items like these, or, with fewer than 16, about these items only."""
    return "random" if rows["item"].nunique() >= FEWEST_ITEMS else "fixed"


def primary_sentence(estimates: Sequence[PrimaryEstimate], control: str | None) -> str:
    """What the primary analysis says of all conditions."""
    clear, unclear, small, bare = sorted_out(estimates)
    said = [_clear(line, control, alone=len(estimates) == 1) for line in clear]
    if unclear:
        said.append(_unclear(unclear, control, first=not clear, alone=len(estimates) == 1))
    for case, lines in (("too-little-data", small), ("no-interval", bare)):
        if lines:
            names = [line.condition for line in lines]
            said.append(say(case, names=names, sizes=[_size(line) for line in lines]))
    return " ".join(said) or say("nothing-to-estimate")


def _clear(line: PrimaryEstimate, control: str | None, *, alone: bool) -> str:
    """A condition whose effect is found. Its accuracy may have fallen, if only the control's fell more."""
    estimate = line.estimate or 0.0
    found = {
        "condition": line.condition,
        "size": f"{abs(estimate):.1f}",
        "interval": between(line.low or 0.0, line.high or 0.0),
        "p": p_text(line.p_adjusted or 0.0),
        "corrected": "no" if alone else "yes",
    }
    if control is None:
        return say("change-clear", way="rose" if estimate > 0 else "fell", **found)
    return say("gain-clear", control=control, side="higher" if estimate > 0 else "lower", **found)


def _unclear(lines: Sequence[PrimaryEstimate], control: str | None, *, first: bool, alone: bool) -> str:
    """Conditions without a clear effect, and how large an effect could have been missed."""
    sizes = [line.detectable for line in lines if line.detectable is not None]
    low, high = f"{min(sizes):.0f}", f"{max(sizes):.0f}"
    missed = not alone and any((line.low or 0.0) > 0 or (line.high or 0.0) < 0 for line in lines)
    parts = [
        say(
            "effect-part",
            condition=line.condition,
            size=signed(line.estimate or 0.0),
            interval=between(line.low or 0.0, line.high or 0.0),
        )
        for line in lines
    ]
    return say(
        "change-unclear" if control is None else "gain-unclear",
        place="first" if first else "later",
        parts=parts,
        control=control or "",
        missed="yes" if missed else "no",
        detectable=low if low == high else say("range", low=low, high=high),
    )


def _size(line: PrimaryEstimate) -> str:
    if line.estimate is None:
        return say("size-nothing", condition=line.condition)
    return say("size-part", condition=line.condition, size=signed(line.estimate))


@dataclass(frozen=True)
class Effects:
    """What the crossed estimator says.

    Attributes:
        changes: Post - Pre by condition, in the order of the spec; Holm over all of them.
        against: Change minus that of the control, for each other condition; Dunnett over all conditions of the spec,
            also those that nobody met. Empty without a control.
        control: the condition without explanations that has people, if any.
        items: whether the claims are about items like these or about these items only.
        family: comparisons with the control that Dunnett's correction counts.
    """

    changes: dict[str, Crossed]
    against: dict[str, Crossed]
    control: str | None
    items: Items
    family: int

    @property
    def primary(self) -> dict[str, Crossed]:
        """The claims of the primary analysis, by condition."""
        return self.against if self.control is not None else self.changes


def effects(pairs: pd.DataFrame, conditions: Sequence[Condition], items: Items, level: float) -> Effects:
    """Estimates Change by condition and, where somebody saw no explanations, the contrasts with them."""
    rows = as_responses(pairs)
    there = [condition for condition in conditions if condition.name in rows.methods]
    plain = next((condition.name for condition in there if condition.kind == "none"), None)
    control = plain if len(there) > 1 else None
    by_name = {change.name: change for change in changes(rows, items, level=level)}
    against: dict[str, Crossed] = {}
    family = len(conditions) - 1
    if control is not None:
        others = [name for name in rows.methods if name != control]
        named = dict(
            zip(others, contrasts_with(rows, control, items, level=level, family=family), strict=True)
        )
        against = {condition.name: named[condition.name] for condition in there if condition.name != control}
    changed = {condition.name: by_name[condition.name] for condition in there}
    return Effects(changed, against, control, items, family)


def pair_contrasts(
    pairs: pd.DataFrame, named: Sequence[tuple[str, str]], items: Items, level: float
) -> dict[tuple[str, str], Crossed]:
    """How much more the first condition of each pair changes accuracy than the second, corrected together by Holm."""
    if not named:
        return {}
    return dict(zip(named, contrasts(as_responses(pairs), named, items, level=level), strict=True))


def primary_changes(effects: Effects, conditions: Sequence[Condition] = ()) -> Primary:
    """The primary analysis: the contrast with no explanation where there is one, else Change.

    Args:
        effects: the estimates.
        conditions: of the study; if one of them shows no explanation and has nobody, Change only stands in.
    """
    ending = "change" if effects.control is None else f"vs-{effects.control}"
    estimates = tuple(
        estimate_of(name, f"{name}-{ending}", effect, POINTS) for name, effect in effects.primary.items()
    )
    measure = _measure(effects.control)
    sentence = primary_sentence(estimates, effects.control)
    if effects.control is not None:
        return Primary(measure, POINTS, sentence, estimates)
    lost_control = any(condition.kind == "none" for condition in conditions) and len(conditions) > 1
    return Primary(measure, POINTS, f"{sentence} {say('practice')}", estimates, stands_in=lost_control)


def _measure(control: str | None) -> str:
    """What is measured, in a few words; the table of contrasts says it in full."""
    return say("measure-change" if control is None else "measure-gain")


def effect_problems(effects: Effects, conditions: Sequence[Condition]) -> list[str]:
    """What the study has and these answers cannot say."""
    said = []
    absent = [condition.name for condition in conditions if condition.name not in effects.changes]
    if absent:
        said.append(say("nobody-in", names=absent))
    planned = next((condition.name for condition in conditions if condition.kind == "none"), None)
    if planned in effects.changes and effects.control is None:
        said.append(say("only-control", control=str(planned)))
    elif planned in absent:
        said.append(say("empty-control", control=str(planned)))
    for name, claim in effects.primary.items():
        if claim.se is None and claim.estimate is not None:
            said.append(say("no-interval-no-test", name=name, why=" ".join(claim.warnings)))
    return said


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
# A baseline so high leaves little to gain.
CEILING = 0.9


@dataclass(frozen=True)
class NormalisedGain:
    """The gain of a condition.

    Attributes:
        condition: its name.
        items: that were answered both ways.
        without: accuracy on them without explanations.
        with_explanations: accuracy on them with.
        normalised: the difference over what was left; None where nothing was.
        ends: of the 95% interval of the difference, over items; None with few of them.
        p: that the difference is none, by flipping its sign on items; corrected for several conditions (Holm).
    """

    condition: str
    items: int
    without: float
    with_explanations: float
    normalised: float | None
    ends: Ends = None
    p: float = 1.0


def normalised_gains(pairs: pd.DataFrame, conditions: Sequence[Condition]) -> list[NormalisedGain]:
    """The gain of each condition with explanations.

    It is compared with the last answers in a condition without explanations, if there is one (what practice does,
    it does there too), else with the condition's own first answers. Items are the unit: machines that are asked alike
    answer alike, so that more of them are no more evidence.

    Args:
        pairs: answers before and after, as `paired` gives them.
        conditions: of the study.
    """
    both = complete_pairs(pairs)
    nothing = [each.name for each in conditions if each.explainer == NONE and each.like is None]
    without = next((name for name in nothing if (both["condition"] == name).any()), None)
    found = []
    for condition in conditions:
        own = both[both["condition"] == condition.name]
        if condition.name in nothing or not len(own):
            continue
        before = (
            own.groupby("item")[PRE]
            if without is None
            else both[both["condition"] == without].groupby("item")[POST]
        ).mean()
        after = own.groupby("item")[POST].mean()
        items = before.index.intersection(after.index)
        if len(items):
            found.append(_gain(condition.name, before[items].to_numpy(float), after[items].to_numpy(float)))
    corrected = holm([gain.p for gain in found])
    return [replace(gain, p=p) for gain, p in zip(found, corrected, strict=True)]


def _gain(name: str, before: FloatArray, after: FloatArray) -> NormalisedGain:
    without, with_them = float(before.mean()), float(after.mean())
    gain = mean_interval(after - before)
    return NormalisedGain(
        name,
        len(before),
        without,
        with_them,
        (with_them - without) / (1 - without) if without < 1 else None,
        None if gain.low is None or gain.high is None else (gain.low, gain.high),
        sign_flip(after - before).p,
    )


def normalised_table(pairs: pd.DataFrame, conditions: Sequence[Condition]) -> Table | None:
    """The gains as a table, with a warning where there was little to gain; None if no condition explains."""
    gains = normalised_gains(pairs, conditions)
    if not gains:
        return None
    matched = any(each.explainer == NONE and each.like is None for each in conditions)
    sources: Sources[NormalisedGain] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        count("items", say_table("column-items"), lambda line: line.items),
        share("without", say_table("column-without-explanations"), lambda line: line.without),
        share("with", say_table("column-with-explanations"), lambda line: line.with_explanations),
        number(
            "gain",
            say_table("column-gain"),
            lambda line: POINTS.of(line.with_explanations - line.without),
            POINTS,
        ),
        interval("interval", say_table("column-interval"), _ends_in_points, POINTS),
        p_value("p", say_table("column-p-holm"), lambda line: line.p),
        number("normalised", say_table("column-normalised-gain"), lambda line: line.normalised, PLAIN),
    )
    high = [line.condition for line in gains if line.without >= CEILING]
    notes = [say("normalised-how", matched=matched), say("normalised-unit")]
    if high:
        notes.append(say("normalised-ceiling", conditions=", ".join(high), ceiling=f"{CEILING:.0%}"))
    return build_table("normalised-gain", say("normalised-title"), gains, sources, _sentence(gains), notes)


def _sentence(gains: Sequence[NormalisedGain]) -> str:
    clear = [line.condition for line in gains if line.p < ALPHA and line.with_explanations > line.without]
    return say("normalised-sentence", conditions=", ".join(clear), some=bool(clear))


def _ends_in_points(line: NormalisedGain) -> Ends:
    return None if line.ends is None else POINTS.interval(*line.ends)
