"""Questions of one's own as pages: their screens, when they are shown, and what is wrong with them, in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.phrases import say_lines
from verax.studies.definition.own_questions import (
    AFTER,
    BEFORE,
    BLOCKS,
    CHECK,
    DEMOGRAPHICS,
    EACH,
    FIRST,
    INSTRUCTED,
    OWN_ENDS,
    OwnQuestion,
    Quota,
    ShownIf,
)
from verax.studies.definition.screen import Meaning, Option, Prose, Question, Screen

say = partial(say_phrase, "questions")


def own_screens(questions: Sequence[OwnQuestion]) -> dict[str, Screen]:
    """The pages by the keys of their screens."""
    return {asked.screen: _screen(asked) for asked in questions}


def right_answers(questions: Sequence[OwnQuestion]) -> dict[str, Meaning]:
    """By question that checks attention: the answer that it asks for."""
    right: dict[str, Meaning] = {}
    for asked in questions:
        if asked.block == "attention-check":
            right[asked.own_name] = INSTRUCTED
        elif asked.correct is not None:
            right[asked.own_name] = asked.correct
        elif asked.attention:
            right[f"{asked.own_name}-{CHECK}"] = _points(asked)[1].means
    return right


def hidden_by(
    questions: Sequence[OwnQuestion],
    screens: Mapping[str, Screen],
    screen: str,
    answers: Mapping[str, object],
) -> list[str]:
    """The screens that are not shown after these answers to a page, and those that in turn ask about them."""
    by_name = {question.name: question for question in screens[screen].questions}
    hidden: list[str] = []
    unasked: set[str] = set()
    for asked in questions:
        wanted = asked.shown_if
        if wanted is None or not wanted.question:
            continue
        answered = by_name.get(wanted.question)
        if wanted.question in unasked or (
            answered is not None and not _holds(wanted, answered, answers.get(answered.name))
        ):
            hidden.append(asked.screen)
            unasked |= {question.name for question in screens[asked.screen].questions}
    return hidden


def _holds(wanted: ShownIf, question: Question, given: object) -> bool:
    if given is None:
        return False
    if question.kind == "number":
        low, high = wanted.at_least, wanted.at_most
        number = float(str(given))
        return (low is None or number >= low) and (high is None or number <= high)
    means = {option.means for option in question.options if names(option) & set(wanted.answers)}
    return bool(means & set(json.loads(str(given)))) if question.kind == "several" else given in means


def names(option: Option) -> set[str]:
    """By what a spec may name an answer: its words, or what is stored of it."""
    return {option.label, str(option.means)}


def check_questions(
    questions: Sequence[OwnQuestion], quotas: Sequence[Quota], conditions: Sequence[str]
) -> None:
    """Refuses, in one sentence, questions that nobody could be asked, and conditions on what is not known then."""
    screens = own_screens(questions)
    asked_by: dict[str, OwnQuestion] = {}
    known: dict[str, Question] = {}
    later = {question.name for screen in screens.values() for question in screen.questions}
    for asked in questions:
        _check_shown_if(asked, asked_by, known, later, conditions)
        for question in screens[asked.screen].questions:
            if question.name in known:
                raise VeraxError(f"Two questions are called {question.name!r}; give each its own name.")
            known[question.name] = question
            asked_by[question.name] = asked
    for quota in quotas:
        _check_quota(quota, asked_by, known)


PLACES = (FIRST, BEFORE, "", AFTER)


def _check_shown_if(
    asked: OwnQuestion,
    asked_by: Mapping[str, OwnQuestion],
    known: Mapping[str, Question],
    later: set[str],
    conditions: Sequence[str],
) -> None:
    wanted, name = asked.shown_if, asked.own_name
    if wanted is None:
        return
    unknown = [condition for condition in wanted.condition if condition not in conditions]
    if unknown:
        raise VeraxError(
            f"{name!r} is shown in the condition {unknown[0]!r}, which does not exist; there are: "
            f"{', '.join(conditions)}."
        )
    if wanted.condition and asked.place == FIRST:
        raise VeraxError(
            f"{name!r} is asked first, when nobody has a condition yet; ask it at another place."
        )
    if not wanted.question:
        return
    source = asked_by.get(wanted.question)
    if source is None and wanted.question not in later:
        raise VeraxError(
            f"{name!r} is shown after an answer to {wanted.question!r}, which is not asked; check the name."
        )
    before = source is not None and _rank(source) <= _rank(asked)
    if source is None or not before or EACH in (source.place, asked.place):
        raise VeraxError(
            f"{name!r} is shown after an answer to {wanted.question!r}, which is asked later or more than once; refer "
            "to a question that is asked once and before."
        )
    _check_wanted(name, wanted, known[wanted.question])


def _check_wanted(name: str, wanted: ShownIf, question: Question) -> None:
    labels = [option.label for option in question.options]
    strange = set(wanted.answers).difference(*map(names, question.options))
    if question.kind in ("text", "line", "ranking") or bool(wanted.answers) == (question.kind == "number"):
        raise VeraxError(
            f"{name!r} is shown after an answer to {question.name!r}; name answers of a choice, several or a scale, "
            "or at_least and at_most of a number."
        )
    if strange:
        raise VeraxError(
            f"{name!r} is shown after the answer {min(strange)!r} to {question.name!r}, which has none such; there "
            f"are: {'; '.join(labels)}."
        )


def _rank(asked: OwnQuestion) -> int:
    return PLACES.index(asked.place if asked.place in PLACES else "")


def _check_quota(quota: Quota, asked_by: Mapping[str, OwnQuestion], known: Mapping[str, Question]) -> None:
    question = known.get(quota.question)
    if question is None:
        raise VeraxError(f"A quota is about {quota.question!r}, which is not asked; add the question.")
    if question.kind != "choice" or asked_by[quota.question].place != FIRST or not question.required:
        raise VeraxError(
            f"A quota is about {quota.question!r}; it must be a choice that everybody answers before they are given a "
            'condition: kind = "choice", place = "first", and required.'
        )
    labels = [option.label for option in question.options]
    strange = set(quota.most).difference(*map(names, question.options))
    if strange:
        raise VeraxError(
            f"A quota is about the answer {min(strange)!r} to {quota.question!r}, which has none such; there are: "
            f"{'; '.join(labels)}."
        )


# ---- Pages


def _screen(asked: OwnQuestion) -> Screen:
    name = asked.own_name
    about = () if asked.required else (Prose((say("may-leave-out"),)),)
    if asked.block == "demographics":
        return Screen(say("demographics-heading"), about, tuple(_demographics(asked)), survey=True)
    if asked.block == "attention-check":
        prompt, *answers = say_lines("questions", "attention-check")
        options = tuple(Option(answer, place) for place, answer in enumerate(answers, 1))
        question = Question(name, prompt, options=options, fixed_order=True)
        return Screen(say("attention-heading"), about, (question,), survey=True)
    if asked.block is not None or asked.kind == "matrix":
        return Screen(_heading(asked), about, tuple(_lines(asked)), survey=True)
    return Screen(asked.question, about, (_single(asked),), survey=True)


def _single(asked: OwnQuestion) -> Question:
    common = partial(Question, asked.own_name, asked.question, required=asked.required, fixed_order=True)
    match asked.kind:
        case "scale":
            return common(kind="scale", options=_points(asked), low=asked.low, high=asked.high)
        case "number":
            return common(kind="number", lowest=asked.lowest, highest=asked.highest, whole=asked.whole)
        case "short-text":
            return common(kind="line")
        case "long-text":
            return common(kind="text")
        case "several":
            return common(kind="several", options=_worded(asked.answers))
        case "ranking":
            return common(kind="ranking", options=_worded(asked.answers))
    return common(options=_worded(asked.answers))


def _heading(asked: OwnQuestion) -> str:
    return asked.question if asked.block is None else say(f"{asked.block}-heading", about=_about(asked))


def _about(asked: OwnQuestion) -> str:
    """What a block speaks of."""
    return asked.about or say("the-model")


def _lines(asked: OwnQuestion) -> Iterator[Question]:
    """The lines of a matrix; in the middle the one that checks attention."""
    options, prompts = _points(asked), _prompts(asked)
    # Lines with words of their own at the ends have no common heads.
    matrix = asked.block not in OWN_ENDS and all(isinstance(item, str) for item in asked.items)
    middle = (len(prompts) + 1) // 2
    for line, (prompt, low, high) in enumerate(prompts, 1):
        yield Question(
            f"{asked.own_name}-{line}",
            prompt,
            "scale",
            options,
            low,
            high,
            asked.required,
            True,
            in_matrix=matrix,
        )
        if asked.attention and line == middle:
            told = say("instructed-line", answer=options[1].label)
            yield Question(
                f"{asked.own_name}-{CHECK}", told, "scale", options, low, high, True, True, in_matrix=matrix
            )


def _prompts(asked: OwnQuestion) -> list[tuple[str, str, str]]:
    """By line: what is asked, and the words at the ends of its scale."""
    if asked.block is None:
        return [
            (say("from-to", low=item[0], high=item[1]), item[0], item[1])
            if isinstance(item, tuple)
            else (item, asked.low, asked.high)
            for item in asked.items
        ]
    about = _about(asked)
    subject = about[:1].upper() + about[1:]
    lines = say_lines("questions", f"{asked.block}-items", about=about, subject=subject)
    if asked.block in OWN_ENDS:
        return [_parted(line) for line in lines]
    ends = ("", "") if BLOCKS[asked.block].worded else say_lines("questions", f"{asked.block}-ends")
    return [(line, *_pair(ends)) for line in lines]


def _parted(line: str) -> tuple[str, str, str]:
    prompt, low, high = (part.strip() for part in line.split("|"))
    return prompt, low, high


def _pair(ends: Sequence[str]) -> tuple[str, str]:
    low, high = ends
    return low, high


def _points(asked: OwnQuestion) -> tuple[Option, ...]:
    """The points of a scale: their words or numbers, and what they mean, from low to high."""
    if asked.block is not None:
        block = BLOCKS[asked.block]
        spoken = say_lines("questions", f"{asked.block}-answers") if block.worded else map(str, block.values)
        return tuple(Option(word, value) for word, value in zip(spoken, block.values, strict=True))
    words = asked.answers or [str(point) for point in range(1, (asked.points or 0) + 1)]
    return tuple(Option(word, point) for point, word in enumerate(words, 1))


def _worded(answers: Sequence[str]) -> tuple[Option, ...]:
    return tuple(Option(answer, answer) for answer in answers)


def _demographics(asked: OwnQuestion) -> Iterator[Question]:
    name, required = asked.own_name, asked.required
    yield Question(
        f"{name}-age",
        say("demographics-age"),
        "number",
        required=required,
        lowest=18,
        highest=120,
        whole=True,
    )
    for what, means in DEMOGRAPHICS.items():
        prompt, *answers = say_lines("questions", f"demographics-{what}")
        options = tuple(map(Option, answers, means))
        yield Question(f"{name}-{what}", prompt, options=options, required=required, fixed_order=True)
