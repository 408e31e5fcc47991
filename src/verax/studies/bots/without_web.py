"""The same people without the web: for the many repeats of a study that a check of its analysis needs.

The same seed gives the answers that `verax.studies.bots.crowd.run_bots` gives one bot after the other in an empty
database. Times are those of people; nobody reloads or clicks twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, shown
from verax.studies.bots.album import Album, make_album
from verax.studies.bots.mixture import Mixture, as_mixture
from verax.studies.bots.person import Person
from verax.studies.bots.profiles import Profile
from verax.studies.design.allocation import choose_row
from verax.studies.model.screen import Screen
from verax.studies.model.steps import DesignRow, Phase, Step
from verax.studies.model.study import Study
from verax.studies.protocol.surroundings import participant_class_names, participant_steps
from verax.version import VERSION

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.frames import Collected

Record = dict[str, Any]


def simulate_answers(study: Study, profiles: Mixture | Profile | str, n: int, seed: int = 0) -> pd.DataFrame:
    """The responses of so many simulated people, as `verax.studies.answers.frames.Collected` has them."""
    return simulate_study(study, profiles, n, seed).responses


def simulate_study(
    study: Study, profiles: Mixture | Profile | str, n: int, seed: int = 0, *, album: Album | None = None
) -> Collected:
    """A study that so many simulated people took part in; exclusion rules are not applied.

    Args:
        study: what they take part in.
        profiles: who they are, such as ``"helped(by=0.1)=0.8,guesser=0.2"``.
        n: how many come; who finds no free place has no answers.
        seed: of all their decisions.
        album: of the study, for those who repeat it often.
    """
    from verax.studies.answers.frames import Collected, to_frame

    album = album or make_album(study)
    taken: Counter[int] = Counter()
    people: list[Record] = []
    answers: list[Record] = []
    for place, profile in enumerate(as_mixture(profiles).people(n, seed), start=1):
        person = Person(album, profile, seed, place)
        number = sum(one["number"] is not None for one in people) + 1
        row = choose_row(study.rows, taken, study.spec.seed, number)
        about, given = (_nobody(person), []) if row is None else _took_part(album, person, row, number)
        if row is not None and about["status"] != "screened-out":
            taken[row.number] += 1
        people.append(about)
        answers += given
    return Collected(
        study,
        to_frame(iter(people), shown(PARTICIPANTS, identifying=False)),
        to_frame(iter(answers), shown(RESPONSES, identifying=False)),
        to_frame(iter(()), shown(EXCLUSIONS, identifying=False)),
        source=f"{n} simulated people, seed {seed}",
    )


class _Walk:
    """One person's way, and what became of it."""

    def __init__(self, album: Album, person: Person, row: DesignRow, number: int) -> None:
        self.steps = participant_steps(album.study, row, number)
        self.status = "active"
        self.phase = ""
        self.done = 0
        self.seconds = 0.0
        self._album = album
        self._person = person
        self._row = row
        self._names = participant_class_names(album.study, number)

    def answers(self) -> Iterator[Record]:
        """One record for each answer, and for each step whose time ran out."""
        study = self._album.study
        numbers, last_try = _numbers_in_phase(self.steps), _last_try(study, self.steps)
        passed, over = False, ""  # the screening test, and the phase whose time is over
        for ord, step in enumerate(self.steps, start=1):
            if passed and ord <= last_try:
                continue
            phase, screen = study.phases[step.phase], study.screens[step.screen]
            page = self._album.page(step.screen, self._names, ord, len(self.steps))
            self.phase = phase.key
            if self._person.leaves(page):
                return
            seconds, given = self._person.seconds(page), self._person.answer(page)
            self.seconds += seconds
            late = phase.key == over or (_is_limited(phase) and self._person.is_late(ord))
            over = phase.key if late and _session_ends_first(phase) else over
            about = self._about(step, ord, numbers[ord - 1], seconds) | {"late": late}
            if late and phase.late == "close":
                yield about | _expired(self._album, screen)
                continue
            self.done += 1
            meanings = _meanings(screen, given)
            for question, meaning in meanings.items():
                yield about | _answered(self._album, step, question, given[question], meaning)
            if study.screening is not None and phase.kind == "screening" and screen.questions:
                passed = study.screening.passed(meanings)
                if not passed and ord == last_try:
                    self.status = "screened-out"
                    return
        self.status = "complete"

    def _about(self, step: Step, ord: int, number: int, seconds: float) -> Record:
        """What all answers of a step have in common."""
        return {
            "participant": _name(self._person),
            "bot": True,
            "design_row": self._row.number,
            "phase": step.phase,
            "phase_kind": self._album.study.phases[step.phase].kind,
            "step": ord,
            "number_in_phase": number,
            "item": step.item,
            "condition": step.condition,
            **_about_item(self._album.study, step),
            "withheld": False,
            "seconds": seconds,
            "client_ms": 1000 * seconds,
            "visible_ms": 1000 * seconds,
            "blurs": 0,
            "views": 1,
            "minute": self.seconds / 60,
        }


