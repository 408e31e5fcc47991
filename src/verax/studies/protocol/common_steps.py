"""What is around every protocol: instructions, screening test, a last question, debriefing, and its duration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations
from math import ceil

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.seeds import stream
from verax.studies.definition.languages import in_language, steps_in
from verax.studies.definition.own_pages import own_screens
from verax.studies.definition.own_questions import AFTER, BEFORE, EACH, FIRST, OwnQuestion
from verax.studies.definition.screen import Evidence, Option, Passage, Prose, Question, Row, Screen
from verax.studies.definition.spec_tables import BackgroundName, ScreeningQuestion, background_question
from verax.studies.definition.study import Briefing, DesignRow, Material, Phase, Screening, Step, Study
from verax.studies.display import wording
from verax.studies.protocol.contract import Protocol, make_protocol

say = partial(say_phrase, "participant")
# Keys of the phases.
INSTRUCTIONS = "instructions"
SCREENING = "screening"
METHOD = "method"
QUESTIONS = "questions"
BACKGROUND = "background"
DEBRIEF = "debrief"
# What the phases of one's own questions begin with; the place follows.
OWN = "own-"
# What everybody is told and asked before a row of the design is given to them, whichever it will be.
DOOR = "door"


def door_steps(study: Study) -> tuple[Step, ...]:
    """What everybody does before they are given a row of the design; nothing where all comes after.

    The first attempt at the screening test follows the instructions; before each further one they are shown again. Who
    passes skips the further attempts and what is between them. Questions of one's own that are asked first, as for
    quotas, come before all that.
    """
    audience, asked = _at_door(study), _own(study, FIRST)
    return asked if audience is None else (*asked, *_tested(study, audience))


def has_door(study: Study) -> bool:
    """Whether the screening test is the same for all, so that it comes before a row of the design is given."""
    return _at_door(study) is not None


def participant_steps(
    study: Study, row: DesignRow, number: int, language: str | None = None
) -> tuple[Step, ...]:
    """All steps of the participant with this number (from 1, by arrival) in a row of the design: a pure function.

    They begin with those of `door_steps`. In a study in several languages they are those of this one, or of the first.
    """
    return steps_in(study, language, _steps(in_language(study, language), row, number))


def _steps(study: Study, row: DesignRow, number: int) -> tuple[Step, ...]:
    protocol = make_protocol(study.spec.protocol)
    audience = protocol.audience(study.spec, row)
    steps = [*door_steps(study)]
    if _at_door(study) is None:
        steps += _tested(study, audience)
    told = f"instructions:{audience}"
    if _at_door(study) == DOOR and told in study.screens:
        steps.append(Step(INSTRUCTIONS, told))
    steps += _own(study, BEFORE, row)
    own = protocol.steps(study, row, _participant_seed(study.spec.seed, number))
    told_by = next((place for place, step in enumerate(own, 1) if step.phase == protocol.introduces), 0)
    steps += own[:told_by]
    if f"method:{audience}" in study.screens:
        steps += [Step(METHOD, f"method:{audience}"), Step(METHOD, f"method-answer:{audience}")]
    steps += own[told_by:]
    steps = _with_own(study, row, steps)
    if QUESTIONS in study.phases:
        steps.append(Step(QUESTIONS, "strategy"))
    if study.spec.background:
        steps.append(Step(BACKGROUND, "background"))
    alone = None if row.condition is None else study.spec.condition(row.condition).kind
    # Whoever was in one condition is told what that was: random explanations, for one, and nobody else saw them.
    told = f"debrief:{alone}"
    return (*steps, Step(DEBRIEF, told if told in study.screens else "debrief"))


def _own(study: Study, place: str, row: DesignRow | None = None) -> tuple[Step, ...]:
    """The pages of one's own at a place, without those that are for other conditions."""
    return tuple(
        Step(f"{OWN}{place}", asked.screen)
        for asked in study.spec.questions
        if asked.place == place and (row is None or _is_for(asked, row))
    )


def _is_for(asked: OwnQuestion, row: DesignRow) -> bool:
    wanted = () if asked.shown_if is None else asked.shown_if.condition
    return not wanted or row.condition in wanted


def _with_own(study: Study, row: DesignRow, steps: Sequence[Step]) -> list[Step]:
    """The steps, with the pages that are asked after their parts, and after the last of them."""
    if not study.spec.questions:
        return list(steps)
    last = {step.phase: place for place, step in enumerate(steps)}
    asked: list[Step] = []
    for place, step in enumerate(steps):
        asked.append(step)
        if last[step.phase] != place or step.phase.startswith(OWN):
            continue
        pages = _own(study, step.phase, row)
        if study.phases[step.phase].kind == "test":
            pages += _own(study, EACH, row)
        condition = step.condition or row.condition
        asked += [Step(f"{OWN}{step.phase}", page.screen, condition=condition) for page in pages]
    return [*asked, *_own(study, AFTER, row)]


