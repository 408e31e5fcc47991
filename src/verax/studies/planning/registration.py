"""A study in the words of a preregistration: plain text, ready to be pasted."""

from __future__ import annotations

import textwrap
from typing import Any

from verax.studies.definition.spec_tables import Condition, ExclusionRule
from verax.studies.definition.study import DesignRow, Study
from verax.studies.definition.study_files import Frozen
from verax.studies.results.study_facts import model_facts

WIDTH = 100
ORDERS = {
    "counterbalanced": "counterbalanced between participants, evenly within each row of the design",
    "direction": "from the one end or the other, counterbalanced between participants",
    "fixed": "the same for everybody",
}


def registration(study: Study, frozen: Frozen) -> str:
    """What was planned, and the hashes that say so."""
    spec = study.spec
    lines = [
        spec.title,
        "",
        *_entry("Protocol", f"{spec.protocol['name']}{_parameters(spec.protocol)}"),
        *(
            _entry("Data and model", f"{spec.dataset}, {model}")
            if (model := _model(study))
            else _entry(
                "Data", f"{spec.dataset}; no model was made, the items hold the answers that are shown"
            )
        ),
        *_entry("Items", _items(study)),
        "",
        "Conditions",
        *(line for condition in spec.conditions for line in _point(_condition(condition))),
        "",
        f"Design: {len(study.rows)} rows, {sum(row.target for row in study.rows)} participants to complete them",
        *(line for row in study.rows for line in _point(_row(row))),
        "",
        *_entry("Order of answers", ORDERS[spec.answer_order]),
        "",
        "Excluded from the analysis, by the program; nothing is deleted",
        *(line for rule in spec.exclusion for line in _point(rule_in_words(rule))),
        *([] if spec.exclusion else _point("nobody: no rules are declared")),
        *(_point(_replaced(spec.replace_excluded)) if spec.exclusion else []),
        "",
        "Planned analyses; whatever else is reported is exploratory",
        *(line for name, what in spec.plan.items() for line in _point(f"{name}: {' '.join(what.split())}")),
        *([] if spec.analysis else _point("none is declared")),
        "",
        *_entry("Frozen", f"{frozen.at} with Verax {frozen.version}"),
        *_entry("People before", _people(frozen)),
        f"{'Hash':<17}{frozen.hash}",
        *(f"  {part:<15}{hash}" for part, hash in frozen.parts.items()),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def rule_in_words(rule: ExclusionRule) -> str:
    """Whom an exclusion rule excludes."""
    from verax.studies.answers.exclusion import RULES, limit_of

    limit = limit_of(rule)
    shown = f"{limit:g}" if rule.rule == "too-fast" else f"{limit:.0%}"
    about = {"question": rule.question, "answers": "; ".join(rule.answers)}
    return f"{rule.rule}: people {RULES[rule.rule].excludes.format(shown, **about)}"


def _replaced(share: float) -> str:
    if not share:
        return "their places are not offered again"
    return f"their places are offered again, up to {share:.0%} of the places of each row of the design"


def _entry(name: str, text: str) -> list[str]:
    return textwrap.wrap(f"{name:<17}{text}", WIDTH, subsequent_indent=" " * 17)


def _point(text: str) -> list[str]:
    return textwrap.wrap(f"- {text}", WIDTH, subsequent_indent="  ")


def _parameters(options: dict[str, Any]) -> str:
    named = [f"{name} = {value}" for name, value in options.items() if name != "name"]
    return f" ({', '.join(named)})" if named else ""


def _model(study: Study) -> str:
    about = study.models.get("model")
    if about is None:
        return study.spec.model
    others = [other.sentence for other in model_facts(study.models, study.spec.model).others]
    return ". ".join([f"{about['name']}, right on {about['accuracy']:.1%}", *others])


def _items(study: Study) -> str:
    roles = [item.role for item in study.items.values()]
    return ", ".join(f"{roles.count(role)} {role}" for role in dict.fromkeys(roles))


def _condition(condition: Condition) -> str:
    if condition.like is not None:
        return f"{condition.name}: a control, the scores of {condition.like} shuffled"
    if condition.kind == "none":
        return f"{condition.name}: no explanation"
    of = f", of the model {condition.model}" if condition.model is not None else ""
    return f"{condition.name}: {condition.explainer}{_parameters(condition.parameters)}{of}"


def _row(row: DesignRow) -> str:
    gives = textwrap.shorten(row.cells.in_words(), WIDTH, placeholder=" ...")
    return f"row {row.number}: {row.target} participants" + (f"; {gives}" if gives else "")


def _people(frozen: Frozen) -> str:
    if frozen.people is None:
        return "not counted, since there was no database of answers"
    return (
        "nobody had agreed to take part" if frozen.people == 0 else f"{frozen.people} had agreed to take part"
    )
