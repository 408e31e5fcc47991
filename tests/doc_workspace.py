"""A folder as the pages of the docs suppose it: little data under the names that they use."""

from __future__ import annotations

import csv
import gzip
import json
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.data import datasets
from verax.data.embedded import adult_binned, adult_raw, rotten_tomatoes
from verax.data.records import Records, text_records

ROOT = Path(__file__).parents[1]
# What is written in the specs of ``examples``, and what in these stand-ins: less of everything, models that learn in
# seconds.
SMALLER = {
    r"learning = 16": "learning = 4",
    r"test = (16|32)": "test = 8",
    r"test = (60|100)": "test = 8",
    r"items_per_participant = 20": "items_per_participant = 4",
    r"training = 25": "training = 4",
    r"evaluation = 15": "evaluation = 4",
    r"participants = (10|5|4)\b": "participants = 2",
    r"samples = \d+": "samples = 100",
    r"threshold = 0.9": "threshold = 0.52",
    r"threshold = 0.7": "threshold = 0.9",
    r'model = "cnn"': 'model = "cnn(epochs=8)"',
    r'model = "(bilstm|mlp-2x50)"': 'model = "logistic"',
    r'explainer = "anchor"(\nparam.*)?': 'explainer = "anchor"\nparameters = { precision = 0.8, most_samples = 500 }',
    r'explainer = "(decision-boundary|composite)"(\nparam.*)?': r'explainer = "\1"\nparameters = { samples = 200 }',
}
PROTOTYPE = re.compile(
    r'\[\[conditions\]\]\nname = "prototype".*?(?=\[)', re.DOTALL
)  # its network learns for minutes
# Studies that pages speak of and nobody builds there: the spec of an example, and what is written otherwise in it.
SUPPOSED = {
    "studies/text-forward": ("forward.toml", {}),
    "studies/text-counterfactual": ("counterfactual.toml", {}),
    "studies/table-forward": ("forward-table.toml", {}),
    "studies/table-counterfactual": ("counterfactual.toml", {'"rotten-tomatoes"': '"adult"'}),
    "studies/reviews-masked": ("reverse-turing.toml", {}),
    "studies/reviews-known": ("reverse-turing.toml", {"masked = true": "masked = false"}),
    "studies/length-masked": ("reverse-turing.toml", {"strategy = true": 'strategy = true\ntask = "length"'}),
} | {
    f"studies/rt-{task}": (
        "reverse-turing.toml",
        {"strategy = true": f'strategy = true\ntask = "{task}"', "seed = 1": f'seed = 1\nname = "{task}"'},
    )
    for task in ("sst", "hateval", "sentence-length", "subject-number", "tense")
}
# Who came from a platform, by the ids of docs/recruiting.md.
PEOPLE = {"prolific": "5f3c0a2b9d1e4f0012345678", "mturk": "A1B2C3D4E5F6G7"}
CLASSES = ("negative", "positive")
ADULT = "39, {job}, 77516, Bachelors, 13, Never-married, Sales, Wife, White, Male, 2174, 0, {hours}, Cuba, {income}"
TENSE = (
    "1\the\the\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    "2\t{form}\t{form}\tVERB\t_\tMood=Ind|Tense={tense}|VerbForm=Fin\t0\troot\t_\t_\n"
)
REST = "".join(f"{n}\tnow\tnow\tADV\t_\t_\t2\tadvmod\t_\t_\n" for n in range(3, 7)) + "\n"


def fill(folder: Path) -> None:
    """Everything that pages suppose: files, a study with answers, its export and analysis, a run of a benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        little_datasets(patch)
        write_files(folder)
        reviews = snippets()
        _table(folder / "ewt-genres.csv", ("text", "label"), zip(reviews.inputs, reviews.labels, strict=True))
        write_items(folder)
        write_stimuli(folder)
        write_examples(folder)
        study = verax.build_study("examples/forward.toml", out="studies/forward")
        study.bots(3)
        study.analyze(bots=True, replicates=100, out="studies/forward/analysis")
        study.export("exported")
        verax.stain(
            "rotten-tomatoes",
            ["logistic"],
            ["greedy"],
            limit=700,
            stains=1,
            inputs=2,
            learnt=0,
            out="runs/stain",
        )
        data = verax.load_dataset("rotten-tomatoes", limit=300)
        model = verax.fit_model("logistic", data)
        (explained,) = verax.explainer("greedy").explain(model, data.test.inputs[:1])
        _lines(folder / "mine.jsonl", [json.dumps(explained.to_dict())])


def little_datasets(monkeypatch) -> None:
    """A seventh of the snippets stands for both sets of reviews, every tenth person for the census."""
    datasets.names()
    little = {"rotten-tomatoes": snippets, "imdb": snippets, "adult": census, "adult-raw": raw_census}
    monkeypatch.setattr(datasets, "_things", datasets._things | little)


@cache
def snippets() -> Records:
    whole = rotten_tomatoes()
    return text_records(whole.inputs[::7], whole.labels[::7], whole.class_names)


@cache
def census() -> Records:
    people = adult_binned()
    return Records(people.inputs[::10], people.labels[::10], people.class_names, schema=people.schema)


@cache
def raw_census() -> Records:
    people = adult_raw()
    return Records(people.inputs[::20], people.labels[::20], people.class_names, schema=people.schema)


def _save_model(folder: Path) -> None:
    """A model of somebody's own, fitted on what pandas reads, missing values included."""
    frame = pd.read_csv(folder / "customers.csv")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["channel"]), remainder="passthrough"
    )
    pipeline = make_pipeline(columns, DecisionTreeClassifier(random_state=0))
    joblib.dump(pipeline.fit(frame.drop(columns="churned"), frame.churned), folder / "model.joblib")


