"""Runs in another framework's own environment, where nothing of Hearth is.

    python _peer_filters.py pipecat-ai|livekit-agents < TEXTS

A JSON list of texts comes in; the version of the package and what its filters make of each text go
out, as one line of JSON, the last line there is.
"""

import asyncio
import importlib
import importlib.metadata
import json
import sys
from collections.abc import AsyncIterator
from typing import Any


async def pipecat(texts: list[str]) -> list[str]:
    """What a speech service with `text_transforms=[("*", formatter)]` would be given."""
    transforms: Any = importlib.import_module("pipecat.utils.text.transforms")
    formatter = transforms.VoiceFormatter(expand_numbers=True)
    return [await formatter(text, "sentence") for text in texts]


async def livekit(texts: list[str]) -> list[str]:
    """What the two filters leave that an agent's session has unless it is told otherwise."""
    filters: Any = importlib.import_module("livekit.agents.voice.transcription.filters")
    spoken = []
    for text in texts:
        pieces = filters.filter_emoji(filters.filter_markdown(_one(text)))
        spoken.append("".join([piece async for piece in pieces]))
    return spoken


async def _one(text: str) -> AsyncIterator[str]:
    yield text


def main(package: str) -> None:
    """Answer for one package; KeyError when it is another one."""
    filters = {"pipecat-ai": pipecat, "livekit-agents": livekit}[package]
    spoken = asyncio.run(filters(json.load(sys.stdin)))
    print(json.dumps({"version": importlib.metadata.version(package), "spoken": spoken}))


if __name__ == "__main__":
    main(sys.argv[1])
