"""A study in several languages: one study for each, built alike, and then joined to one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from verax.codec import encode
from verax.errors import VeraxError
from verax.phrases import PARTICIPANT_AREAS, languages
from verax.phrases.translations import translation_problems
from verax.studies.definition.languages import translated_answers, untranslated
from verax.studies.definition.screen import Question, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Item, Study
from verax.studies.definition.translations import Edition


def read_phrases(spec: StudySpec, beside: Path | None) -> dict[str, dict[str, str]]:
    """The phrase files of languages that do not come with Verax, each found to be complete; by language and area.

    Args:
        spec: names their folders.
        beside: the folder of the spec, from which they are named.
    """
    return {
        language: _phrases_in(language, (beside or Path()) / str(spec.translations[language]["phrases"]))
        for language in spec.languages
        if spec.translations.get(language, {}).get("phrases")
    }


def _phrases_in(language: str, folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise VeraxError(
            f"There is no folder {str(folder)!r} with the phrases of {language!r}; check "
            f"translations.{language}.phrases."
        )
    paths = {area: folder / f"{area}.ftl" for area in PARTICIPANT_AREAS}
    try:
        texts = {area: path.read_text(encoding="utf-8") for area, path in paths.items() if path.is_file()}
    except (OSError, UnicodeDecodeError) as error:
        raise VeraxError(f"The phrases of {language!r} cannot be read ({error}).") from error
    problems = translation_problems(texts)
    if problems:
        more = f" ({len(problems) - 1} more: python scripts/translations.py {folder})" if problems[1:] else ""
        raise VeraxError(f"The phrases of {language!r} are not complete. {problems[0]}{more}")
    return texts


def check_translated(spec: StudySpec) -> None:
    """Refuses a study in which people would read the words of another language."""
    for language in spec.languages[1:]:
        lacking = untranslated(spec, language)
        if lacking:
            raise VeraxError(
                f"The translation to {language!r} lacks {', '.join(lacking)}; add what people read there under "
                f"[translations.{language}]."
            )


def refuse_several(spec: StudySpec) -> None:
    """Items that were made elsewhere are in one language."""
    if len(spec.languages) > 1 or spec.languages[0] not in languages():
        raise VeraxError(
            f"A study of imported items is in one language that comes with Verax ({', '.join(languages())}), and "
            f"languages names {', '.join(spec.languages)}; import each on its own."
        )


def joined(spec: StudySpec, studies: Mapping[str, Study], phrases: Mapping[str, Mapping[str, str]]) -> Study:
    """The study in all its languages.

    Args:
        spec: of all.
        studies: the study as it is in each language, the first one first.
        phrases: see `read_phrases`.
    """
    (_, first), *others = studies.items()
    items, screens = dict(first.items), dict(first.screens)
    explanations = list(first.explanations)
    editions = {}
    for language, study in others:
        if encode(study.rows) != encode(first.rows) or study.phases.keys() != first.phases.keys():
            raise VeraxError(
                f"The design in {language!r} is another one than in {spec.languages[0]!r}; give the translation a "
                "dataset with as many classes, and the same conditions."
            )
        own = _sources(first.items.values()) != _sources(study.items.values())
        editions[language] = Edition(
            {key: phase.title for key, phase in study.phases.items()}, study.class_names, own
        )
        called = translated_answers(spec, language)
        screens |= {f"{language}/{key}": _called(screen, called) for key, screen in study.screens.items()}
        if own:
            items |= {
                f"{language}/{key}": replace(item, id=f"{language}/{key}")
                for key, item in study.items.items()
            }
            explanations += [
                {**record, "item": f"{language}/{record['item']}"} for record in study.explanations
            ]
    return replace(
        first,
        spec=spec,
        items=items,
        screens=screens,
        explanations=tuple(explanations),
        editions=editions,
        phrases=phrases,
    )


def _called(screen: Screen, called: Mapping[str, Mapping[str, str]]) -> Screen:
    """A screen whose answers are called as a language calls them; what is stored of them stays."""

    def own(question: Question) -> Question:
        labels = next(
            (
                said
                for name, said in called.items()
                if question.name == name or question.name.startswith(f"{name}-")
            ),
            {},
        )
        options = tuple(replace(one, label=labels.get(one.label, one.label)) for one in question.options)
        return replace(question, options=options)

    return replace(screen, questions=tuple(map(own, screen.questions))) if called else screen


def _sources(items: Iterable[Item]) -> list[tuple[object, ...]]:
    """Where items come from; those of tables may be worded otherwise and are the same."""
    return [
        (item.id, item.role, item.dataset, item.part, item.place, item.label, item.prediction, item.group)
        for item in items
    ]
