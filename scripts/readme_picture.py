"""The picture of a verdict at the top of README.md: scikit-learn's random forest on its breast cancer table.

    python scripts/readme_picture.py [docs/pictures/verdict.png]

needs Playwright with a Chromium (scripts/get_browser.sh).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import verax

# The verdict and its figure, without the paragraphs below.
WIDTH, HEIGHT = 900, 398


def main(out: Path) -> None:
    """Judges, writes the page and takes its first screen."""
    rows, labels = load_breast_cancer(as_frame=True, return_X_y=True)
    model = RandomForestClassifier(random_state=0).fit(rows, labels)
    found = verax.judge(model, (rows, labels), ["lime", "shap", "greedy", "random"])
    print(found)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = found.page(Path(folder) / "page.html").resolve().as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(address)
        page.screenshot(path=out)
        browser.close()
    Image.open(out).convert("RGB").quantize(64, method=Image.Quantize.MAXCOVERAGE).save(out, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/verdict.png"))
