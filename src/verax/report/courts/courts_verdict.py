"""The verdict over both courts: of each explainer what benchmarks and studies show, then whether the courts agree."""

from __future__ import annotations

from collections.abc import Sequence

from verax.report.courts.courts import Court, Standing
from verax.results.findings import FLOOR
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.text import listed

WORDS: dict[tuple[str, Sign], str] = {
    ("benchmark", "yes"): "passes the benchmark",
    ("benchmark", "no"): "fails the benchmark",
    ("benchmark", "open"): "benchmark undecided",
    ("study", "yes"): "helps",
    ("study", "no"): "harms",
    ("study", "open"): "no clear effect",
}


def courts_verdict(courts: Sequence[Court], order: Sequence[str], answer: str, needs: str) -> Verdict:
    """What is shown of every explainer.

    Args:
        courts: benchmarks and studies.
        order: explainers; where the figure has no number of two of them, they stay in this order.
        answer: whether benchmarks predict what helps people.
        needs: how many methods that would take.
    """
    rests_on = tuple(sentence for sentence in (answer, needs) if sentence)
    ordered = sorted(courts, key=lambda court: (court.kind != "benchmark", not court.higher_is_better))
    drawn = ordered[0] if ordered else None
    on_trial = [name for name in order if name != FLOOR] if drawn is None else _by_estimate(order, drawn)
    if drawn is None or not on_trial:
        return Verdict("No explainer stood in any of these courts.", (), "", rests_on)
    floor = _standing(drawn, FLOOR) if drawn.kind == "benchmark" else None
    return Verdict(
        sentence=_sentence(courts, on_trial),
        judged=tuple(_judged(name, courts, drawn) for name in on_trial),
        measure=f"{drawn.measure}{f' in {drawn.unit}' if drawn.unit else ''} ({drawn.name})",
        rests_on=rests_on,
        reference=Reference("random", floor.estimate)
        if floor
        else Reference("no difference", 0.0)
        if drawn.kind == "study"
        else None,
        ends=(0.0, 100.0) if drawn.kind == "benchmark" and drawn.unit == "per cent" else None,
        differences=drawn.kind == "study",
        decimals=drawn.unit.decimals,
    )


def _by_estimate(order: Sequence[str], drawn: Court) -> list[str]:
    """Everybody on trial in the order of the numbers that are drawn; who has none there comes last."""
    sign = -1 if drawn.higher_is_better else 1
    places = {standing.explainer: sign * standing.estimate for standing in drawn.standings}
    return sorted((name for name in order if name != FLOOR), key=lambda name: places.get(name, float("inf")))


def _standing(court: Court, name: str) -> Standing | None:
    return next((standing for standing in court.standings if standing.explainer == name), None)


def _signs(name: str, courts: Sequence[Court], kind: str) -> list[Sign]:
    found = [_standing(court, name) for court in courts if court.kind == kind]
    return [standing.sign for standing in found if standing is not None]


def _joint(signs: Sequence[Sign]) -> Sign | None:
    """What several courts of one kind say together; None where an explainer stood in none of them."""
    if not signs:
        return None
    return signs[0] if len(set(signs)) == 1 else "open"


def _words(kind: str, signs: Sequence[Sign]) -> str:
    """The same in words; where courts differ, in how many of them something is shown."""
    if len(set(signs)) == 1:
        return WORDS[kind, signs[0]]
    what = "benchmarks" if kind == "benchmark" else "studies"
    shown: dict[Sign, str] = {
        "yes": "passes" if kind == "benchmark" else "helps in",
        "no": "fails" if kind == "benchmark" else "harms in",
    }
    parts = [f"{verb} {signs.count(sign)}" for sign, verb in shown.items() if sign in signs]
    return f"{' and '.join(parts)} of {len(signs)} {what}"


def _judged(name: str, courts: Sequence[Court], drawn: Court) -> Judged:
    both = {kind: _joint(_signs(name, courts, kind)) for kind in ("benchmark", "study")}
    words = [_words(kind, signs) for kind in both if (signs := _signs(name, courts, kind))]
    known = [sign for sign in both.values() if sign is not None]
    overall: Sign = known[0] if len(set(known)) == 1 else "no" if "no" in known else "open"
    standing = _standing(drawn, name)
    numbers = (None, None, None) if standing is None else (standing.estimate, standing.low, standing.high)
    return Judged(name, overall, "; ".join(words), *numbers)


def _sentence(courts: Sequence[Court], names: Sequence[str]) -> str:
    """Who passes the benchmarks, and whom people are shown to gain from."""
    parts = []
    benchmarks = [court for court in courts if court.kind == "benchmark"]
    for court in benchmarks:
        passed = [name for name in names if _signs(name, [court], "benchmark") == ["yes"]]
        what = "the benchmark" if len(benchmarks) == 1 else f"the benchmark “{court.name}”"
        verb = "passes" if len(passed) == 1 else "pass"
        parts.append(f"{listed(passed)} {verb} {what}" if passed else f"no explainer is shown to pass {what}")
    studies = [court for court in courts if court.kind == "study"]
    people = "bots" if studies and all(court.simulated for court in studies) else "people"
    helped = {name: _joint(_signs(name, courts, "study")) for name in names}
    if any(helped.values()):
        gained = [_gain(name, studies) for name in names if helped[name] == "yes"]
        lost = [_gain(name, studies) for name in names if helped[name] == "no"]
        if gained:
            parts.append(f"{people} did better with {listed(gained)}")
        if lost:
            parts.append(f"{people} did worse with {listed(lost)}")
        if not gained and not lost:
            parts.append(f"none is shown to help {people} or to harm them")
    said = "; ".join(parts) or "what they measured is below"
    # Explainers keep their names as they are.
    return f"{said}." if said.startswith(tuple(names)) else f"{said[0].upper()}{said[1:]}."


def _gain(name: str, studies: Sequence[Court]) -> str:
    """The explainer with what people gained, where one study says it."""
    own = [(court, standing) for court in studies if (standing := _standing(court, name)) is not None]
    if len(own) != 1:
        return name
    court, standing = own[0]
    return f"{name} ({court.unit.said(standing.estimate)})"
