"""What an explainer returns: plain data that round-trips through JSON and says what it cost.

Also scores of places and n-grams as scores of words, and explanations of rows as a DataFrame or as shap's own object.
"""

from __future__ import annotations

from abc import ABC
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.codec import MisfitError, decode, encoded
from verax.data.inputs import as_frame, plain_inputs
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.notebook import bars_html, paragraph_html

if TYPE_CHECKING:
    import pandas as pd


# ---- What explainers return

# So many of the strongest features are shown.
SHOWN_IN_REPR, SHOWN_IN_NOTEBOOK = 3, 10
Spans = tuple[tuple[tuple[int, int], ...], ...]
# What all our kinds have besides their own.
COMMON = ("target", "target_name", "input", "details", "cost", "explainer")


@dataclass(frozen=True)
class Cost:
    """What an explanation cost.

    Attributes:
        rows: perturbed rows asked of the model.
        calls: model calls that these rows took part in; one call may serve many inputs.
        seconds: wall time, the batch's time shared equally among its inputs.
    """

    rows: int = 0
    calls: int = 0
    seconds: float = 0.0


class Explanation(ABC):
    """Any kind of explanation, a dataclass. Kinds are told apart in JSON by the word under ``kind``."""

    kind: ClassVar[str]
    JSON: ClassVar = ("kind", ...)
    _kinds: ClassVar[dict[str, type[Explanation]]] = {}

    def __init_subclass__(cls) -> None:
        Explanation._kinds[cls.kind] = cls

    def to_dict(self) -> dict[str, object]:
        """Everything as plain lists, numbers and strings, in the order of the fields."""
        return encoded(self)

    def as_attribution(self) -> Attribution | None:
        """The same as scores of features, for benchmarks that rank them; None for kinds that rank nothing."""
        return None

    def _repr_html_(self) -> str:
        return paragraph_html(repr(self))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Explanation:
        """The explanation that ``to_dict`` wrote."""
        kind = Explanation._kinds.get(str(data.get("kind")))
        if kind is None:
            raise VeraxError(
                f"There is no kind of explanation called {data.get('kind')!r}; "
                f"'kind' is one of: {', '.join(sorted(Explanation._kinds))}."
            )
        try:
            return decode(kind, data, "it")
        except MisfitError as error:
            raise VeraxError(
                f"An explanation of the kind {kind.kind!r} needs {kind._needed()}; what was given could not be read "
                f"({error.reason})."
            ) from error

    @classmethod
    def _needed(cls) -> str:
        """The fields that have to be given, for a sentence."""
        assert is_dataclass(cls), f"{cls.__name__} must be a dataclass"
        needed = [
            item.name for item in fields(cls) if item.default is MISSING and item.default_factory is MISSING
        ]
        return ", ".join(map(repr, needed))


def same_fields(explanation: Explanation) -> dict[str, Any]:
    """What all our kinds have besides their own, of one of them: for another kind that says the same."""
    return {name: getattr(explanation, name) for name in COMMON}


def equal_but_for_cost(one: Explanation, other: Explanation) -> bool:
    """Whether two explanations of one kind differ in nothing but what they cost."""
    mine, theirs = one.to_dict(), other.to_dict()
    del mine["cost"], theirs["cost"]
    return mine == theirs


