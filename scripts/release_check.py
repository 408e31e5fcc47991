"""Whether a release can be made: wheel and sdist are built, and each, installed alone, runs what README begins with.

    python scripts/release_check.py

needs the package `build`; each file gets an environment of its own in a temporary folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What README says of its reader: a fitted model, and data.
READER = """
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
rows, labels = load_breast_cancer(as_frame=True, return_X_y=True)
model = RandomForestClassifier(random_state=0).fit(rows, labels)
"""
SAYS = "Believe shap"


def main() -> None:
    """Builds and tries both."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist", "."], cwd=ROOT, check=True)
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None, "README has no Python"
    for built in sorted((ROOT / "dist").iterdir()):
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            python = str(Path(folder, "bin", "python"))
            subprocess.run([python, "-m", "pip", "install", "--quiet", str(built)], check=True)
            # Elsewhere, so that nothing of this checkout is imported.
            done = subprocess.run(
                [python, "-c", READER + code[1]], cwd=folder, check=True, capture_output=True, text=True
            )
            if SAYS not in done.stdout:
                sys.exit(f"{built.name}: README's lines said something else:\n{done.stdout}")
            print(f"{built.name}: installed, and README's lines run:\n{done.stdout.splitlines()[0]}")


if __name__ == "__main__":
    main()
