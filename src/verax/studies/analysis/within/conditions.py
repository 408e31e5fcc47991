"""Conditions that every participant meets: answers laid out, means and differences, and their cross-check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from verax.phrases import either
from verax.phrases import say as say_phrase
from verax.results.tables import Sources, Table, build_table, count, interval, number, p_value, text
from verax.results.units import Unit
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import ConditionResponses, condition_differences, condition_means, met
from verax.stats.estimate import Effect
from verax.stats.thresholds import ALPHA, FEWEST_ITEMS, FEWEST_PEOPLE
from verax.studies.analysis.primary import NamedClaim, estimate_of, named, sorted_out
from verax.studies.protocol.contract import Analysed
from verax.studies.results.study_summary import Primary, PrimaryEstimate
from verax.text import between, p_text

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.definition.spec_tables import Condition

say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
PARTS = ("all", "right", "wrong")


def part_of(answers: pd.DataFrame, part: str) -> pd.DataFrame:
    """All answers, or those to items on which the model is right or wrong."""
    if part == "all":
        return answers
    right = answers["model_correct"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    return answers[right if part == "right" else ~right]


ALL = "all conditions"
# The column that holds it, where sessions are accounted for.
SESSION = "session"
# The column that holds the place of an answer's test phase, by which is seen whether they have to be.
ORDER = "phase_order"
QUARTERS = 4


def tested(responses: pd.DataFrame, scored: str) -> pd.DataFrame:
    """The scored answers of the test phases, one row each; steps that expired have no score.

    Where there are several test phases, each answer has the place of its own in its participant's order of them.
    """
    scores = responses[
        (responses["phase_kind"] == "test")
        & (responses["question"] == scored)
        & responses["item"].notna()
        & responses["condition"].notna()
    ]
    scores = scores.assign(score=scores["score"].astype("float64")).reset_index(drop=True)
    order = _phases_met(scores)
    return scores.assign(**{ORDER: order}) if (order > 1).any() else scores


def expired(missing: int) -> tuple[str, ...]:
    """A note on pages that nobody answered, if there are any."""
    if not missing:
        return ()
    return (say_table("expired", pages=missing),)


def all_and_each(answers: pd.DataFrame, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """All answers, where there are several conditions, and those under each of them."""
    whole = {ALL: answers} if len(names) > 1 else {}
    return whole | {name: answers[answers["condition"] == name] for name in names}


def answered(answers: pd.DataFrame) -> pd.DataFrame:
    """Those that have a score."""
    return answers[answers["score"].notna()].reset_index(drop=True)


def as_met(answers: pd.DataFrame, value: str = "score") -> ConditionResponses:
    """Answers as the estimators take them.

    Where sessions are not accounted for, the phases tell whether conditions were met equally early and late.
    """
    numbers = answers[value].astype("float64").to_numpy()
    session = SESSION if SESSION in answers else ORDER
    return met(
        answers["participant"].tolist(),
        answers["item"].tolist(),
        answers["condition"].tolist(),
        numbers,
        answers[session].tolist() if session in answers else None,
        adjusted=session == SESSION,
    )


def with_sessions(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with the session of each: the first, second, ... test phase that its participant met.

    Where all questions are in one phase, sessions are the quarters of a participant's way through it.
    """
    by_person = answers.groupby("participant")
    session = _phases_met(answers)
    if session.nunique() < 2:
        place = by_person["step"].rank(method="dense")
        session = ((place - 1) * QUARTERS // by_person["step"].transform("nunique")).astype(int) + 1
    return answers.assign(**{SESSION: session})


def _phases_met(answers: pd.DataFrame) -> pd.Series:
    """Of each answer, whether its test phase was the first, second, ... that its participant met."""
    first_step = answers.groupby(["participant", "phase"])["step"].transform("min")
    return first_step.groupby(answers["participant"]).rank(method="dense").astype(int)


def in_order(names: Sequence[str], conditions: Sequence[Condition]) -> list[str]:
    """The conditions that have answers, in the order of the spec."""
    return [condition.name for condition in conditions if condition.name in names]


def means_by_condition(answers: pd.DataFrame, value: str, level: float) -> dict[str, Crossed]:
    """The mean of a value under each condition that has answers."""
    return {mean.name: mean for mean in condition_means(as_met(answers, value), level)}


def references(data: Analysed, there: Sequence[str]) -> list[str]:
    """What methods are compared with, the first one in the primary analysis: no explanation, then a random control."""
    kinds = {condition.name: condition.kind for condition in data.conditions}
    plain = [name for name in there if kinds[name] == "none"]
    return plain[:1] + [name for name in there if kinds[name] == "control"][:1]


def compared_with(
    rows: ConditionResponses, reference: str, names: Sequence[str], level: float
) -> dict[str, Crossed]:
    """How much higher each condition is than the reference, within people; Holm over all of them."""
    chosen = [(name, reference) for name in names if name != reference]
    if not chosen:
        return {}
    differences = condition_differences(rows, chosen, level)
    return {first: difference for (first, _), difference in zip(chosen, differences, strict=True)}


def difference_sentence(estimates: Sequence[PrimaryEstimate], reference: str, what: str, unit: Unit) -> str:
    """What the differences from a reference say, in every case.

    Args:
        estimates: the lines.
        reference: what they are compared with.
        what: what is higher or lower, such as "accuracy".
        unit: of the numbers.
    """
    clear, unclear, small, bare = sorted_out(estimates)
    said = [
        say(
            "difference-clear",
            condition=line.condition,
            way="raised" if (line.estimate or 0) > 0 else "lowered",
            what=what,
            size=f"{abs(line.estimate or 0):.{unit.decimals}f}{unit.noun}",
            reference=reference,
            interval=between(line.low or 0, line.high or 0, unit.decimals),
            p=p_text(line.p_adjusted or 0),
            corrected="yes" if len(estimates) > 1 else "no",
        )
        for line in clear
    ]
    if unclear:
        missed = max(line.detectable for line in unclear if line.detectable is not None)
        about = f"{missed:.{unit.decimals}f}{unit.noun}"
        parts = _with_intervals(unclear, unit)
        said.append(say("difference-unclear", reference=reference, parts=parts, detectable=about))
    uneven = [line for line in small if line.uneven]
    if uneven:
        parts = _with_intervals(uneven, unit)
        said.append(say("difference-uneven", reference=reference, parts=parts))
    small = [line for line in small if not line.uneven]
    if small:
        parts, people, items = _with_intervals(small, unit), FEWEST_PEOPLE, FEWEST_ITEMS
        said.append(say("difference-small", reference=reference, parts=parts, people=people, items=items))
    said += _without_intervals(bare, reference, unit)
    return " ".join(said) or say("nothing-to-compare")


def _without_intervals(bare: Sequence[PrimaryEstimate], reference: str, unit: Unit) -> Iterator[str]:
    """What is known of differences that have no interval."""
    known = [line for line in bare if line.estimate is not None]
    if known:
        parts = [
            say("difference-bare", condition=line.condition, size=unit.said(line.estimate or 0))
            for line in known
        ]
        yield say("difference-no-interval", reference=reference, parts=parts)
    mixed = [line.condition for line in bare if line.estimate is None and line.participants]
    if mixed:
        yield say("difference-mixed", names=mixed, reference=reference)
    lost = [line.condition for line in bare if line.estimate is None and not line.participants]
    if lost:
        yield say("difference-nobody", reference=reference, others=either(lost))


def _with_intervals(lines: Sequence[PrimaryEstimate], unit: Unit) -> list[str]:
    return [
        say(
            "difference-part",
            condition=line.condition,
            size=unit.said(line.estimate or 0),
            interval=between(line.low or 0, line.high or 0, unit.decimals),
        )
        for line in lines
    ]


def difference_table(
    key: str,
    title: str,
    claims: dict[str, Crossed],
    reference: str,
    what: str,
    unit: Unit,
    *,
    sessions: bool = False,
) -> Table:
    """Differences from one reference with their tests, alone and together; ``sessions``: these are accounted for."""
    sources: Sources[NamedClaim] = (
        text("condition", say_table("column-condition"), lambda line: line.name),
        number(
            "difference",
            say_table("column-difference-from", reference=reference),
            lambda line: unit.of(line.claim.estimate),
            unit,
        ),
        interval(
            "interval",
            say_table("column-interval"),
            lambda line: unit.interval(line.claim.low, line.claim.high),
            unit,
        ),
        p_value("p", "p", lambda line: line.claim.p),
        p_value("p_adjusted", say_table("column-p-corrected"), lambda line: line.claim.p_family),
        p_value("p_exact", say_table("column-p-signs-flipped"), lambda line: line.claim.p_exact),
        number(
            "detectable",
            say_table("column-detectable"),
            lambda line: unit.of(line.claim.detectable),
            unit,
        ),
        count("participants", say_table("column-participants"), lambda line: line.claim.n_participants),
        count("items", say_table("column-items"), lambda line: line.claim.n_items),
    )
    estimates = [estimate_of(name, "", claim, unit) for name, claim in claims.items()]
    warnings = dict.fromkeys(f"{name}: {said}" for name, claim in claims.items() for said in claim.warnings)
    return build_table(
        key,
        title,
        named(claims),
        sources,
        difference_sentence(estimates, reference, what, unit),
        [
            say_table("differences-how"),
            *([say_table("differences-sessions")] if sessions else []),
            *warnings,
        ],
    )


def mixed_table(
    claims: dict[str, Crossed], models: dict[str, list[Effect]], reference: str, unit: Unit
) -> Table:
    """The differences again by mixed models; all models must have the lines of the first."""
    lines: list[_Estimated] = [
        (name, [claim, *(effects[place] for effects in models.values())])
        for place, (name, claim) in enumerate(claims.items())
    ]
    titles = {"crossed": say_table("column-crossed-within")} | {
        f"model{n}": name for n, name in enumerate(models)
    }
    columns = [
        column for n, (key, title) in enumerate(titles.items()) for column in _estimator(n, key, title, unit)
    ]
    sources: Sources[_Estimated] = (
        text("condition", say_table("column-condition"), lambda line: line[0]),
        *columns,
    )
    apart = [
        name
        for name, (claim, *others) in lines
        for other in others
        if claims[name].enough
        and claim.p is not None
        and other.p is not None
        and (claim.p <= ALPHA) != (other.p <= ALPHA)
    ]
    enough = any(claim.enough for claim in claims.values())
    agree = say("models-agree", reference=reference) if enough else say("models-no-data")
    return build_table(
        "cross-check",
        say_table("several-models", reference=reference),
        lines,
        sources,
        say("models-differ", names=list(dict.fromkeys(apart))) if apart else agree,
        [
            say_table("several-models-how"),
            *dict.fromkeys(
                said for effects in models.values() for effect in effects for said in effect.warnings
            ),
        ],
    )


# A condition with its difference by one estimator after the other.
_Estimated = tuple[str, list[Crossed | Effect]]


def _estimator(place: int, key: str, title: str, unit: Unit) -> Sources[_Estimated]:
    """The three columns of one estimator."""
    return (
        number(key, title, lambda line: unit.of(line[1][place].estimate), unit),
        interval(
            f"{key}_interval",
            say_table("column-interval"),
            lambda line: unit.interval(line[1][place].low, line[1][place].high),
            unit,
        ),
        p_value(f"{key}_p", "p", lambda line: line[1][place].p),
    )


def primary_differences(
    claims: dict[str, Crossed], reference: str, measure: str, what: str, unit: Unit
) -> Primary:
    """The differences from the reference as the primary analysis."""
    estimates = tuple(
        estimate_of(name, f"{name}-vs-{reference}", claim, unit) for name, claim in claims.items()
    )
    return Primary(measure, unit, difference_sentence(estimates, reference, what, unit), estimates)
