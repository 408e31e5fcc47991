"""From a spec to a frozen study, and what was built, in numbers.

A build that is killed goes on where it stopped: finished explanations wait in ``DIR/.build`` until the study is whole.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.phrases import LANGUAGE, say, speaking
from verax.run import Progress, Store
from verax.run.progress import During, quietly
from verax.run.threads import one_thread
from verax.studies.build.build_folder import (
    BUILDING,
    built_study,
    claim_folder,
    copy_media,
    outdated,
    own_code,
)
from verax.studies.build.editions import check_translated, joined, read_phrases
from verax.studies.build.explanations import Key, check_explainers, explain_all, records
from verax.studies.build.fitting import (
    check_conditions,
    check_two_models,
    data_arguments,
    known_models,
    model_arguments,
    own_models,
    study_dataset,
    study_model,
)
from verax.studies.definition.languages import tongue
from verax.studies.definition.screen import BUTTON, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import WorseModel
from verax.studies.definition.study import DesignRow, Item, Material, Source, Study
from verax.studies.definition.study_files import save_study
from verax.studies.display.levels import scales
from verax.studies.display.readable import labelled, labels_of
from verax.studies.protocol.common_steps import framed_phases, framed_screens, participant_steps, screening
from verax.studies.protocol.contract import Protocol, make_protocol
from verax.text import listed

logger = logging.getLogger(__name__)


def build_study(
    spec: StudySpec,
    spec_text: str,
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    force: bool = False,
    during: During = quietly,
    beside: Path | None = None,
) -> Study:
    """Builds a study into a folder; what is built there from the same spec is not built again.

    The same spec gives the same bytes, however many processes build it.

    Args:
        spec: what is asked for.
        spec_text: the spec's file, to the letter.
        out: the study's folder.
        jobs: processes that compute explanations.
        progress: told of each finished job.
        force: build in any case, also in place of another study that nobody has answered yet.
        during: for what takes a while, see ``verax.cli.console.working``.
        beside: the folder of the spec's file, where phrases, pictures, sounds and films lie that it names.
    """
    ready = None if force else built_study(out, spec_text)
    if ready is not None:
        return ready
    changed = () if force else outdated(out, spec_text)
    if changed:
        logger.warning(
            "%s changed since the study in %s was built, so it is built again.", listed(changed), out
        )
    claim_folder(out, spec_text, force=force or bool(changed))
    protocol = make_protocol(spec.protocol)
    protocol.check(spec)
    check_conditions(spec, protocol)
    check_explainers(spec)
    check_translated(spec)
    phrases = read_phrases(spec, beside)
    store = Store(out / BUILDING)
    studies = {}
    # One thread: with several, sums are made in another order on another machine.
    with one_thread():
        for language in spec.languages:
            with speaking(tongue(language, phrases)):
                worded = spec if spec.languages == (LANGUAGE,) else spec.in_language(language)
                studies[language] = _in_one_language(
                    worded, spec_text, protocol, store, jobs=jobs, progress=progress, during=during
                )
    made = replace(joined(spec, studies, phrases), media=copy_media(spec, beside, out))
    study = save_study(made, out)
    shutil.rmtree(out / BUILDING, ignore_errors=True)
    return study


def _in_one_language(
    spec: StudySpec,
    spec_text: str,
    protocol: Protocol,
    store: Store,
    *,
    jobs: int,
    progress: Progress | None,
    during: During,
) -> Study:
    """The study in the language that is spoken."""
    with during(f"loading {spec.dataset} and fitting {spec.model}"):
        source = make_source(spec, protocol)
    with during("choosing items"):
        items = protocol.items(source)
    explained = [item for item in items if item.role in protocol.explained]
    worse = _worse(spec, protocol)
    explanations = explain_all(spec, explained, worse, store, jobs=jobs, progress=progress)
    with during("drawing screens"):
        return compose_study(
            _material(source, items, explanations),
            protocol,
            spec_text,
            explanations=records(explanations),
            models=known_models(source, worse, sorted({item.part for item in items})),
            data_hash=source.dataset.hash,
            code=own_code(spec),
        )


def make_source(spec: StudySpec, protocol: Protocol) -> Source:
    """The dataset and the fitted models, after a check that the protocol can use them."""
    data = data_arguments(spec)
    dataset = study_dataset(data)
    if dataset.kind not in protocol.kinds:
        raise VeraxError(
            f"The protocol {spec.protocol['name']!r} is for data of the kind {' or '.join(protocol.kinds)}, and "
            f"{dataset.name!r} is of the kind {dataset.kind}; choose another dataset or protocol."
        )
    if spec.class_names is not None and len(spec.class_names) != len(dataset.class_names):
        raise VeraxError(
            f"class_names has {len(spec.class_names)} names ({', '.join(spec.class_names)}), but {dataset.name!r} has "
            f"{len(dataset.class_names)} classes ({', '.join(dataset.class_names)}); give one name each, in that order."
        )
    worse = _worse(spec, protocol)
    if worse is None and spec.worse is not None:
        raise VeraxError(
            f"The spec has a table [worse], but the protocol {spec.protocol['name']!r} shows one model; remove it."
        )
    names = own_models(spec)
    model = study_model(data, model_arguments(spec))
    if worse is None:
        others = {name: study_model(data, model_arguments(spec, own=name)) for name in names}
        return Source(spec, dataset, model, others=others)
    other = study_model(data, model_arguments(spec, worse))
    check_two_models(dataset, model, other)
    return Source(spec, dataset, model, other)


def _refuse_unequal(spec: StudySpec, rows: Sequence[DesignRow]) -> None:
    """Numbers of people by condition are for designs in which a person sees one condition."""
    own = [condition.name for condition in spec.conditions if condition.participants is not None]
    if own and any(row.condition is None for row in rows):
        raise VeraxError(
            f"The condition {own[0]!r} has a number of participants of its own, but in the protocol "
            f"{spec.protocol['name']!r} everybody sees several conditions; set participants for the study only."
        )


def compose_study(
    material: Material,
    protocol: Protocol,
    spec_text: str,
    *,
    explanations: Sequence[Mapping[str, object]] = (),
    models: Mapping[str, object] | None = None,
    data_hash: str = "",
    code: Mapping[str, str] | None = None,
) -> Study:
    """A study of this material, checked: every step leads to a screen and a phase that are there.

    Args:
        material: items, and what is shown beside them.
        protocol: what is done with them.
        spec_text: the spec's file, to the letter.
        explanations: records for later analysis.
        models: what is known of the models.
        data_hash: of the dataset.
        code: hashes of somebody's own code that it depends on.
    """
    _check_items(material.items)
    rows = protocol.rows(material)
    if not rows:
        raise VeraxError("The design has no rows; the protocol must give at least one.")
    _refuse_unequal(material.spec, rows)
    labels = labels_of(material)
    screens = protocol.screens(material) | framed_screens(material, protocol)
    study = Study(
        spec=material.spec,
        kind=material.kind,
        class_names=material.class_names,
        items={item.id: item for item in material.items},
        phases={
            phase.key: phase for phase in (*protocol.phases(material), *framed_phases(material, protocol))
        },
        rows=rows,
        screens={key: _buttoned(labelled(screen, labels)) for key, screen in screens.items()},
        screening=screening(material, protocol),
        explanations=tuple(explanations),
        models=models or {},
        data_hash=data_hash,
        spec_text=spec_text,
        code=code or {},
    )
    _check_steps(study)
    _check_questions(study, protocol.screens(material))
    return study


def _buttoned(screen: Screen) -> Screen:
    """Who says nothing of the button gets the usual one, in the language of the study."""
    return replace(screen, button=say("participant", "continue")) if screen.button == BUTTON else screen


def _material(source: Source, items: Sequence[Item], explanations: Mapping[Key, Explanation]) -> Material:
    return Material(
        spec=source.spec,
        kind=source.dataset.kind,
        class_names=source.dataset.class_names,
        items=tuple(items),
        explanations=explanations,
        scales=scales(explanations, source.spec.display.features),
    )


def _worse(spec: StudySpec, protocol: Protocol) -> WorseModel | None:
    return (spec.worse or WorseModel()) if protocol.explains_worse else None


def _check_items(items: Sequence[Item]) -> None:
    if not items:
        raise VeraxError("The protocol chose no items; ask for some.")
    names = [item.id for item in items]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise VeraxError(f"Two items are called {twice!r}; give each its own id.")


def _check_steps(study: Study) -> None:
    """A row of the design that leads nowhere is found now, not by a participant."""
    for row in study.rows:
        for step in participant_steps(study, row, 1):
            for sort, name, known in (
                ("screen", step.screen, study.screens),
                ("phase", step.phase, study.phases),
                ("item", step.item, study.items),
            ):
                if name is not None and name not in known:
                    raise VeraxError(
                        f"Row {row.number} of the design has a step with the {sort} {name!r}, which does not exist."
                    )


def _check_questions(study: Study, screens: Mapping[str, Screen]) -> None:
    """Questions of one's own have names of their own, and ask about what was answered before."""
    taken = {question.name for screen in screens.values() for question in screen.questions}
    rows = {row.number: [step.screen for step in participant_steps(study, row, 1)] for row in study.rows}
    sources = {
        question.name: asked.screen
        for asked in study.spec.questions
        for question in study.screens[asked.screen].questions
    }
    if both := sorted(taken & set(sources)):
        raise VeraxError(
            f"The question {both[0]!r} is called as one of the protocol's; give it another name."
        )
    for asked in study.spec.questions:
        wanted = asked.shown_if
        if wanted is not None and wanted.condition and any(row.condition is None for row in study.rows):
            raise VeraxError(
                f"{asked.own_name!r} is shown in one condition only, but here everybody sees several; leave the "
                "condition out, or ask it after the part of that condition."
            )
        for walked in rows.values():
            if wanted is None or not wanted.question or asked.screen not in walked:
                continue
            source = sources[wanted.question]
            if source not in walked or walked.index(source) > walked.index(asked.screen):
                raise VeraxError(
                    f"{asked.own_name!r} is shown after an answer to {wanted.question!r}, which is asked later; ask it "
                    "before, or leave the condition out."
                )


