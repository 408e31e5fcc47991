"""Prints what is installed here as a software bill of materials, in CycloneDX 1.5 JSON, without any network.

Each package has its version, licence and the packages that it needs, as its own metadata say.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions

OURS = "verax-xai"
NAME = re.compile(r"[A-Za-z0-9._-]+")


def main() -> None:
    """Prints it."""
    print(json.dumps(bill(list(distributions())), indent=2))


def bill(installed: list[Distribution]) -> dict[str, object]:
    """The document for some installed packages."""
    found = {normal(one.metadata["Name"]): one for one in installed if one.metadata["Name"]}
    ours = found.get(OURS)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": component(OURS, ours.version if ours else "0", ours, "application"),
        },
        "components": [
            component(name, one.version, one) for name, one in sorted(found.items()) if name != OURS
        ],
        "dependencies": [
            {"ref": reference(name, one.version), "dependsOn": sorted(needed(one, found))}
            for name, one in sorted(found.items())
        ],
    }


def component(
    name: str, version: str, found: Distribution | None, kind: str = "library"
) -> dict[str, object]:
    """One package."""
    about: dict[str, object] = {
        "type": kind,
        "bom-ref": reference(name, version),
        "name": name,
        "version": version,
        "purl": reference(name, version),
    }
    licence = found and (found.metadata.get("License-Expression") or found.metadata.get("License") or "")
    if licence and len(licence) < 100:
        about["licenses"] = [{"license": {"name": licence}}]
    return about


def needed(found: Distribution, installed: dict[str, Distribution]) -> set[str]:
    """References to the installed packages that one needs; what only an extra needs counts too."""
    names = {normal(match[0]) for line in found.requires or [] if (match := NAME.match(line))}
    return {reference(name, installed[name].version) for name in names if name in installed}


def reference(name: str, version: str) -> str:
    """The address of a package in a version."""
    return f"pkg:pypi/{name}@{version}"


def normal(name: str) -> str:
    """A name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
