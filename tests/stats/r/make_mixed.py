"""Makes mixed.json beside this file with R and lme4: for developers who have them.

Run ``python tests/stats/r/make_mixed.py``; on Debian R comes with ``apt-get install r-base-core r-cran-lme4
r-cran-jsonlite``. The ordinary tests read the stored file and need no R.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from verax.stats.power import Design, simulate

HERE = Path(__file__).parent
STUDIES = {
    "paper": (Design((5, 4, 4, 4, 3), 64, tests=2, halves=0.5), 0.1, 1),
    "small": (Design((8,) * 5, 16), 0.15, 3),
    "large": (Design((20, 20, 20), 32), 0.08, 2),
}
COLUMNS = ("participant", "item", "method", "pre", "post")


def study(design, effect, seed):
    """The pairs of a simulated study, row by row."""
    drawn = simulate(design, effect, seed=seed)
    participant, item = np.nonzero(~np.isnan(drawn.pre[0]))
    values = (drawn.pre[0][participant, item], drawn.post[0][participant, item])
    return np.column_stack([participant, item, drawn.method[participant], *values]).astype(int)


def main() -> None:
    """Writes the studies, runs R, stores what it says."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = {key: study(*made) for key, made in STUDIES.items()}
        for key, rows in data.items():
            with (folder / f"mixed_{key}.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(COLUMNS)
                writer.writerows(rows.tolist())
        run = subprocess.run(
            ["Rscript", str(HERE / "mixed.R"), str(folder)], check=True, capture_output=True, text=True
        )
        studies = {
            key: dict(zip(COLUMNS, rows.T.tolist(), strict=True))
            | json.loads((folder / f"mixed_{key}.json").read_text())
            for key, rows in data.items()
        }
    fixture = {"versions": run.stdout.strip(), "studies": studies}
    (HERE / "mixed.json").write_text(json.dumps(fixture, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
