"""Whether an analysis recovers what was put in: bots helped by a known amount, a hundred studies of each protocol.

Each study goes the whole way without HTTP: simulated people walk the study's own steps, their answers become the tables
that a database or an export gives, and the analysis that ``verax study analyze`` runs says what explanations add. The
interval should hold the amount in 95 of 100 studies.

    python perf/recovery.py [--studies 100] [--by 0.1]
"""

from __future__ import annotations

import argparse
import time

from verax.studies.analysis import Options, analyse
from verax.studies.bots.person import make_album
from verax.studies.bots.without_web import simulate_study
from verax.studies.build.build import compose_study
from verax.studies.definition.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material

CONDITIONS = ({"name": "none"}, {"name": "lime", "explainer": "lime"})
PEOPLE, ITEMS = 12, 16
ROLES = {"forward": {"learning": 4, "test": ITEMS}, "counterfactual": {"test": ITEMS}}


def small_study(protocol: str) -> Study:
    """Two conditions, twelve people in each, sixteen made-up items."""
    roles = ROLES[protocol]
    options = {"participants": PEOPLE, "screening": False}
    material = sample_material({"name": protocol, **roles}, roles, conditions=CONDITIONS, options=options)
    return compose_study(material, make_protocol(material.spec.protocol), "")


def recovered(study: Study, by: float, studies: int, first: int = 0) -> dict[str, int]:
    """In how many studies the intervals hold the amount: of the contrast with none, and of Change.

    Args:
        study: what the bots take part in.
        by: how much a method's explanations help, as a share.
        studies: how many.
        first: the seed of the first; the next have the next ones.
    """
    album = make_album(study)
    held = {"contrast": 0, "change": 0}
    for seed in range(first, first + studies):
        collected = simulate_study(study, f"helped(by={by})", 2 * PEOPLE, seed, album=album)
        summary = analyse(collected, Options(estimator="crossed", bots=True))
        (estimate,) = summary["primary"]["estimates"]
        held["contrast"] += estimate["low"] <= 100 * by <= estimate["high"]
        table = next(table for table in summary["tables"] if table["key"] == "change")
        low, high = next(row["interval"] for row in table["rows"] if row["condition"] == "lime")
        held["change"] += low <= 100 * by <= high
    return held


def main() -> None:
    """Prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--by", type=float, default=0.1)
    asked = parser.parse_args()
    for protocol in ROLES:
        started = time.perf_counter()
        held = recovered(small_study(protocol), asked.by, asked.studies)
        took = time.perf_counter() - started
        print(
            f"{protocol}: helped by {100 * asked.by:g} points; the interval holds it in {held['contrast']} of "
            f"{asked.studies} studies (contrast with none) and in {held['change']} (Change); {took:.0f} s"
        )


if __name__ == "__main__":
    main()
