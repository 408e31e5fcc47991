"""Where more speed was asked for than there is: what is reached, and the work that no other program could leave out.

    python perf/limits.py [--only first estimator transformer anchors]

Prints one table of one state for perf/OTHERS.md. Processor time, one thread, packages and Verax in turns, so that other
programs on the machine count as little as can be.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib.util
import os
import pstats
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import verax

HERE = Path(__file__).resolve().parent
# What runs as part of a call of the model, by where it is.
MODEL_CODE = ("perturb/paths", "models/neural", "torch", "sklearn")


def spent(call: Callable[[], object], turns: int = 5) -> float:
    """Milliseconds of the processor, the median of some turns."""
    took = []
    for _ in range(turns):
        began = time.process_time()
        call()
        took.append(1000 * (time.process_time() - began))
    return statistics.median(took)


def row(what: str, asked: str, reached: str, limit: str) -> None:
    """One line of the table."""
    print(f"| {what} | {asked} | {reached} | {limit} |", flush=True)


THREADS = {"default": "threads as they come", "one": "one thread"}


def first_calls() -> None:
    """The first call in a fresh process, as people use it; medians of three turns."""
    from first_call import run_child

    for name, asked in (("lime", 60), ("shap", 150)):
        for threads in ("default", "one"):
            took = {
                who: statistics.median(run_child(who, threads == "one")["cpu"] for _ in range(3))
                for who in (f"{name} package", name)
            }
            theirs, ours = took[f"{name} package"], took[name]
            row(
                f"`{name}`, first call, 40 sentences, {THREADS[threads]}",
                f"{asked}x",
                f"{theirs / ours:.0f}x",
                f"{theirs:.1f} ms a sentence, ours {ours:.2f} ms",
            )


def estimator() -> None:
    """Naive Bayes on long texts, which has no path of its own: our whole explanation, and what it consists of."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    from explainers import LONG_WORDS, texts_of
    from verax.perturb import path_for
    from verax.perturb.paths.bags import sparse_rows

    train, labels, texts = texts_of("long")
    vectorizer = CountVectorizer().fit(train)
    pipeline = make_pipeline(vectorizer, MultinomialNB().fit(vectorizer.transform(train), labels))
    model, inputs = verax.as_model(pipeline), texts[:10]
    for samples in (1000, 5000):
        ours = verax.explainer("lime", samples=samples)
        ours.explain(model, inputs)
        path = path_for(model)
        bags = path.prepare(inputs)

        def build(ours=ours, bags=bags, path=path) -> list:
            return [
                sparse_rows(bag, ours.bank(len(bag.features)).masks, path.lexicon.n_columns).rows
                for bag in bags
            ]

        rows = build()
        n_rows = sum(part.shape[0] for part in rows) / len(rows)
        whole = spent(lambda ours=ours: ours.explain(model, inputs)) / len(inputs)
        alone = spent(lambda rows=rows: [pipeline[1].predict_proba(part) for part in rows]) / len(rows)
        made = spent(build) / len(rows)
        allowed = 1.2 * alone + n_rows / 1000
        row(
            f"any estimator: naive Bayes, {LONG_WORDS} words, {samples:,} samples",
            f"{allowed:.2f} ms an input",
            f"{whole:.2f} ms ({whole / allowed:.2f} of it)",
            f"`predict_proba` {alone:.2f} ms, its rows of words {made:.2f} ms, all else {whole - alone - made:.2f} ms",
        )


