"""Plays the commands of a page as a shell would, in this process, with what stands in for what the page writes."""

from __future__ import annotations

import glob
import importlib.util
import io
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

import verax
from doc_pages import ROOT
from doc_smaller import SMALLER, SWAPPED, TYPED
from doc_workspace import PEOPLE, suppose
from real_parts import LONG, free_port
from verax.cli.main import main

SERVERS = ("study preview", "study serve")
# What Prolific adds to an address: a study with people from there shows its first page to nobody else.
FROM_PROLIFIC = {"PROLIFIC_PID": PEOPLE["prolific"], "STUDY_ID": "6a0123", "SESSION_ID": "6a4567"}


def command_of(words: list[str]) -> str:
    """The name of a command, as in "study build"."""
    two = words[0] in ("bench", "study", "dask", "scripts/compare_outputs.py") or words[:2] == [
        "atlas",
        "add",
    ]
    parts = 2 if two else 1
    return " ".join(words[:parts])


def swapped(page: str, line: str) -> str:
    """A line of a page with what stands in for its values."""
    for of, written, given in SWAPPED:
        if of in ("", page):
            line = re.sub(written, given, line)
    return line


class Shell:
    """A folder, and what is typed there.

    Attributes:
        made: what the names in braces of ``doc_smaller`` stand for.
    """

    def __init__(self, folder: Path, capsys, patch: pytest.MonkeyPatch, made: dict[str, str]) -> None:
        self.folder, self.made = folder, {"folder": str(folder), "root": str(ROOT)} | made
        self._capsys, self._patch = capsys, patch
        self.started: list[subprocess.Popen] = []

    def play(self, page: str, line: str) -> str:
        """Runs a line of a page; what it printed."""
        words = shlex.split(self._filled(swapped(page, line)), comments=True)
        into = words[words.index(">") + 1] if ">" in words else None
        program, *words = words[: words.index(">")] if into else words
        words = [found for word in words for found in (sorted(glob.glob(word)) if "/*" in word else [word])]
        if program == "verax":
            printed = self._verax(words)
        elif program == "python":
            printed = self._script(words)
        elif program == "dask":
            return self._dask(words)
        elif program == "mkdir":
            for word in words:
                Path(word).mkdir(exist_ok=True)
            return ""
        else:
            assert program == ".venv/bin/pytest"
            printed = self._process(["-m", "pytest", *words, *self._smaller([program])])
        if into:
            (self.folder / into).write_text(printed, encoding="utf-8")
        return printed

    def _filled(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: self.made[name[1]], text)

    def _smaller(self, words: list[str]) -> list[str]:
        return shlex.split(self._filled(SMALLER.get(command_of(words), "")))

    def _verax(self, words: list[str]) -> str:
        name = command_of(words)
        if name == "study analyze" and "--database" not in words:
            for study in (word for word in words if word.startswith("studies/")):
                answered(study, bots="--bots" in words)
        if name in SERVERS:
            for study in (word for word in words if word.startswith("studies/") and not Path(word).exists()):
                suppose(study)
        arguments = [*words, *self._smaller(words)]
        self._patch.setattr(sys, "stdin", io.StringIO(TYPED.get(name, "")))
        with until_seen(name, self._patch) as more:
            self._patch.setattr(sys, "argv", ["verax", *arguments, *more])
            with pytest.raises(SystemExit) as ended:
                main()
        printed = self._capsys.readouterr()
        assert not ended.value.code, f"verax {shlex.join(words)}\n{printed.out}{printed.err}"
        assert printed.out.strip(), f"verax {shlex.join(words)} says nothing"
        return printed.out

    def _script(self, words: list[str]) -> str:
        name, *arguments = words
        smaller = SMALLER.get(name) or SMALLER.get(f"{name} {arguments[0]}", "")
        spec = importlib.util.spec_from_file_location(Path(name).stem, ROOT / name)
        module = importlib.util.module_from_spec(spec)
        self._patch.setitem(sys.modules, Path(name).stem, module)  # dataclasses look for it
        self._patch.syspath_prepend(str((ROOT / name).parent))  # as python does for a script
        spec.loader.exec_module(module)
        smaller_script(module)
        self._patch.setattr(sys, "argv", [name, *arguments, *shlex.split(self._filled(smaller))])
        with suppress(SystemExit):
            module.main()
        return self._capsys.readouterr().out

    def _process(self, arguments: list[str]) -> str:
        ended = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, f"{shlex.join(arguments)}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def _dask(self, words: list[str]) -> str:
        """A scheduler or a worker goes on in the background; both are there when the first job comes."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.folder), *filter(None, sys.path)])
        }
        self.started.append(
            subprocess.Popen(
                [sys.executable, "-m", "dask", *words, *self._smaller(["dask", *words])],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return ""

    def close(self) -> None:
        """Ends what goes on."""
        for process in reversed(self.started):
            process.terminate()
            process.wait(LONG)


def smaller_script(module) -> None:
    """The numbers of a script that no option sets."""
    if module.__name__ == "calibration":
        module.GROUP = 2
    if module.__name__ == "selection":
        module.ROWS, module.FRESH = {"l2x": 60, "invase": 60}, 5
        module.TASKS = list(module.TASKS)[:1]
        few = {"l2x": {"epochs": 1}, "invase": {"iterations": 5}}
        make = verax.explainer
        module.verax = type("verax", (), {"explainer": lambda name, **own: make(name, **own, **few[name])})
    if module.__name__ == "compare_outputs":
        options = "--models logistic --explainers greedy --stains 1 --learnt 0 --limit 3000"
        module.STAINS = {"stain-table": f"--dataset adult {options}"}


@contextmanager
def until_seen(name: str, patch: pytest.MonkeyPatch):
    """Ctrl-C, once what would go on for ever has been seen: a page of a server, the first look of a watch."""
    if name not in SERVERS:
        with patch.context() as watched:
            if name == "study status":
                watched.setattr(time, "sleep", lambda _: os.kill(os.getpid(), signal.SIGINT))
            yield []
        return
    port, ended, seen = free_port(), threading.Event(), []

    def look() -> None:
        end = time.monotonic() + LONG
        while time.monotonic() < end and not ended.wait(0.05):
            try:
                page = httpx.get(f"http://127.0.0.1:{port}/", params=FROM_PROLIFIC, timeout=LONG)
                seen.append(page.status_code)
                os.kill(os.getpid(), signal.SIGINT)
                return
            except httpx.TransportError:
                continue

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield ["--port", str(port)]
    finally:
        ended.set()
        looking.join()
    assert seen == [200], f"the first page: {seen}"


def answered(study: str, *, bots: bool) -> None:
    """What nobody built is built, bots answer what nobody answered, and an analysis of people is shown people."""
    if not Path(study).exists():
        suppose(study)
    database = Path(study, "answers.sqlite")
    if not database.exists():
        verax.open_study(study).bots(4)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE participant SET is_bot = ?", (bots,))
