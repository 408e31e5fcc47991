"""Who took part, as reviewers ask: age, language, device, minutes by condition; who stopped where, who came twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from verax.phrases import say as say_phrase
from verax.results.tables import Sources, Table, build_table, count, interval, number, share, text
from verax.results.units import MINUTES, SECONDS
from verax.stats.estimate import Estimate, mean_interval
from verax.studies.definition.own_pages import own_screens, right_answers
from verax.studies.definition.spec_tables import PREFIX, background_question
from verax.studies.protocol.contract import Analysed

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.schema import Collected

say = partial(say_phrase, "sample")
BY_PAGE = "left-by-page"


@dataclass(frozen=True)
class _Part:
    """How many of the analysed people are of one sort."""

    what: str
    value: str
    people: int
    share: float


@dataclass(frozen=True)
class _Time:
    """How long people of a condition took."""

    condition: str
    people: int
    minutes: Estimate | None
    median: float | None
    seconds: Estimate | None


def sample_tables(data: Analysed) -> tuple[Table, ...]:
    """The tables of who took part and of how long it took; none where nobody is analysed."""
    if not len(data.participants):
        return ()
    parts = [*_parts(data), *_own_parts(data)]
    return (*([_sample(data, parts)] if parts else []), _times(data))


def _sample(data: Analysed, parts: list[_Part]) -> Table:
    sources: Sources[_Part] = (
        text("what", say("column-what"), lambda part: part.what),
        text("value", say("column-value"), lambda part: part.value),
        count("people", say("column-people"), lambda part: part.people),
        share("share", say("column-share"), lambda part: part.share),
    )
    return build_table(
        "sample",
        say("title"),
        parts,
        sources,
        say("sentence", people=len(data.participants), minutes=_median_minutes(data.participants)),
        notes=(say("note"),),
    )


def _median_minutes(people: pd.DataFrame) -> str:
    minutes = people["minutes"].astype(float).dropna()
    return f"{minutes.median():.1f}" if len(minutes) else "none"


def _parts(data: Analysed) -> Iterator[_Part]:
    people = data.participants
    for name in data.study.spec.background:
        question = background_question(name)
        if not question.options:
            continue
        given = data.responses[data.responses["question"] == PREFIX + name].dropna(subset=["answer"])
        answers = given.drop_duplicates("participant").set_index("participant")["answer"]
        said = people["participant"].map(answers)
        known = [str(option.means) for option in question.options]
        yield from _counted(say(f"what-{name}"), said, known, len(people))
    for column in ("language", "device"):
        if column in people and (column == "device" or len(data.study.spec.languages) > 1):
            values = sorted({str(value) for value in people[column].dropna()})
            if values:
                yield from _counted(say(f"what-pages-{column}"), people[column], values, len(people))


def _own_parts(data: Analysed) -> Iterator[_Part]:
    """Questions of one's own that sort people: choices and numbers, but for checks of attention."""
    checks = right_answers(data.study.spec.questions)
    pages = own_screens(data.study.spec.questions).values()
    people = data.participants["participant"]
    for asked in (asked for page in pages for asked in page.questions if asked.name not in checks):
        given = data.responses[data.responses["question"] == asked.name].dropna(subset=["answer"])
        answers = people.map(given.drop_duplicates("participant").set_index("participant")["answer"])
        if asked.kind == "choice":
            called = {str(option.means): option.label for option in asked.options}
            yield from _counted(asked.prompt, answers.map(called), list(called.values()), len(people))
        elif asked.kind == "number" and answers.notna().any():
            told = answers.dropna().astype(float)
            of = {"median": told.median(), "low": told.min(), "high": told.max()}
            value = say("number", **{name: f"{each:g}" for name, each in of.items()})
            yield _Part(asked.prompt, value, len(told), len(told) / len(people))


def _counted(what: str, said: pd.Series, known: list[str], everybody: int) -> Iterator[_Part]:
    for value in known:
        many = int((said == value).sum())
        yield _Part(what, value, many, many / everybody)
    missing = int(said.isna().sum())
    if missing:
        yield _Part(what, say("not-answered"), missing, missing / everybody)


