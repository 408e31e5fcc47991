"""A server of the OpenAI interface behind which a program reads its prompt and does what it is told, for tests.

It stands for a model that is large enough to follow a rule: it says the rule's label where the rule's words stand in
the text, and judges by a few words of its own elsewhere. Asked for its reasons, it names the rule's words.
"""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = {"good", "best", "funny", "moving", "heart", "enjoyable", "fun", "love", "great", "warm"}
RULE = re.compile(r"if the text contains (.+?), the answer is (\w+)")


def answer(prompt, follows=True):
    """What the program says to a prompt."""
    text = prompt.rpartition("Text: ")[2].partition("\n")[0]
    words = set(re.findall(r"\w+", text.lower()))
    rule = RULE.search(prompt)
    named = re.findall(r'"(\w+)"', rule.group(1)) if rule and follows else []
    if "words" in prompt.rpartition("Answer:")[2]:
        return ", ".join(word for word in named if word in words) or "nothing"
    if named and set(named) <= words:
        return rule.group(2)
    return "positive" if words & GOOD else "negative"


def served(follows=True):
    """The address of a server of the program above."""
    return program_served(lambda prompt: answer(prompt, follows), ("positive", "negative"))


@contextmanager
def program_served(says, answers):
    """The address of a server in a thread of this process.

    Args:
        says: from a prompt to what is said.
        answers: what may be said first, for log-probabilities.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = "\n".join(turn["content"] for turn in body["messages"])
            said = says(asked)
            top = [{"token": word, "logprob": -0.01 if word == said else -5.0} for word in answers]
            given = {"content": [{**top[0], "top_logprobs": top}]} if body.get("logprobs") else None
            choice = {"index": 0, "message": {"role": "assistant", "content": said}, "logprobs": given}
            sent = json.dumps({"model": body["model"], "choices": [choice], "usage": {}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