def write_files(folder: Path) -> None:
    """The files that pages name, with as little in them as is needed."""
    reviews = [(f"a {word} film, number {n}", n % 2) for n in range(40) for word in [("dull", "warm")[n % 2]]]
    _table(
        folder / "reviews.csv",
        ("text", "label", "review", "stars", "liked"),
        [(t, n, t, n, n) for t, n in reviews],
    )
    _lines(folder / "reviews.jsonl", [json.dumps({"body": text, "stars": n}) for text, n in reviews])
    people = [(20 + n, 1 + n % 3, "high" if n > 20 else "low") for n in range(40)]
    _table(folder / "people.csv", ("age", "grade", "income"), people)
    customers = [
        (20 + n, n % 7, ("web", "shop", "")[n % 3], "yes" if n % 40 > 20 else "no") for n in range(80)
    ]
    _table(folder / "customers.csv", ("age", "visits", "channel", "churned"), customers)
    _save_model(folder)
    _table(folder / "prolific_export.csv", ("Participant id", "Status"), [(PEOPLE["prolific"], "APPROVED")])
    _lines(folder / "rt-polarity/rt-polarity.neg", ["dull", "slow", "bad"] * 9)
    _lines(folder / "rt-polarity/rt-polarity.pos", ["warm", "fine", "good"] * 9)
    for part in ("train", "dev", "test"):
        _lines(folder / f"sst/fine/sentiment-{part}", [f"4 {part} is good .", f"0 {part} is bad"])
        _lines(folder / f"sst/binary/sentiment-{part}", [f"{part} is good . \t1", f"{part} is bad\t0"])
        rows = [f"{n},{part} {n},{n % 2},0,{n % 2}" for n in range(6)]
        _lines(folder / f"hateval2019/hateval2019_en_{part}.csv", ["id,text,HS,TR,AG", *rows])
    census = [ADULT.format(job="?", hours=h, income=">50K" if h % 2 else "<=50K") for h in range(20)]
    _lines(folder / "adult/adult.data", census)
    _lines(folder / "adult/adult.test", ["|1x3 Cross validator", *(row + "." for row in census[:4])])
    parts = [
        f"{part}\t{tense}\t{part} {tense} {n}"
        for part in ("tr", "va", "te")
        for tense in ("PAST", "PRES")
        for n in range(3)
    ]
    _lines(folder / "probing/past_present.txt", parts)
    sentences = "".join(
        TENSE.format(form=form + "x" * n, tense=tense) + REST
        for n in range(12)
        for form, tense in (("left", "Past"), ("leaves", "Pres"))
    )
    for part in ("train", "dev", "test"):
        _lines(
            folder / f"ud-english-ewt/en_ewt-ud-{part}.conllu",
            sentences.replace("left", f"left{part}").splitlines(),
        )
    _lines(
        folder / "reviews.aspect1.train.txt.gz",
        [f"{r} 0 0 0 0\tbeer {r} {n}" for r in (0.1, 0.9) for n in range(9)],
    )
    stars = [{"reviewText": f"song {n}", "overall": 1 + 4 * (n % 2)} for n in range(20)]
    _lines(folder / "Digital_Music_5.json.gz", map(json.dumps, stars))
    read = [{"review_text": f"poem {n}", "rating": 1 + 4 * (n % 2)} for n in range(20)]
    _lines(folder / "goodreads_reviews_poetry.json.gz", map(json.dumps, read))
    for part in ("train", "test"):
        for n in range(20):
            _lines(folder / f"aclImdb/{part}/{('neg', 'pos')[n % 2]}/{n}_7.txt", [f"{part} {n}"])
    articles = [
        {"id": n, "abstract": f"We prove {n}.", "categories": ("cs.LG", "math.CO", "hep-ph")[n % 3]}
        for n in range(30)
    ]
    _lines(folder / "arxiv-metadata-oai-snapshot.json", map(json.dumps, articles))
    rng = np.random.default_rng(0)
    words = ("a", "film", "good", "bad", "warm", "moving", "dull", "funny")
    _lines(
        folder / "glove.6B.200d.txt",
        [f"{word} {' '.join(f'{v:.3f}' for v in rng.normal(size=200))}" for word in words],
    )
    own = ["from verax.explain import Greedy as MyExplainer", "from verax.explain import Random as Longest"]
    _lines(folder / "my_package" / "mine.py", own)
    _lines(folder / "my_module.py", ["def measure(seed):", "    return seed % 7"])


