"""Style sheets, scripts and the icon, under names that change with their content: browsers may keep them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

TYPES = {
    "study.css": "text/css; charset=utf-8",
    "study.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "experimenter.css": "text/css; charset=utf-8",
    "experimenter.js": "text/javascript; charset=utf-8",
    "htmx.js": "text/javascript; charset=utf-8",
}


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    type: str


@cache
def assets() -> dict[str, Asset]:
    """The files by the name that they are asked for."""
    folder = files("verax.web").joinpath("static")
    originals = {name: Asset(folder.joinpath(name).read_bytes(), type) for name, type in TYPES.items()}
    return {_hashed(name, asset.content): asset for name, asset in originals.items()}


@cache
def asset_name(name: str) -> str:
    """The name under which a file is asked for."""
    stem, ending = name.split(".")
    return next(hashed for hashed in assets() if hashed.startswith(f"{stem}.") and hashed.endswith(ending))


def _hashed(name: str, content: bytes) -> str:
    stem, ending = name.split(".")
    return f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
