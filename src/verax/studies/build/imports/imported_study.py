"""From what was made elsewhere to a frozen study: single explanations, notes on the balance, and the assembly."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import Written
from verax.phrases import speaking
from verax.studies.build.build import compose_study
from verax.studies.build.build_folder import claim_folder
from verax.studies.build.editions import refuse_several
from verax.studies.build.explanations import Key, records
from verax.studies.build.fitting import check_conditions
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import Condition
from verax.studies.definition.study import Item, Material, Study
from verax.studies.definition.study_files import MANIFEST, load_study, save_study
from verax.studies.display.levels import scales, shuffled_scores
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import Protocol, make_protocol


def notes_on(items: Sequence[Item], class_names: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Sentences on what differs from what the protocol's own choice of items would give; none if nothing does."""
    notes: list[str] = []
    for role in dict.fromkeys(item.role for item in items):
        members = [item for item in items if item.role == role]
        notes += _size(members, role, protocol)
        notes += _balance(members, role, class_names)
        notes += _flips(members, role)
    return (*notes, *_probabilities(items))


def _size(members: Sequence[Item], role: str, protocol: Protocol) -> list[str]:
    asked = getattr(protocol, role, None)
    sizes = Counter(item.group for item in members)
    # Some protocols count the items of each group, others all items.
    if not isinstance(asked, int) or set(sizes.values()) == {asked} or len(members) == asked:
        return []
    dealt = f" in groups of {' and '.join(map(str, sizes.values()))}" if len(sizes) > 1 else ""
    return [f"The protocol's {role} = {asked} is not followed: there are {len(members)} {role} items{dealt}."]


def _balance(members: Sequence[Item], role: str, class_names: Sequence[str]) -> list[str]:
    cells = Counter((item.prediction, item.correct) for item in members)
    every = [(number, right) for number in range(len(class_names)) for right in (True, False)]
    if len({cells[cell] for cell in every}) == 1:
        return []
    said = ", ".join(
        f"{cells[number, right]} {'rightly' if right else 'wrongly'} predicted {class_names[number]!r}"
        for number, right in every
    )
    return [
        f"The {role} items are not balanced: {said}; should the instructions promise a balance, write others "
        "in the spec (texts.instructions and screening.questions)."
    ]


def _flips(members: Sequence[Item], role: str) -> list[str]:
    changed = [item for item in members if item.variant is not None]
    cells = Counter((item.prediction, item.correct) for item in changed)
    flips = Counter((item.prediction, item.correct) for item in changed if item.flips)
    if all(2 * flips[cell] == cells[cell] for cell in cells):
        return []
    return [
        f"{flips.total()} of {len(changed)} changed versions of {role} items alter the prediction, and not "
        "half of them in each cell of prediction and correctness; the instructions promise half, so write "
        "others in the spec (texts.instructions and screening.questions)."
    ]


def _probabilities(items: Sequence[Item]) -> list[str]:
    other = [
        item for item in items if item.probabilities and int(np.argmax(item.probabilities)) != item.prediction
    ]
    if not other:
        return []
    return [
        f"Items whose prediction is not the most probable class: {len(other)}, such as {other[0].source!r}."
    ]


# A cell that begins so is meant as JSON, and must be.
SCORES = re.compile(r'\s*(\[\s*[\[\]]|\{\s*["}])')
Scores = list[tuple[str, float]]
Span = tuple[int, int]
Row = tuple[tuple[str, str], ...]


def explanation(value: object, item: Item, names: tuple[str, ...], condition: Condition) -> Explanation:
    """The explanation in a cell, of the item's predicted class: positive scores speak for it.

    Args:
        value: a text, or scores: a list of [word, score], or an object of scores by word; also as JSON in a text.
        item: what is explained.
        names: of the classes.
        condition: what it is shown in; its parameter ``legend`` is shown below a text.
    """
    said = parse_scores(value)
    target, name, explainer = item.prediction, names[item.prediction], condition.explainer
    if isinstance(said, str):
        legend = str(condition.parameters.get("legend", ""))
        return Written((said,), target, name, shown_input(item.input), legend, explainer=explainer)
    if isinstance(item.input, str):
        return _of_text(said, item.input, target, name, explainer)
    return _of_row(said, item.input, target, name, explainer)