def short_repr(explanation: Any, said: str) -> str:
    """One line on an explanation: who made it, the target, and what it says in short."""
    target = explanation.target_name or explanation.target
    return f"{type(explanation).__name__}({explanation.explainer or 'no explainer named'}, target {target}: {said})"


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Explanation):
    """A score for each feature: positive speaks for the target, negative against it.

    Attributes:
        features: what the scores are about: the distinct words of a text, or the columns of a row.
        scores: one number per feature.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        spans: where each feature stands in the text, if the features are not its distinct words.
        details: how it was made: the route taken, the local model's fit, ...
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    features: tuple[str, ...]
    scores: FloatArray
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    spans: Spans | None = None
    details: dict[str, object] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    explainer: str = ""

    kind: ClassVar[str] = "attribution"

    def __post_init__(self) -> None:
        scores = np.asarray(self.scores, dtype=np.float64)
        if scores.shape != (len(self.features),):
            raise VeraxError(
                f"{len(self.features)} features need as many scores, not an array of shape {scores.shape}."
            )
        if not np.isfinite(scores).all():
            bad = self.features[int(np.argmin(np.isfinite(scores)))]
            raise VeraxError(
                f"The score of {bad!r} is not a finite number; an explainer must score every feature."
            )
        scores.setflags(write=False)
        object.__setattr__(self, "scores", scores)

    def ranking(self) -> list[int]:
        """Numbers of the features from the largest score by magnitude to the smallest; ties keep their order."""
        order: list[int] = np.argsort(-np.abs(self.scores), kind="stable").tolist()
        return order

    def as_attribution(self) -> Attribution:
        """Itself."""
        return self

    def top(self, count: int) -> list[tuple[str, float]]:
        """The ``count`` features with the largest scores by magnitude, and their scores."""
        return [(self.features[number], float(self.scores[number])) for number in self.ranking()[:count]]

    def to_frame(self) -> pd.DataFrame:
        """A DataFrame of feature and score, the largest score by magnitude first."""
        import pandas as pd

        order = self.ranking()
        return pd.DataFrame(
            {"feature": [self.features[number] for number in order], "score": self.scores[order]}
        )

    def __repr__(self) -> str:
        named = ", ".join(f"{name} {score:+.3f}" for name, score in self.top(SHOWN_IN_REPR))
        more = ", ..." if len(self.features) > SHOWN_IN_REPR else ""
        return short_repr(self, f"{named}{more}")

    def _repr_html_(self) -> str:
        said = f"{len(self.features)} features, speaking for or against {self.target_name or self.target}"
        return paragraph_html(said, bold=self.explainer) + bars_html(self.top(SHOWN_IN_NOTEBOOK))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attribution):
            return NotImplemented
        return equal_but_for_cost(self, other)

    def __hash__(self) -> int:
        return hash((self.features, self.target, self.scores.tobytes()))


# ---- By word


def by_word(explanation: Explanation) -> Attribution | None:
    """Scores of a text's distinct words: what is scored at a word's places, or in n-grams with it, is added up.

    Rows of tables, and scores that are of distinct words already, stay as they are. None if there are no scores.
    """
    scored = explanation.as_attribution()
    if scored is None or scored.spans is None or not isinstance(scored.input, str):
        return scored
    if (
        "columns" in scored.details
    ):  # a word of a record's premise is another feature than one of its hypothesis
        return scored
    words = split_words(scored.input)
    number = {word: place for place, word in enumerate(words.distinct)}
    sums = np.zeros(len(number))
    for score, spans in zip(scored.scores.tolist(), scored.spans, strict=True):
        for start, end in spans:
            for place in range(bisect_right(words.ends, start), bisect_left(words.starts, end)):
                sums[number[words.words[place]]] += score
    return replace(scored, features=words.distinct, scores=sums, spans=None)


# ---- As a DataFrame, and as shap's own object


def to_frame(explanations: Sequence[Explanation], inputs: Any = None) -> pd.DataFrame:
    """One row for each explanation: what was explained and a column of scores for each feature, beside the inputs.

    Args:
        explanations: of rows of one table, or of anything with equal features.
        inputs: the rows, whose columns come first as they are, with their index; without them scores stand alone.
    """
    import pandas as pd

    found = _same_features(explanations)
    scores = pd.DataFrame(
        np.array([one.scores for one in found]), columns=[f"score of {name}" for name in found[0].features]
    )
    said = pd.DataFrame({"explained": [one.target_name or str(one.target) for one in found]})
    if all("base" in one.details for one in found):
        said["base"] = [float(str(one.details["base"])) for one in found]
    frame = None if inputs is None else as_frame(plain_inputs(inputs))
    if frame is None:
        return pd.concat([said, scores], axis=1)
    if len(frame) != len(found):
        raise VeraxError(
            f"There are {len(found)} explanations for {len(frame)} rows; give the rows that were explained."
        )
    said.index = scores.index = frame.index
    return pd.concat([frame, said, scores], axis=1)


def to_shap(explanations: Sequence[Explanation], inputs: Any = None) -> Any:
    """The same as a ``shap.Explanation``, for the plots of the package shap, which has to be installed.

    Args:
        explanations: of rows of one table.
        inputs: the rows, whose values the plots show and colour by.
    """
    try:
        import shap
    except ImportError as error:
        raise VeraxError(
            "to_shap makes an object of the package shap; install it: pip install shap."
        ) from error
    found = _same_features(explanations)
    bases = np.array([float(str(one.details.get("base", 0.0))) for one in found])
    data = None
    if inputs is not None:
        plain = plain_inputs(inputs)
        frame = as_frame(plain)
        data = np.asarray(plain) if frame is None else frame.to_numpy()
        if data.shape != (len(found), len(found[0].features)):
            raise VeraxError(
                f"The inputs have the shape {data.shape}, and there are {len(found)} explanations of "
                f"{len(found[0].features)} features; leave inputs= out where columns are explained in groups."
            )
    return shap.Explanation(
        values=np.array([one.scores for one in found]),
        base_values=bases,
        data=data,
        feature_names=list(found[0].features),
    )


def _same_features(explanations: Sequence[Explanation]) -> list[Attribution]:
    found = [one.as_attribution() for one in explanations]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        raise VeraxError(
            "Only scores of features become a table; give explanations such as those of lime or shap."
        )
    if any(one.features != known[0].features for one in known):
        raise VeraxError(
            "The explanations speak about different features, as those of texts do; call to_frame() on each of them."
        )
    return known
