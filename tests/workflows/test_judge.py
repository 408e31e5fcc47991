"""Explainers judged on a model whose best three features are known by enumeration."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.errors import VeraxError
from verax.explain.base import Explainer
from verax.explain.explanation import Attribution

WEIGHTS = {"good": 1.5, "fine": 1.0, "warm": 0.7, "dull": -1.2, "the": 0.0, "film": 0.1, "was": 0.05}
TEXT = "the film was good and warm and fine but dull"


def probability(text):
    return 1 / (1 + np.exp(-sum(WEIGHTS.get(word, 0.0) for word in set(text.split()))))


def says(texts):
    positive = np.array([probability(text) for text in texts])
    return np.stack([1 - positive, positive], axis=1)


@pytest.fixture(scope="module")
def model():
    return verax.as_model(says, class_names=("negative", "positive"), kind="text")


@dataclass(frozen=True)
class Fixed(Explainer):
    """Names the words it is told, the first with the largest score."""

    words: tuple[str, ...] = ()

    def explain(self, model, inputs, targets=None):
        return [
            self._one(text, target) for text, target in zip(inputs, targets or [1] * len(inputs), strict=True)
        ]

    def _one(self, text, target):
        named = tuple(dict.fromkeys(text.split()))
        order = {word: float(len(self.words) - place) for place, word in enumerate(self.words)}
        return Attribution(named, [order.get(word, 0.0) for word in named], target, "positive", text)


WORDS = list(dict.fromkeys(TEXT.split()))
LONG = [
    TEXT,
    *(" ".join(w for w in TEXT.split() if w != gone) for gone in ("dull", "film", "warm", "fine", "but")),
]


def worths(text, size):
    """By enumeration, in points: for every set, the mean of how far it is needed and how far it is enough."""
    words = list(dict.fromkeys(text.split()))
    whole, nothing = probability(text), probability("")
    found = {}
    for chosen in combinations(words, size):
        needed = whole - probability(" ".join(w for w in words if w not in chosen))
        enough = probability(" ".join(chosen)) - nothing
        found[chosen] = 50 * (max(needed, 0.0) + max(enough, 0.0))
    return found


def judged(*given, **options):
    return verax.judge(*given, progress=False, seconds=None, **options)


def test_worth_chance_best_and_p_are_those_of_enumeration(model):
    known = worths(TEXT, 3)
    found = judged(
        model, [TEXT], {"right": Fixed(("good", "fine", "warm")), "wrong": Fixed(("the", "was", "and"))}
    )
    right, wrong = found.trials
    best = max(value for size in (1, 2, 3) for value in worths(TEXT, size).values())
    assert right.best == wrong.best == pytest.approx(best, abs=1e-6)
    assert right.chance == pytest.approx(np.mean(list(known.values())), abs=1e-6)
    assert right.worth == pytest.approx(known["good", "warm", "fine"], abs=1e-6)
    assert wrong.worth == pytest.approx(known["the", "was", "and"], abs=1e-6)
    assert right.worth == pytest.approx((right.needed + right.enough) / 2)
    assert wrong.worth >= 0
    values = np.array(list(known.values()))
    assert right.p == pytest.approx(np.mean(values >= right.worth - 1e-9))
    assert wrong.p == pytest.approx(np.mean(values >= wrong.worth - 1e-9))
    assert (right.reached, right.seeds, right.others) == (pytest.approx(1.0), None, 0.0)
    assert [row.sign for row in found.verdict.judged] == ["yes", "open"]
    assert found.believe == ("right",)
    assert found.verdict.sentence.startswith("Believe right for this model: the features that it names first")
    assert "wrong is not shown to be better than random features" in found.verdict.sentence
    assert str(found).startswith(found.verdict.sentence)


def test_a_tree_on_one_column_is_not_judged_upside_down():
    """Equal falls of all inputs have no spread; that is the surest of all findings, not none."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    tree = DecisionTreeClassifier(random_state=0).fit(rows, np.where(rows.a > 0, "y", "n"))
    found = judged(
        verax.as_model(tree, reference=rows),
        rows[rows.a > 0][:8],
        ["shap", "greedy", "random", "random(seed=5)"],
    )
    shap, greedy, *random = found.trials
    assert shap.named == greedy.named == (("a",),) * 8
    assert (shap.sign, greedy.sign) == ("yes", "yes")
    assert shap.reached == greedy.reached == pytest.approx(1.0)
    assert shap.p < 0.001
    assert all(trial.sign != "yes" for trial in random)


