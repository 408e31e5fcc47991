"""What students learn from and are tested on: inputs with a planted reason, without it, and with a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IntArray
from verax.benchmarks.measures.reasons import Reasoned
from verax.benchmarks.staining.copies import taken
from verax.data import Bins
from verax.data.dataset import Inputs, contents
from verax.data.words import split_words
from verax.seeds import share, stream


@dataclass(frozen=True, eq=False)
class Items:
    """Inputs and what the model says of them.

    Attributes:
        inputs: texts or rows.
        answers: 1 where the model says the class that the reason leads to: students do not see names of classes.
        predicted: the class that it says.
        wanted: the features of each that the planted reason is made of, as far as it has them.
    """

    inputs: Inputs
    answers: IntArray
    predicted: IntArray
    wanted: list[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.answers)

    def take(self, places: Sequence[int]) -> Items:
        """Some of them."""
        inputs = (
            self.inputs[np.asarray(places, dtype=np.intp)]
            if isinstance(self.inputs, np.ndarray)
            else [self.inputs[place] for place in places]
        )
        return Items(
            inputs,
            self.answers[list(places)],
            self.predicted[list(places)],
            [self.wanted[place] for place in places],
        )


# So many of the inputs have the whole reason.
WHOLE = 0.5


def make_items(case: Reasoned) -> Items:
    """Half of the inputs have the reason; the others have a part of it, so that no part is enough to know it by.

    A part is all features but one; or, where a feature must not be there, the reason with that feature. Where a part is
    enough for the model, as it should not be, the input is without the reason. Where either of two features is enough,
    half of the inputs have one of them, and half none. Chance by the input's content decides.
    """
    made: list[object] = []
    halves: list[tuple[int, object]] = []
    for number, (whole, without, wanted, content) in enumerate(
        zip(case.inputs, case.without, case.wanted, contents(case.inputs), strict=True)
    ):
        about = content.hex()
        one = [wanted[int(share(0, "gone", about) * len(wanted))]]
        if share(0, "student items", about) < WHOLE:
            made.append(_lacking(case, whole, without, one) if case.either and len(wanted) > 1 else whole)
            continue
        made.append(without)
        if not case.either and (len(wanted) > 1 or _can_hold(case)):
            part = _with_excluded(case, whole) if _can_hold(case) else _lacking(case, whole, without, one)
            halves.append((number, part))
    if halves:
        parts = _asked(case, [part for _, part in halves], [case.wanted[number] for number, _ in halves])
        for (number, part), answer in zip(halves, parts.answers, strict=True):
            if not answer:
                made[number] = part
    return _asked(case, made, case.wanted)


def _can_hold(case: Reasoned) -> bool:
    """Whether the reason has a feature that must not be there, and that can be put there: a word."""
    return bool(case.excluded) and case.data.bins is None


def _with_excluded(case: Reasoned, whole: object) -> str:
    """A text with the words that must not be there, at places of its own."""
    words = split_words(str(whole))
    at = int(share(0, "excluded", str(whole)) * (len(words) + 1))
    place = words.starts[at] if at < len(words) else len(words.text)
    before, after = words.text[:place].rstrip(), words.text[place:]
    return " ".join(part for part in (before, *case.excluded, after) if part)


def changed_items(case: Reasoned, numbers: Sequence[int]) -> Items:
    """Inputs with the reason, changed: half without the reason, half without as many other features."""
    made: list[object] = []
    known = list(contents(case.inputs))
    for number in numbers:
        whole, without, wanted = case.inputs[number], case.without[number], case.wanted[number]
        about = known[number].hex()
        if share(0, "changed", about) < 0.5:
            made.append(_lacking(case, whole, without, wanted))
            continue
        names = split_words(str(whole)).distinct if case.data.bins is None else case.data.bins.schema.names
        others = [name for name in names if name not in wanted]
        chosen = stream(0, "other features", about).permutation(len(others))[: len(wanted)]
        gone = [others[place] for place in chosen]
        other: object = without
        if case.data.bins is not None:
            # Another input's values: those of this one without the reason are its own.
            other = case.without[(number + 1) % len(case.without)]
        made.append(_lacking(case, whole, other, gone))
    return _asked(case, made, [case.wanted[number] for number in numbers])


def _lacking(case: Reasoned, whole: object, without: object, gone: Sequence[str]) -> object:
    """An input without some features: words are taken out, columns take the other input's values."""
    if case.data.bins is None:
        return taken(str(whole), list(gone))
    row = np.array(whole, dtype=np.float64)
    names = list(case.data.bins.schema.names)
    for name in gone:
        row[names.index(name)] = np.asarray(without)[names.index(name)]
    return row


def _asked(case: Reasoned, made: Sequence[object], reasons: Sequence[tuple[str, ...]]) -> Items:
    inputs: Inputs = (
        [str(one) for one in made] if case.data.bins is None else np.array(made, dtype=np.float64)
    )
    predicted = case.model.predict_proba(inputs).argmax(axis=1).astype(np.int64)
    answers = (predicted == case.label).astype(np.int64)
    wanted: list[tuple[str, ...]] = []
    for one, own in zip(inputs, reasons, strict=True):
        there = set(split_words(str(one)).distinct) if case.data.bins is None else {*own, *case.excluded}
        wanted.append(tuple(name for name in (*own, *case.excluded) if name in there))
    return Items(inputs, answers, predicted, wanted)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What students read of an input: the words of their examples, or bins and categories of columns.

    Attributes:
        names: the feature of the model that each column is about.
        columns: the words, or (column, bin) pairs, in order.
        bins: of a table.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...] | tuple[tuple[int, int], ...]
    bins: Bins | None

    @classmethod
    def of(cls, inputs: Inputs, bins: Bins | None) -> Vocabulary:
        """What the examples have."""
        if bins is None:
            words = tuple(dict.fromkeys(word for text in inputs for word in split_words(str(text)).distinct))
            return cls(words, words, None)
        assigned = bins.assign(np.asarray(inputs))
        pairs = tuple(
            (column, int(value))
            for column in range(assigned.shape[1])
            for value in np.unique(assigned[:, column])
        )
        return cls(tuple(bins.schema.names[column] for column, _ in pairs), pairs, bins)

    def rows(self, inputs: Inputs) -> FloatArray:
        """(inputs, columns): 1 for what an input has."""
        if self.bins is None:
            found = np.zeros((len(inputs), len(self.columns)))
            place_of = {word: place for place, word in enumerate(self.columns)}
            for number, text in enumerate(inputs):
                places = [place_of[word] for word in split_words(str(text)).distinct if word in place_of]
                found[number, places] = 1.0
            return found
        assigned = self.bins.assign(np.asarray(inputs))
        columns = [int(pair[0]) for pair in self.columns]
        values = [int(pair[1]) for pair in self.columns]
        return np.asarray(assigned[:, columns] == values, dtype=np.float64)

    def scores(
        self, rows: FloatArray, features: Sequence[Sequence[str]], scores: Sequence[FloatArray]
    ) -> list[FloatArray]:
        """Explanations' scores as scores of columns, where the input has them."""
        found = []
        for row, own, values in zip(rows, features, scores, strict=True):
            known = dict(zip(own, np.asarray(values).tolist(), strict=True))
            found.append(row * np.array([known.get(name, 0.0) for name in self.names]))
        return found
