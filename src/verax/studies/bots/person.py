"""One simulated person: sees pages, remembers what they showed, and decides what to answer."""

from __future__ import annotations

import math

from verax.studies.bots.album import Album, Known
from verax.studies.bots.chance import Chance
from verax.studies.bots.page import Asked, Page
from verax.studies.bots.profiles import Aid, Careless, Case, Late, Leaver, Profile, SameAnswer
from verax.studies.model.screen import Facts, Question, class_mark, with_names

# People who rate explanations differ by so many points, and from one explanation to the next by so many.
RATER_SPREAD, RATING_SPREAD = 0.8, 1.0
# A method's explanations are rated so much above the middle of the scale; a control's in the middle.
LIKED = 1.0
# Reading: so many seconds for a word and so many for a page, times a person's own pace.
WORD_SECONDS, PAGE_SECONDS, PACE_SPREAD, PAGE_SPREAD = 0.08, 2.5, 0.3, 0.35
OWN_WORDS = ("I went by the strong words.", "Mostly by feeling.", "I looked at how it answered before.")
SAYS_NOTHING = 0.5  # the share of texts that are left empty where they may be


class Person:
    """Somebody with a profile; the same seed and pages make the same decisions, with the web and without it."""

    def __init__(self, album: Album, profile: Profile, seed: int, number: int) -> None:
        self.profile = profile
        self.number = number
        self._album = album
        self._chance = Chance(seed, number)
        self._names: dict[int, str] = {}  # learnt from pages, where classes are not called by their own names
        self._last_aid: Aid = "none"

    def meet(self, album: Album) -> None:
        """Is given another study than the one that was expected, before its first page."""
        self._album = album

    def answer(self, page: Page) -> dict[str, str]:
        """The answers to a page by question: the place of the chosen option, or a text; nothing where one is left open.

        Pages are to be answered in the order in which they come: people learn from them.
        """
        known = self._album.recognise(page)
        aid = self._learn(page, known)
        given = {asked.name: self._answer(asked, page, known, aid) for asked in page.questions}
        return {name: answer for name, answer in given.items() if answer}

    def seconds(self, page: Page) -> float:
        """How long this person would look at a page."""
        pace = PACE_SPREAD * self._chance.normal("pace") + PAGE_SPREAD * self._chance.normal("pace", page.ord)
        return (PAGE_SECONDS + WORD_SECONDS * page.words) * math.exp(pace)

    def leaves(self, page: Page) -> bool:
        """Whether the page is closed for good."""
        habit = self.profile.habit(Leaver)
        return habit is not None and page.done >= habit.after * page.steps

    def is_late(self, ord: int) -> bool:
        """Whether this step is answered too late, if there is a limit."""
        habit = self.profile.habit(Late)
        return habit is not None and self._chance.share("late", ord) < habit.share

    def _learn(self, page: Page, known: Known | None) -> Aid:
        """Keeps what a page teaches; what helps with its questions."""
        if known is None:
            return "none"
        shown = [pair for block in known.screen.blocks if isinstance(block, Facts) for pair in block.pairs]
        for (_, value), (_, name) in zip(shown, page.facts, strict=True):
            for number in range(len(self._album.names)):
                if value == class_mark(number):
                    self._names[number] = name
        if not known.explains:
            # A page that only people without explanations see is one on which nothing helps; others come after some.
            return "none" if known.kinds == {"none"} else self._last_aid
        if known.kinds != {"method", "control"}:  # where both look alike, it is what it was before
            self._last_aid = "control" if known.kinds == {"control"} else "method"
        return self._last_aid

    def _answer(self, asked: Asked, page: Page, known: Known | None, aid: Aid) -> str:
        study = self._album.study
        if not asked.labels:
            return self._text(asked, page)
        if study.screening is not None and asked.name in study.screening.answers:
            return str(self._tested(asked, page, int(study.screening.answers[asked.name])))
        question = None if known is None else _question(known, asked.name)
        if question is not None and question.kind == "scale":
            return str(self._rating(asked, page, question, aid))
        return str(self._choice(asked, page, known, question, aid))

    def _text(self, asked: Asked, page: Page) -> str:
        if not asked.required and self._chance.share(page.ord, asked.name, "says nothing") < SAYS_NOTHING:
            return ""
        return OWN_WORDS[int(len(OWN_WORDS) * self._chance.share(page.ord, asked.name))]

    def _tested(self, asked: Asked, page: Page, right: int) -> int:
        habit = self.profile.habit(Careless)
        if habit is None or self._chance.share(page.ord, asked.name, "careless") >= habit.wrong:
            return right
        return right % len(asked.labels) + 1

    def _rating(self, asked: Asked, page: Page, question: Question, aid: Aid) -> int:
        points = len(asked.labels)
        if isinstance(self.profile.answering, SameAnswer):
            return min(self.profile.answering.position, points)
        middle = (points + 1) / 2 + (LIKED if aid == "method" else 0)
        own = RATER_SPREAD * self._chance.normal("rater") + RATING_SPREAD * self._chance.normal(
            page.ord, asked.name
        )
        return self._place(asked, question, max(1, min(points, round(middle + own))))

    def _choice(
        self, asked: Asked, page: Page, known: Known | None, question: Question | None, aid: Aid
    ) -> int:
        worth = None if known is None or question is None else self._album.scores(known, question)
        if known is None or known.item is None or question is None or worth is None:
            case = Case(None, None, False, aid, "", page.ord, self._chance, len(asked.labels))
        else:
            understood = self._understands(question, asked)
            case = Case(*worth, understood, aid, known.item.id, page.ord, self._chance, len(asked.labels))
        chosen = self.profile.answering.choose(case)
        if question is None or isinstance(self.profile.answering, SameAnswer):
            return chosen
        return self._place(asked, question, chosen)

    def _place(self, asked: Asked, question: Question, chosen: int) -> int:
        """Where the answer stands on this person's pages whose place in the study's list is this one.

        Answers under names that are not known yet are all alike, so that any of them may be taken for it.
        """
        labels = self._labels(question, asked)
        wanted = labels[chosen - 1]
        if wanted in asked.labels:
            return asked.labels.index(wanted) + 1
        unknown = [place for place, label in enumerate(asked.labels, 1) if label not in labels]
        return unknown[sum(label not in asked.labels for label in labels[: chosen - 1])]

    def _labels(self, question: Question, asked: Asked) -> list[str]:
        """The answers in the order of the study's list, in the words of this person's pages where they are known."""
        labels = [option.label for option in question.options]
        own = [with_names(label, self._album.names) for label in labels]
        if set(own) == set(asked.labels):
            return own
        learnt = [self._names.get(number, class_mark(number)) for number in range(len(self._album.names))]
        return [with_names(label, learnt) for label in labels]

    def _understands(self, question: Question, asked: Asked) -> bool:
        """Whether the answers name the classes by names that are known, or were learnt; the last one by exclusion."""
        if set(self._labels(question, asked)) == set(asked.labels):
            return True
        unknown = {number for number in range(len(self._album.names)) if number not in self._names}
        return len(unknown) <= 1


def _question(known: Known, name: str) -> Question | None:
    return next((question for question in known.screen.questions if question.name == name), None)
