"""Things by name: a new module is found where it lies, and nothing is imported before it is asked for."""

import subprocess
import sys

import pytest

from verax.errors import VeraxError
from verax.registry import Registry

NEW_EXPLAINER = '''
from dataclasses import dataclass

from verax.explain.base import Explainer, explainers


@explainers.register("brand-new")
@dataclass(frozen=True)
class BrandNew(Explainer):
    """Explains nothing."""

    def explain(self, model, inputs, targets=None):
        return []
'''


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A package with a module that registers a thing, one below it that registers another, and one that is heavy."""
    package = tmp_path / "their_things"
    (package / "below").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from verax.registry import Registry\n"
        "things = Registry('thing', 'verax.no_such_group', home='their_things')\n"
    )
    (package / "below" / "__init__.py").write_text("")
    (package / "first.py").write_text("from their_things import things\nthings.register('first')(1)\n")
    (package / "below" / "second.py").write_text(
        "from their_things import things\nthings.register('second')(2)\n"
    )
    (package / "heavy.py").write_text("raise AssertionError('imported though it registers nothing')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "their_things"]:
        del sys.modules[name]


def test_modules_of_the_home_package_are_found_when_a_name_is_asked_for(home):
    import their_things

    assert not {"their_things.first", "their_things.below.second"} & set(sys.modules)
    assert their_things.things.get("second") == 2
    assert their_things.things.names() == ["first", "second"]


def test_a_name_that_is_registered_already_imports_nothing(home):
    import their_things

    their_things.things.register("here")(3)
    assert their_things.things.get("here") == 3
    assert "their_things.first" not in sys.modules


def test_a_name_is_in_a_registry_without_a_look_at_other_packages_where_it_is_ours(home, monkeypatch):
    import their_things

    def no_look(**_):
        raise AssertionError("installed packages were looked through")

    monkeypatch.setattr("verax.registry.entry_points", no_look)
    assert "second" in their_things.things
    monkeypatch.setattr("verax.registry.entry_points", lambda **_: ())
    assert "third" not in their_things.things


def test_an_unknown_name_is_a_sentence_that_names_the_nearest_of_the_home_package(home):
    import their_things

    with pytest.raises(VeraxError, match=r"There is no thing called 'secund'; did you mean 'second'\?"):
        their_things.things.get("secund")


def test_a_registry_without_a_home_knows_what_was_registered():
    things = Registry("thing", "verax.no_such_group")
    things.register("only")(1)
    assert list(things) == ["only"]


def test_a_new_module_among_the_explainers_is_all_that_a_new_explainer_takes(tmp_path):
    (tmp_path / "brand_new.py").write_text(NEW_EXPLAINER)
    script = (
        "import verax.explain, sys; verax.explain.__path__.append(sys.argv[1])\n"
        "import verax; print(verax.explainer('brand-new'), 'brand-new' in verax.explain.explainers.names())"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert said.stdout == "BrandNew() True\n"


def test_names_of_models_and_datasets_import_no_heavy_library():
    script = (
        "import sys, verax.models, verax.data\n"
        "verax.models.models.names(), verax.data.datasets.names(), verax.data.dataset_formats.names()\n"
        "print(sorted({'torch', 'numba', 'xgboost', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