def _took_part(album: Album, person: Person, row: DesignRow, number: int) -> tuple[Record, list[Record]]:
    walk = _Walk(album, person, row, number)
    given = list(walk.answers())
    condition = row.cells.get("condition")
    about = {
        "status": walk.status,
        "design_row": row.number,
        "number": number,
        "condition": condition if isinstance(condition, str) else None,
        "steps": len(walk.steps),
        "done": walk.done,
        "phase": walk.phase,
        "minutes": walk.seconds / 60,
        "left": walk.status == "active",
    }
    return _nobody(person) | about, given


def _name(person: Person) -> str:
    return f"b{person.number:06d}"


def _nobody(person: Person) -> Record:
    """Somebody who found no free place."""
    return {
        "participant": _name(person),
        "bot": True,
        "status": "full",
        "platform": "link",
        "design_row": None,
        "number": None,
        "condition": None,
        "steps": 0,
        "done": 0,
        "phase": None,
        "minutes": None,
        "left": False,
        "excluded": False,
        "rules": [],
        "version": VERSION,
    }


def _last_try(study: Study, steps: tuple[Step, ...]) -> int:
    """The last step of the screening test; 0 if there is none."""
    tries = [ord for ord, step in enumerate(steps, 1) if study.phases[step.phase].kind == "screening"]
    return max(tries, default=0)


def _is_limited(phase: Phase) -> bool:
    return phase.item_seconds is not None or phase.session_seconds is not None


def _session_ends_first(phase: Phase) -> bool:
    """Whether whoever lets the time run out lets that of the whole phase run out."""
    session, item = phase.session_seconds, phase.item_seconds
    return session is not None and (item is None or session <= item)


def _numbers_in_phase(steps: tuple[Step, ...]) -> list[int]:
    from verax.studies.store.participant.numbering import places

    runs = (list(run) for _, run in groupby(steps, key=lambda step: step.phase))
    return [number for run in runs for number, _ in places(run)]


def _about_item(study: Study, step: Step) -> Record:
    item = None if step.item is None else study.items[step.item]
    variant = None if item is None else item.variant
    return {
        "label": None if item is None else item.label,
        "prediction": None if item is None else item.prediction,
        "model_correct": None if item is None else item.correct,
        "variant_prediction": None if variant is None else variant.prediction,
        "flips": None if item is None or variant is None else item.flips,
    }


def _meanings(screen: Screen, given: dict[str, str]) -> dict[str, Any]:
    return {
        question.name: question.options[int(given[question.name]) - 1].means
        if question.options
        else given[question.name]
        for question in screen.questions
        if question.name in given
    }


def _answered(album: Album, step: Step, question: str, given: str, meaning: Any) -> Record:
    from verax.studies.answers.records import written

    study = album.study
    asked = next(one for one in study.screens[step.screen].questions if one.name == question)
    score = None
    if (
        study.phases[step.phase].kind == "test"
        and step.item is not None
        and question == album.protocol.scored
    ):
        score = album.protocol.score(study.items[step.item], meaning)
    return {
        "question": question,
        "answer": written(meaning),
        "position": int(given) if asked.options else None,
        "score": score,
        "state": "closed",
    }


def _expired(album: Album, screen: Screen) -> Record:
    names = [question.name for question in screen.questions]
    scored = album.protocol.scored
    return {
        "question": scored if scored in names else next(iter(names), None),
        "answer": None,
        "position": None,
        "score": None,
        "state": "expired",
        "seconds": None,
        "client_ms": None,
        "visible_ms": None,
        "blurs": None,
    }
