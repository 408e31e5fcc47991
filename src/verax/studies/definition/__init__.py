"""What a study is: its spec, items, steps, screens, and the folder that holds them."""

from __future__ import annotations
