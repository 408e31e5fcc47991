"""Whether a change of the code changed what Verax writes: two versions make everything, and the files are compared.

    python scripts/compare_outputs.py make --source OLD_CHECKOUT --out before
    python scripts/compare_outputs.py make --source . --out after --answers before
    python scripts/compare_outputs.py diff before after

`make` runs a staining run on texts and one on a table, builds the seven examples, sends bots through them one after the
other, exports and analyses their answers, and writes all reports. With `--answers` the databases of the other version
are exported and analysed, so that times are equal too, and so that databases of older versions are known to be read.
Whoever left a study counts as gone some time after the last page: when more than an hour lies between the two, make the
first one again with `--answers` too.

`diff` leaves out what differs between any two runs: times, versions, random codes, the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

STAINS = {
    "stain-text": "--dataset rotten-tomatoes --models logistic,tree,forest --explainers lime,shap,greedy --stains 3",
    "stain-table": "--dataset adult --models logistic,tree --explainers lime,shap --stains 2",
}
BOTS = 14
PROFILES = "helped(by=0.2)=0.7,guesser+leaver(after=0.5)=0.15,label-follower=0.15"
# Keys and columns whose values are different in any two runs of the same code.
PASSING = re.compile(
    r"(^|_)(at|ago|ms|seconds|time|times|started|ended|created|version|versions|verax|machine|worker|workers|peak_memory|memory|"
    r"code|token|participant|person|platform|python|when|minute|made|duration|host|cpu|cores|run_id|source|sha256|size|bytes)($|_)"
)
DATED = re.compile(
    r"20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?)?"
    r"|\b\d+(\.\d+)? ?(ms|s|min|MB|seconds|minutes)\b|\d\d:\d\d(:\d\d)?"
)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    make.add_argument("--source", type=Path, required=True, help="a checkout of Verax")
    make.add_argument("--out", type=Path, required=True)
    make.add_argument("--answers", type=Path, help="what `make` wrote before, whose databases are analysed")
    make.add_argument("--only", help="a part of the names of what is made, such as forward or stain")
    compare = commands.add_parser("diff")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "make":
        make_all(
            chosen.source.resolve(),
            chosen.out.resolve(),
            chosen.answers and chosen.answers.resolve(),
            chosen.only,
        )
    else:
        sys.exit(1 if show_differences(chosen.before, chosen.after) else 0)


def make_all(source: Path, out: Path, answers: Path | None, only: str | None) -> None:
    """Everything that is compared, in a folder."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    shutil.copytree(source / "examples", out / "examples")
    names = sorted(path.stem for path in (out / "examples").glob("*.toml"))
    tasks = [(stain, name) for name in STAINS] + [(study, name) for name in names]
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(
            lambda task: task[0](source, out, answers, task[1]),
            [task for task in tasks if only is None or only in task[1]],
        ):
            pass
    if only is None:
        verax(source, out, "report", "stain-text", "stain-table", "analyses/forward", "analyses/counterfactual",
              "--out", "joint.html")  # fmt: skip


def stain(source: Path, out: Path, answers: Path | None, name: str) -> None:
    """One staining run."""
    del answers
    said = verax(source, out, "bench", "stain", *STAINS[name].split(), "--inputs", "10", "--out", name)
    (out / f"{name}.txt").write_text(said)


