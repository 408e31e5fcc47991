"""A study in the words of a preregistration: plain text, ready to be pasted."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import partial
from typing import Any

from verax.phrases import say as say_phrase
from verax.studies.definition.spec_tables import Condition, ExclusionRule
from verax.studies.definition.study import DesignRow, Study
from verax.studies.definition.study_files import Frozen
from verax.studies.results.study_facts import model_facts

say = partial(say_phrase, "registration")
WIDTH, INDENT = 100, 17


def registration(study: Study, frozen: Frozen) -> str:
    """What was planned, and the hashes that say so."""
    spec = study.spec
    model = _model(study)
    planned = [f"{name}: {' '.join(what.split())}" for name, what in spec.plan.items()]
    lines = [
        spec.title,
        "",
        *_entry("protocol", f"{spec.protocol['name']}{_parameters(spec.protocol)}"),
        *(
            _entry("data-and-model", f"{spec.dataset}, {model}")
            if model
            else _entry("data", say("data-without-model", dataset=spec.dataset))
        ),
        *_entry("items", _items(study)),
        "",
        say("conditions"),
        *_points(map(_condition, spec.conditions)),
        "",
        say("design", rows=len(study.rows), people=sum(row.target for row in study.rows)),
        *_points(map(_row, study.rows)),
        "",
        *_entry("answer-order", say(f"order-{spec.answer_order}")),
        "",
        say("exclusion"),
        *_points(map(rule_in_words, spec.exclusion)),
        *_points([_replaced(spec.replace_excluded)] if spec.exclusion else [say("exclusion-none")]),
        "",
        say("planned"),
        *_points(planned),
        *([] if spec.analysis else _points([say("planned-none")])),
        "",
        *_entry("frozen", say("frozen-at", at=frozen.at, version=frozen.version)),
        *_entry("people-before", _people(frozen)),
        f"{say('hash'):<{INDENT}}{frozen.hash}",
        *(f"  {part:<15}{hash}" for part, hash in frozen.parts.items()),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def rule_in_words(rule: ExclusionRule) -> str:
    """Whom an exclusion rule excludes."""
    from verax.studies.answers.exclusion import RULES, limit_of

    limit = limit_of(rule)
    shown = f"{limit:g}" if rule.rule == "too-fast" else f"{limit:.0%}"
    about = {"question": rule.question, "answers": "; ".join(rule.answers)}
    return say("exclusion-rule", rule=rule.rule, who=RULES[rule.rule].excludes.format(shown, **about))


def _replaced(share: float) -> str:
    return say("replaced", share=f"{share:.0%}") if share else say("replaced-none")


def _entry(case: str, text: str) -> list[str]:
    return textwrap.wrap(f"{say(case):<{INDENT}}{text}", WIDTH, subsequent_indent=" " * INDENT)


def _points(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(f"- {text}", WIDTH, subsequent_indent="  ")]


def _parameters(options: dict[str, Any]) -> str:
    named = [f"{name} = {value}" for name, value in options.items() if name != "name"]
    return f" ({', '.join(named)})" if named else ""


def _model(study: Study) -> str:
    about = study.models.get("model")
    if about is None:
        return study.spec.model
    others = [other.sentence for other in model_facts(study.models, study.spec.model).others]
    return ". ".join(
        [say("model-accuracy", model=about["name"], accuracy=f"{about['accuracy']:.1%}"), *others]
    )


def _items(study: Study) -> str:
    roles = [item.role for item in study.items.values()]
    return ", ".join(f"{roles.count(role)} {role}" for role in dict.fromkeys(roles))


def _condition(condition: Condition) -> str:
    if condition.like is not None:
        return say("condition-control", name=condition.name, method=condition.like)
    if condition.kind == "none":
        return say("condition-none", name=condition.name)
    explainer = f"{condition.explainer}{_parameters(condition.parameters)}"
    return say("condition-method", name=condition.name, explainer=explainer, model=condition.model or "none")


def _row(row: DesignRow) -> str:
    gives = textwrap.shorten(row.cells.in_words(), WIDTH, placeholder=" ...")
    return say("row", number=row.number, people=row.target, gives=gives or "none")


def _people(frozen: Frozen) -> str:
    return say("people-not-counted") if frozen.people is None else say("people-agreed", people=frozen.people)