def _own_phases(material: Material, protocol: Protocol) -> Iterator[Phase]:
    """A phase for each place where one's own questions are asked."""
    parts = {phase.key: phase for phase in protocol.phases(material)}
    places: dict[str, None] = {}
    for asked in material.spec.questions:
        if asked.place == EACH:
            places |= dict.fromkeys(key for key, phase in parts.items() if phase.kind == "test")
        elif asked.place in (FIRST, BEFORE, AFTER, *parts):
            places[asked.place] = None
        else:
            raise VeraxError(
                f"The question {asked.own_name!r} is asked after the part {asked.place!r}, which there is not here; "
                f"there are: {FIRST}, {BEFORE}, {AFTER}, {EACH}, {', '.join(parts)}."
            )
    for place in places:
        yield Phase(f"{OWN}{place}", say("own-questions"), "questions")


def _tested(study: Study, audience: str) -> tuple[Step, ...]:
    """The instructions of an audience, and its attempts at the screening test where there is one."""
    told = Step(INSTRUCTIONS, f"instructions:{audience}")
    if study.screening is None:
        return (told,)
    attempt = Step(SCREENING, f"screening:{audience}")
    again = Step(INSTRUCTIONS, f"instructions-again:{audience}")
    return (told, attempt, *((again, attempt) * (study.screening.attempts - 1)))


def _at_door(study: Study) -> str | None:
    """The audience that everybody is of until a row of the design is given; None where one is given at once."""
    asked = study.spec.screening
    if study.screening is None or asked is None or asked.method == "excludes":
        return None
    if f"screening:{DOOR}" in study.screens:
        return DOOR
    protocol = make_protocol(study.spec.protocol)
    audiences = {protocol.audience(study.spec, row) for row in study.rows}
    return audiences.pop() if len(audiences) == 1 else None


def participant_class_names(study: Study, number: int, language: str | None = None) -> tuple[str, ...]:
    """What the classes are called on the pages of the participant with this number."""
    return make_protocol(study.spec.protocol).names(in_language(study, language), number)


def framed_phases(material: Material, protocol: Protocol) -> tuple[Phase, ...]:
    """The phases around those of the protocol."""
    tested = screening(material, protocol) is not None
    taught = any(_taught(material, briefing) for briefing in _briefings(material, protocol).values())
    asks = protocol.strategy and not protocol.asks_strategy_itself
    return (
        Phase(INSTRUCTIONS, say("instructions"), "instructions"),
        *((Phase(SCREENING, say("short-test"), "screening"),) if tested else ()),
        *((Phase(METHOD, say("method"), "instructions"),) if taught else ()),
        *_own_phases(material, protocol),
        *((Phase(QUESTIONS, say("last-question"), "questions"),) if asks else ()),
        *((Phase(BACKGROUND, say("about-you"), "questions"),) if material.spec.background else ()),
        Phase(DEBRIEF, say("the-end"), "debrief"),
    )


def framed_screens(material: Material, protocol: Protocol) -> dict[str, Screen]:
    """The screens around those of the protocol."""
    judged, briefings = screening(material, protocol), _briefings(material, protocol)
    screens = own_screens(material.spec.questions)
    if judged is not None and _is_alike(material, briefings):
        asked = next(iter(briefings.values())).questions
        screens |= _told_and_tested(material, Briefing(_common_paragraphs(briefings), asked), DOOR, judged)
        if material.spec.texts.instructions is None:
            screens |= _own_instructions(briefings)
    else:
        for audience, briefing in briefings.items():
            screens |= _told_and_tested(material, briefing, audience, judged)
    for audience, briefing in briefings.items():
        if (asked_of := _taught(material, briefing)) is not None:
            screens[f"method:{audience}"] = _method(asked_of)
            screens[f"method-answer:{audience}"] = _method_answer(asked_of, briefing)
    if protocol.strategy:
        screens["strategy"] = strategy_page(protocol.asks_strategy_itself)
    if material.spec.background:
        screens["background"] = _background(material.spec.background)
    stood_for = protocol.stood_for(material)
    for kind in (None, *sorted(_only_kinds(material, protocol))):
        said = wording.debrief(material.spec, kind, stood_for)
        key = "debrief" if kind is None else f"debrief:{kind}"
        screens[key] = Screen(say("thank-you"), (Prose(said),), button=say("finish"))
    return screens


