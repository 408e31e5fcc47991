"""A study in several languages: its spec, screens and items in each, and the language that is spoken meanwhile.

Screens and items of further languages stand in the study beside those of the first, under keys that begin with the
language; what is only worded otherwise (the same item, another page) has the item of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from verax.errors import VeraxError
from verax.phrases import language_spoken, own_phrases, speaking
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Step, Study
from verax.studies.definition.translations import name_of

# Texts of researchers that people would otherwise read in the first language.
SPOKEN = (
    "texts.welcome",
    "texts.consent",
    "texts.instructions",
    "texts.task",
    "texts.debrief",
    "about.purpose",
    "about.pay",
    "about.run_by",
    "about.ethics",
    "screening.questions",
)


def translated_answers(spec: StudySpec, language: str) -> dict[str, dict[str, str]]:
    """By question of one's own: what its answers are called in a language.

    Raises:
        VeraxError: a question has other answers there.
    """
    said = {name_of(asked): asked for asked in spec.translations.get(language, {}).get("questions", [])}
    found = {}
    for asked in spec.questions:
        called = said.get(asked.name, {}).get("answers")
        if called is None:
            continue
        if len(called) != len(asked.answers):
            raise VeraxError(
                f"The translation to {language!r} has {len(called)} answers to {asked.name!r}, and the spec has "
                f"{len(asked.answers)}; give one for each, in the same order."
            )
        found[asked.name] = dict(zip(asked.answers, map(str, called), strict=True))
    return found


def untranslated(spec: StudySpec, language: str) -> list[str]:
    """What the spec says in its own words and a translation does not: its entries."""
    given = spec.translations.get(language, {})
    lacking = [] if given.get("title") else ["title"]
    if not given.get("class_names") and not given.get("dataset"):
        lacking.append("class_names")
    said = {name_of(asked): asked for asked in given.get("questions", [])}
    for asked in spec.questions:
        own = ("about",) if asked.block is not None else ("question", "answers", "items", "low", "high")
        needed = [name for name in own if getattr(asked, name)]
        missing = [name for name in needed if not said.get(asked.own_name, {}).get(name)]
        lacking += [f"questions.{asked.own_name}.{name}" for name in missing]
    dumped = spec.model_dump(mode="json")
    for entry in SPOKEN:
        table, name = entry.split(".")
        if (dumped.get(table) or {}).get(name) and not (given.get(table) or {}).get(name):
            lacking.append(entry)
    # A mere address or number is the same in all languages.
    if " " in spec.texts.contact and not given.get("texts", {}).get("contact"):
        lacking.append("texts.contact")
    return lacking


def language_of(study: Study, language: str | None) -> str:
    """One of the study's languages: this one, or the first."""
    return language if language in study.spec.languages else study.spec.languages[0]


def tongue(language: str, phrases: Mapping[str, Mapping[str, str]]) -> str:
    """What `speaking` is given for a language, which may have phrases of its own."""
    return own_phrases(language, phrases[language]) if language in phrases else language


@contextmanager
def speaking_for(study: Study, language: str | None = None) -> Iterator[None]:
    """Within this, everything is said in one of the study's languages, with its own phrases where it has some."""
    with speaking(tongue(language_of(study, language), study.phrases)):
        yield


def own_name(language: str) -> str:
    """What a language calls itself, such as "Deutsch"."""
    from babel import Locale, UnknownLocaleError

    try:
        return (Locale.parse(language, sep="-").get_display_name() or language).capitalize()
    except (ValueError, UnknownLocaleError):
        return language


def spoken_spec(study: Study) -> StudySpec:
    """The study's spec in the language that is spoken now."""
    return in_language(study, language_spoken()).spec


@lru_cache(maxsize=256)
def in_language(study: Study, language: str | None) -> Study:
    """The study as it is in one of its languages: spec, titles, screens and items; the first for any other."""
    if not study.editions:
        return study
    edition = study.editions.get(language or "")
    prefixes = tuple(f"{other}/" for other in study.editions)
    if edition is None:
        return replace(
            study,
            editions={},
            items={key: item for key, item in study.items.items() if not key.startswith(prefixes)},
            screens={key: screen for key, screen in study.screens.items() if not key.startswith(prefixes)},
        )
    own = f"{language}/"
    items = {
        key.removeprefix(own): replace(item, id=key.removeprefix(own))
        for key, item in study.items.items()
        if (key.startswith(own) if edition.own_items else not key.startswith(prefixes))
    }
    return replace(
        study,
        editions={},
        spec=study.spec.in_language(language or ""),
        class_names=edition.class_names,
        items=items,
        screens={
            key.removeprefix(own): screen for key, screen in study.screens.items() if key.startswith(own)
        },
        phases={key: replace(phase, title=edition.titles[key]) for key, phase in study.phases.items()},
    )


def steps_in(study: Study, language: str | None, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Steps of `in_language`'s study, as the whole study knows their screens and items."""
    edition = study.editions.get(language or "")
    if edition is None:
        return steps
    return tuple(
        replace(
            step,
            screen=f"{language}/{step.screen}",
            item=f"{language}/{step.item}" if step.item is not None and edition.own_items else step.item,
        )
        for step in steps
    )
