"""Lists what a translation lacks: python scripts/translations.py de, or a folder of phrase files."""

from __future__ import annotations

import sys
from pathlib import Path

from verax.phrases import PARTICIPANT_AREAS, phrases_of
from verax.phrases.translations import translation_problems


def main(given: str) -> int:
    """Prints a line for each problem; 1 if there is any."""
    folder = Path(given)
    files = {area: folder / f"{area}.ftl" for area in PARTICIPANT_AREAS}
    texts = (
        {area: path.read_text(encoding="utf-8") for area, path in files.items() if path.is_file()}
        if folder.is_dir()
        else phrases_of(given)
    )
    problems = translation_problems(texts)
    print("\n".join(problems) or f"{given} lacks nothing.")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Name a language, or a folder of phrase files: python scripts/translations.py de")
    raise SystemExit(main(sys.argv[1]))