def _only_kinds(material: Material, protocol: Protocol) -> set[str]:
    """The kinds of conditions of people who are in one condition only."""
    alone = {row.condition for row in protocol.rows(material)}
    return {material.spec.condition(name).kind for name in alone if name is not None}


def _told_and_tested(
    material: Material, briefing: Briefing, audience: str, judged: Screening | None
) -> dict[str, Screen]:
    """The instructions of an audience, and its screening test if there is one."""
    screens = {f"instructions:{audience}": _instructions(material, briefing)}
    if judged is not None:
        screens[f"screening:{audience}"] = _test(_questions(material, briefing), judged)
        if judged.attempts > 1:
            screens[f"instructions-again:{audience}"] = _again(material, briefing)
    return screens


def _is_alike(material: Material, briefings: Mapping[str, Briefing]) -> bool:
    """Whether several audiences have the same test, which excludes nobody for what only they are shown."""
    test = material.spec.screening
    if test is None or test.method == "excludes" or len(briefings) == 1:
        return False
    first, *others = (_questions(material, briefing) for briefing in briefings.values())
    return all(asked == first for asked in others)


def _own_instructions(briefings: Mapping[str, Briefing]) -> dict[str, Screen]:
    """What not all audiences are told: it is said once a row of the design is given."""
    common = _passages(_common_paragraphs(briefings))
    screens: dict[str, Screen] = {}
    for audience, briefing in briefings.items():
        own = [passage for passage in _passages(briefing.paragraphs) if passage not in common]
        if own:
            told = tuple(paragraph for passage in own for paragraph in passage)
            screens[f"instructions:{audience}"] = Screen(say("method"), (Prose(told),))
    return screens


def _common_paragraphs(briefings: Mapping[str, Briefing]) -> tuple[str, ...]:
    """What all audiences are told; a list, with the line that announces it, only as a whole."""
    told = [_passages(briefing.paragraphs) for briefing in briefings.values()]
    common = [passage for passage in told[0] if all(passage in others for others in told)]
    return tuple(paragraph for passage in common for paragraph in passage)


def _passages(paragraphs: Sequence[str]) -> list[tuple[str, ...]]:
    passages: list[tuple[str, ...]] = []
    for paragraph in paragraphs:
        if paragraph.startswith("- ") and passages:
            passages[-1] = (*passages[-1], paragraph)
        else:
            passages.append((paragraph,))
    return passages


def screening(material: Material, protocol: Protocol) -> Screening | None:
    """How the screening test is judged; None if there is none, or nothing to ask."""
    asked = material.spec.screening
    if asked is None:
        return None
    keys = [
        {_name(number): question.correct for number, question in enumerate(_questions(material, briefing))}
        for briefing in _briefings(material, protocol).values()
    ]
    if any(key != keys[0] for key in keys):
        given = " and ".join(str(list(key.values())) for key in keys)
        raise VeraxError(
            "The screening tests of all audiences must have as many questions, with the right answers in the same "
            f"places; {type(protocol).__name__}.briefing gives {given}."
        )
    if not keys[0]:
        return None
    return Screening(keys[0], pass_mark=ceil(asked.pass_mark * len(keys[0]) - 1e-9), attempts=asked.attempts)


def _participant_seed(seed: int, number: int) -> int:
    return int(stream(seed, "participant", number).integers(2**62))


def _briefings(material: Material, protocol: Protocol) -> dict[str, Briefing]:
    audiences = dict.fromkeys(protocol.audience(material.spec, row) for row in protocol.rows(material))
    return {audience: protocol.briefing(material, audience) for audience in audiences}


def _questions(material: Material, briefing: Briefing) -> tuple[ScreeningQuestion, ...]:
    test = material.spec.screening
    if test is None:
        return ()
    asked = tuple(test.questions) or briefing.questions
    return asked if briefing.method is None or test.method == "teaches" else (*asked, briefing.method)


def _taught(material: Material, briefing: Briefing) -> ScreeningQuestion | None:
    """The question on what somebody is shown, where it teaches; none where somebody else's instructions are read."""
    test = material.spec.screening
    if test is None or test.method == "excludes" or material.spec.texts.instructions is not None:
        return None
    return briefing.method


def _method(asked: ScreeningQuestion) -> Screen:
    options = tuple(Option(answer, place) for place, answer in enumerate(asked.answers, start=1))
    return Screen(
        say("method-heading"),
        (Prose((say("method-text"),)),),
        (Question("method", asked.question, options=options, fixed_order=True),),
        button=say("answer"),
    )


