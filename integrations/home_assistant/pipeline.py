"""Speech to text by the home's own pipelines: `assist_pipeline/run`, its first stage alone.

Seen of Home Assistant 2026.11.0; a user without admin rights may list pipelines and run them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from integrations.errors import IntegrationError, Refused, Unavailable, first_of
from integrations.home_assistant.commands import Commands, LiveLink
from integrations.home_assistant.shapes import mapping
from integrations.home_assistant.websocket import Stream
from integrations.owner import OwnedTasks

RATE = 16_000  # Hz; mono int16
PIECE_BYTES = RATE // 10 * 2  # 100 ms
TRANSCRIPT_S = 10.0  # from the end of the sound to its text
_NOTHING_SAID = "stt-no-text-recognized"


class Streams(LiveLink, Protocol):
    """A connection that carries sound too (`integrations.home_assistant.client.HomeAssistant`)."""

    def stream(self, kind: str, **fields: Any) -> AbstractAsyncContextManager[Stream]:
        """A command that takes bytes. Raises IntegrationError."""
        ...


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One of the home's pipelines that has a recogniser."""

    pipeline_id: str
    language: str  # that it is told to hear


async def list_pipelines(home: Commands) -> tuple[Pipeline, ...]:
    """Those with a recogniser, the preferred one first; none without the integration.

    Raises Unavailable.
    """
    try:
        answer = await home.command("assist_pipeline/pipeline/list")
    except Refused:
        return ()
    try:
        preferred = answer.get("preferred_pipeline")
        rows = sorted(answer["pipelines"], key=lambda row: row["id"] != preferred)
        return tuple(
            Pipeline(str(row["id"]), str(row.get("stt_language") or row["language"]))
            for row in rows
            if row.get("stt_engine")
        )
    except (AttributeError, KeyError, TypeError):
        raise Unavailable("Home Assistant lists its pipelines in an unknown form.") from None


def fitting(
    pipelines: Sequence[Pipeline], language: str, languages: Sequence[str]
) -> tuple[Pipeline, ...]:
    """Those that hear `language`, the nearest first; else the preferred one, if it hears one of
    `languages`. A recogniser of another language would write down what nobody said."""
    exact = [one for one in pipelines if _plain(one.language) == _plain(language)]
    near = [one for one in pipelines if _base(one.language) == _base(language)]
    known = {_base(code) for code in languages}
    other = [one for one in pipelines[:1] if _base(one.language) in known]
    return tuple(dict.fromkeys([*exact, *near] or other))


async def transcribe(
    home: Streams,
    pipeline: Pipeline,
    sound: AsyncIterator[bytes],
    device_id: str | None = None,
    limit_s: float = TRANSCRIPT_S,
) -> str:
    """The text of `sound` (16 kHz mono int16, sent as it comes), "" where nothing was said.

    Raises Refused (no such engine, or it failed) and Unavailable (the home is gone, or too slow).
    """
    run = home.stream(
        "assist_pipeline/run",
        start_stage="stt",
        end_stage="stt",
        # The end of the sentence is ours to tell.
        input={"sample_rate": RATE, "no_vad": True},
        pipeline=pipeline.pipeline_id,
        device_id=device_id,
    )
    failure: IntegrationError | None = None
    text = ""
    try:
        async with run as stream, asyncio.timeout(None) as limit, OwnedTasks() as tasks:

            def sent() -> None:
                limit.reschedule(asyncio.get_running_loop().time() + limit_s)

            tasks.start(_send(stream, sound, sent), "speech to Home Assistant")
            text = await _transcript(stream)
    except* IntegrationError as group:
        failure = first_of(group)
    except* TimeoutError:
        failure = Unavailable("Home Assistant's speech recognition did not answer in time.")
    if failure is not None:
        raise failure
    return text


async def _send(stream: Stream, sound: AsyncIterator[bytes], sent: Callable[[], None]) -> None:
    """All of it in small pieces, then the mark of its end."""
    async for chunk in sound:
        for start in range(0, len(chunk), PIECE_BYTES):
            await stream.send(chunk[start : start + PIECE_BYTES])
    await stream.send(b"")
    sent()


async def _transcript(stream: Stream) -> str:
    async for event in stream:
        data = mapping(event.get("data"))
        if event.get("type") == "stt-end":
            return str(mapping(data.get("stt_output")).get("text") or "").strip()
        if event.get("type") == "error":
            code, message = data.get("code"), str(data.get("message", "no reason given"))[:200]
            if code == _NOTHING_SAID:
                return ""
            raise Refused(f"Home Assistant could not recognise the speech: {message}.")
        if event.get("type") == "run-end":
            break
    raise Refused("Home Assistant ended its speech recognition without a text.")


def _plain(code: str) -> str:
    return code.replace("_", "-").lower()


def _base(code: str) -> str:
    return _plain(code).split("-")[0]
