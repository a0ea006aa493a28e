"""A Wyoming speech-to-text server with scripted texts, which keeps the sound.

Protocol: one JSON line per event with `data_length` and `payload_length`, as the wyoming package
reads and writes it; Home Assistant sends `describe` at its set-up and opens one connection for each
transcription.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from wyoming.error import Error
from wyoming.event import Event, async_read_event, async_write_event

HEARD_S = 10.0  # for a sentence that the test expects
_FORMAT = {"rate": 16_000, "width": 2, "channels": 1}
# For a program and for a model. Made here, because `wyoming.info` imports audioop, which warns and
# was removed in Python 3.13.
_ABOUT = {
    "attribution": {"name": "", "url": ""},
    "installed": True,
    "description": "",
    "version": "1",
}


@dataclass(slots=True)
class Transcription:
    """A sentence as received."""

    language: str | None
    pcm: bytearray = field(default_factory=bytearray)  # 16 kHz mono int16
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure instead of a text: an error event, or without a reason a closed connection."""

    reason: str = ""


Script = Callable[[Transcription], str | Failure | None]


class WyomingStt:
    """A server on a loopback port. `script` gives the text; None: it never answers."""

    def __init__(self, script: Script, *languages: str, port: int = 0) -> None:
        self._script = script
        self._languages = list(languages) or ["en"]
        self._given_port = port
        self.heard: list[Transcription] = []
        self.described = 0
        self._server: asyncio.Server | None = None
        self._news = asyncio.Event()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._given_port)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()

    def say(self, script: Script) -> None:
        """Use another script from now on."""
        self._script = script

    async def until(self, sentences: int) -> None:
        """Return when that many sentences have ended."""
        async with asyncio.timeout(HEARD_S):
            while len(self.heard) < sentences:
                await self._news.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sentence = Transcription(None)
        try:
            while (event := await async_read_event(reader)) is not None:
                match event.type:
                    case "describe":
                        self.described += 1
                        await async_write_event(self._info(), writer)
                    case "transcribe":
                        sentence = Transcription((event.data or {}).get("language"))
                    case "audio-start":
                        assert event.data is not None
                        assert event.data.items() >= _FORMAT.items(), event.data
                    case "audio-chunk":
                        sentence.pcm += event.payload or b""
                        sentence.chunks += 1
                    case "audio-stop":
                        await self._answer(sentence, reader, writer)
                        return
                    case other:
                        raise AssertionError(f"an event that no recogniser expects: {other}")
        except ConnectionError:
            return  # the client went
        finally:
            writer.close()

    async def _answer(
        self, sentence: Transcription, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.heard.append(sentence)
        self._news.set()
        self._news = asyncio.Event()
        answer = self._script(sentence)
        if answer is None:
            await reader.read()  # until the client closes
        elif isinstance(answer, Failure):
            if answer.reason:
                await async_write_event(Error(text=answer.reason).event(), writer)
        else:
            await async_write_event(Event("transcript", {"text": answer}), writer)

    def _info(self) -> Event:
        model = {"name": "test", "languages": self._languages, **_ABOUT}
        program = {"name": "Test recogniser", "models": [model], **_ABOUT}
        return Event("info", {"asr": [program]})
