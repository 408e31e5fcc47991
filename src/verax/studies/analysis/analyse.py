"""A study's answers in, one summary out, and written to its folder."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from verax.codec import cleaned, encoded
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.figures import Figure, Flow, FlowChart
from verax.run import library_versions
from verax.run.canonical import write_json
from verax.run.manifest import FORMAT as MANIFEST_FORMAT
from verax.run.manifest import machine
from verax.run.threads import one_thread
from verax.studies.analysis.participation import (
    attrition,
    balance,
    balance_problems,
    flow_of,
    flow_problems,
    is_within,
    screened_out,
)
from verax.studies.analysis.plan import plan_problems, with_plan
from verax.studies.analysis.sample import left_by_page, retake_problems, sample_tables
from verax.studies.analysis.scales import RELIABILITY, SCALES, scale_tables
from verax.studies.answers.export_files import guarded
from verax.studies.definition.own_questions import scored_scales
from verax.studies.design import order_count
from verax.studies.protocol.common_steps import uninformative
from verax.studies.protocol.contract import Analysed, Findings, ProtocolAnalysis, make_protocol, protocols
from verax.studies.results.study_facts import ItemResult, model_facts
from verax.studies.results.study_summary import Options, Summary
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.answers.schema import Collected
    from verax.studies.definition.study import Study
    from verax.studies.definition.study_files import Frozen


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")


def treatment_notes(data: Analysed, screening: str) -> tuple[str, ...]:
    """One paragraph for each matter; that on the screening test is given."""
    return tuple(said for said in (answer_orders(data), screening) if said)


def answer_orders(data: Analysed) -> str:
    """In which order answers stood, and how evenly the orders are spread over those who are analysed."""
    orders = order_count(data.study)
    if orders == 1:
        return say("same-order")
    people = data.participants[data.participants["answer_order"].notna()]
    if people.empty:
        return say("counterbalanced", orders=orders, where="none", apart=0)
    named = people["condition"].notna().all()
    groups = people["condition"] if named else people["answer_order"] * 0
    apart = 0
    for _, group in people.groupby(groups)["answer_order"]:
        counts = group.value_counts().reindex(range(orders), fill_value=0)
        apart = max(apart, int(counts.max() - counts.min()))
    return say("counterbalanced", orders=orders, where="within" if named else "over", apart=apart)


def analysed(collected: Collected, *, bots: bool = False) -> Analysed:
    """The answers that an analysis works on: of people only, or of bots only."""
    study = collected.study
    _refuse_repeats(collected.responses)
    _refuse_strays(collected)
    everybody = collected.participants[collected.participants["bot"].astype(bool) == bots]
    answers = collected.responses[collected.responses["bot"].astype(bool) == bots]
    # Who has no step left was deleted when the time of keeping was over.
    is_complete = (everybody["status"] == "complete") & (everybody["steps"] > 0)
    complete = everybody[is_complete & ~everybody["excluded"].astype(bool)]
    tested = answers.loc[(answers["phase_kind"] == "test") & answers["answer"].notna(), "participant"]
    intended = everybody[everybody["participant"].isin(set(tested))]
    protocol = make_protocol(study.spec.protocol)
    return Analysed(
        study=study,
        scored=protocol.scored,
        parameters=protocol.model_dump(),
        responses=_answers_of(answers, complete),
        participants=complete.reset_index(drop=True),
        intended=_answers_of(answers, intended),
        intended_participants=intended.reset_index(drop=True),
        conditions=tuple(study.spec.conditions),
        people="bots" if bots else "participants",
    )


def _refuse_repeats(answers: pd.DataFrame) -> None:
    """Refuses two answers to one question of one page: which of them counts cannot be known."""
    again = answers[answers.duplicated(["participant", "step", "question"])]
    if len(again):
        first = again.iloc[0]
        raise VeraxError(
            f"Participant {first['participant']} has two answers to {first['question']!r} in step {first['step']} "
            f"({len(again):,} such in all): a row stands twice; export the answers again."
        )


def _refuse_strays(collected: Collected) -> None:
    """Refuses answers that are not of their participant's kind or condition: bots and people would mix."""
    people = collected.participants.set_index("participant")
    answers = collected.responses
    for column, what in (("bot", "bot is"), ("condition", "the condition is")):
        own = answers["participant"].map(people[column])
        strays = answers[
            answers[column].notna() & own.notna() & (answers[column].astype(str) != own.astype(str))
        ]
        if len(strays):
            first = strays.iloc[0]
            raise VeraxError(
                f"Participant {first['participant']} has an answer (step {first['step']}) where {what} "
                f"{first[column]}, but {own[strays.index[0]]} in the table of participants ({len(strays):,} such "
                "answers in all): export the answers again."
            )


