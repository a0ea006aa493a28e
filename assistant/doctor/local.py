"""Checks the local language model: its server, an answer, a tool call and its context."""

import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from assistant.app.model_access import chat_server, why_no_local_model
from assistant.brains.slots import LOCAL
from assistant.doctor.daemon import Scene
from assistant.doctor.finding import (
    Check,
    Finding,
    Found,
    Watch,
    bad,
    examine,
    good,
    odd,
    unwatched,
)
from integrations.chat.client import ChatClient
from integrations.errors import IntegrationError, Misconfigured, Retired
from integrations.gemini.declarations import Declaration
from integrations.gemini.once import OnceCalls

# Tokens for the instruction (up to 4,000), the tools (about 1,500), results and the answer.
CONTEXT = 8_192
_LONGER = (
    f"start Ollama with OLLAMA_CONTEXT_LENGTH={CONTEXT}, llama.cpp with -c {CONTEXT}, or vLLM with "
    f"--max-model-len {CONTEXT}"
)
_MOST_NAMES = 10
_READY = Declaration("ready", "Reports that you are ready.", None, ())


async def examine_local(scene: Scene, watch: Watch = unwatched) -> list[Finding]:
    """Return the findings about the local model, or [] if `brain.order` doesn't list it."""
    if LOCAL not in scene.settings.brain.order:
        return []
    return await examine(CHECKS, scene, watch)


async def _look(scene: Scene) -> Found:
    settings = scene.settings
    if why := why_no_local_model(settings):
        return bad("not used", why)
    async with aclosing(ChatClient(chat_server(settings))) as client:
        try:
            began = time.monotonic()
            calls = await _ask(client)
            seconds = time.monotonic() - began
        except Retired as error:
            return bad(str(error), f"it has {', '.join(await _names(client)) or 'no model'}")
        except Misconfigured as error:
            return bad("cannot be used as it is set up", str(error))
        except IntegrationError as error:
            return bad("does not answer", str(error))
        return judge_local(settings.local.model, calls, seconds, await _context(client))


def judge_local(model: str, calls: bool, seconds: float, context: int | None) -> Found:
    """Judge a model that answered after `seconds`. `calls` is True if it called the tool. `context`
    is in tokens, or None if unknown."""
    told = f"{model} answers within {seconds:.1f} s"
    if not calls:
        return odd(
            f"{told}, but didn't call the tool that it was asked to call",
            "set local.model to a model that supports tools",
        )
    if context is not None and context < CONTEXT:
        short = f"{told}, but its context of {context} tokens may be too short for your house"
        return odd(short, f"{_LONGER}; otherwise, the model may miss its instruction or its tools")
    return good(f"{told} and calls tools")


async def _ask(client: ChatClient) -> bool:
    conversation = client.converse("You are testing a tool.", (_READY,))
    conversation.read("Call the tool `ready` now.")
    async with aclosing(conversation.stream()) as events:
        return any([isinstance(event, OnceCalls) async for event in events])


async def _names(client: ChatClient) -> Sequence[str]:
    rows = (await _read(client, "/models")).get("data")
    found = [row.get("id") for row in _objects(rows)]
    return [one[:100] for one in found if isinstance(one, str)][:_MOST_NAMES]


async def _context(client: ChatClient) -> int | None:
    """Return the model's context length as vLLM, Ollama or llama.cpp reports it, or None."""
    model = client.server.model
    vllm = _objects((await _read(client, "/models")).get("data"))
    ollama = _objects((await _read(client, "/api/ps", of_api=False)).get("models"))
    props = (await _read(client, "/props", of_api=False)).get("default_generation_settings")
    sizes = [row.get("max_model_len") for row in vllm if row.get("id") == model]
    sizes += [row.get("context_length") for row in ollama if _is(row.get("name"), model)]
    sizes += [row.get("n_ctx") for row in _objects([props])]
    return next((one for one in sizes if isinstance(one, int)), None)


def _is(name: object, model: str) -> bool:
    return name in (model, f"{model}:latest")  # Ollama adds the tag


def _objects(rows: object) -> list[dict[str, Any]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


async def _read(client: ChatClient, path: str, *, of_api: bool = True) -> dict[str, Any]:
    try:
        return await client.read(path, of_api=of_api)
    except IntegrationError:
        return {}  # each server has only some of these paths


CHECKS: tuple[Check[Scene], ...] = (Check("local model", _look, limit_s=60.0),)