def _times(data: Analysed) -> Table:
    """A participant is the unit: everybody's mean over answers first."""
    answers = data.responses[(data.responses["phase_kind"] == "test") & data.responses["score"].notna()]
    each = answers.dropna(subset=["seconds"]).groupby(["condition", "participant"])["seconds"].mean()
    lines = []
    for condition in data.conditions:
        own = each.loc[condition.name] if condition.name in each.index.get_level_values(0) else None
        of_it = data.participants[data.participants["condition"] == condition.name]["minutes"]
        minutes = of_it.astype(float).dropna()
        lines.append(
            _Time(
                condition.name,
                0 if own is None else len(own),
                mean_interval(minutes) if len(minutes) > 1 else None,
                float(minutes.median()) if len(minutes) else None,
                None if own is None or len(own) < 2 else mean_interval(own.astype(float)),
            )
        )
    sources: Sources[_Time] = (
        text("condition", say("column-condition"), lambda line: line.condition),
        count("people", say("column-people"), lambda line: line.people),
        number("seconds", say("column-seconds"), lambda line: _mean(line.seconds), SECONDS),
        interval("seconds_interval", say("column-interval"), lambda line: _ends(line.seconds), SECONDS),
        number("minutes", say("column-minutes"), lambda line: _mean(line.minutes), MINUTES),
        interval("minutes_interval", say("column-interval"), lambda line: _ends(line.minutes), MINUTES),
        number("median", say("column-median"), lambda line: line.median, MINUTES),
    )
    return build_table(
        "time", say("time-title"), lines, sources, say("time-sentence"), notes=(say("time-note"),)
    )


def _mean(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.mean


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None] | None:
    return None if estimate is None else (estimate.low, estimate.high)


@dataclass(frozen=True)
class _StoppedRow:
    """People who stopped at one page: they had answered so many before it."""

    phase: str
    page: int
    left: int
    withdrew: int
    screened_out: int


def left_by_page(collected: Collected, data: Analysed) -> tuple[Table, ...]:
    """At which page people left, withdrew or were screened out; nothing where nobody did.

    Whoever withdrew and had everything deleted has no page any more, and is counted in the flow only.
    """
    people = _of_the_same_kind(collected, data)
    stopped = people[(people["steps"] > 0) & people["phase"].notna()]
    counts = {
        "left": stopped[(stopped["status"] == "active") & stopped["left"].astype(bool)],
        "withdrew": stopped[stopped["status"] == "withdrawn"],
        "screened_out": stopped[stopped["status"] == "screened-out"],
    }
    pages = {name: Counter(zip(rows["done"], rows["phase"], strict=True)) for name, rows in counts.items()}
    places = sorted({place for counted in pages.values() for place in counted})
    if not places:
        return ()
    lines = [
        _StoppedRow(
            phase=str(place[1]),
            page=int(place[0]) + 1,
            **{name: counted[place] for name, counted in pages.items()},
        )
        for place in places
    ]
    most = max(lines, key=lambda line: line.left + line.withdrew + line.screened_out)
    stopped_there = most.left + most.withdrew + most.screened_out
    table = build_table(
        BY_PAGE,
        say("stopped-title"),
        lines,
        (
            count("page", say("column-page"), lambda line: line.page),
            text("phase", say("column-part"), lambda line: line.phase),
            count("left", say("column-left"), lambda line: line.left),
            count("withdrew", say("column-withdrew"), lambda line: line.withdrew),
            count("screened_out", say("column-screened-out"), lambda line: line.screened_out),
        ),
        say("stopped-most", page=most.page, part=most.phase, people=stopped_there),
        [say("stopped-how")],
    )
    return (table,)


def retake_problems(collected: Collected, data: Analysed) -> list[str]:
    """That some of those analysed may have taken part before, as far as their browsers remember."""
    people = data.participants
    if "retake_of" not in people or not len(people):
        return []
    suspected = int(people["retake_of"].notna().sum())
    came = int(_of_the_same_kind(collected, data)["retake_of"].notna().sum())
    return [say("retakes", analysed=suspected, came=came)] if came else []


def _of_the_same_kind(collected: Collected, data: Analysed) -> pd.DataFrame:
    is_bot = collected.participants["bot"].astype(bool)
    return collected.participants[is_bot == (data.people == "bots")]
