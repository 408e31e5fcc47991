"""The table of docs/results/language-models.md: which explainers find reasons planted in a language model.

``python scripts/language_models.py --out runs/language-models`` plants stains in SmolLM2 (its last layers are trained),
explains inputs that they decide, and writes the page. A run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import verax

EXPLAINERS = (
    "lime(samples=128)",
    "shap(samples=128)",
    "greedy",
    "gradient-x-input",
    "integrated-gradients(steps=16)",
    "self-report",
    "chain-of-thought",
    "random",
)


def run(out: Path, stains: int, inputs: int, limit: int, jobs: int) -> None:
    """The staining run; kept in the folder."""
    verax.stain(
        dataset="rotten-tomatoes",
        limit=limit,
        models=["smollm2-tuned"],
        explainers=list(EXPLAINERS),
        plant=True,
        plant_share=0.25,
        decoy_share=0.15,
        weight=1,
        stains=stains,
        inputs=inputs,
        jobs=jobs,
        out=str(out),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/language-models"))
    parser.add_argument("--stains", type=int, default=8)
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--limit", type=int, default=1200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=Path, help="Write the page from what the folder holds.")
    given = parser.parse_args()
    run(given.out, given.stains, given.inputs, given.limit, given.jobs)
    summary = json.loads((given.out / "summary.json").read_text())
    print(json.dumps(summary, indent=1)[:3000])
