"""The same people without the web: for the many repeats of a study that a check of its analysis needs.

The same seed gives the answers that `verax.studies.bots.web.run_bots` gives one bot after the other in an empty
database. Times are those of people; nobody reloads or clicks twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from verax.installed import VERSION
from verax.studies.answers.response_record import Record, ResponseRecords, StepColumns
from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, shown
from verax.studies.bots.person import Album, SimulatedPerson, make_album
from verax.studies.bots.profiles import Mixture, Profile, as_mixture
from verax.studies.definition.own_pages import hidden_by
from verax.studies.definition.screen import Meaning, Screen
from verax.studies.definition.study import DesignRow, Phase, Step, Study
from verax.studies.design import Places, choose_order, choose_row, has_room, order_count, shown_screen
from verax.studies.protocol.common_steps import door_steps, participant_class_names, participant_steps
from verax.studies.store.participant.placing import exceeds, places
from verax.studies.store.participant.posted import check_answers

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.schema import Collected


def simulate_answers(study: Study, profiles: Mixture | Profile | str, n: int, seed: int = 0) -> pd.DataFrame:
    """The responses of so many simulated people, as `verax.studies.answers.schema.Collected` has them."""
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
    from verax.studies.answers.schema import Collected, to_frame

    album = album or make_album(study)
    records = ResponseRecords(study)
    taken = Places()
    in_quotas: list[Mapping[str, Meaning]] = []
    number = 1  # of the next who finds a place
    people: list[Record] = []
    answers: list[Record] = []
    for place, profile in enumerate(as_mixture(profiles).people(n, seed), start=1):
        person = SimulatedPerson(album, profile, seed, place)
        if not has_room(study.rows, taken):
            people.append(_nobody(person))
            continue
        walk = _Walk(album, records, person, number, taken, in_quotas)
        answers += walk.answers()
        people.append(walk.became())
        number += 1
    return Collected(
        study,
        to_frame(iter(people), shown(PARTICIPANTS, identifying=False)),
        to_frame(iter(answers), shown(RESPONSES, identifying=False)),
        to_frame(iter(()), shown(EXCLUSIONS, identifying=False)),
        source=f"{n} simulated people, seed {seed}",
    )


class _Walk:
    """One person's way, and what became of it; they come one after the other, so that whoever passes finds a place."""

    def __init__(
        self,
        album: Album,
        records: ResponseRecords,
        person: SimulatedPerson,
        number: int,
        taken: Places,
        in_quotas: list[Mapping[str, Meaning]],
    ) -> None:
        self._in_quotas = in_quotas
        self.status = "active"
        self.phase = ""
        self.done = 0
        self.seconds = 0.0
        self._album = album
        self._records = records
        self._person = person
        self._number = number
        self._taken = taken
        self._names = participant_class_names(album.study, number)
        self._row: DesignRow | None = None
        self._order: int | None = None
        # Until there is a row, the first one's steps say how long the way is.
        self._plan(album.study.rows[0])

    def _plan(self, row: DesignRow) -> None:
        self.steps = participant_steps(self._album.study, row, self._number)
        self._numbers = places(self.steps)

    def _place(self) -> None:
        """Takes a place in the design."""
        study = self._album.study
        row = choose_row(study.rows, self._taken.rows, study.spec.seed, self._number)
        assert row is not None
        self._row = row
        self._order = choose_order(order_count(study), row, self._taken, study.spec.seed, self._number)
        self._plan(row)

    def answers(self) -> Iterator[Record]:
        """One record for each answer, and for each step whose time ran out."""
        records = list(self._walked())
        own_row = None if self._row is None else self._row.number
        if self.status not in ("screened-out", "over-quota"):
            self._taken.add(own_row, self._order)
        return (record | {"design_row": own_row} for record in records)

    def _walked(self) -> Iterator[Record]:
        study = self._album.study
        door = len(door_steps(study))
        hidden: set[str] = set()
        if not door:
            self._place()
        ord, over = 0, ""  # the phase whose time is over
        while ord < len(self.steps):
            ord += 1
            step = self.steps[ord - 1]
            if step.screen in hidden:
                continue
            phase, screen = study.phases[step.phase], shown_screen(study, step.screen, self._order)
            page = self._album.page(step.screen, self._names, self._order, ord, len(self.steps))
            self.phase = phase.key
            if self._person.leaves(page):
                return
            seconds, given = self._person.seconds(page), self._person.answer(page)
            self.seconds += seconds
            late = phase.key == over or (_is_limited(phase) and self._person.is_late(ord))
            over = phase.key if late and _session_ends_first(phase) else over
            about = self._about(step, ord, self._numbers[ord - 1][0], seconds, late=late)
            if late and phase.late == "close":
                yield self._records.expired(about, self._records.question_of(step.screen))
                continue
            self.done += 1
            answers = _answers(screen, given)
            for question, (meaning, position) in answers.items():
                offered = self._records.offered(step.screen, self._order).get(question)
                yield self._records.answered(about, question, meaning, position, offered)
            means = {name: meaning for name, (meaning, _) in answers.items()}
            if study.spec.questions:
                hidden |= set(hidden_by(study.spec.questions, study.screens, step.screen, means))
            if self._is_over_quota(means):
                self.status = "over-quota"
                return
            if study.screening is not None and phase.kind == "screening" and screen.questions:
                last_try = _last_try(study, self.steps)
                if study.screening.passed(means):
                    ord = last_try
                elif ord == last_try:
                    self.status = "screened-out"
                    return
            if self._row is None and ord == door:
                self._place()
        self.status = "complete"

    def _is_over_quota(self, means: Mapping[str, Meaning]) -> bool:
        """Whether a quota is full; who is not turned away counts from now on."""
        for quota in self._album.study.spec.quotas:
            if quota.question in means:
                if exceeds(self._album.study, quota, means, self._in_quotas):
                    return True
                self._in_quotas.append(means)
        return False

    def became(self) -> Record:
        """What became of the person, once all answers are given."""
        return _nobody(self._person) | {
            "status": self.status,
            "design_row": None if self._row is None else self._row.number,
            "number": self._number,
            "answer_order": self._order,
            "condition": None if self._row is None else self._row.condition,
            "steps": len(self.steps),
            "done": self.done,
            "phase": self.phase,
            "minutes": self.seconds / 60,
            "left": self.status == "active",
        }

    def _about(self, step: Step, ord: int, number: int, seconds: float, *, late: bool) -> StepColumns:
        """What all answers of a step have in common."""
        return {
            "participant": _name(self._person),
            "bot": True,
            "design_row": None,  # as they are found in the end
            "phase": step.phase,
            "step": ord,
            "number_in_phase": number,
            "item": step.item,
            "condition": step.condition,
            "late": late,
            "seconds": seconds,
            "client_ms": 1000 * seconds,
            "visible_ms": 1000 * seconds,
            "blurs": 0,
            "views": 1,
            "minute": self.seconds / 60,
        }