LARGEST = 1e100  # of a score


def parse_scores(value: object) -> str | Scores:
    """The scores in a cell, or the text that it holds."""
    if isinstance(value, str):
        text = value
        if not SCORES.match(text):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise VeraxError(f"the scores {text[:60]!r} are not JSON ({error})") from error
    pairs = list(value.items()) if isinstance(value, dict) else value
    if isinstance(pairs, list) and all(map(_is_scored, pairs)):
        for feature, score in pairs:
            if not -LARGEST <= score <= LARGEST:
                bounds = (
                    "" if isinstance(score, float) and not math.isfinite(score) else f" up to {LARGEST:g}"
                )
                raise VeraxError(f"the score of {feature!r} is not a finite number{bounds}")
        return [(str(feature), float(score)) for feature, score in pairs]
    raise VeraxError(
        f"the explanation {str(value)[:60]!r} is neither a text nor scores; write scores as "
        '[["word", 0.5], ...] or {"word": 0.5, ...}'
    )


def shown_input(given: str | Row) -> str | tuple[str, ...]:
    """An item's input as explanations keep it."""
    if isinstance(given, str):
        return given
    return tuple(f"{column} = {value}" for column, value in given)


def _is_scored(pair: object) -> bool:
    return (
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], int | float)
        and not isinstance(pair[1], bool)
    )


def _of_text(scores: Scores, text: str, target: int, name: str, explainer: str) -> Attribution:
    """Scores of words; a word is marked wherever it stands, or, scored as often as it stands, place by place."""
    times = Counter(word for word, _ in scores)
    places = {word: _places(word, text) for word in times}
    absent = [word for word in times if not places[word]]
    if absent:
        raise VeraxError(
            f"the word {absent[0]!r} has a score but is not in the "
            f"text{_more(len(absent) - 1, 'such words')}; write words as they stand there"
        )
    spans = []
    seen: Counter[str] = Counter()
    for word, _ in scores:
        if times[word] not in (1, len(places[word])):
            raise VeraxError(
                f"the word {word!r} has {times[word]} scores but stands {len(places[word])} times in the "
                "text; give it one, or one for each time"
            )
        spans.append(tuple(places[word]) if times[word] == 1 else (places[word][seen[word]],))
        seen[word] += 1
    features, numbers = (
        [word for word, _ in scores],
        np.array([score for _, score in scores], dtype=np.float64),
    )
    return Attribution(tuple(features), numbers, target, name, text, tuple(spans), explainer=explainer)


def _places(word: str, text: str) -> list[Span]:
    """Where a word stands, as a whole; as it is written, or else with other capitals."""
    before = r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", word) else ""
    pattern = before + re.escape(word) + after
    if not word.strip():
        return []
    exact = [match.span() for match in re.finditer(pattern, text)]
    return exact or [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _of_row(scores: Scores, row: Row, target: int, name: str, explainer: str) -> Attribution:
    """Scores of columns; those that are not given are 0."""
    columns = [column for column, _ in row]
    times = Counter(column for column, _ in scores)
    wrong = [column for column in times if column not in columns or times[column] > 1]
    if wrong:
        what = "is scored twice" if wrong[0] in columns else "is no column of the row"
        raise VeraxError(
            f"{wrong[0]!r} has a score but {what}{_more(len(wrong) - 1, 'such scores')}; the columns are "
            f"{', '.join(columns)}"
        )
    given = dict(scores)
    numbers = np.array([given.get(column, 0.0) for column in columns], dtype=np.float64)
    return Attribution(tuple(columns), numbers, target, name, shown_input(row), explainer=explainer)


def _more(count: int, what: str) -> str:
    return f" ({count} more {what})" if count else ""


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
    refuse_several(spec)
    with speaking(spec.languages[0]):
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