def rehearsed(data: Analysed) -> Analysed:
    """Of bots, if not one is left per protocol, everybody who answered: what they show is to be seen all the same.

    Bots are faster than people, so rules against haste exclude them. Of people nothing but the protocol counts.
    """
    if data.people == "participants" or len(data.participants):
        return data
    return replace(data, responses=data.intended, participants=data.intended_participants)


def analyse(
    collected: Collected,
    options: Options | None = None,
    *,
    frozen: Frozen | None = None,
    others: Sequence[Collected] = (),
) -> Summary:
    """The summary of a study.

    Args:
        collected: what was collected.
        options: how to analyse.
        frozen: what was frozen before the study began, if anything was.
        others: further studies with the same conditions, to stand with this one in the paper's tables: simulation
            studies, or Reverse Turing Tests of other tasks.
    """
    chosen = options or Options()
    study = collected.study
    data = analysed(collected, bots=chosen.bots)
    flow = flow_of(collected, data)
    screening = screened_out(collected, data)
    data = rehearsed(data)
    unequal = balance_problems(data)
    if unequal and chosen.refuse_unequal:
        raise VeraxError(f"Nothing is analysed, since --refuse-unequal was asked for. {unequal[0]}")
    with one_thread():  # the matrices are small: several threads only wait for each other
        findings, keys = _findings(data, chosen, flow)
        if others:
            more = [rehearsed(analysed(other, bots=chosen.bots)) for other in others]
            over_all = pooled_findings([data, *more], chosen)
            findings = replace(
                findings,
                tables=(*findings.tables, *over_all.tables),
                figures=(*findings.figures, *over_all.figures),
                problems=(*findings.problems, *over_all.problems),
            )
    further = (*scale_tables(data, chosen), *left_by_page(collected, data))
    findings = replace(findings, tables=(*findings.tables, *further))
    findings = with_plan(findings, study.spec.analysis)
    problems = [
        *flow_problems(flow, data.people),
        *screening.problems,
        *retake_problems(collected, data),
        *_uninformative_problems(study),
        *unequal,
        *_session_problems(data, chosen),
        *findings.problems,
        *plan_problems(study.spec.analysis, findings, (*keys, *_scale_keys(study))),
        *_freeze_problems(frozen),
        *_edit_problems(collected),
    ]
    return cleaned(
        Summary(
            title=study.spec.title,
            protocol=study.spec.protocol["name"],
            hash=study.hash,
            dataset=study.spec.dataset,
            model=model_facts(study.models, study.spec.model),
            people=data.people,
            frozen=None if frozen is None else frozen.at,
            source=collected.source,
            flow=flow,
            procedure=treatment_notes(data, screening.said),
            attrition=attrition(collected, data),
            balance=balance(data),
            primary=findings.primary,
            methods=findings.methods,
            tables=(*findings.tables, *sample_tables(data)),
            figures=(
                Figure("flow", say_table("figure-flow"), FlowChart(flow), flow.sentence),
                *findings.figures,
            ),
            sensitivity=findings.sensitivity,
            estimators=findings.estimators,
            problems=tuple(problems),
            items=findings.items,
            analysis_plan=study.spec.plan,
            options=chosen,
            versions=library_versions(),
        )
    )


def _scale_keys(study: Study) -> tuple[str, ...]:
    """The tables that a plan may name where scales are asked, answered or not."""
    return (SCALES, RELIABILITY) if any(scored_scales(study.spec.questions)) else ()


def pooled_findings(studies: Sequence[Analysed], options: Options) -> Findings:
    """The tables over several studies that share a pooled analysis, and what cannot be told."""
    first = studies[0].study.spec.protocol["name"]
    own = _analysis_of(studies[0])
    if own is None or own.pooled is None:
        raise VeraxError(
            f"There is no analysis of several {first} studies together; analyse each alone, and put their reports "
            f"together with `verax report`. What can be pooled: {_all_poolable()}."
        )
    for data in studies:
        other, spec = _analysis_of(data), data.study.spec
        if other is None or other.pooled is not own.pooled:
            raise VeraxError(
                f"The study {spec.title!r} is a {spec.protocol['name']} study: it cannot be pooled with a {first} "
                f"study. {_poolable(own, first)}"
            )
    if len({data.study.hash for data in studies}) < len(studies):
        raise VeraxError(
            "A study is given twice: pooled, its answers would count twice; name each study once."
        )
    return own.pooled(studies, options)


def _poolable(own: ProtocolAnalysis, first: str) -> str:
    """What can be pooled with a study: all protocols whose tables over several studies are the same."""
    names = [
        name
        for name in protocols.names()
        if (found := protocols.get(name).analysis()) is not None and found.pooled is own.pooled
    ]
    return say_table("poolable", first=first, others=[name for name in names if name != first])


