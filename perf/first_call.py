"""What somebody waits for who types a command: the first call in a fresh process, with threads as they are.

Every number is of a process of its own, which imports, loads, fits (not counted) and then explains 40 short sentences for the
first time. Packages and ours take turns; the rows are medians over the turns. Beside the seconds on the wall stands the
processor's time, since the machine may be busy. `python perf/first_call.py [--turns 5]` prints the rows of perf/OTHERS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

INPUTS, PACKAGE_INPUTS, SAMPLES = 40, 6, 1000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
WHO = ("lime package", "lime", "shap package", "shap", "callable alone", "callable in all")


def measured(call: Callable[[], object], inputs: int) -> dict[str, float]:
    """Milliseconds for each input: on the wall, and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return {
        "wall": 1000 * (time.perf_counter() - wall) / inputs,
        "cpu": 1000 * (time.process_time() - cpu) / inputs,
    }


def child(who: str) -> dict[str, float]:
    """One measurement, in this process."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    import verax

    data = verax.load_dataset("rotten-tomatoes")
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression(C=10, max_iter=200))
    pipeline.fit(data.train.inputs, data.train.labels)
    texts = list(data.test.inputs[:INPUTS])
    if who == "lime package":
        from lime.lime_text import LimeTextExplainer

        package = LimeTextExplainer(random_state=0)
        some = texts[:PACKAGE_INPUTS]
        explain = package.explain_instance
        return measured(
            lambda: [explain(text, pipeline.predict_proba, num_samples=SAMPLES) for text in some], len(some)
        )
    if who == "shap package":
        import scipy.sparse
        import shap

        vectorizer, classifier = pipeline[0], pipeline[1]
        rows = vectorizer.transform(texts[:PACKAGE_INPUTS]).astype(float)
        nothing = scipy.sparse.csr_matrix((1, rows.shape[1]))
        sparse = shap.KernelExplainer(lambda batch: classifier.predict_proba(batch)[:, 1], nothing)
        return measured(
            lambda: [
                sparse.shap_values(rows[i], nsamples=SAMPLES, l1_reg=False, silent=True)
                for i in range(PACKAGE_INPUTS)
            ],
            PACKAGE_INPUTS,
        )
    if who.startswith("callable"):
        return _callable(who, verax.as_model(pipeline.predict_proba), pipeline, texts[:PACKAGE_INPUTS])
    model = verax.as_model(pipeline)
    options = {"route": "kernel"} if who == "shap" else {}
    ours = verax.explainer(who, samples=SAMPLES, **options)
    return measured(lambda: ours.explain(model, texts), len(texts))


def _callable(who: str, model, pipeline, texts) -> dict[str, float]:
    """A model that can only be called: our whole explanation, or its calls on the very same strings, in turns."""
    import verax
    from verax.perturb.dispatch import path_for
    from verax.perturb.paths.strings import build_strings

    ours = verax.explainer("lime", samples=SAMPLES)
    ours.explain(model, texts[:1])
    turns = []
    for _ in range(5):
        batches = [
            build_strings(ready, ours.bank(len(ready.features)).masks.rows())
            for ready in path_for(model).prepare(texts)
        ]
        alone = measured(lambda batches=batches: [pipeline.predict_proba(b) for b in batches], len(texts))
        del batches
        turns.append(
            alone if who == "callable alone" else measured(lambda: ours.explain(model, texts), len(texts))
        )
    return {clock: statistics.median(turn[clock] for turn in turns) for clock in ("wall", "cpu")}


def repeated_run() -> list[dict[str, float]]:
    """A staining run that recomputes nothing, beside a start of the program that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        run = [
            "bench",
            "stain",
            "--models",
            "logistic,tree",
            "--explainers",
            "lime,greedy",
            "--stains",
            "2",
            "--inputs",
            "5",
            "--out",
            "run",
        ]
        timed_command(run, folder)
        return [
            {"start": timed_command(["list", "models"], folder), "again": timed_command(run, folder)}
            for _ in range(3)
        ]


def timed_command(words: list[str], folder: str) -> float:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    started = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-m", "verax", *words]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    return time.perf_counter() - started


def run_child(who: str, one_thread: bool) -> dict[str, float]:
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    environment |= dict.fromkeys(THREADS, "1") if one_thread else {}
    source = Path(__file__).parents[1] / "src"
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--child", who],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ended.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=WHO)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child)))
        return
    found: dict[tuple[str, bool], list[dict[str, float]]] = {}
    for _ in range(given.turns):
        for who in WHO:
            for one_thread in (False, True):
                found.setdefault((who, one_thread), []).append(run_child(who, one_thread))
    print("| what | threads | wall, ms | processor, ms |\n|---|---|---|---|")
    middle = {
        key: {clock: statistics.median(one[clock] for one in turns) for clock in ("wall", "cpu")}
        for key, turns in found.items()
    }
    for (who, one_thread), ms in middle.items():
        print(f"| {who} | {'one' if one_thread else 'default'} | {ms['wall']:.3g} | {ms['cpu']:.3g} |")
    print("\n| ratio | threads | of medians on the wall | of the processor's |\n|---|---|---|---|")
    for over, under in ((0, 1), (2, 3), (5, 4)):
        for one_thread in (False, True):
            ratios = [
                middle[WHO[over], one_thread][c] / middle[WHO[under], one_thread][c] for c in ("wall", "cpu")
            ]
            threads = "one" if one_thread else "default"
            print(f"| {WHO[over]} / {WHO[under]} | {threads} | {ratios[0]:.3g} | {ratios[1]:.3g} |")
    turns = repeated_run()
    start, again = (statistics.median(turn[what] for turn in turns) for what in ("start", "again"))
    print(f"\nA repeated bench stain: {again:.1f} s, of which the program's start takes {start:.1f} s.")


if __name__ == "__main__":
    main()