def _name(person: SimulatedPerson) -> str:
    return f"b{person.number:06d}"


def _nobody(person: SimulatedPerson) -> Record:
    """Somebody who found no free place."""
    return {
        "participant": _name(person),
        "bot": True,
        "status": "full",
        "platform": "link",
        "design_row": None,
        "number": None,
        "answer_order": None,
        "condition": None,
        "steps": 0,
        "done": 0,
        "phase": None,
        "minutes": None,
        "left": False,
        "excluded": False,
        "rules": [],
        "version": VERSION,
        "link": None,
    }


def _last_try(study: Study, steps: tuple[Step, ...]) -> int:
    """The last step of the screening test."""
    return max(ord for ord, step in enumerate(steps, 1) if study.phases[step.phase].kind == "screening")


def _is_limited(phase: Phase) -> bool:
    return phase.item_seconds is not None or phase.session_seconds is not None


def _session_ends_first(phase: Phase) -> bool:
    """Whether whoever lets the time run out lets that of the whole phase run out."""
    session, item = phase.session_seconds, phase.item_seconds
    return session is not None and (item is None or session <= item)


def _answers(screen: Screen, given: Mapping[str, str]) -> dict[str, tuple[Meaning, int | None]]:
    """By question that was answered: what it means, and the place of the option that was chosen."""
    checked = check_answers(screen, given)
    return {
        name: (meaning, checked.positions.get(name))
        for name, meaning in checked.meanings.items()
        if meaning is not None
    }
