"""SmolLM2 behind the server that transformers brings, asked over its OpenAI interface: stopped, killed, started again.

It gives no log-probabilities. It needs ``fastapi`` and ``openai``, which nothing else here does.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("openai")
import verax
from real_parts import LONG
from tiny_language import share_smollm2
from verax.errors import VeraxError

LABELS = {"negative": "negative", "positive": "positive"}
PROMPT = "Review: {text}\nIs this review negative or positive? Answer with one word."
TEXTS = ["an excellent romp with heart", "a waste of time"]


@contextmanager
def serving(folder, port):
    """``transformers serve`` in a process of its own."""
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    options = ["--port", str(port), "--host", "127.0.0.1", "--device", "cpu", "--dtype", "float32"]
    process = subprocess.Popen(
        command + options, env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + LONG
        while True:
            assert process.poll() is None
            assert time.monotonic() < until
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.wait()


def test_classes_are_drawn_from_it_and_nothing_is_lost_when_it_stops_or_is_killed(tmp_path):
    share_smollm2()
    from verax.models.llm.weights import unpacked_weights

    folder = unpacked_weights()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def asked(**options):
        return verax.as_model(
            f"openai:{folder}",
            base_url=f"http://127.0.0.1:{port}/v1",
            prompt=PROMPT,
            labels=LABELS,
            endpoint=verax.EndpointOptions(
                **{"samples": 3, "concurrency": 1, "retries": 0, "record": tmp_path, **options}
            ),
        )

    with serving(folder, port) as process:
        model = asked()
        found = model.predict_proba(TEXTS[:1])
        # By hand, from what is kept: one answer without log-probabilities, and three that were drawn.
        kept = [json.loads(path.read_text()) for path in tmp_path.rglob("*.json")]
        drawn = [each for each in kept if each["question"]["temperature"] > 0]
        assert (len(kept), len(drawn)) == (4, 3)
        said = [each["answer"]["choices"][0]["message"]["content"].lower() for each in drawn]
        positive = sum("positive" in answer and "negative" not in answer for answer in said)
        np.testing.assert_allclose(found[0, 1], (positive + 0.5) / 4)
        error = model.sampling_error(TEXTS[:1])
        np.testing.assert_allclose(error, np.sqrt(found * (1 - found) / 3))
        os.kill(process.pid, signal.SIGSTOP)  # it hangs
        try:
            with pytest.raises(
                VeraxError, match=r"did not answer after 1 try \(no answer within 0.5 seconds\)"
            ):
                asked(timeout=0.5).predict_proba(TEXTS)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        assert model.reply(TEXTS[0], 1, "Name one word.", 8)
    with pytest.raises(VeraxError, match="did not answer after 1 try"):
        asked().predict_proba(TEXTS)
    np.testing.assert_array_equal(asked(replay=True).predict_proba(TEXTS[:1]), found)
    with serving(folder, port):
        again = asked()
        assert again.predict_proba(TEXTS).shape == (2, 2)
        assert again.client.spent.kept == 4
        assert again.client.spent.requests == 4  # those of the second text
