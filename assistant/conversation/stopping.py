"""Stop words by ear: a short piece of sound, decoded freely on this machine."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from assistant.conversation.stop_words import is_stop_word
from audio.errors import AudioError

_log = logging.getLogger(__name__)


class StopListener(Protocol):
    """Hears whether a short piece of speech is a stop word."""

    async def hears_stop(self, pcm: bytes) -> bool:
        """Judge 16 kHz mono int16. Never raises."""
        ...


class DecodedStop:
    """By a recogniser's free text."""

    def __init__(
        self,
        transcribe: Callable[[bytes], Awaitable[str]],
        languages: Sequence[str] = ("en",),
    ) -> None:
        """`transcribe` may raise AudioError. `languages`: of its text; pocketsphinx has English."""
        self._transcribe = transcribe
        self._languages = languages

    async def hears_stop(self, pcm: bytes) -> bool:
        try:
            text = await self._transcribe(pcm)
        except AudioError as error:
            _log.warning("a stop word could not be listened for: %s", error)
            return False
        return is_stop_word(text, self._languages)
