"""The map in ARCHITECTURE.md names every package, and nothing else; every module that it mentions exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "verax"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_map_has_every_package_once_and_no_other():
    on_the_map = re.findall(
        r"^([\w/]+)/(?: {2,}\S.*)?$", PAGE.split("## Map")[1].split("## ")[0], re.MULTILINE
    )
    packages = {str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("__init__.py")} - {"."}
    assert sorted(on_the_map) == sorted(packages)


def test_every_module_on_the_page_exists():
    named: list[Path] = []
    for line in PAGE.splitlines():
        folder = Path()
        for name in re.findall(r"`([\w/]+(?:\.py|/))`", line):
            folder = Path(name).parent if "/" in name else folder  # a bare name lies beside the one before it
            named.append(Path(name) if "/" in name else folder / name)
    assert len(named) > 20
    assert [str(path) for path in named if not (SOURCE / path).exists()] == []
