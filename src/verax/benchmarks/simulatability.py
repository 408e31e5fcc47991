"""Free-text explanations put to the test: do they let somebody predict the model on changed inputs?

Counterfactual simulatability, as Chen et al. (2023) have it for language models and Hase and Bansal (2020) for people.
Who predicts is given: a language model, a simple reader, a student that learns from other inputs, any function. Every
prediction is made three times: with the explanation, without any, and with the explanation of another input, which
shows what the mere presence of a text does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.benchmarks.staining.stainable import taken
from verax.data.words import WORD, split_words
from verax.errors import VeraxError
from verax.explain.base import Explainer, explanations_of
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import Written
from verax.explain.stated import SENTENCE_WORDS
from verax.models.base import Model
from verax.models.wrappers import check_texts
from verax.phrases import say as say_phrase
from verax.seeds import stream
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import sign_flip
from verax.stats.thresholds import ALPHA

if TYPE_CHECKING:
    import pandas as pd

say = partial(say_phrase, "simulatability")
# Changed versions of an input that are looked at, to find some that change the answer and some that do not.
TRIED = 24
# Words of an explanation by scores that are named where a text is asked for.
NAMED = 3


@dataclass(frozen=True)
class SimulationQuestion:
    """What somebody who predicts the model is asked.

    Attributes:
        text: an input.
        answer: what the model says to it, by the name that the class has here.
        explanation: in words; "" for none.
        changed: the same input, changed.
        names: of the classes.
    """

    text: str
    answer: str
    explanation: str
    changed: str
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """The question in words, for a language model: it ends where the answer begins."""
        why = f"\nIts explanation: {' '.join(self.explanation.split())}" if self.explanation else ""
        listed = f"{', '.join(self.names[:-1])} or {self.names[-1]}"
        return (
            f"A program sorts texts as {listed}.\nText: {self.text}\nThe program says: {self.answer}{why}\n"
            f"Now the text is changed.\nText: {self.changed}\nThe program says:"
        )


# Predicts what the model says to each changed text: the name of a class.
Simulator = Callable[[Sequence[SimulationQuestion]], Sequence[str]]


def reads_words(questions: Sequence[SimulationQuestion]) -> list[str]:
    """A reader who takes an explanation at its word: the answer stays unless a word that it names is gone."""
    said = []
    for asked in questions:
        named = {word.lower() for word in WORD.findall(asked.explanation)} - SENTENCE_WORDS
        before, after = (
            {word.lower() for word in WORD.findall(text)} for text in (asked.text, asked.changed)
        )
        gone = named & before - after
        others = [name for name in asked.names if name != asked.answer]
        said.append(others[0] if gone else asked.answer)
    return said


def language_simulator(model: Model) -> Simulator:
    """A language model that predicts: made by ``verax.as_model(..., prompt="{text}", labels=[...])``."""

    def predict(questions: Sequence[SimulationQuestion]) -> list[str]:
        for asked in questions[:1]:
            if tuple(model.class_names) != asked.names:
                raise VeraxError(
                    f"The model that predicts says {', '.join(model.class_names)}, and the classes are "
                    f"{', '.join(asked.names)}; give it labels={list(asked.names)!r}."
                )
        chosen = model.predict_proba([asked.words for asked in questions]).argmax(axis=1)
        return [model.class_names[int(number)] for number in chosen]

    return predict


@runtime_checkable
class Learner(Protocol):
    """Somebody who first learns from questions with their answers, and then predicts."""

    def learn(self, questions: Sequence[SimulationQuestion], answers: Sequence[str]) -> Simulator:
        """Who predicts after these.

        Args:
            questions: about other inputs, shown in the same way.
            answers: what the model says to each changed text.
        """
        ...


# Groups of inputs: a student learns from all but one, and predicts on that.
FOLDS = 5


@dataclass(frozen=True)
class WordStudent:
    """A student that learns how far explanations can be believed: does the answer change when named words go?

    A logistic regression on how much of the text is gone, how much of what the explanation names, and the answer
    before. One who is shown explanations that name what does not matter learns to believe the opposite.

    Attributes:
        strictness: of the regression's penalty; 1 as scikit-learn has it.
    """

    strictness: float = 1.0

    def learn(self, questions: Sequence[SimulationQuestion], answers: Sequence[str]) -> Simulator:
        """Fits the regression; where all answers stayed, or all changed, that is predicted."""
        from sklearn.linear_model import LogisticRegression

        changed = np.array([said != asked.answer for asked, said in zip(questions, answers, strict=True)])
        fitted: LogisticRegression | None = None
        if 0 < changed.sum() < len(changed):
            fitted = LogisticRegression(C=1.0 / self.strictness).fit(_seen(questions), changed)
        others = {asked.answer: _commonest_other(asked, questions, answers) for asked in questions}

        def predict(asked: Sequence[SimulationQuestion]) -> list[str]:
            if not asked:
                return []
            changes = (
                np.full(len(asked), bool(changed.all() and len(changed)))
                if fitted is None
                else fitted.predict(_seen(asked))
            )
            return [
                others.get(one.answer, next(name for name in one.names if name != one.answer))
                if change
                else one.answer
                for one, change in zip(asked, changes, strict=True)
            ]

        return predict


def _seen(questions: Sequence[SimulationQuestion]) -> FloatArray:
    """(questions, numbers): what a student sees of each."""
    rows = []
    for asked in questions:
        before, after, named = (
            {word.lower() for word in WORD.findall(text)}
            for text in (asked.text, asked.changed, asked.explanation)
        )
        named = (named - SENTENCE_WORDS) & before
        gone = before - after
        rows.append(
            [
                len(gone) / max(1, len(before)),
                len(named & gone) / max(1, len(named)),
                float(bool(named & gone)),
                *(float(asked.answer == name) for name in asked.names),
            ]
        )
    return np.array(rows, dtype=np.float64)


def _commonest_other(
    asked: SimulationQuestion, questions: Sequence[SimulationQuestion], answers: Sequence[str]
) -> str:
    """What the model says most often where its answer is no longer this one."""
    counts = dict.fromkeys((name for name in asked.names if name != asked.answer), 0)
    for other, said in zip(questions, answers, strict=True):
        if other.answer == asked.answer and said in counts:
            counts[said] += 1
    return max(counts, key=lambda name: counts[name])


Shown = Literal["with", "without", "shuffled"]
SHOWN: tuple[Shown, ...] = ("with", "without", "shuffled")


@dataclass(frozen=True)
class Simulated:
    """How well the model was predicted with one explainer's explanations.

    Attributes:
        explainer: its label.
        accuracy: with the explanation, without any, and with that of another input; a mean over inputs.
        gain: with it less without any.
        over_shuffled: with it less with that of another input.
        p: that this last difference is none, by flipped signs over inputs, corrected for several explainers (Holm).
    """

    explainer: str
    accuracy: Mapping[Shown, float]
    gain: Estimate
    over_shuffled: Estimate
    p: float


@dataclass(frozen=True, eq=False)
class Simulatability:
    """What was found.

    Attributes:
        inputs: how many there were.
        changed: changed inputs that were asked about.
        flipped: of these, to which the model gives another answer.
        found: by explainer.
        answers: a row for each prediction.
    """

    inputs: int
    changed: int
    flipped: int
    found: tuple[Simulated, ...]
    answers: pd.DataFrame

    @property
    def sentences(self) -> list[str]:
        """What may be said of it."""
        said = [say("rests-on", inputs=self.inputs, changed=self.changed, flipped=self.flipped)]
        for one in self.found:
            clear = one.p < ALPHA
            case = "none" if not clear else "helps" if one.over_shuffled.mean > 0 else "misleads"
            accuracy = {f"{shown}_": f"{one.accuracy[shown]:.0%}" for shown in SHOWN}
            said.append(say("explainer", explainer=one.explainer, case=case, **accuracy))
        return said


def simulatability(
    model: Model,
    explainers: Mapping[str, Explainer | Sequence[Explanation]],
    inputs: Sequence[str],
    simulator: Simulator | Learner = reads_words,
    *,
    changes: int = 4,
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> Simulatability:
    """Whether explanations let somebody predict a model of texts on changed inputs.

    Args:
        model: what is explained.
        explainers: by label: an explainer, or its explanations of these inputs. Written ones are given as they are;
            of scores, the words that speak for the answer most.
        inputs: texts, six or more for a claim.
        simulator: who predicts; a reader who takes explanations at their word by default. One who learns first
            (`WordStudent`) learns, for each way of showing, from other inputs than those that it predicts on.
        changes: changed versions of each input; half of them change the model's answer where there are such.
        names: what classes are called in questions; others than the model's own (A, B) for a simulator that would know
            the task by its names.
        seed: of the changes and of which explanations are exchanged.
    """
    import pandas as pd

    texts, called = check_texts(inputs), tuple(names or model.class_names)
    if len(called) != len(model.class_names) or len(set(called)) < len(called):
        raise VeraxError(
            f"names= needs {len(model.class_names)} different names; it has {', '.join(called)}."
        )
    if len(texts) < 2:
        raise VeraxError("Explanations are exchanged between inputs; give two or more.")
    answers = model.predict_proba(texts).argmax(axis=1)
    cases = [
        (place, changed, int(said))
        for place, text in enumerate(texts)
        for changed, said in _changed(model, text, int(answers[place]), changes, seed)
    ]
    rows: list[dict[str, object]] = []
    for label, given in explainers.items():
        made = list(given) if isinstance(given, Sequence) else explanations_of(given, label, model, texts)
        if len(made) != len(texts):
            raise VeraxError(
                f"{label} has {len(made)} explanations of {len(texts)} inputs; give one for each."
            )
        words = [in_words(each) for each in made]
        other = _exchanged(len(texts), seed)
        for shown in SHOWN:
            asked = [
                SimulationQuestion(
                    texts[place],
                    called[int(answers[place])],
                    {"with": words[place], "without": "", "shuffled": words[other[place]]}[shown],
                    changed,
                    called,
                )
                for place, changed, _ in cases
            ]
            guesses = _predicted(
                simulator, asked, [case[0] for case in cases], [called[case[2]] for case in cases], seed
            )
            for (place, changed, said), guess in zip(cases, guesses, strict=True):
                rows.append(
                    {
                        "explainer": label, "shown": shown, "input": place, "changed": changed,
                        "flipped": said != answers[place], "predicted": guess, "right": guess == called[said],
                    }
                )  # fmt: skip
    table = pd.DataFrame(rows)
    flipped = sum(said != answers[place] for place, _, said in cases)
    return Simulatability(len(texts), len(cases), int(flipped), _found(table), table)


def _predicted(
    simulator: Simulator | Learner,
    asked: Sequence[SimulationQuestion],
    places: Sequence[int],
    answers: Sequence[str],
    seed: int,
) -> list[str]:
    """The predictions; those of one who learns first are made after questions about other inputs."""
    if not isinstance(simulator, Learner):
        return list(simulator(asked))
    inputs = sorted(set(places))
    order = stream(seed, "simulation folds").permutation(len(inputs)).tolist()
    fold_of = {inputs[place]: number % FOLDS for number, place in enumerate(order)}
    guesses = [""] * len(asked)
    for fold in sorted(set(fold_of.values())):
        own = [number for number, place in enumerate(places) if fold_of[place] == fold]
        others = [number for number, place in enumerate(places) if fold_of[place] != fold]
        learnt = simulator.learn([asked[number] for number in others], [answers[number] for number in others])
        for number, guess in zip(own, learnt([asked[number] for number in own]), strict=True):
            guesses[number] = guess
    return guesses


def _found(table: pd.DataFrame) -> tuple[Simulated, ...]:
    """The input is the unit: its changed versions are averaged first."""
    found: list[tuple[str, dict[Shown, FloatArray]]] = []
    for label, own in table.groupby("explainer", sort=False):
        means = own.groupby(["shown", "input"])["right"].mean()
        found.append((str(label), {shown: means[shown].to_numpy(float) for shown in SHOWN}))
    corrected = holm([sign_flip(each["with"] - each["shuffled"]).p for _, each in found])
    return tuple(
        Simulated(
            label,
            {shown: float(each[shown].mean()) for shown in SHOWN},
            mean_interval(each["with"] - each["without"]),
            mean_interval(each["with"] - each["shuffled"]),
            float(p),
        )
        for (label, each), p in zip(found, corrected, strict=True)
    )


def in_words(explanation: Explanation) -> str:
    """An explanation as a text that somebody can be given."""
    if isinstance(explanation, Written):
        return explanation.text
    if isinstance(explanation, Attribution):
        top = [name for name, score in explanation.top(NAMED) if score > 0]
        return say("named", words=", ".join(top)) if top else ""
    raise VeraxError(
        f"An explanation of the kind {explanation.kind!r} cannot be given in words; give written ones, or scores."
    )


def _changed(model: Model, text: str, answer: int, changes: int, seed: int) -> list[tuple[str, int]]:
    """Versions of a text without some words, and what the model says to each; half change its answer, if any do."""
    words = split_words(text).distinct
    if not words:
        return []
    rng = stream(seed, "simulated changes", text)
    made = dict.fromkeys(taken(text, [words[place]]) for place in rng.permutation(len(words))[: TRIED // 2])
    for _ in range(TRIED if len(words) > 2 else 0):
        gone = rng.permutation(len(words))[: max(2, len(words) // 3)]
        made.setdefault(taken(text, [words[place] for place in gone]))
    versions = [version for version in made if version.strip()]
    if not versions:
        return []
    said = model.predict_proba(versions).argmax(axis=1)
    flips: BoolArray = said != answer
    order = rng.permutation(len(versions))
    changing = [int(place) for place in order if flips[place]][: changes // 2]
    staying = [int(place) for place in order if not flips[place]][: changes - len(changing)]
    return [(versions[place], int(said[place])) for place in (*changing, *staying)]


def _exchanged(count: int, seed: int) -> list[int]:
    """Whose explanation each input is shown in its place: never its own."""
    order = stream(seed, "exchanged explanations").permutation(count).tolist()
    after = dict(zip(order, [*order[1:], order[0]], strict=True))
    return [int(after[place]) for place in range(count)]