REACHABLE = re.compile(r"\S@\S|https?://|(\d[\s()/-]*){6}")


@dataclass(frozen=True)
class ItemBalance:
    """How many items of one role fall into one cell.

    Attributes:
        role: what they are for.
        prediction: the model's class.
        correct: whether it is right.
        groups: how many of them each item group has.
        flips: how many of their perturbed versions flip the prediction; None where there are none.
    """

    role: str
    prediction: int
    correct: bool
    groups: tuple[int, ...]
    flips: int | None

    @property
    def items(self) -> int:
        """How many there are."""
        return sum(self.groups)


def item_balance(items: Collection[Item]) -> list[ItemBalance]:
    """Every cell of every role: roles in their order, then by class, the right before the wrong."""
    by_role: dict[str, list[Item]] = {}
    for item in items:
        by_role.setdefault(item.role, []).append(item)
    return [
        _cell(role, members, prediction, correct)
        for role, members in by_role.items()
        for prediction in sorted({item.prediction for item in items})
        for correct in (True, False)
    ]


def _cell(role: str, items: Sequence[Item], prediction: int, correct: bool) -> ItemBalance:
    members = [item for item in items if (item.prediction, item.correct) == (prediction, correct)]
    groups = sorted({item.group for item in items})
    return ItemBalance(
        role,
        prediction,
        correct,
        groups=tuple(sum(item.group == group for item in members) for group in groups),
        flips=sum(item.flips for item in members) if any(item.variant for item in items) else None,
    )


def design_places(study: Study) -> int:
    """How many participants shall complete the study."""
    return sum(row.target for row in study.rows)


def unsaid(spec: StudySpec) -> list[str]:
    """What people should read on the first page before they decide, and the spec does not say: its entries."""
    about = spec.about
    said = {
        "about.purpose": about.purpose,
        "about.minutes": about.minutes,
        "about.pay": about.pay,
        "about.run_by": about.run_by,
        "about.ethics": about.ethics,
        # Somebody must be within reach: an address, a page or a number.
        "texts.contact": REACHABLE.search(spec.texts.contact),
    }
    return [entry for entry, value in said.items() if not value]