def removed_or_alone(texts):
    """Without "not" the answer is gone, which does nothing alone; "good" alone says yes, and is not needed."""
    yes = np.array(
        [
            0.1 + 0.5 * (("not" in words) and len(words) > 2) + 0.3 * ("good" in words and len(words) < 3)
            for words in (set(text.split()) for text in texts)
        ]
    )
    return np.stack([1 - yes, yes], axis=1)


def test_what_seeks_removal_has_no_advantage_under_another_name():
    """Of the two measures it optimises one; the same words named by another explainer are ahead."""
    model = verax.as_model(removed_or_alone, class_names=("no", "yes"), kind="text")
    rng = np.random.default_rng(0)
    filler = ["film", "plot", "scene", "actor", "music", "end", "story", "camera"]
    texts = [
        " ".join(rng.permutation(["not", "good", *rng.choice(filler, 4, replace=False)])) for _ in range(10)
    ]
    named = {"mine": verax.explainer("greedy"), "words": Fixed(("good",))}
    mine, words = (found := judged(model, texts, named, target="yes")).trials
    assert mine.named == (("not",),) * 10
    assert mine.worth > words.worth + 5
    assert (mine.removal, words.removal) == (True, False)
    assert found.leads == ()
    assert any(
        "mine looks for what changes the answer when it is taken away" in one
        for one in found.verdict.rests_on
    )
    named["mine"] = Fixed(("not",))
    assert [(lead.ahead, lead.behind) for lead in judged(model, texts, named, target="yes").leads] == [
        ("mine", "words")
    ]


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(C=100.0),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(10, random_state=0),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("either", [False, True])
def test_greedy_is_ahead_of_the_true_reasons_on_no_sort_of_model(classifier, either):
    rng = np.random.default_rng(1)
    filler = ["film", "plot", "scene", "actor", "music", "end", "story", "camera"]
    rows = [
        [*rng.choice(filler, 5, replace=False), *(word for word in ("zig", "zag") if rng.random() < 0.5)]
        for _ in range(300)
    ]
    labels = [int((any if either else all)(word in row for word in ("zig", "zag"))) for row in rows]
    texts = [" ".join(rng.permutation(row)) for row in rows]
    fitted = make_pipeline(CountVectorizer(), classifier).fit(texts, labels)
    model = verax.as_model(fitted, reference=texts, class_names=("no", "yes"))
    both = [text for text in texts if {"zig", "zag"} <= set(text.split())][:10]
    assert (model.predict_proba(both)[:, 1] > 0.5).all()
    named = {"removes": verax.explainer("greedy"), "true": Fixed(("zig", "zag"))}
    named |= {name: verax.explainer("random", seed=place) for place, name in enumerate(("lime", "shap"))}
    found = judged(model, both, named, target="yes")
    assert not [lead for lead in found.leads if (lead.ahead, lead.behind) == ("removes", "true")]
    # Random scores under the names of explainers are believed no more than random ones.
    assert not {"lime", "shap"} & {lead.ahead for lead in found.leads}
    assert not {"lime", "shap"} & set(found.believe)
    assert "true" in found.believe


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_random_explainers_are_seldom_believed(model, n):
    """56, 49 and 33% had a tick on one, two and four inputs."""
    rng = np.random.default_rng(n)
    vocabulary = [*WEIGHTS, *(f"word{number}" for number in range(30))]
    believed = 0
    for run in range(60):
        texts = [" ".join([*rng.permutation(vocabulary)[:14].tolist(), "good", "fine"]) for _ in range(n)]
        named = {name: verax.explainer("random", seed=3 * run + place) for place, name in enumerate("abc")}
        found = judged(model, texts, named)
        believed += any(trial.shown for trial in found.trials) or bool(found.leads)
    assert believed <= 8  # of 60 at 5%: more comes in less than one of a hundred such tests


