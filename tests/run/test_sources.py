"""Code behind a name: what counts as changed, and what does not."""

from __future__ import annotations

import logging
import sys

import pytest

from verax.run.identity import code_behind, code_of

FILES = {
    "__init__.py": "",
    "mine.py": "from project_16 import helpers\nfrom .deep.inner import LIMIT\n\ndef f(x):\n    return helpers.g(x)\n",
    "helpers.py": "import math\n\ndef g(x):\n    from project_16.lazy import late\n    return math.sqrt(late(x))\n",
    "lazy.py": "def late(x):\n    return x\n",
    "deep/__init__.py": "",
    "deep/inner.py": "LIMIT = 3\n",
    "unused.py": "X = 1\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project_16"
    for name, source in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "project_16"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("file", "source", "same"),
    [
        ("mine.py", FILES["mine.py"] + "Y = 2\n", False),
        ("helpers.py", FILES["helpers.py"].replace("sqrt", "log"), False),
        ("lazy.py", FILES["lazy.py"].replace("return x", "return x + 1"), False),
        ("deep/inner.py", "LIMIT = 4\n", False),
        ("deep/__init__.py", "import sys\n", False),
        ("unused.py", "X = 2\n", True),
        ("mine.py", "# why\n\n" + FILES["mine.py"], True),
    ],
)
def test_code_is_its_module_and_what_that_imports_from_the_same_project(project, file, source, same):
    before = code_of("project_16.mine")
    assert before == code_of("project_16.mine")
    (project / file).write_text(source)
    assert (code_of("project_16.mine") == before) is same


def test_verax_has_no_code_of_its_own_and_packages_have_their_version():
    assert code_of("verax.explain.lime") == ""
    assert code_of("sklearn.linear_model") == code_of("sklearn.tree") != code_of("scipy.stats")
    assert code_behind({"lime": "verax.explain.lime"}) == {}


def test_code_that_no_file_holds_is_told_of(caplog, monkeypatch):
    import types

    monkeypatch.setitem(sys.modules, "made_up_16", types.ModuleType("made_up_16"))
    with caplog.at_level(logging.WARNING, "verax"):
        assert code_behind({"made_up_16:Mine": "made_up_16"}) == {"made_up_16:Mine": "unknown"}
    assert "What made_up_16:Mine does cannot be read from a file" in caplog.text
    assert "say --fresh" in caplog.text
