"""A user test's analysis: each part as the paper has it, and both together with people as blocks across them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from verax.phrases import say as say_phrase
from verax.studies.analysis.between.change_tables import change_table, contrast_table
from verax.studies.analysis.between.effects import (
    STRATUM,
    claimed_items,
    complete_pairs,
    effect_problems,
    effects,
    paired,
    primary_changes,
)
from verax.studies.analysis.between.pooled_simulation import pooled_simulation
from verax.studies.analysis.between.simulation import KEYS, simulation
from verax.studies.analysis.primary import method_lines, primary_figure
from verax.studies.analysis.sensitivity import sensitivity_table, varied_changes
from verax.studies.definition.languages import in_language
from verax.studies.protocol.contract import Analysed, Findings, ProtocolAnalysis
from verax.studies.protocols.user_test.parts import PARTS, part_of
from verax.studies.results.study_summary import Options

say_table = partial(say_phrase, "study-tables")
# Told for both parts together; of each part alone only the rest.
TOGETHER = ("sensitivity",)
BY_RATING = "rating-and-correctness"


def user_test(data: Analysed, options: Options) -> Findings:
    """The primary analysis over both parts, the paper's tables over both, and each part alone."""
    parts = {name: part_of(data, name) for name in PARTS}
    alone = {name: _named(simulation(part, options), name) for name, part in parts.items()}
    pairs, intended = (
        pd.concat(
            [
                paired(getattr(part, rows), data.scored).assign(**{STRATUM: name})
                for name, part in parts.items()
            ],
            ignore_index=True,
        )
        for rows in ("responses", "intended")
    )
    inside = Findings(
        tables=tuple(table for one in alone.values() for table in one.tables),
        figures=tuple(figure for one in alone.values() for figure in one.figures),
        estimators={name: one.estimators for name, one in alone.items()},
        problems=tuple(problem for one in alone.values() for problem in one.problems),
        items=tuple(item for one in alone.values() for item in one.items),
    )
    if not len(complete_pairs(pairs)):
        return inside
    over_both = pooled_simulation(list(parts.values()), options)
    found = effects(pairs, data.conditions, claimed_items(complete_pairs(pairs)), options.level)
    primary = primary_changes(found, data.conditions)
    varied = varied_changes(pairs, intended, found, options.level)
    asked = sum(item.role != "learning" for item in in_language(data.study, None).items.values()) * len(
        data.participants
    )
    tables = [
        *([contrast_table(found)] if found.control is not None else []),
        change_table(pairs, found, say_table("where-both"), asked),
        # Each part has its own table of ratings and right answers.
        *(table for table in over_both.tables if not table.key.startswith(BY_RATING)),
        *inside.tables,
        sensitivity_table(varied),
    ]
    return replace(
        inside,
        primary=primary,
        methods=method_lines(primary, data.conditions),
        tables=tuple(tables),
        figures=(primary_figure(primary, say_table("nothing-changed")), *inside.figures),
        sensitivity=varied,
        estimators={
            **inside.estimators,
            "crossed": {
                "unit": "share of answers",
                "items": found.items,
                "changes": [change.to_dict() for change in found.changes.values()],
                "contrasts": [contrast.to_dict() for contrast in found.against.values()],
            },
        },
        problems=(*effect_problems(found, data.conditions), *over_both.problems, *inside.problems),
    )


def _named(findings: Findings, part: str) -> Findings:
    """What a part shows alone, under names of its own."""
    return replace(
        findings,
        tables=tuple(
            replace(
                table,
                key=f"{part}-{table.key}",
                title=say_table("in-part", part=part.capitalize(), said=table.title),
            )
            for table in findings.tables
            if table.key not in TOGETHER
        ),
        figures=tuple(
            replace(
                figure,
                key=f"{part}-{figure.key}",
                title=say_table("in-part", part=part.capitalize(), said=figure.title),
            )
            for figure in findings.figures
        ),
        problems=tuple(
            say_table("in-part", part=part.capitalize(), said=problem) for problem in findings.problems
        ),
    )


def pooled_user_tests(studies: Sequence[Analysed], options: Options) -> Findings:
    """The paper's tables over several user tests, such as those of text and of tabular data."""
    return pooled_simulation([part_of(data, part) for data in studies for part in PARTS], options)


OVER_BOTH = (
    "contrast", "change", "paper-1", "paper-2", "paper-3", "paper-5", "change-by-domain", "change-by-test",
    "ratings-by-domain", "ratings-by-correctness-and-domain", *TOGETHER,
)  # fmt: skip
BOTH_PARTS = ProtocolAnalysis(
    user_test,
    (*OVER_BOTH, *(f"{part}-{key}" for part in PARTS for key in KEYS if key not in TOGETHER)),
    pooled_user_tests,
)
