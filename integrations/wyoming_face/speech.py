"""Our own voice as a speech service of Home Assistant: a text comes, its sound goes back."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Protocol

from wyoming.event import Event

from integrations.web.requests import LONGEST_TEXT
from integrations.wyoming_face.session import CHANNELS, WIDTH, DescribedSession

_CHUNK_BYTES = 8_192
_BUSY = "One text at a time, on one connection."

_log = logging.getLogger(__name__)


class NotSpoken(Exception):
    """The voice cannot say it; one sentence."""


class Speech(Protocol):
    """Whose voice it is."""

    def speak(self, text: str, voice: str) -> AsyncGenerator[tuple[bytes, int]]:
        """Mono int16 in pieces, each with its rate in Hz, the same for all.

        `voice`: one that was told of, or "". Raises NotSpoken.
        """
        ...


class SpeechSession(DescribedSession):
    """One connection: it asks what there is, or has one text spoken after the other."""

    def __init__(
        self, send: Callable[[Event], Awaitable[None]], info: Event, speech: Speech
    ) -> None:
        super().__init__(send, info)
        self._speech = speech
        self._speaks = False

    async def _serve(self, event: Event) -> None:
        if event.type == "synthesize":
            await self._synthesize(event.data)

    async def _synthesize(self, data: dict[str, Any]) -> None:
        text, voice = data.get("text"), data.get("voice")
        name = voice.get("name") if isinstance(voice, dict) else None
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
            await self._refuse(f"Send a text of at most {LONGEST_TEXT} characters.")
        elif self._speaks:
            await self._refuse(_BUSY)
        else:
            self._speaks = True
            voice_name = name if isinstance(name, str) else ""
            # A task, so that a connection that is gone ends the work.
            self._tasks.start(self._speak(text, voice_name), "wyoming speech")

    async def _speak(self, text: str, voice: str) -> None:
        try:
            try:
                await self._send_sound(text, voice)
            except NotSpoken as error:
                await self._refuse(str(error))
        except OSError as error:
            _log.debug("nobody waits for the speech any more: %s", error)
        finally:
            self._speaks = False

    async def _send_sound(self, text: str, voice: str) -> None:
        rate = 0
        async with aclosing(self._speech.speak(text, voice)) as sound:
            async for pcm, given in sound:
                if not rate:
                    rate = given
                    await self._send(Event("audio-start", _form(rate)))
                for start in range(0, len(pcm), _CHUNK_BYTES):
                    chunk = pcm[start : start + _CHUNK_BYTES]
                    await self._send(Event("audio-chunk", _form(rate), chunk))
        if not rate:
            raise NotSpoken("There is nothing in it to be spoken.")
        await self._send(Event("audio-stop"))

    async def _refuse(self, sentence: str) -> None:
        await self._send(Event("error", {"text": sentence, "code": "not_spoken"}))


def _form(rate: int) -> dict[str, Any]:
    return {"rate": rate, "width": WIDTH, "channels": CHANNELS}