def test_more_inputs_never_weaken_a_true_claim(model):
    rng = np.random.default_rng(1)
    texts = [
        " ".join([*rng.permutation([f"w{n}" for n in range(9)]).tolist(), "good", "fine", "warm"])
        for _ in range(8)
    ]
    right = {"right": Fixed(("good", "fine", "warm")), "random": verax.explainer("random")}
    found = [judged(model, texts[:n], right).trials[0] for n in (1, 2, 4, 5, 8)]
    assert [trial.sign for trial in found] == ["yes"] * 5
    assert [trial.corrected for trial in found] == sorted([trial.corrected for trial in found], reverse=True)


def test_too_few_inputs_are_said_to_be_too_few():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    tree = DecisionTreeClassifier(random_state=0).fit(rows, rows.a > 0)
    found = judged(verax.as_model(tree, reference=rows), rows[:1], ["shap", "greedy"])
    assert found.verdict.sentence == (
        "One input with 5 columns cannot show which explainer to believe: a random choice of features would be as good "
        "as the best in 20% of cases. Give 3 inputs or more."
    )
    assert [trial.sign for trial in found.trials] == ["open", "open"]
    enough = judged(verax.as_model(tree, reference=rows), rows[rows.a > 0][:3], ["shap", "greedy"])
    assert set(enough.believe) == {"shap", "greedy"}


