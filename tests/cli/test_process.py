"""The command in a process of its own: what a shell, a pipe and Ctrl-C see."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("folder")

SOURCE = Path(__file__).parents[2] / "src"
EXPLAIN = (
    "explain",
    "--dataset",
    "reviews.csv",
    "--model",
    "own_models:known",
    "--explainers",
    "greedy,random",
)


def command(*arguments):
    return [sys.executable, "-m", "verax.cli.main", *arguments]


@pytest.fixture
def environment():
    return os.environ | {"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color"}


def test_without_a_terminal_there_are_no_escape_codes_and_no_progress(environment):
    ended = subprocess.run(command(*EXPLAIN), capture_output=True, env=environment, check=True)
    assert b"\x1b" not in ended.stdout
    assert b"[--" in ended.stdout
    assert ended.stderr == b""


def test_an_escape_code_in_a_text_is_printed_as_a_picture(environment):
    ended = subprocess.run(
        command(*EXPLAIN, "--text", "good \x1b[31mbad"), capture_output=True, env=environment, check=True
    )
    assert b"\x1b" not in ended.stdout
    assert "␛" in ended.stdout.decode()


def test_an_output_that_cannot_show_a_character_does_not_stop_it(environment):
    ended = subprocess.run(
        command(*EXPLAIN, "--text", "good 😀 bad"),
        capture_output=True,
        env=environment | {"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"\\U0001f600" in ended.stdout


def test_json_in_a_pipe_can_be_read(environment):
    ended = subprocess.run(command(*EXPLAIN, "--json"), capture_output=True, env=environment, check=True)
    assert len(json.loads(ended.stdout)) == 3 * 2


def test_a_reader_that_leaves_early_is_no_reason_to_complain(environment):
    with subprocess.Popen(
        command(*EXPLAIN, "--json", "--n", "8"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_error_has_status_2_and_no_traceback(environment):
    ended = subprocess.run(
        command("explain", "-d", "missing.csv"), capture_output=True, env=environment, check=False
    )
    assert ended.returncode == 2
    assert ended.stdout == b""
    assert b"Traceback" not in ended.stderr
    assert ended.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_an_interrupt_ends_with_status_130_and_one_line(folder, environment):
    (folder / "endless.py").write_text(
        "import sys, time\n\ndef load(dataset):\n    print('ready', file=sys.stderr, flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen(
        command("explain", "-d", "reviews.csv", "-m", "endless:load"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"Error: Interrupted; nothing more was done.\n"
        assert process.wait() == 130
