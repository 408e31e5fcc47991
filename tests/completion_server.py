"""A server of the OpenAI interface around a real network, for tests; its faults are switched on from outside.

``python completion_server.py PORT`` serves the tiny network in a process of its own, to be killed.
"""

import asyncio
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route


@dataclass
class Faults:
    """What goes wrong with the next requests, and what was asked."""

    fail: list = field(
        default_factory=list
    )  # a status, "slow", "nonsense" or "name" for each of the next requests
    logprobs: bool | str = True  # or "refused", or "odd": in a form of its own
    asked: list = field(default_factory=list)
    keys: list = field(default_factory=list)


def app_of(network, tokenizer, name, faults):
    """Completions and chats of one model: log-probabilities of the first token, or drawn and likeliest text."""

    def answer(prompt, body):
        torch.manual_seed(int(body.get("seed") or 0))
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            top = network(ids).logits[0, -1].double().log_softmax(-1).topk(20)
            hot = float(body.get("temperature") or 0) > 0
            made = network.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=int(body.get("max_tokens", 16)),
                do_sample=hot,
                top_k=0,
                pad_token_id=0,
                **({"temperature": float(body["temperature"])} if hot else {}),
            )[0, ids.shape[1] :]
        tokens = [
            (tokenizer.decode([i]), float(p)) for i, p in zip(top.indices.tolist(), top.values, strict=True)
        ]
        usage = {"prompt_tokens": ids.shape[1], "completion_tokens": len(made)}
        return tokenizer.decode(made, skip_special_tokens=True), tokens, usage

    async def complete(request: Request):
        body = await request.json()
        faults.asked.append(body)
        faults.keys.append(request.headers.get("authorization"))
        fault = faults.fail.pop(0) if faults.fail else None
        if fault == "slow":
            await asyncio.sleep(3)
        elif fault == "nonsense":
            return PlainTextResponse("<html>hello</html>")
        elif fault == 429:
            return JSONResponse({"error": "slow down"}, 429, headers={"Retry-After": "0"})
        elif isinstance(fault, int):
            return JSONResponse({"error": {"message": "so it is"}}, fault)
        if faults.logprobs == "refused" and body.get("logprobs"):
            return JSONResponse({"error": {"message": "logprobs are not supported by this model"}}, 400)
        chat = "messages" in body
        if chat:
            turns = [turn["content"] for turn in body["messages"]]
            template = getattr(tokenizer, "chat_template", None)
            prompt = (
                tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
                if template
                else "\n".join(turns)
            )
        else:
            prompt = body["prompt"]
        text, tokens, usage = await asyncio.to_thread(answer, prompt, body)
        given = None
        if faults.logprobs and body.get("logprobs"):
            listed = [{"token": token, "logprob": value} for token, value in tokens]
            given = (
                {"content": [{**listed[0], "top_logprobs": listed}]}
                if chat
                else {"top_logprobs": [dict(tokens)]}
            )
        if faults.logprobs == "odd":
            given = {"content": [{"token": tokens[0][0], "logprob": None}]}
            usage = {"prompt_tokens": "many"}
        choice = {"index": 0, "logprobs": given, "finish_reason": "length"}
        choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        named = "another-model" if fault == "name" else name
        return JSONResponse({"model": named, "choices": [choice], "usage": usage})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/v1/completions", complete, methods=["POST"]),
        ]
    )


@contextmanager
def served(network, tokenizer, name="tiny", port=0):
    """The address of a server in a thread of this process, and its faults."""
    import uvicorn

    faults = Faults()
    app = app_of(network, tokenizer, name, faults)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1", faults
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    import uvicorn

    from tiny_language import network, tokenizer

    uvicorn.run(app_of(network(), tokenizer(), "tiny", Faults()), port=int(sys.argv[1]), log_level="error")