def test_an_explainer_gains_nothing_from_naming_noise_where_nothing_speaks_for_the_class():
    """Of rows that a tree takes for the other class no column speaks for this one; to name none is right."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    tree = DecisionTreeClassifier(random_state=0).fit(rows, np.where(rows.c > 0, "good", "bad"))
    bad = rows[rows.c < 0][:8]

    @dataclass(frozen=True)
    class Noise(Explainer):
        def explain(self, model, inputs, targets=None):
            return [Attribution(tuple("abcde"), [1.0, 0.5, 0.0, 0.0, 0.0], 1, "good", "") for _ in inputs]

    found = judged(tree, bad, {"noise": Noise(), "shap": "shap"}, reference=rows, target="good")
    assert [trial.sign for trial in found.trials] == ["open", "open"]
    assert not found.believe


def test_one_row_needs_a_reference_and_one_column_cannot_be_judged():
    rows = pd.DataFrame({"a": np.linspace(-1, 1, 40)})
    tree = DecisionTreeClassifier(random_state=0).fit(rows, rows.a > 0)
    with pytest.raises(VeraxError, match="give some of the model's training rows: reference=rows"):
        judged(tree, rows[:1], ["greedy"])
    one = judged(tree, rows[30:], ["greedy"])
    assert "one feature only" in one.verdict.sentence
    assert str(one).splitlines()[1:] == [
        "",
        "  ? greedy  –  nothing to name",
    ]  # not a word on what was measured
    with pytest.raises(VeraxError, match="put it in a list"):
        judged(tree, "one text of several words", ["greedy"])


def test_redundant_reasons_are_seen_though_taking_one_away_changes_nothing():
    def either(texts):
        positive = np.array([0.95 if {"great", "love"} & set(text.split()) else 0.05 for text in texts])
        return np.stack([1 - positive, positive], axis=1)

    model = verax.as_model(either, class_names=("no", "yes"), kind="text")
    text = "a great film that i love to see again with all my friends"
    known = {
        "both": Fixed(("great", "love")),
        "one": Fixed(("great",)),
        "neither": Fixed(("film", "see")),
        "greedy": verax.explainer("greedy"),
    }
    found = judged(model, [text], known)
    both, one, neither, greedy = found.trials
    assert (both.reached, both.sign) == (pytest.approx(1.0), "yes")
    assert (one.needed, one.enough) == (pytest.approx(0.0, abs=1e-9), pytest.approx(90.0))
    assert neither.reached < 0.01
    assert greedy.words == "names no feature"
    assert "greedy names no feature" in found.verdict.sentence
    three = judged(
        verax.as_model(
            lambda texts: either(
                [
                    text.replace("warm", "great").replace("fine", "great").replace("good", "love")
                    for text in texts
                ]
            ),
            class_names=("no", "yes"),
            kind="text",
        ),
        ["so great a film that i love and warm and fine and good as this is one to see again"],
        {"some": Fixed(("great", "love", "warm"))},
    )
    assert three.redundant
    assert "the model has several reasons that each do" in str(three)


def test_seeds_and_other_methods_are_compared_and_five_inputs_have_an_interval(model):
    found = judged(model, LONG, ["lime", "greedy", "random"])
    lime, greedy, random = found.trials
    assert (lime.shown, greedy.shown, random.shown) == (True, True, False)
    assert lime.seeds > 0.9 > random.seeds
    assert greedy.seeds is None
    assert lime.others > random.others
    # Of the share of the room between random and the best that was gained, linearised; t of 5 degrees of freedom.
    frame = found.to_frame("input")
    own = frame[frame.explainer == "random"].worth.to_numpy()
    chance = np.array(
        [
            np.mean(list(worths(text, len(named)).values()))
            for text, named in zip(LONG, random.named, strict=True)
        ]
    )
    best = np.array([max(v for size in (1, 2, 3) for v in worths(text, size).values()) for text in LONG])
    share = np.sum(own - chance) / np.sum(best - chance)
    rest = own - chance - share * (best - chance)
    margin = 2.5706 * np.std(rest, ddof=1) / np.sqrt(6) / np.mean(best - chance)
    assert random.reached == pytest.approx(share, abs=1e-6)
    assert (random.low, random.high) == (
        pytest.approx(share - margin, abs=1e-4),
        pytest.approx(share + margin, abs=1e-4),
    )
    few = judged(model, LONG[:2], ["random"])
    assert few.verdict.judged[0].low is None


def test_bad_input_gets_a_sentence(model):
    with pytest.raises(VeraxError, match="no input to explain"):
        judged(model, [], ["lime"])
    with pytest.raises(VeraxError, match=r"Input 1 \(counted from 0\) has no feature"):
        judged(model, [TEXT, "..."], ["greedy"])
    with pytest.raises(VeraxError, match="no explainer to judge"):
        judged(model, [TEXT], [])
    with pytest.raises(VeraxError, match="n must be at least 1"):
        judged(model, [TEXT], ["greedy"], n=0)
    with pytest.raises(VeraxError, match="seconds must be more than 0"):
        verax.judge(model, [TEXT], ["greedy"], seconds=0)
    with pytest.raises(VeraxError, match="has to be fitted first"):
        judged("logistic", [TEXT], ["greedy"])
    flat = verax.as_model(lambda texts: np.full((len(texts), 2), 0.5), class_names=("a", "b"), kind="text")
    assert judged(flat, [TEXT], ["lime", "random"]).verdict.sentence.startswith("No feature matters here")


def test_a_rule_of_one_word_is_tested_against_one_word_and_measured_beside_the_best_three(model):
    found = judged(model, LONG, {"one": Fixed(words=("good",)), "none": Fixed(words=("the",))})
    one, none = found.trials
    best = [max(v for size in (1, 2, 3) for v in worths(text, size).values()) for text in LONG]
    assert one.chance == pytest.approx(np.mean([np.mean(list(worths(text, 1).values())) for text in LONG]))
    assert one.best == pytest.approx(np.mean(best))
    assert (one.shown, one.sign, none.shown) == (True, "part", False)


def test_what_names_nothing_is_said_to(model):
    found = judged(model, [TEXT], {"silent": Fixed(), "right": Fixed(("good", "fine", "warm"))})
    assert found.trials[0].silent == 1
    assert "silent names no feature" in found.verdict.sentence
    assert {row.name: row.words for row in found.verdict.judged}["silent"] == "names no feature"


def test_scores_below_a_tenth_of_the_first_are_not_named(model):
    @dataclass(frozen=True)
    class Faint(Explainer):
        def explain(self, model, inputs, targets=None):
            return [
                Attribution(
                    tuple(WORDS), [{"good": 1.0, "the": 0.05}.get(word, 0.0) for word in WORDS], 1, "", text
                )
                for text in inputs
            ]

    assert judged(model, [TEXT], {"faint": Faint()}).trials[0].named == (("good",),)


def test_named_features_that_do_nothing_are_counted(model):
    found = judged(model, [TEXT], {"half": Fixed(("good", "the"))})
    assert found.trials[0].idle == pytest.approx(0.5)
    assert "that do nothing for the answer: half 50%" in str(found)


def test_equal_scores_are_not_in_the_order_of_the_text(model):
    @dataclass(frozen=True)
    class Flat(Explainer):
        def explain(self, model, inputs, targets=None):
            features = [tuple(dict.fromkeys(text.split())) for text in inputs]
            return [
                Attribution(own, [1.0] * len(own), 1, "", text)
                for own, text in zip(features, inputs, strict=True)
            ]

    named = judged(model, LONG, {"flat": Flat()}).trials[0].named
    assert any(set(own) != set(text.split()[:3]) for own, text in zip(named, LONG, strict=True))


def test_equal_inputs_count_once(model):
    found = judged(model, [TEXT, LONG[1], TEXT], ["greedy"])
    assert (found.inputs, found.places) == (2, (0, 1))
    assert "1 input of 3 is equal to another; each is counted once." in found.notes


def test_an_explainer_that_cannot_serve_is_left_out_with_a_sentence(model):
    found = judged(
        model, [TEXT], {"n-grams": verax.explainer("random-fragments"), "greedy": verax.explainer("greedy")}
    )
    assert [trial.name for trial in found.trials] == ["greedy"]
    assert found.notes[0].startswith("n-grams is left out. n-grams gives no scores of single features")
    with pytest.raises(VeraxError, match="gives no scores of single features"):
        judged(model, [TEXT], {"n-grams": verax.explainer("random-fragments")})


def test_features_that_the_input_does_not_have_are_not_dropped_in_silence(model):
    @dataclass(frozen=True)
    class Elsewhere(Explainer):
        def explain(self, model, inputs, targets=None):
            return [Attribution(("good ", "film"), [1.0, 0.5], 1, "", text) for text in inputs]

    with pytest.raises(VeraxError, match=r"names 'good ', which input 0 \(counted from 0\) does not have"):
        judged(model, [TEXT], {"elsewhere": Elsewhere()})


def test_names_with_options_targets_by_name_and_dicts_are_taken(model):
    found = judged(model, [TEXT, LONG[1]], ["lime(samples=200)", "greedy"], target="negative")
    assert [trial.name for trial in found.trials] == ["lime(samples=200)", "greedy"]
    assert {each.target_name for each in found.explanations["greedy"]} == {"negative"}
    assert found.trials[1].named[0] == ("dull",)
    mine = judged(model, [TEXT], {"mine": "lime(samples=200)"})
    assert mine.explanations["mine"][0].explainer.startswith("Lime(samples=200")


def test_of_a_slow_model_fewer_samples_are_drawn_and_it_is_said():
    def slow(texts):
        time.sleep(0.002 * len(texts))
        return np.array([[0.1, 0.9] if "good" in text.split() else [0.8, 0.2] for text in texts])

    texts = [
        f"a good film with {word} people and an old dog {word}" for word in ("many", "few", "no", "some")
    ]
    found = verax.judge(slow, texts, ["lime", "shap", "lime(samples=300)"], seconds=4, progress=False)
    (said,) = [note for note in found.notes if note.startswith("The model takes long to answer")]
    assert "lime 200 of 5,000 and shap 200 of 2," in said
    assert 'name a number: "lime(samples=5000)"' in said
    rows = {name: own[0].cost.rows for name, own in found.explanations.items()}
    assert rows["lime"] <= 200 < rows["lime(samples=300)"] <= 300
    quick = verax.judge(lambda texts: np.tile([0.4, 0.6], (len(texts), 1)), texts, progress=False)
    assert not any("fewer samples" in note for note in quick.notes)


def test_what_only_the_first_call_takes_makes_no_model_slow():
    cold = [True]

    def starts_slowly(rows):
        if len(rows) > 64 and cold and cold.pop():
            time.sleep(0.5)
        high = 1 / (1 + np.exp(-rows[:, 0]))
        return np.column_stack([1 - high, high])

    rows = np.random.default_rng(0).normal(size=(150, 6))
    found = verax.judge(
        verax.as_model(starts_slowly, reference=rows), rows[:5], ["lime"], seconds=5, progress=False
    )
    assert not cold
    assert not any("takes long to answer" in note for note in found.notes)


def test_the_time_is_kept_and_what_was_left_out_is_said(model):
    @dataclass(frozen=True)
    class Slow(Explainer):
        def explain(self, model, inputs, targets=None):
            time.sleep(0.2 * len(inputs))
            return [Attribution(tuple(WORDS), [1.0] * len(WORDS), 1, "", text) for text in inputs]

    texts = [" ".join([*np.roll(WORDS, place).tolist(), f"w{place}"]) for place in range(12)]

    @dataclass(frozen=True)
    class Slowly(Slow):
        def explain(self, model, inputs, targets=None):
            time.sleep(0.2 * len(inputs))
            own = [tuple(dict.fromkeys(text.split())) for text in inputs]
            return [Attribution(f, [1.0] * len(f), 1, "", text) for f, text in zip(own, inputs, strict=True)]

    found = verax.judge(model, texts, {"slow": Slowly()}, seconds=1.0, progress=False)
    assert 1 <= found.inputs < 12
    assert "judged in the time allowed (1 s in all); slow took the longest to explain" in " ".join(
        found.notes
    )


def test_the_same_in_every_form(model, tmp_path):
    found = judged(model, LONG, ["greedy", "random"])
    assert list(found.to_frame().explainer) == ["greedy", "random"]
    assert len(found.to_frame("input")) == 2 * len(LONG)
    rows = found.to_frame("finding")
    assert list(rows.method) == ["greedy", "random"]
    assert rows.estimate[0] == 100 * found.trials[0].reached
    assert rows.p_adjusted[0] == found.trials[0].corrected
    with pytest.raises(VeraxError, match="by 'explainer', 'input' or 'finding'"):
        found.to_frame("model")
    assert found.verdict.sentence in found.to_markdown()
    assert "| ✓ | greedy |" in found.to_markdown()
    assert r"\begin{tabular}" in found.to_latex()
    assert r"\% &" in found.to_latex()
    html = found._repr_html_()
    assert "<table>" in html
    assert "greedy" in html
    json.dumps(found.to_dict())
    page = found.page(tmp_path / "page.html").read_text()
    assert "Which explanation to believe" in page
    assert "The numbers" in page
    assert "input 0" in page


def test_labelled_data_are_drawn_from_and_a_frame_knows_its_label(model):
    frame = pd.DataFrame({"text": LONG * 5, "stars": [0, 1] * 15})
    found = judged(model, frame, ["greedy"], label="stars", text="text", plant=False)
    assert found.inputs <= len(LONG)
    pair = judged(model, (LONG, [0, 1] * 3), ["greedy"], plant=False, n=4)
    assert pair.inputs == 4
    two = judged(model, (LONG[0], LONG[1]), ["greedy"])
    assert two.inputs == 2
    with pytest.raises(VeraxError, match="no column 'star'"):
        judged(model, frame, ["greedy"], label="star")