def write_examples(folder: Path) -> None:
    """The specs of ``examples``, with fewer items and people."""
    for path in sorted((ROOT / "examples").rglob("*.toml")):
        text = PROTOTYPE.sub("", path.read_text(encoding="utf-8"))
        for number, smaller in SMALLER.items():
            text = re.sub(number, smaller, text)
        _lines(folder / path.relative_to(ROOT), text.splitlines())


def suppose(name: str) -> None:
    """A study of ``SUPPOSED``, built in the current folder."""
    file, changes = SUPPOSED[name]
    text = Path("examples", file).read_text(encoding="utf-8")
    for written, given in changes.items():
        assert written in text
        text = text.replace(written, given)
    spec = Path(f"{name.rpartition('/')[2]}.toml")
    spec.write_text(text, encoding="utf-8")
    verax.build_study(spec, out=name)


def recruited(folder: Path) -> dict[str, str]:
    """Studies of the page on recruiting, one for each way to come in; the code and the token of two people."""
    from small_study import begin, do_step, finish, small_study
    from verax.studies.definition.study_files import save_study
    from verax.studies.store import open_store, platform_key

    def opened(name: str, **choices):
        where = folder / "studies" / name
        study = save_study(small_study(**choices), where)
        url = f"sqlite:///{where / 'answers.sqlite'}"
        return closing(open_store(study, url, key=platform_key(study, where), clock=lambda: long_ago))

    long_ago = datetime.now(UTC) - timedelta(days=31)
    for platform, person in PEOPLE.items():
        with opened(f"by-{platform}", entry=platform) as store:
            token = store.enter(platform=platform, person=person)
            store.consent(token, True)
            do_step(store, token)
    for name in ("by-code", "other"):  # the people of one come again to the other
        with opened(name, entry="code"):
            pass
    with opened("mine", retention_days=30) as store:
        code = finish(store, begin(store)).completion_code
        tokens = [begin(store) for _ in range(2)]  # one leaves by the link, one is due
        for token in tokens:
            do_step(store, token)
    return {"completion_code": code, "token": tokens[0]}


def write_items(folder: Path) -> None:
    """Items made elsewhere for the spec of docs/importing.md; the same without explanations, and these alone."""
    cells = [(role, label, said) for role in ("learning", "test") for label in CLASSES for said in CLASSES]
    items = [
        {
            "id": n,
            "role": role,
            "text": f"A dull, dull film, number{n}. Good?",
            "label": label,
            "prediction": said,
        }
        for n, (role, label, said) in enumerate(cells)
    ]
    given = {
        "lime": json.dumps({"dull": -0.5, "Good": 0.25}),
        "sentences": "The model liked one of the words.",
    }
    explained = [
        item
        | {f"explanation.{name}": text if item["role"] == "learning" else "" for name, text in given.items()}
        for item in items
    ]
    _table(folder / "items.csv", list(explained[0]), [list(item.values()) for item in explained])
    _lines(folder / "items.jsonl", map(json.dumps, items))
    page = (ROOT / "docs" / "importing.md").read_text(encoding="utf-8")
    _lines(folder / "spec.toml", [page.split("```toml\n")[1].split("```")[0]])
    alone = [(item["id"], name, text) for item in items[:4] for name, text in given.items()]
    _table(folder / "explanations.csv", ("item", "condition", "explanation"), alone)


def write_stimuli(folder: Path) -> None:
    """A task of the Reverse Turing Test in the format of its authors, and scores for its texts."""
    parts = ("text", "label", "enlabel", "model_pred")
    heads = ("", "Unnamed: 0", *(f"{part}_{what}" for part in ("train", "test") for what in parts))
    scores = []
    for begins, role, size in (("train", "training", 25), ("test", "evaluation", 10)):
        for number in (1, 2, 3):
            rows = range(100 * number, 100 * number + size)
            cells = [(row, row, *_stimulus("learnt", row), *_stimulus("asked", row)) for row in rows]
            _table(folder / f"stimuli/past_present/{begins}_set{number}.csv", heads, cells)
            scores += [
                (f"{role} {number}-{row}", "lime", json.dumps({"they": 0.5, "of": -0.25})) for row in rows
            ]
    _table(folder / "lime.csv", ("item", "condition", "explanation"), scores)


def _stimulus(verb: str, row: int) -> tuple[str, str, int, int]:
    """A text, the name and the number of its label, and what the model said."""
    return f"they {verb} of row {row} .", ("PAST", "PRES")[row % 2], row % 2, row // 2 % 2


def _table(path: Path, heads, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])


def _lines(path: Path, lines) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