def transformer() -> None:
    """LIME on a small transformer, in three precisions, beside the products of its matrices."""
    import numpy as np
    import torch
    import transformers

    import neural
    from verax.models.neural.precision import in_precision

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    sentences, labels, _ = neural.texts_of("short")
    model = neural.fit("transformer-mean", sentences, labels)
    for length, samples in (("short", 1000), ("long", 200)):
        text = neural.texts_of(length)[2][0]
        cell = neural.lime_on_transformer(neural.Settings(transformer_inputs=1), length, model, [text])
        ours = verax.explainer("lime", samples=samples, features=10)
        package, exact, products = (cell.ms(who) for who in ("lime", "ours", "arithmetic"))
        what = f"LIME on `transformer-mean`, {len(text.split())} words, {samples:,} samples"
        row(
            what,
            "5x",
            f"{package / exact:.1f}x",
            f"`lime` {package / 1000:.1f} s, the products of the matrices alone {products / 1000:.1f} s: "
            f"{package / products:.1f}x at most",
        )
        for precision in ("bfloat16", "int8"):
            try:
                reduced = in_precision(model, precision, texts=sentences[:200])
            except verax.VeraxError as error:
                row(f"{what}, {precision}", "5x", "refused", str(error).split(";")[0])
                continue
            took = spent(lambda reduced=reduced, ours=ours, text=text: ours.explain(reduced, [text]), 1)
            scores = [np.array(ours.explain(one, [text])[0].scores) for one in (model, reduced)]
            row(
                f"{what}, {precision}",
                "5x",
                f"{package / took:.1f}x",
                f"probabilities differ by at most {reduced.difference:.1g}, LIME's scores by "
                f"{np.abs(scores[0] - scores[1]).max():.1g} of {np.abs(scores[0]).max():.2g}",
            )


def anchors() -> None:
    """Anchors on networks beside the package at the same promise, and how much of ours is the network's own work."""
    spec = importlib.util.spec_from_file_location("perf_anchor", HERE / "anchor.py")
    package = importlib.util.module_from_spec(spec)
    sys.modules["perf_anchor"] = package
    spec.loader.exec_module(package)
    strict = package.PACKAGES["anchor-exp, as strict as verax"]
    texts, adult = verax.load_dataset("rotten-tomatoes"), verax.load_dataset("adult")
    for name, data, count in (("bilstm", texts, 4), ("mlp-2x50", adult, 8)):
        model = verax.fit_model(name, data, options={"epochs": 2})
        inputs = data.test.inputs[:count]
        theirs = (
            package.package_text(model, strict)
            if data.kind == "text"
            else package.package_table(model, data.train.inputs, strict)
        )
        mine = package.ours(model, {})
        mine(inputs[0])
        pairs = [(theirs(given), mine(given)) for given in inputs]
        together = spent(
            lambda model=model, inputs=inputs: package.Anchor(words="removed").explain(model, inputs)
        )
        profile = cProfile.Profile(time.process_time)
        profile.runcall(lambda inputs=inputs, mine=mine: [mine(given) for given in inputs])
        whole, own = _shares(pstats.Stats(profile))
        mean = statistics.fmean
        ratio = sum(one.seconds for one, _ in pairs) / sum(two.seconds for _, two in pairs)
        batch = 1000 * sum(one.seconds for one, _ in pairs) / together
        row(
            f"anchors on `{name}`, {count} inputs",
            "20x",
            f"{ratio:.0f}x one by one, {batch:.0f}x in a batch",
            f"{mean(two.rows for _, two in pairs):,.0f} rows asked an input ({mean(one.rows for one, _ in pairs):,.0f} by the "
            f"package), {100 * own / whole:.0f}% of the time in the network: at the package's {mean(one.seconds for one, _ in pairs):.2f} s "
            f"without all else {ratio * whole / own:.0f}x",
        )


def _shares(stats: pstats.Stats) -> tuple[float, float]:
    """Seconds in all, and in asking the network."""
    whole = own = 0.0
    for (file, _, name), (_, _, took, _, _) in stats.stats.items():
        whole += took
        own += took if any(part in file or part in name for part in MODEL_CODE) else 0.0
    return whole, own


PARTS = {"first": first_calls, "estimator": estimator, "transformer": transformer, "anchors": anchors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    warnings.simplefilter("ignore")
    print("| what | asked | reached | where the time goes |\n|---|---|---|---|")
    for part in parser.parse_args().only:
        PARTS[part]()


if __name__ == "__main__":
    main()
