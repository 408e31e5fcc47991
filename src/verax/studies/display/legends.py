"""How explanations in words are read: what the instructions say of a kind, and the line below a single one.

The instructions hold for all explanations of a condition, whichever comes first: they speak of conditions and of none,
of changes and of none that were found. The line below an explanation speaks only of what stands there.
"""

from __future__ import annotations

from typing import Literal

from verax.explain.composite import Composite
from verax.explain.explanation import Explanation
from verax.explain.kinds import Exemplar, Path, Rule
from verax.studies.display.terms import TERMS, Terms

# "marks" are highlights on the input; "written" is whatever somebody wrote or imported.
Kind = Literal["marks", "weights", "rule", "path", "exemplar", "composite", "written"]

MARGIN = (
    "The evidence margin says how strongly the model leans to one answer; where its sign changes, so does "
    "the answer."
)
SEVERAL = "Several explanations of the same answer, one below the other."
DECIDES_BY_EXAMPLES = "The model finds its answers by comparing with such examples."


def legend_of_kind(kind: Kind, words: Terms, *, in_composite: bool = False) -> str:
    """How all explanations of a kind are read; nothing for marks, weights and what somebody wrote.

    Args:
        kind: of the explanations.
        words: for the study's kind of data.
        in_composite: whether they stand among others, where a path is its last step without margins.
    """
    match kind:
        case "rule":
            return _rules(words)
        case "path":
            return _last_steps(words) if in_composite else _paths(words)
        case "exemplar":
            return _exemplars(words)
        case "composite":
            return SEVERAL
        case _:
            return ""


def legend_of(explanation: Explanation, words: Terms = TERMS["text"]) -> str:
    """One line on how to read this explanation."""
    match explanation:
        case Rule():
            return _rule(explanation, words)
        case Path() if not explanation.edits:
            return (
                f"The model gave the same answer to all changed versions of the {words.one} that were tried. The "
                "evidence margin says how strongly it leans to one answer."
            )
        case Path():
            return f"Each step {_what_steps_show(words)}. {MARGIN}"
        case Exemplar():
            return _exemplars(words)
        case Composite():
            return SEVERAL
        case _:
            return ""


def _rules(words: Terms) -> str:
    what = (
        "words that stay in the text"
        if words.piece == "word"
        else "what some values of the record have to be"
    )
    return (
        f"You see conditions: {what}. While they hold, the model gives this answer to nearly all changed "
        f"versions of the {words.one}, whatever else is changed. Where it does so less often, the explanation says how "
        "often. Where no condition is needed, it does so for nearly all changed versions, whatever is changed."
    )


def _rule(rule: Rule, words: Terms) -> str:
    if not rule.measured:
        return ""  # nothing could be changed, and the explanation says so
    nearly_all = f"the model gives this answer to nearly all changed versions of the {words.one}"
    if rule.named and rule.reached:
        return f"While these conditions hold, {nearly_all}, whatever else is changed."
    if rule.named:
        return "These conditions alone do not settle the model's answer."
    if rule.reached:
        return f"{nearly_all.capitalize()}."
    return "Whatever conditions were tried, changes of the rest often changed the answer."


def _paths(words: Terms) -> str:
    return (
        "You see changes after which the model gives another answer. Each step "
        f"{_what_steps_show(words)}. {MARGIN} Where no such changes were found, the explanation says so."
    )


def _last_steps(words: Terms) -> str:
    shown = "new words stand between stars" if words.piece == "word" else "each value before and after"
    return f"Changes after which the model gives another answer ({shown}). Where none were found, it says so."


def _what_steps_show(words: Terms) -> str:
    if words.piece == "word":
        return "shows the text with the words changed so far, between stars"
    return "lists the values changed so far, before and after"


def _exemplars(words: Terms) -> str:
    return (
        "Of a number of examples (prototypes) that the model has learned from, you see the most similar one whose "
        "label is the model's answer. A similarity score of 10 is as similar as can be; important "
        f"{words.pieces} make the {words.one} more (+) or less (-) similar to the example."
    )
