"""Run another framework's text filters in its own environment, without Hearth.

    python _filters.py pipecat-ai|livekit-agents PASSES < TEXTS

A JSON list of texts comes in; the version of the package, what its filters make of each text and
the CPU ms of each pass over all of them go out, as one line of JSON, the last line there is.
"""

import asyncio
import importlib
import importlib.metadata
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any


async def pipecat(texts: list[str]) -> list[str]:
    """Return the input of a speech service with `text_transforms=[("*", formatter)]`."""
    transforms: Any = importlib.import_module("pipecat.utils.text.transforms")
    formatter = transforms.VoiceFormatter(expand_numbers=True)
    return [await formatter(text, "sentence") for text in texts]


async def livekit(texts: list[str]) -> list[str]:
    """Return the output of the two filters that an agent's session has by default."""
    filters: Any = importlib.import_module("livekit.agents.voice.transcription.filters")
    spoken = []
    for text in texts:
        pieces = filters.filter_emoji(filters.filter_markdown(_one(text)))
        spoken.append("".join([piece async for piece in pieces]))
    return spoken


async def _one(text: str) -> AsyncIterator[str]:
    yield text


async def repeated(
    filters: Callable[[list[str]], Awaitable[list[str]]], texts: list[str], passes: int
) -> tuple[list[str], list[float]]:
    """Return the filters' output for the texts, and the ms of each pass; the first one loads."""
    spoken, taken = await filters(texts), []
    for _ in range(passes):
        began = time.process_time()
        await filters(texts)
        taken.append((time.process_time() - began) * 1000)
    return spoken, taken


def main(package: str, passes: int) -> None:
    """Answer for one package. Raises KeyError for an unknown one."""
    filters = {"pipecat-ai": pipecat, "livekit-agents": livekit}[package]
    spoken, taken = asyncio.run(repeated(filters, json.load(sys.stdin), passes))
    version = importlib.metadata.version(package)
    print(json.dumps({"version": version, "spoken": spoken, "ms": taken}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
