"""Which explainer for models that nobody tuned for: five models on each of eleven sets; writes docs/results/judge.md.

Beside it lies judge/models.csv, with a line for each model.

Tables are given as DataFrames with what they hold (missing values, categories as texts), texts as lists; models are
fitted here with scikit-learn's, xgboost's and LightGBM's own defaults. Six sets were looked at while the code was
written; five were held back until it was done. Sets that lie in a folder of published data (``--data``) or of
CSV files from elsewhere (``--csv``: titanic.csv, german.csv, sms.tsv, tweets.csv as they are commonly passed around)
are left out, with a sentence, where they are not there.

    python perf/judge_sets.py [--data ../shared/data] [--csv ../csv] [--seconds 60] [--only wine] [--out docs/results/judge.md]
    python perf/judge_sets.py --render        # writes the page anew from the stored lines
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import verax
from csv_tables import write_table
from verax.workflows.judgement import Judgement

OUT = Path(__file__).resolve().parents[1] / "docs" / "results" / "judge.md"
EXPLAINERS = ["lime", "shap", "greedy", "random"]
HEAD = ["set", "part", "model", "believed", *EXPLAINERS, "planted reasons", "seconds", "limit", "verdict"]
Line = Mapping[str, str]  # of the stored ones, by their columns
CENSUS = [
    *(
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
    ),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
]
Pair = tuple[object, object]


def breast_cancer(_: Path) -> Pair:
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(as_frame=True, return_X_y=True)


def wine(_: Path) -> Pair:
    from sklearn.datasets import load_wine

    rows, labels = load_wine(as_frame=True, return_X_y=True)
    return rows, labels.map({0: "barolo", 1: "grignolino", 2: "barbera"})


def adult(data: Path) -> Pair:
    frame = pd.read_csv(data / "adult" / "adult.data", names=CENSUS, skipinitialspace=True, na_values="?")
    frame = frame.sample(4000, random_state=0).reset_index(drop=True)
    return frame.drop(columns="income"), frame.income


def sst(data: Path) -> Pair:
    path = data / "sst" / "binary" / "sentiment-train"
    frame = pd.read_csv(path, sep="\t", names=["text", "label"], quoting=3).drop_duplicates("text")
    frame = frame[frame.text.str.split().str.len() >= 6].sample(3000, random_state=0)
    return frame.text.tolist(), frame.label.tolist()


def rt_polarity(data: Path) -> Pair:
    parts = {
        sign: (data / "rt-polarity" / f"rt-polarity.{sign}").read_text("latin-1") for sign in ("neg", "pos")
    }
    pairs = [
        (line.strip(), sign) for sign, text in parts.items() for line in text.splitlines() if line.strip()
    ]
    chosen = np.random.default_rng(0).permutation(len(pairs))[:3000]
    return [pairs[place][0] for place in chosen], [pairs[place][1] for place in chosen]


def genres(data: Path) -> Pair:
    """Sentences of the English web treebank by where they come from: five classes."""
    texts, labels = [], []
    for path in sorted((data / "ud-english-ewt").glob("*.conllu")):
        genre = ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("# newdoc id = "):
                genre = line.removeprefix("# newdoc id = ").split("-")[0]
            elif line.startswith("# text = ") and len(line.split()) >= 11:
                texts.append(line.removeprefix("# text = "))
                labels.append(genre)
    return texts, labels


def titanic(csv: Path) -> Pair:
    frame = pd.read_csv(csv / "titanic.csv").drop(columns=["PassengerId", "Name", "Ticket"])
    frame["Cabin"] = frame.Cabin.str[0]  # the deck; three quarters are missing
    return frame.drop(columns="Survived"), frame.Survived.map({0: "died", 1: "survived"})


def german_credit(csv: Path) -> Pair:
    frame = pd.read_csv(csv / "german.csv", index_col=0).drop(columns="CustomerID")
    return frame.drop(columns="Risk"), frame.Risk


def affairs(_: Path) -> Pair:
    from statsmodels.datasets import fair

    frame = fair.load_pandas().data
    return frame.drop(columns="affairs"), (frame.affairs > 0).map({True: "some", False: "none"})


def sms(csv: Path) -> Pair:
    frame = pd.read_csv(csv / "sms.tsv", sep="\t", names=["label", "text"], quoting=3).drop_duplicates("text")
    return frame.text.tolist(), frame.label.tolist()


def airlines(csv: Path) -> Pair:
    frame = pd.read_csv(csv / "tweets.csv", encoding="latin-1").drop_duplicates("text")
    frame = frame.sample(6000, random_state=0)
    return frame.text.tolist(), frame.airline_sentiment.tolist()


HELD_BACK: dict[str, Callable[[Path], Pair]] = {
    "Titanic": titanic,
    "German credit": german_credit,
    "affairs": affairs,
    "SMS spam": sms,
    "airline tweets": airlines,
}
SETS: dict[str, Callable[[Path], Pair]] = {
    "breast cancer": breast_cancer,
    "wine": wine,
    "Adult, raw": adult,
    "SST": sst,
    "Rotten Tomatoes": rt_polarity,
    "web genres": genres,
}


def table_models() -> dict[str, object]:
    from lightgbm import LGBMClassifier
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = make_column_selector(dtype_exclude="number")

    def columns(encoder):
        return make_column_transformer(
            (encoder, texts), (numbers, make_column_selector(dtype_include="number"))
        )

    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return {
        "logistic": make_pipeline(columns(hot), LogisticRegression(max_iter=1000)),
        "tree": make_pipeline(columns(ordinal), DecisionTreeClassifier(max_depth=5, random_state=0)),
        "forest": make_pipeline(columns(ordinal), RandomForestClassifier(random_state=0)),
        "HistGradientBoosting": make_pipeline(
            columns(ordinal), HistGradientBoostingClassifier(random_state=0)
        ),
        "LightGBM": make_pipeline(
            columns(ordinal).set_output(transform="pandas"), LGBMClassifier(verbose=-1, random_state=0)
        ),
    }


def text_models() -> dict[str, object]:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    return {
        "TF-IDF, logistic": make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)),
        "counts, naive Bayes": make_pipeline(CountVectorizer(), MultinomialNB()),
        "TF-IDF, forest": make_pipeline(TfidfVectorizer(min_df=3), RandomForestClassifier(random_state=0)),
        "TF-IDF, calibrated SVM": make_pipeline(TfidfVectorizer(), CalibratedClassifierCV(LinearSVC())),
        "TF-IDF, MLP": make_pipeline(
            TfidfVectorizer(min_df=3), MLPClassifier((30,), max_iter=30, random_state=0)
        ),
    }


def judgements(name: str, pair: Pair, seconds: float) -> Iterator[tuple[str, Judgement]]:
    inputs, labels = pair
    models = table_models if isinstance(inputs, pd.DataFrame) else text_models
    train = slice(0, len(labels) * 3 // 4)
    order = np.random.default_rng(1).permutation(len(labels))
    if isinstance(inputs, pd.DataFrame):
        inputs, labels = inputs.iloc[order].reset_index(drop=True), pd.Series(np.asarray(labels)[order])
    else:
        inputs, labels = [inputs[place] for place in order], [labels[place] for place in order]
    for label, model in models().items():
        fitted = model.fit(inputs[train], labels[train])
        found = verax.judge(fitted, (inputs, labels), EXPLAINERS, seconds=seconds, progress=False)
        print(f"{name}, {label}: {found.seconds:.0f} s: {found.verdict.sentence}", flush=True)
        yield label, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--csv", type=Path, default=Path("../csv"))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--render", action="store_true", help="from the stored lines; nothing is judged")
    given = parser.parse_args()
    stored = given.out.with_suffix("") / "models.csv"
    if not given.render:
        write_table(stored, [HEAD, *_measured(given.data, given.csv, given.only, given.seconds)])
    with stored.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    given.out.write_text(page(lines), encoding="utf-8")


def _measured(data: Path, texts: Path, only: str, seconds: float) -> Iterator[list[object]]:
    warnings.simplefilter("ignore")
    for part, sets, folder in (("held back", HELD_BACK, texts), ("looked at before", SETS, data)):
        for name, load in sets.items():
            if only not in f"{name}, {part}":
                continue
            try:
                pair = load(folder)
            except OSError:
                print(f"{name} is not at hand here.", flush=True)
                continue
            for label, judged in judgements(name, pair, seconds):
                yield [
                    name,
                    part,
                    *_line(label, judged),
                    round(judged.seconds),
                    seconds,
                    judged.verdict.sentence,
                ]


def _line(label: str, found: Judgement) -> list[str]:
    by_name = {row.name: row for row in found.verdict.judged}
    cells = [f"{found.verdict.mark(by_name[e])} {found.verdict.written(by_name[e])}" for e in EXPLAINERS]
    return [label, ", ".join(found.believe) or "none", *cells, _planted(found)]


def _planted(found: Judgement) -> str:
    if found.planted is None:
        return "none could be planted"
    means = [np.nanmean(found.planted.areas[name]) for name in EXPLAINERS[:3]]
    return f"{', '.join(f'{100 * mean:.0f}' for mean in means)}; {100 * np.mean(found.planted.floor):.0f}"


def _marked(lines: Sequence[Line], explainer: str, mark: str) -> int:
    return sum(line[explainer].startswith(mark) for line in lines)


def _of_texts(line: Line) -> bool:
    return line["model"].startswith(("TF-IDF", "counts"))


def _counts(lines: Sequence[Line]) -> list[str]:
    """For each explainer, on how many models it is believed, and on how many it names a part."""
    found = []
    for explainer in EXPLAINERS:
        believed, part = (_marked(lines, explainer, mark) for mark in "✓~")
        found.append(f"{believed}" + (f" (~ {part})" if part else ""))
    return found


def page(lines: Sequence[Line]) -> str:
    """The page from its stored lines."""
    seconds = [float(line["seconds"]) for line in lines]
    shown = sum(line["believed"] != "none" for line in lines)
    kinds = {"tables": [line for line in lines if not _of_texts(line)], "texts": [*filter(_of_texts, lines)]}
    sets: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        sets.setdefault((line["set"], line["part"]), []).append(line)
    of_kind = [
        f"on {len(own)} models of {kind} `shap` in {_marked(own, 'shap', '✓')}, `lime` in {_marked(own, 'lime', '✓')}, "
        f"`greedy` in {_marked(own, 'greedy', '✓')}"
        for kind, own in kinds.items()
    ]
    failed = [line for line in lines if line["planted reasons"].startswith("none")]
    heads = ["set", "", *EXPLAINERS]
    rows = [[name, part, *_counts(own)] for (name, part), own in sets.items()]
    return "\n".join(
        [
            "# Which explainer for models that nobody tuned for",
            "",
            f"**`verax judge` was asked about {len(lines)} models of {len(sets)} data sets, five on each. For {shown} of them it shows some "
            f"explainer to name what the answers rest on: {'; '.join(of_kind)}. `random`, a control that should never be believed, "
            f"is believed in {_marked(lines, 'random', '✓')}.**",
            "",
            f"With at most {lines[0]['limit']} seconds each it took {np.median(seconds):.0f} seconds at the median and {max(seconds):.0f} at the most. "
            f"Reasons could be planted in all but {len(failed)} of the models. [How it decides](../judge.md).",
            "",
            "On how many of five models an explainer is believed (✓); in brackets, on how many it names only a part of what the answers "
            "rest on (~). Five sets were held back: nothing was changed after they were first judged. The other six were looked at "
            "while planting was worked on.",
            "",
            f"| {' | '.join(heads)} |",
            "|" + "---|" * len(heads),
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
            "Each model's line, with its 95% intervals over inputs, the planted reasons and the sentence of its verdict: "
            "[models.csv](judge/models.csv). Numbers there are how far of the way from random features to the best possible an explainer "
            "comes, in per cent. Written by `perf/judge_sets.py`.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