def _all_poolable() -> str:
    """The protocols whose studies can be pooled, those that go together joined."""
    together: dict[object, list[str]] = {}
    for name in protocols.names():
        found = protocols.get(name).analysis()
        if found is not None and found.pooled is not None:
            together.setdefault(found.pooled, []).append(name)
    return "; ".join(f"{listed(names)} studies" for names in together.values())


def _analysis_of(data: Analysed) -> ProtocolAnalysis | None:
    return protocols.get(data.study.spec.protocol["name"]).analysis()


def _uninformative_problems(study: Study) -> list[str]:
    """That answers to some pages can only be guesses, since both sides of them show the same."""
    return [
        say("uninformative", condition=condition, pages=without, of=items)
        for condition, (without, items) in uninformative(study).items()
    ]


def _session_problems(data: Analysed, options: Options) -> list[str]:
    """That a session term has no place where everybody meets one condition."""
    if not options.session_term or is_within(data):
        return []
    return [say("session-term-left-out")]


def _freeze_problems(frozen: Frozen | None) -> list[str]:
    if frozen is None or not frozen.people:
        return []
    return [say("frozen-late", people=frozen.people)]


def _edit_problems(collected: Collected) -> list[str]:
    return [say("file-changed", file=name, source=str(collected.source)) for name in collected.edited]


def _findings(data: Analysed, options: Options, flow: Flow) -> tuple[Findings, tuple[str, ...]]:
    """What the protocol's analysis finds, and the names a plan may use for it."""
    known = _analysis_of(data)
    if known is None:
        name = data.study.spec.protocol["name"]
        return Findings(problems=(say("no-analysis", protocol=name),)), ()
    if flow.intended == 0:
        return Findings(), known.keys
    return known.run(data, options), known.keys


def _answers_of(answers: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    return answers[answers["participant"].isin(set(people["participant"]))].reset_index(drop=True)


SUMMARY, RESULTS, MANIFEST, TABLES = "summary.json", "results.parquet", "manifest.json", "tables"
ITEMS = "items.csv"


def write_analysis(folder: Path, data: Analysed, summary: Summary, options: Options) -> None:
    """Writes what was found and what it was found from.

    Args:
        folder: made if absent; what an earlier analysis left there is written over.
        data: the answers that were analysed. Texts in people's own words are not written.
        summary: as `analyse` gives it.
        options: how it was analysed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VeraxError(
            f"{str(folder)!r} cannot be the folder of the analysis ({error.strerror}); name another with --out."
        ) from error
    _remove_old_tables(folder)
    write_json(folder / SUMMARY, summary.to_dict())
    without_texts(data.responses, data.study).to_parquet(folder / RESULTS, index=False)
    (folder / ITEMS).unlink(missing_ok=True)
    if summary.items:
        write_items(folder / ITEMS, summary.items)
    written = (SUMMARY, RESULTS, *((ITEMS,) if summary.items else ()))
    hashes = {name: _hash(folder / name) for name in written}
    manifest = {
        "format": MANIFEST_FORMAT,
        "kind": "analysis of a study",
        "study": data.study.hash,
        "people": data.people,
        "source": summary.source,
        "options": encoded(options),
        "hashes": hashes,
        "versions": library_versions(),
        "machine": machine(),
    }
    write_json(folder / MANIFEST, manifest)


def write_items(path: Path, items: Sequence[ItemResult]) -> None:
    """One line for each item and condition: how many were right before and after, and what they saw."""
    names = [
        "item",
        "condition",
        "people",
        "right_before",
        "right_after",
        "label",
        "prediction",
        "right_answer",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*names, "input", "changed", "explanation"])
        for item in items:
            for one in item.counts:
                numbers = [one.people, one.before, one.after]
                texts = [item.label, item.prediction, item.right, item.input, item.changed, one.explanation]
                lines.writerow([item.item, one.condition, *numbers, *map(guarded, texts)])


def _remove_old_tables(folder: Path) -> None:
    """Removes the tables of the analysis that stands there: those that are not made again would pass for new ones."""
    try:
        old = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        keys = [table["key"] for table in old["tables"]]
    except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is somebody else's
        return
    for key in keys:
        for kind in ("md", "tex"):
            (folder / TABLES / f"{key}.{kind}").unlink(missing_ok=True)


def without_texts(answers: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The answers without what people wrote in their own words, which may tell who they are."""
    texts = {
        question.name
        for screen in study.screens.values()
        for question in screen.questions
        if question.in_own_words
    }
    written = answers["question"].isin(texts) & answers["answer"].notna()
    kept = answers.copy()
    kept.loc[written, "answer"] = None
    kept.loc[written, "withheld"] = True
    return kept


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