def _method_answer(asked: ScreeningQuestion, briefing: Briefing) -> Screen:
    right = asked.answers[asked.correct - 1].rstrip(".")
    again = (Prose(briefing.reading),) if briefing.reading else ()
    return Screen(
        say("method-answer-heading"),
        (Prose((asked.question, say("method-answer", answer=right))), *again),
        echo="method",
    )


def _name(number: int) -> str:
    return f"screening-{number + 1}"


def _said(material: Material, briefing: Briefing) -> tuple[str, ...]:
    own, test = material.spec.texts.instructions, material.spec.screening
    if own is not None:
        return wording.paragraphs(own)
    asks_at_once = test is not None and test.method == "excludes"
    return (*briefing.paragraphs, *briefing.introduction) if asks_at_once else briefing.paragraphs


def _instructions(material: Material, briefing: Briefing) -> Screen:
    return Screen(say("what-you-will-do"), (Prose(_said(material, briefing)),))


def _again(material: Material, briefing: Briefing) -> Screen:
    return Screen(say("what-you-will-do"), (Prose((say("read-again"),)), Prose(_said(material, briefing))))


def _test(questions: tuple[ScreeningQuestion, ...], judged: Screening) -> Screen:
    all_needed = judged.pass_mark == len(questions) > 1
    said = say(
        "test-text",
        how="some" if not all_needed else "both" if len(questions) == 2 else "all",
        needed=judged.pass_mark,
        questions=len(questions),
        attempts=judged.attempts,
    )
    return Screen(
        say("short-test"),
        (Prose((said,)),),
        tuple(
            Question(
                _name(number),
                question.question,
                options=tuple(
                    Option(answer, place) for place, answer in enumerate(question.answers, start=1)
                ),
                fixed_order=True,
            )
            for number, question in enumerate(questions)
        ),
        button=say("answer"),
    )


def strategy_page(of_a_round: bool) -> Screen:
    """The question how people found their answers, in the round that is over or in all of it; it may be left empty."""
    return Screen(
        say("strategy-heading-round" if of_a_round else "strategy-heading"),
        (Prose((say("strategy-text"),)),),
        (Question("strategy", say("strategy-question"), kind="text", required=False),),
    )


def _background(names: tuple[BackgroundName, ...]) -> Screen:
    return Screen(
        say("background-heading"),
        (Prose((say("background-text"),)),),
        tuple(background_question(name) for name in names),
    )


# Rough, from the papers' own times: half an hour for some hundred screens.
SECONDS_PER_ITEM = 12
SECONDS_PER_PAGE = 25


def minutes(study: Study) -> float:
    """How long a participant will take, roughly: the longest row of the design, the screening test passed at once."""
    return max(_seconds(study, participant_steps(study, row, 1)) for row in study.rows) / 60


def _seconds(study: Study, steps: Sequence[Step]) -> int:
    tests = [number for number, step in enumerate(steps) if study.phases[step.phase].kind == "screening"]
    skipped = set(range(tests[0] + 1, tests[-1] + 1)) if tests else set()
    return sum(
        SECONDS_PER_ITEM if step.item is not None else SECONDS_PER_PAGE
        for number, step in enumerate(steps)
        if number not in skipped
    )


@lru_cache(maxsize=16)
def uninformative(study: Study) -> Mapping[str, tuple[int, int]]:
    """By condition: on how many items a page cannot inform, and of how many; only conditions that have such items.

    A page cannot inform where two models are to be compared that are highlighted alike, or where one fragment stands
    as evidence for two answers.
    """
    tests = {key for key, phase in study.phases.items() if phase.kind == "test"}
    found: dict[str, tuple[set[str], set[str]]] = {}
    for row in study.rows:
        for step in participant_steps(study, row, 1):
            tested = step.item is not None and step.phase in tests
            if not tested or step.condition is None or step.screen not in study.screens:
                continue
            items, without = found.setdefault(step.condition, (set(), set()))
            items.add(str(step.item))
            if not _informs(study.screens[step.screen]):
                without.add(str(step.item))
    return {name: (len(without), len(items)) for name, (items, without) in found.items() if without}


def _informs(screen: Screen) -> bool:
    if screen.paired:
        first, second = (block for block in screen.blocks if isinstance(block, Passage | Row))
        return replace(first, title="") != replace(second, title="")
    fragments = [set(block.fragments) for block in screen.blocks if isinstance(block, Evidence)]
    return not any(one & other for one, other in combinations(fragments, 2))
