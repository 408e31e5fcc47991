"""Commands in the README and the docs can be pasted: a remark behind one begins with #."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_remarks_behind_commands_are_comments():
    blocks = [
        (page.name, line)
        for page in PAGES
        for block in re.findall(
            r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
        for line in block.splitlines()
        if re.match(r"\s*(\$ )?(verax|pip|make) ", line)
    ]
    assert len(blocks) > 50
    assert [line for line in blocks if re.search(r"\S {3,}[^#\s]", line[1].split("#")[0])] == []
