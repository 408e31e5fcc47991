"""The search for an anchor: rules grow by one condition at a time, the most precise ones are kept.

Ribeiro, Singh and Guestrin (2018), algorithm 2: a beam search in which KL-LUCB decides with few samples which
candidates are the most precise. Two things differ from their code. All candidates are asked about the same samples, so
that much of what is known of a rule is known of the longer ones too. And whether a rule is precise enough is decided on
fresh samples, which had no part in choosing it: the bound holds for the rule that is returned, however many were tried.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray
from verax.explain.anchor import bounds
from verax.explain.anchor.pools import Ask, Neighbourhood, Pool

# A candidate begins with so many samples, and has at the most so many. The published rule goes on until candidates are
# told apart up to epsilon, each with samples of its own; on shared samples so many tell them apart as well.
FIRST, MOST = 64, 192
# A rule is looked at after so many fresh samples.
LOOKS = (256, 1_024, 4_096)

Asking = Generator[list[Ask], list[BoolArray], None]


@dataclass(frozen=True)
class Settings:
    """What is searched for; see :class:`verax.explain.Anchor`."""

    precision: float
    tolerance: float
    delta: float
    epsilon: float
    beam: int
    most_conditions: int | None
    samples: int


class Candidate:
    """A rule and what is known of it: which of the first so many samples keep the prediction under it."""

    def __init__(self, conditions: tuple[int, ...], parent: Candidate | None, coverage: float) -> None:
        self.conditions = conditions
        self.parent = parent
        self.coverage = coverage
        self.kept: BoolArray = np.empty(0, dtype=np.bool_)

    @property
    def size(self) -> int:
        """How many samples were asked about."""
        return len(self.kept)

    @property
    def precision(self) -> float:
        """The share of them that keep the prediction."""
        return float(self.kept.mean()) if self.size else 0.0


@dataclass(frozen=True)
class Found:
    """The end of a search.

    Attributes:
        rule: the chosen one.
        precision: its share of fresh samples that keep the prediction, and
        lowest: the lower end of the interval of that share, at the search's confidence.
        reached: whether it is as precise as was asked for.
        sampled: how many fresh samples were asked about.
        reason: why a search ended without the wanted precision; empty if it did not.
    """

    rule: Candidate
    precision: float
    lowest: float
    reached: bool
    sampled: int
    reason: str = ""


class Search:
    """The search for one input's anchor, as a generator of questions that is sent their answers."""

    def __init__(self, near: Neighbourhood, settings: Settings) -> None:
        self.near = near
        self.settings = settings
        self.asked = 0
        self.looked_at = 0
        self.best: Found | None = None
        self.tried: list[Found] = []
        self.spent = False
        self.found: Found | None = None

    def run(self) -> Asking:
        """Asks until something is found; then ``found`` is set."""
        loose = self.near.loose
        root = Candidate((), None, 1.0)
        if not loose:
            self.found = Found(root, 1.0, 1.0, True, 0, "nothing can be changed in this input")
            return
        self.tried = [Found(root, 0.0, 0.0, False, 0)]
        try:
            yield from self._grow(root, loose)
        except BudgetError:
            self.spent = True
        self.found = self.best or self._most_precise_found()

    def _grow(self, root: Candidate, loose: list[int]) -> Asking:
        """Rules of no condition, of one, of two, ..., until none can cover more than the best that was found."""
        yield from self._extend([(root, FIRST)])
        yield from self._verified([root])
        beam = [root]
        for _ in range(min(self.settings.most_conditions or len(loose), len(loose))):
            candidates = self._longer(beam, loose)
            if not candidates:
                break
            beam = yield from self._most_precise(candidates)
            yield from self._verified(beam)

    def _longer(self, beam: list[Candidate], loose: list[int]) -> list[Candidate]:
        """Every rule of the beam with one more condition; only such as cover more than the best that was found."""
        grown: dict[frozenset[int], Candidate] = {}
        for rule in beam:
            for feature in loose:
                conditions = (*rule.conditions, feature)
                if feature not in rule.conditions and frozenset(conditions) not in grown:
                    coverage = self.near.coverage(conditions)
                    if self.best is None or coverage > self.best.rule.coverage:
                        grown[frozenset(conditions)] = Candidate(conditions, rule, coverage)
        return list(grown.values())

    def _most_precise(
        self, candidates: list[Candidate]
    ) -> Generator[list[Ask], list[BoolArray], list[Candidate]]:
        """KL-LUCB: the few candidates of the highest precision, up to ``epsilon``, with confidence 1 - delta."""
        count = min(self.settings.beam, len(candidates))
        yield from self._extend([(candidate, FIRST) for candidate in candidates])
        rounds = 1
        while len(candidates) > count:
            level = bounds.search_level(len(candidates), rounds, self.settings.delta)
            unsure = [
                candidate
                for candidate in _unsure(candidates, count, level, self.settings.epsilon)
                if candidate.size < MOST
            ]
            if not unsure:
                break
            yield from self._extend([(candidate, MOST) for candidate in unsure])
            rounds += 1
        ranked = sorted(candidates, key=lambda candidate: -candidate.precision)
        return ranked[:count]

    def _extend(self, wanted: Sequence[tuple[Candidate, int]]) -> Asking:
        """Asks about more samples of some rules; what the shorter rule's answers tell is not asked again."""
        holds = self.near.search.holds(max(count for _, count in wanted))
        asks, fills = [], []
        for candidate, count in wanted:
            places = np.arange(candidate.size, count)
            kept = np.zeros(len(places), dtype=np.bool_)
            unknown = np.ones(len(places), dtype=np.bool_)
            if candidate.parent is not None:
                known = places[(places < candidate.parent.size) & holds[places, candidate.conditions[-1]]]
                unknown[known - candidate.size] = False
                kept[known - candidate.size] = candidate.parent.kept[known]
            asks.append(Ask(self.near.place, self.near.search, candidate.conditions, places[unknown]))
            fills.append((candidate, kept, unknown))
        answers = yield from self._ask(asks)
        for (candidate, kept, unknown), answer in zip(fills, answers, strict=True):
            kept[unknown] = answer
            candidate.kept = np.concatenate([candidate.kept, kept])

    def _ask(self, asks: list[Ask]) -> Generator[list[Ask], list[BoolArray], list[BoolArray]]:
        size = sum(len(ask.samples) for ask in asks)
        if self.asked + size > self.settings.samples:
            raise BudgetError
        self.asked += size
        answers = yield asks
        return answers

    def _verified(self, rules: list[Candidate]) -> Asking:
        """Looks how precise rules are on fresh samples, the one that covers most first, until one is precise enough.

        Rules that look too imprecise already are not asked about.
        """
        for rule in sorted(rules, key=lambda rule: (-rule.coverage, -rule.precision)):
            verdict = Found(rule, rule.precision, 0.0, False, 0)
            if rule.precision >= self.settings.precision:
                verdict = yield from self._verify(rule)
            self.tried.append(verdict)
            if verdict.reached:
                # Only rules that cover more than the best so far are looked for.
                self.best = verdict
                break

    def _verify(self, rule: Candidate) -> Generator[list[Ask], list[BoolArray], Found]:
        self.looked_at += 1
        # The chances of all looks at all rules sum to delta: 1 + 1/4 + 1/9 + ... is pi^2 / 6.
        level = float(np.log(np.pi**2 / 6 * self.looked_at**2 * len(LOOKS) / self.settings.delta))
        check = Check(rule, level, self.settings)
        for _ in LOOKS:
            answers = yield from self._ask([check.question(self.near.place, self.near.fresh)])
            check.learn(answers[0])
            if check.decided:
                break
        return check.verdict()

    def _most_precise_found(self) -> Found:
        """What is returned when no rule is precise enough."""
        best = max(self.tried, key=lambda found: (found.lowest, found.precision, found.rule.coverage))
        reason = (
            f"the search may ask for no more than {self.settings.samples:,} rows (samples={self.settings.samples})"
            if self.spent
            else "no rule of this input is as precise as that"
        )
        return Found(best.rule, best.precision, best.lowest, False, best.sampled, reason)