def study(source: Path, out: Path, answers: Path | None, name: str) -> None:
    """One example: built, frozen, walked by bots, exported, analysed, reported."""
    for folder in ("studies", "databases", "exports", "analyses", "said"):
        (out / folder).mkdir(exist_ok=True)
    here, database = f"studies/{name}", f"databases/{name}.sqlite"
    said = verax(source, out, "study", "build", f"examples/{name}.toml", "--out", here)
    said += verax(source, out, "study", "power", f"examples/{name}.toml", "--json")
    url = f"sqlite:///{database}"
    verax(source, out, "study", "bots", here, "-n", str(BOTS), "--concurrent", "1", "--seed", "1",
          "--profile", PROFILES, "--database", url)  # fmt: skip
    verax(
        source, out, "study", "export", here, "--database", url, "--out", f"exports/{name}-own", "--free-text"
    )
    if answers is not None:
        (out / database).unlink()
        shutil.copy(answers / database, out / database)
    verax(source, out, "study", "export", here, "--database", url, "--out", f"exports/{name}", "--file-formats",
          "csv,jsonl,parquet", "--identifying", "--free-text")  # fmt: skip
    said += verax(source, out, "study", "status", here, "--database", url, "--json")
    said += verax(source, out, "study", "analyze", here, "--database", url, "--bots", "--replicates", "300",
                  "--out", f"analyses/{name}")  # fmt: skip
    said += verax(source, out, "study", "freeze", here, "--database", url)
    (out / "said" / f"{name}.txt").write_text(said)


def verax(source: Path, out: Path, *words: str) -> str:
    """Runs a command of that version; what it printed to standard output."""
    environment = os.environ | {
        "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120",
    }  # fmt: skip
    command = [sys.executable, "-c", "from verax.cli.main import main; main()", *words]
    done = subprocess.run(command, cwd=out, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"verax {' '.join(words)}: exit {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
    return f"$ verax {' '.join(words)}\n{done.stdout}exit {done.returncode}\n"


def show_differences(before: Path, after: Path) -> int:
    """Prints the files that differ; how many."""
    kept = files(before) & files(after)
    problems = [f"only in {before}: {name}" for name in sorted(files(before) - files(after))]
    problems += [f"only in {after}: {name}" for name in sorted(files(after) - files(before))]
    for name in sorted(kept):
        was, now = normal(before / name), normal(after / name)
        if was != now:
            at = next(
                (place for place, pair in enumerate(zip(was, now, strict=False)) if pair[0] != pair[1]), 0
            )
            problems.append(
                f"{name} differs from character {at}:\n  before: {was[max(at - 80, 0) : at + 120]!r}\n"
                f"  after:  {now[max(at - 80, 0) : at + 120]!r}"
            )
    print("\n".join(problems))
    print(f"{len(kept)} files compared, {len(problems)} differences")
    return len(problems)


def files(folder: Path) -> set[str]:
    """All files below a folder, but databases, caches and what was stored of single jobs."""
    every = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in every if path.parts[0] != "databases" and "jobs" not in path.parts}


def normal(path: Path) -> str:
    """A file's content without what differs between any two runs."""
    if path.suffix == ".parquet":
        import pandas as pd

        frame = pd.read_parquet(path)
        return frame[[name for name in frame if not passing(path, str(name))]].to_csv()
    if path.suffix == ".csv":
        import pandas as pd

        frame = pd.read_csv(path, dtype=str)
        kept = frame[[name for name in frame if not passing(path, str(name))]]
        return "\n".join(
            sorted(kept.to_csv(index=False).splitlines())
        )  # in an export people stand in a random order
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".json":
        return json.dumps(stripped(json.loads(text), path), indent=1)
    if path.suffix == ".jsonl":
        return "\n".join(json.dumps(stripped(json.loads(line), path)) for line in text.split("\n") if line)
    if "studies" in path.parts and path.name != "freeze.json":
        return text
    return DATED.sub("TIME", text)


def passing(path: Path, name: str) -> bool:
    """Whether a key's value passes; studies' own files hold nothing of the sort."""
    return ("studies" not in path.parts or path.name == "freeze.json") and PASSING.search(name) is not None


def stripped(value: Any, path: Path) -> Any:
    """JSON without the keys whose values pass."""
    if isinstance(value, dict):
        return {name: stripped(inner, path) for name, inner in value.items() if not passing(path, name)}
    if isinstance(value, list):
        return [stripped(inner, path) for inner in value]
    return DATED.sub("TIME", value) if isinstance(value, str) and "studies" not in path.parts else value


if __name__ == "__main__":
    main()
