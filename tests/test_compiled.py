"""Machine code is kept for one sort of processor at a time; sorts are those that numba can be told to compile for."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("numba")

ALL = """
import json
from verax.models import forest_kernels
from verax.perturb.paths import kernels
from verax.perturb.paths import network_kernels
names = [kernels.walk_sets, network_kernels.words_read, network_kernels.tanh, forest_kernels.grow]
print(json.dumps([each.stats.cache_path for each in names]))
"""
ONE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import loops
total = loops.total(10)
hits = sum(loops.total.stats.cache_hits.values())
print(json.dumps([total, hits, loops.total.stats.cache_path]))
"""


def said(*arguments, **environment):
    """What a program in a process of its own prints, with variables of its own."""
    path = os.pathsep.join(filter(None, sys.path))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    child = subprocess.run(
        [sys.executable, "-c", *map(str, arguments)],
        env=inherited | {"PYTHONPATH": path} | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(child.stdout)


def test_processors_share_no_folder_of_machine_code(tmp_path):
    own = {"NUMBA_CACHE_DIR": str(tmp_path)}
    newer = said(ALL, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx2", **own)
    older = said(ALL, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="", **own)
    oldest = said(ALL, NUMBA_CPU_NAME="nehalem", NUMBA_CPU_FEATURES="", **own)
    assert not {*newer} & {*older}
    assert not {*older} & {*oldest}


def test_machine_code_is_compiled_once_for_each_sort_of_processor(tmp_path):
    (tmp_path / "loops.py").write_text(
        "from verax.compiled import compiled\n\n@compiled\ndef total(n):\n    return n * (n + 1) // 2\n"
    )
    older = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    runs = [said(ONE, tmp_path, **more) for more in ({}, older, older, {})]
    assert [(total, hits) for total, hits, _ in runs] == [(55, 0), (55, 0), (55, 1), (55, 1)]
    places = [place for *_, place in runs]
    assert places[0] == places[3] != places[1] == places[2]
    assert all(place.startswith(str(tmp_path / "__pycache__")) for place in places)
