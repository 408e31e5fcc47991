"""From what was made elsewhere to a frozen study: the same assembly as a build's, without a dataset or a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation
from verax.studies.build.build import compose_study
from verax.studies.build.build_folder import claim_folder
from verax.studies.build.explanations import Key, records
from verax.studies.build.known_models import check_conditions
from verax.studies.display.controls import shuffled_scores
from verax.studies.display.levels import scales
from verax.studies.model.item import Item
from verax.studies.model.sources import Material
from verax.studies.model.spec import StudySpec
from verax.studies.model.study import Study
from verax.studies.model.study_files import MANIFEST, load_study, save_study
from verax.studies.protocol.contract import Protocol, make_protocol
from verax.studies.protocol.surroundings import participant_steps


@dataclass(frozen=True, eq=False)
class Imported:
    """What was made elsewhere.

    Attributes:
        kind: "text" or "table".
        class_names: in the order of the numbers of items.
        items: with the model's outputs.
        explanations: by item, condition and model; those of controls that are like another condition are made here.
        notes: what should be known of it: what was left out, what was checked.
    """

    kind: str
    class_names: tuple[str, ...]
    items: tuple[Item, ...]
    explanations: Mapping[Key, Explanation]
    notes: tuple[str, ...] = ()


def make_study(
    spec: StudySpec, spec_text: str, imported: Imported, out: Path, *, force: bool = False
) -> Study:
    """Freezes a study of imported items in a folder; one that is there already and is the same is left as it is.

    Args:
        spec: protocol, conditions and texts; its dataset and model are only names. A model that the spec does not name
            is named nowhere: the default is one that a build would make.
        spec_text: the spec's file, to the letter.
        imported: items and explanations.
        out: the study's folder.
        force: write in place of another study there, if nobody has answered it yet.
    """
    study = _composed(spec, spec_text, imported)
    with TemporaryDirectory() as scratch:
        new = save_study(study, scratch)
    if (out / MANIFEST).exists() and not force:
        if _hash_of(out) == new.hash:
            return new
        raise VeraxError(
            f"The folder {str(out)!r} holds another study; choose another --out, or import in its place with "
            "--force."
        )
    claim_folder(out, spec_text, force=force)
    return save_study(study, out)


def _composed(spec: StudySpec, spec_text: str, imported: Imported) -> Study:
    if "model" not in spec.model_fields_set:
        spec = spec.model_copy(update={"model": ""})
    protocol = make_protocol(spec.protocol)
    protocol.check(spec)
    check_conditions(spec, protocol)
    if imported.kind not in protocol.kinds:
        raise VeraxError(
            f"The protocol {spec.protocol['name']!r} is for data of the kind {' or '.join(protocol.kinds)}, "
            f"and the items are of the kind {imported.kind}; choose another protocol."
        )
    if spec.class_names is not None and len(spec.class_names) != len(imported.class_names):
        raise VeraxError(
            f"class_names has {len(spec.class_names)} names, but the items have {len(imported.class_names)} classes "
            f"({', '.join(imported.class_names)}); give one name for each, in that order."
        )
    explanations = _with_controls(spec, imported.explanations, imported.items)
    marked = {
        key: explanation for key, explanation in explanations.items() if isinstance(explanation, Attribution)
    }
    material = Material(
        spec=spec,
        kind=imported.kind,
        class_names=imported.class_names,
        items=imported.items,
        explanations=explanations,
        scales=scales(marked, spec.display.features),
    )
    study = compose_study(material, protocol, spec_text, explanations=records(explanations))
    _check_used(study, protocol, material)
    return study


def _hash_of(folder: Path) -> str:
    try:
        return load_study(folder).hash
    except VeraxError:
        return ""


def _with_controls(
    spec: StudySpec, explanations: Mapping[Key, Explanation], items: tuple[Item, ...]
) -> dict[Key, Explanation]:
    """The explanations, and the shuffled scores of conditions that are like another."""
    extended = dict(explanations)
    inputs = {item.id: str(item.input) for item in items}
    for condition in spec.conditions:
        for (name, other, which), explanation in explanations.items():
            if other != condition.like:
                continue
            if not isinstance(explanation, Attribution):
                raise VeraxError(
                    f"The condition {condition.name!r} is like {other!r}, whose explanations are written and "
                    "have no scores to shuffle; import explanations for it, or leave it out."
                )
            extended[name, condition.name, which] = shuffled_scores(
                explanation, spec.seed, condition.name, which, inputs[name]
            )
    return extended


def _check_used(study: Study, protocol: Protocol, material: Material) -> None:
    """Every item is for somebody, and no part of the study is empty."""
    steps = [step for row in study.rows for step in participant_steps(study, row, 1)]
    seen = {step.item for step in steps}
    idle = [item for item in material.items if item.id not in seen]
    name = study.spec.protocol["name"]
    if idle:
        more = f" ({len(idle)} items are not)" if len(idle) > 1 else ""
        raise VeraxError(
            f"The item {idle[0].source!r}, a {idle[0].role} item, is shown to nobody in the protocol "
            f"{name!r}{more}; give it another role or group, or leave it out."
        )
    filled = {step.phase for step in steps if step.item is not None}
    empty = [
        phase
        for phase in protocol.phases(material)
        if phase.key not in filled and phase.kind in ("learning", "training", "test")
    ]
    if empty:
        roles = sorted({item.role for item in material.items})
        raise VeraxError(
            f"There are no items for the part {empty[0].title!r} of the protocol {name!r}; the items have "
            f"only the role {' and '.join(roles)}."
        )
