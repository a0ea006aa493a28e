"""A turn's sound to text: by a recogniser of the home, else by the device's own."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from assistant.domain.turn_audio import TurnAudio
from audio.frames import SAMPLES_PER_MS
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.assist import Streams, fitting, list_pipelines, transcribe

_log = logging.getLogger(__name__)
_BEFORE_DETECTION = 200 * SAMPLES_PER_MS  # the command may begin that long before it


class OwnEar(Protocol):
    """The device's own recogniser (`assistant.brains.offline.listen.Listener`)."""

    @property
    def languages(self) -> tuple[str, ...]:
        """What it can hear."""
        ...

    async def transcribe(self, pcm: bytes) -> str:
        """Free text of 16 kHz mono int16. Raises AudioError."""
        ...


@dataclass(frozen=True, slots=True)
class Said:
    """What was heard."""

    text: str  # "" for nothing
    language: str  # that it was listened for


class Ear:
    """Listens while the person speaks, where the home can."""

    def __init__(
        self,
        home: Streams,
        own: Callable[[], Awaitable[OwnEar]],
        languages: Sequence[str],
        device_id: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`own`: made when it is first needed, it may be large; `languages`: the person's."""
        self._home = home
        self._own = own
        self._languages = tuple(languages)
        self._device_id = device_id

    async def hear(self, audio: TurnAudio, language: str) -> Said | None:
        """The sentence's text; None: nobody here hears that language. Raises AudioError."""
        try:
            pipelines = await list_pipelines(self._home)
            for pipeline in fitting(pipelines, language, self._languages):
                try:
                    async with aclosing(_from_command(audio)) as sound:
                        text = await transcribe(self._home, pipeline, sound, self._device_id())
                    return Said(text, pipeline.language)
                except Refused as error:
                    _log.info("a pipeline of the home is passed over: %s", error)
        except Unavailable as error:
            _log.info("the home does not hear: %s", error)
        own = await self._own()
        if not any(_base(code) == _base(language) for code in own.languages):
            return None
        pcm = await audio.complete()
        return Said(await own.transcribe(pcm[2 * _start(audio) :]), language)


async def _from_command(audio: TurnAudio) -> AsyncGenerator[bytes]:
    """The sound as it comes, without what lies well before the detection of the wake word."""
    skip = 2 * _start(audio)
    async with aclosing(audio.stream()) as pieces:
        async for piece in pieces:
            if len(piece) > skip:
                yield piece[skip:]
            skip = max(0, skip - len(piece))


def _start(audio: TurnAudio) -> int:
    """Samples before the command."""
    return max(0, audio.detection - _BEFORE_DETECTION)


def _base(code: str) -> str:
    return code.replace("_", "-").lower().split("-")[0]
