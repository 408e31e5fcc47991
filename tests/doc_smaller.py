"""What stands in for what the pages of the docs write, where a command of theirs would take hours or elsewhere to run.

A command is run as it stands on its page, but for values: less of everything, a study or a database that is there.
"""

from __future__ import annotations

# Lines that cannot run in a test, and why. Everything else in a block for a shell is run.
CANNOT = {
    r"^make (demo|test|lint)\b": "make test is what runs these tests; the demo runs in test_package.py, from the wheel",
    r"^make (types|constraints|sbom|audit)\b": "a part of make test, or of a release: test_release.py runs the scripts",
    r"^(venv/bin/)?pip install ": "fetches packages; that there are such extras is tested",
    r"^(apt-get|useradd|chmod 700 /srv|chown|su|systemctl|journalctl|nginx|rm /etc|curl -sI https)\b": "of root",
    r"^(exit$|python3 -m venv|echo 'PATH=)": "typed by the user that was made for the server",
    r"^(export VERAX_HOST_NAME|docker compose .* up )": "needs docker; the file is read in test_deployment_page.py",
    r"^verax explain --preset simulatability ": "prototypes need a network that learnt for minutes",
    r"^verax explain .*--model smollm2\b": "unpacks and calibrates a language model; tests/models/llm/ does it once",
    r"^verax explain .*--model openai:": "needs an endpoint; tests/cli/test_language_models.py has one",
    r"^verax bench stain --models smollm2\b": "trains a language model for minutes",
    r"^verax study bots .*--language-model\b": "asks a language model; tests/studies/bots/test_language.py does",
    r"^python perf/atlas_results\.py ": "writes a page of this repository",
    r"^verax paper \S+": "takes minutes or days; test_paper.py runs each folder smaller, and checks all specs",
}
# Commands of packages that a page writes itself; where the page is run, they are there.
OUTSIDE = (["bench", "repeat"],)
# Pages whose commands run elsewhere, all of them, and where.
ELSEWHERE = {
    "docs/extending.md": "tests/studies/protocols/test_extending_page.py",
    "docs/tutorials/own-study.md": "tests/test_site.py",
    "docs/tutorials/own-model-and-data.md": "tests/test_site.py",
}
# Pages that are played one after the other in one folder, since the later ones use what the earlier ones make.
TOGETHER = {
    "simulatability": ["examples/hase-bansal/README.md", "docs/results/simulatability.md"],
    "human-grounded": [
        "examples/human-grounded/README.md",
        "docs/results/human-grounded.md",
        "docs/analysis.md",
    ],
    "staining": ["docs/staining.md", "docs/running.md", "docs/results/staining.md"],
    "rationale": ["docs/rationale.md", "docs/results/rationale.md"],
}
# (page, what is written there, what is there). Names in braces are made by the test.
SWAPPED = [
    ("", r"^docker .* exec study (verax .*) /study ", r"\1 studies/forward "),
    ("docs/deployment.md", r"--to postgresql:///forward\b", "--to {empty_postgres}"),
    ("", r"postgresql://(/|verax@db/)forward\b", "{postgres}"),
    ("", r"postgresql:///forward2", "{another_postgres}"),
    ("", r"/tmp/", "{folder}/"),
    ("", r"tcp://10\.0\.0\.1:8786", "{cluster}"),
    ("", r"--source (\.\./old-checkout|\.)(?= )", "--source {root}"),
    # Everybody enters a study in one way.
    ("docs/recruiting.md", r"studies/mine(?= --(prolific|mturk))", r"studies/by-\1"),
    ("docs/recruiting.md", "studies/mine(?= --ids)", "studies/by-prolific"),
    ("docs/recruiting.md", "studies/mine(?= --n)", "studies/by-code"),
    ("docs/recruiting.md", "K7QH2MXRT9", "{completion_code}"),
    ("docs/recruiting.md", r"https://study\.example\.org/p/\S+", "https://study.example.org/p/{token}"),
    ("examples/hase-bansal/README.md", r"ten-of-them\.txt", "codes.txt"),  # all of them
    ("docs/studies.md", "studies/text studies/table", "studies/text-counterfactual studies/table-forward"),
    # Models that learn in seconds.
    ("", "(--models?) cnn ", r"\1 'cnn(epochs=1)' "),
    ("docs/results/staining.md", r"epochs=\d+", "epochs=1"),
]
# What is given behind a command so that it takes a second: the last of two equal options counts.
SMALLER = {
    "bench stain": "--stains 1 --inputs 2 --samples 30 --learnt 0 --limit 700 --jobs 1",
    "bench measures": "--stains 1 --inputs 2 --samples 30 --learnt 0 --limit 700 --no-replaced --jobs 1",
    "bench students": "--stains 1 --inputs 10 --sizes 8 --samples 30 --learnt 0 --limit 700 --draws 1 --jobs 1",
    "bench rationale": "--target-models 1 --inputs 3 --samples 30 --epochs 4 --share 0.25 --limit 600 --subsets 2 -j 1",
    "atlas": "--datasets breast-cancer --models tree --explainers greedy --tests sanity --inputs 2 --samples 16",
    "bench sanity": "--limit 300 --inputs 2 --samples 30 --repeats 1 --jobs 1",
    "explain": "--limit 300 --no-judge",
    "judge": "--n 2 --seconds 8 --explainers greedy",
    "study bots": "--n 4",
    "study power": "--studies 2 --participants 5 --items 4",
    "study analyze": "--replicates 100",
    "scripts/compare_outputs.py make": "--only stain-table",
    ".venv/bin/pytest": "--collect-only -p no:cacheprovider",
    "dask scheduler": "--host 127.0.0.1 --port 0 --no-dashboard --scheduler-file {folder}/scheduler.json",
    "dask worker": "--nworkers 1 --no-dashboard --local-directory {folder}/scratch",
}
# What is typed where a command asks.
TYPED = {"study account": "a long password\n", "study init": "\n" * 20}
