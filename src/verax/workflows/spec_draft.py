"""A study's spec from a few answers: what ``verax study init`` asks, checks and writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from verax.errors import VeraxError
from verax.options import Spec

if TYPE_CHECKING:
    from verax.studies.protocol.contract import Protocol

ENTRIES = ("link", "code", "prolific", "mturk")

# Addresses of Prolific for each end, with a word in place of the code.
PROLIFIC_ENDS = {
    "completion_url": "COMPLETED",
    "screened_out_url": "SCREENED",
    "declined_url": "DECLINED",
    "full_url": "FULL",
}

# What the first page can say of a study, to be filled in.
ABOUT = {
    "purpose": "What it is for, in a sentence that gives no answer away",
    "pay": "What people get",
    "run_by": "Who you are, and where you work",
    "ethics": "Who approved it, and the number",
}


class SpecDraft(Spec):
    """What is asked for a spec, in this order, with what is taken where nothing is answered."""

    title: str = Field(default="How does a computer decide?", description="Title, which participants read.")
    protocol: str = Field(default="forward", description="Protocol (verax list protocols).")
    dataset: str = Field(
        default="rotten-tomatoes", description="Dataset: a name (verax list datasets) or a file."
    )
    text_column: str = Field(
        default="", description="The file's column of texts; empty if its rows are a table."
    )
    label_column: str = Field(default="", description="The file's column of labels.")
    model: str = Field(
        default="logistic", description="Model (verax list models), package.module:name, or a saved one."
    )
    explainers: str = Field(
        default="lime,shap", description="Explainers, with commas between (verax list explainers)."
    )
    participants: int = Field(
        default=10, description="People for each row of the design, e.g. for each condition."
    )
    items: int = Field(
        default=0, description="Inputs that each study asks about; 0 for the protocol's own number."
    )
    contact: str = Field(default="the person who invited you", description="Whom can participants ask?")
    entry: str = Field(default="link", description="How do people come in: link, code, prolific or mturk?")

    def with_answer(self, name: str, given: str) -> SpecDraft:
        """The draft with one more answer, as it was typed; a sentence if it cannot be used."""
        value: str | int = given.strip()
        if isinstance(getattr(self, name), int):
            try:
                value = int(value)
            except ValueError:
                raise VeraxError(f"{given!r} is not a whole number.") from None
        changed = self.model_copy(update={name: value})
        changed._check(name)
        return changed

    def _check(self, name: str) -> None:
        if name in ("title", "contact") and not getattr(self, name):
            raise VeraxError(f"The {name} is empty; participants read it.")
        if name == "participants" and self.participants < 1:
            raise VeraxError("At least 1 participant is needed.")
        if name == "entry" and self.entry not in ENTRIES:
            raise VeraxError(f"There is no entry {self.entry!r}; there are: {', '.join(ENTRIES)}.")
        if name == "dataset":
            _check_dataset(self.dataset)
        if name == "label_column" and is_file(self.dataset):
            from verax.data import load_dataset

            load_dataset(self.dataset, text=self.text_column or None, label=self.label_column or None)
        if name == "model":
            from verax.models.ready import check_model
            from verax.models.resolve import is_saved

            if not is_saved(self.model):
                check_model(self.model)
        if name == "explainers":
            self._conditions()
        if name in ("protocol", "items"):
            self.check()

    def check(self) -> None:
        """Refuses in a sentence what could not be built."""
        from verax.studies.definition.spec import parse_study_spec
        from verax.studies.protocol.contract import make_protocol

        spec = parse_study_spec(self.to_toml(), "the spec")
        make_protocol(spec.protocol).check(spec)

    @property
    def _kind(self) -> type[Protocol]:
        from verax.studies.protocol.contract import protocols

        return protocols.get(self.protocol)

    def to_toml(self) -> str:
        """The spec, with a remark where a reader might want to change something."""
        parts = (self._head(), self._protocol(), self._conditions(), self._texts(), self._recruiting())
        return "\n".join(line for part in parts for line in part) + "\n"

    def _head(self) -> Iterable[str]:
        yield "# Written by verax study init; docs/reference/study-spec.md says what else can stand here."
        yield f"title = {_quoted(self.title)}"
        yield f"dataset = {_quoted(self.dataset)}"
        columns = {"text": self.text_column, "label": self.label_column}
        given = ", ".join(f"{name} = {_quoted(column)}" for name, column in columns.items() if column)
        if given:
            yield f"source = {{ {given} }}"
        yield f"model = {_quoted(self.model)}"
        yield f"participants = {self.participants}  # for each row of the design"
        if self.entry != "link":
            yield f"entry = {_quoted(self.entry)}"
        yield "seed = 1"
        if self._kind.explains_worse:
            yield "\n# The worse of the two models learns from this share of the training part."
            yield "[worse]\nshare = 0.05"

    def _protocol(self) -> Iterable[str]:
        yield f"\n[protocol]\nname = {_quoted(self.protocol)}"
        if self.items:
            yield from (f"{name} = {value}" for name, value in self._kind.draft(self.items).items())

    def _conditions(self) -> list[str]:
        from verax.workflows.given_objects import parse_explainers

        lines = []
        if not self._kind.needs_explanations:
            lines += ["\n# The control against practice: no explanation.", '[[conditions]]\nname = "none"']
        names: list[str] = []
        for each in parse_explainers(self.explainers):
            names.append(_condition_name(each.registered, names))
            lines += [f"\n[[conditions]]\nname = {_quoted(names[-1])}\nexplainer = {_quoted(each.name)}"]
        if "random" not in names:
            lines += ["\n# The control against the mere look of explanations."]
            source = 'explainer = "random"' if self._kind.shows_fragments else f"like = {_quoted(names[0])}"
            lines += [f'[[conditions]]\nname = "random"\n{source}']
        return lines

    def _texts(self) -> Iterable[str]:
        yield f"\n[texts]\ncontact = {_quoted(self.contact)}"
        yield "\n# What people read on the first page, before they decide."
        yield "[about]"
        yield from (f"# {name} = {_quoted(said)}" for name, said in ABOUT.items())

    def _recruiting(self) -> Iterable[str]:
        """Where people go at the end, on the platform that they come from."""
        if self.entry == "prolific":
            yield "\n# Make a completion path for each on Prolific, and put its code in place of the last word,"
            yield "# before you build."
            yield "[recruiting]"
            for end, code in PROLIFIC_ENDS.items():
                yield f'{end} = "https://app.prolific.com/submissions/complete?cc={code}"'
            yield "# For people who fail checks of attention; it needs an exclusion rule that says who does."
            yield '# attention_url = "https://app.prolific.com/submissions/complete?cc=ATTENTION"'
            yield "\n# What right answers are paid above the rest; see docs/recruiting.md."
            yield '# [[recruiting.bonus]]\n# column = "right"\n# amount = 0.05\n# for_each = true'
        elif self.entry == "mturk":
            yield "\n# For a trial in the sandbox; leave it out for people of the market."
            yield "[recruiting]\nsandbox = true"


def is_file(dataset: str) -> bool:
    """Whether a dataset is a file of the user's own, whose columns are asked for."""
    return Path(dataset).is_file()


def keep(draft: SpecDraft, answered: Iterable[str], path: Path) -> None:
    """Keeps what was answered so far, so that nothing is lost when somebody stops."""
    values = draft.model_dump()
    path.write_text(json.dumps({name: values[name] for name in answered}, indent=2), encoding="utf-8")


def kept(path: Path) -> dict[str, str]:
    """What was answered before; nothing if nobody was stopped."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in found.items()}
    except (ValueError, AttributeError):
        raise VeraxError(f"{path} is not what `verax study init` left there; remove it.") from None


def _check_dataset(dataset: str) -> None:
    from verax.data import datasets

    if not dataset:
        raise VeraxError("Name a dataset (verax list datasets) or a file.")
    if not Path(dataset).exists():
        datasets.get(dataset)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a string of TOML is written as one of JSON


def _condition_name(explainer: str, taken: Iterable[str]) -> str:
    """What the data call a condition: the explainer's name, with a number where it is there twice."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", explainer.rpartition(":")[2])
    number = sum(other == name or other.startswith(f"{name}-") for other in taken)
    return f"{name}-{number + 1}" if number else name
