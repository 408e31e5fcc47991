"""Pictures of the first screens of reports, for docs/reports.md: on a desk, on a phone, and the first printed page.

    python scripts/report_pictures.py staining=runs/stain/report.html study=study/analysis/report.html

needs Playwright with a Chromium (scripts/get_browser.sh) and pdftoppm (poppler-utils).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

OUT = Path("docs/pictures/reports")
SCREENS = {"desk": (1100, 900), "phone": (390, 844)}
# Enough to read, small enough for a page with twenty of them.
WIDTHS = {"desk": 640, "phone": 300, "print": 420}
COLOURS = 48


def main() -> None:
    """Takes the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="+", metavar="name=page.html")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for given in options.pages:
            name, _, page = given.partition("=")
            with tempfile.TemporaryDirectory() as folder:
                for kind, picture in pictures(browser, Path(page), Path(folder)).items():
                    keep(picture, WIDTHS[kind], options.out / f"{name}-{kind}.png")
        browser.close()


def pictures(browser: Browser, page: Path, folder: Path) -> dict[str, Path]:
    """One file per sort of picture."""
    address = page.resolve().as_uri()
    for kind, (width, height) in SCREENS.items():
        shown = browser.new_page(viewport={"width": width, "height": height})
        shown.goto(address)
        shown.screenshot(path=folder / f"{kind}.png")
        shown.close()
    printed = browser.new_page()
    printed.goto(address)
    printed.pdf(
        path=folder / "print.pdf",
        format="A4",
        margin=dict.fromkeys(("top", "right", "bottom", "left"), "12mm"),
    )
    printed.close()
    command = ["pdftoppm", "-r", "90", "-f", "1", "-l", "1", "-singlefile", "-png", "print.pdf", "print"]
    subprocess.run(command, check=True, cwd=folder)
    return {kind: folder / f"{kind}.png" for kind in WIDTHS}


def keep(picture: Path, width: int, out: Path) -> None:
    """The picture, smaller and with few colours."""
    whole = Image.open(picture).convert("RGB")
    small = whole.resize((width, round(whole.height * width / whole.width)), Image.Resampling.LANCZOS)
    out.parent.mkdir(parents=True, exist_ok=True)
    small.quantize(COLOURS).save(out, optimize=True)


if __name__ == "__main__":
    main()
