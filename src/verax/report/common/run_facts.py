"""What every benchmark's report says of its run: short names, the spec as a file, versions and machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from verax.run.manifest import Manifest


def short_names(labels: Sequence[str]) -> dict[str, str]:
    """Labels without their parameters, wherever that still tells them apart."""
    bare = {label: label.split("(", 1)[0].rsplit(":", 1)[-1] for label in labels}
    alike = list(bare.values())
    return {label: name if alike.count(name) == 1 else label for label, name in bare.items()}


def spec_toml(spec: Mapping[str, object], section: str) -> str:
    """A spec as a TOML file that asks for the same run."""
    # JSON spells strings, numbers, booleans and lists as TOML does; what is None is left out.
    lines = [f"{name} = {json.dumps(value)}" for name, value in spec.items() if value is not None]
    return "\n".join([f"[{section}]", *lines])


def manifest_words(manifest: Manifest) -> dict[str, str]:
    """Command, versions, machine and times in words; empty where the manifest says nothing."""
    versions = [f"{name} {version}" for name, version in manifest.get("versions", {}).items() if version]
    machine = [f"{name} {value}" for name, value in manifest.get("machine", {}).items() if value]
    times = [str(manifest[name]) for name in ("started", "finished") if manifest.get(name)]
    return {
        "command": str(manifest.get("command") or ""),
        "versions": ", ".join(versions),
        "machine": ", ".join(machine),
        "times": " to ".join(times),
        "continued": str(len(manifest.get("continued", [])) or ""),
    }
