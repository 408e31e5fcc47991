"""What goes with a release: the bill of materials, and the versions that are installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def printed(script: str) -> str:
    command = [sys.executable, str(ROOT / "scripts" / script)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_bill_of_materials_names_every_package_and_what_it_needs():
    bill = json.loads(printed("sbom.py"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    parts = {part["name"]: part for part in bill["components"]}
    assert parts["numpy"]["version"] == version("numpy")
    assert parts["numpy"]["purl"] == f"pkg:pypi/numpy@{version('numpy')}"
    needs = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    assert parts["numpy"]["bom-ref"] in needs[parts["scipy"]["bom-ref"]]
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(references) == len(set(references))


def test_constraints_are_exact_versions_and_leave_torch_to_the_makefile():
    for text in (printed("constraints.py"), (ROOT / "constraints.txt").read_text()):
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!-]+", line) for line in lines), lines
        names = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
        assert {"numpy", "ruff", "mypy", "pytest"} <= names
        assert not {"torch", "verax-xai"} & names


def test_linting_installs_no_torch():
    makefile = (ROOT / "Makefile").read_text()
    linters = re.search(r"^LINTERS := (.*)$", makefile, re.MULTILINE)[1].split()
    assert {"ruff", "mypy", "import-linter"} <= set(linters)
    assert not {"torch", "playwright", "transformers"} & set(linters)
    assert "$(LOCKED) -e" in makefile


def test_nothing_is_released_without_a_signature_an_audit_and_the_bill_of_materials():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    steps = {
        name: [step.get("run", step.get("uses", "")) for step in job["steps"]] for name, job in jobs.items()
    }
    assert "verification.verified" in steps["build"][0]
    assert {"make release-check", "make audit", "make sbom"} <= set(steps["build"])
    assert jobs["publish"]["needs"] == "build"
    assert "sbom.cdx.json" in steps["publish"][-1]
    assert "--verify-tag" in steps["publish"][-1]