class BudgetError(Exception):
    """The next question would ask for more rows than may be asked for."""


class Check:
    """A rule on trial on fresh samples, which are looked at now and then."""

    def __init__(self, rule: Candidate, level: float, settings: Settings) -> None:
        self.rule = rule
        self.level = level
        self.settings = settings
        self.size = 0
        self.kept = 0
        self.decided = False

    def question(self, place: int, fresh: Pool) -> Ask:
        """About the samples up to the next look."""
        following = next(look for look in LOOKS if look > self.size)
        return Ask(place, fresh, self.rule.conditions, np.arange(self.size, following))

    def learn(self, answer: BoolArray) -> None:
        """Counts; decides if it can."""
        self.size += len(answer)
        self.kept += int(answer.sum())
        self.decided = self.reached or self._hopeless()

    def _hopeless(self) -> bool:
        """Whether even a share that is higher by two standard errors would not be enough after the last look."""
        share = (self.kept + 1) / (self.size + 2)
        best = min(1.0, share + 2.0 * (share * (1 - share) / self.size) ** 0.5)
        lowest = bounds.lower(np.array(best), np.array(self.level / LOOKS[-1]))
        return (
            bool(lowest < self.settings.precision - self.settings.tolerance) or best < self.settings.precision
        )

    @property
    def _share(self) -> FloatArray:
        return np.array(self.kept / self.size)

    @property
    def lowest(self) -> float:
        """The lower end of the interval."""
        return float(bounds.lower(self._share, np.array(self.level / self.size)))

    @property
    def reached(self) -> bool:
        """Whether the rule is precise enough, with confidence."""
        return (
            self.kept >= self.settings.precision * self.size
            and self.lowest >= self.settings.precision - self.settings.tolerance
        )

    def verdict(self) -> Found:
        """What is known in the end."""
        return Found(self.rule, float(self._share), self.lowest, self.reached, self.size)


def _unsure(candidates: list[Candidate], count: int, level: float, epsilon: float) -> list[Candidate]:
    """The candidates that have to be sampled again before the ``count`` most precise are known up to ``epsilon``.

    The published rule samples the one of the lowest bound among the most precise, and the one of the highest bound
    among the others, until they are no longer in each other's way. Here all that are in the way are sampled together.
    """
    share = np.array([candidate.precision for candidate in candidates])
    levels = level / np.array([candidate.size for candidate in candidates])
    order = np.argsort(-share, kind="stable")
    inside, outside = order[:count], order[count:]
    lows = bounds.lower(share[inside], levels[inside])
    highs = bounds.upper(share[outside], levels[outside])
    weak, strong = lows < highs.max() - epsilon, highs > lows.min() + epsilon
    return [candidates[place] for place in [*inside[weak].tolist(), *outside[strong].tolist()]]
