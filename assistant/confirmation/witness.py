"""What the person themselves said to a question: heard on this machine, judged by their words."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from assistant.confirmation.digits import read_digits
from assistant.confirmation.forms import Forms
from assistant.confirmation.weigh import weigh
from assistant.domain.outcome import Tier
from assistant.domain.question import Question, Settlement
from audio.errors import AudioError

_log = logging.getLogger(__name__)
RECOGNISE_S = 6.0  # a yes is short; a machine that needs longer has no recogniser for this


class LocalEar(Protocol):
    """The device's own recogniser (`assistant.brains.offline.listen.Listener`)."""

    @property
    def languages(self) -> tuple[str, ...]:
        """What it can hear."""
        ...

    async def transcribe(self, pcm: bytes) -> str:
        """Free text of 16 kHz mono int16. Raises AudioError."""
        ...

    async def spell(self, pcm: bytes) -> str:
        """Digits and nothing else, as words. Raises AudioError."""
        ...


class PinCheck(Protocol):
    """Knows the PIN (`assistant.confirmation.pin.PinGuard`)."""

    async def check(self, digits: str) -> Literal["right", "wrong", "locked"]:
        """Judge one attempt."""
        ...


@dataclass(frozen=True, slots=True)
class Hears:
    """Language codes in which the recogniser can be used, and those in which it is on this box."""

    words: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


class Witness:
    """Settles questions by words. Knows nothing of who asked, and asks no model."""

    def __init__(
        self,
        languages: Sequence[str],
        pin: PinCheck | None,
        ear: Callable[[], Awaitable[LocalEar | None]],
        hears: Hears,
        wake_words: Sequence[str] = (),
    ) -> None:
        """`languages`: those configured; `ear`: the recogniser, made when first needed; `hears`:
        what it will be good for; `wake_words`: an answer may begin with one."""
        self._languages = tuple(languages)
        self._forms = Forms(languages)
        self._pin = pin
        self._ear = ear
        self._hears = hears
        self._wake_words = tuple(word.casefold() for word in wake_words)

    def hears(self, language: str) -> bool:
        """Whether a recogniser of the owner's hears the language."""
        return _is_among(language, self._hears.words)

    def hears_secrets(self, language: str) -> bool:
        """Whether this very machine hears it: the sound of a PIN leaves it for no other."""
        return _is_among(language, self._hears.secrets)

    async def recognise(self, pcm: bytes, language: str) -> str | None:
        """The words, decoded freely; None: nobody here hears this language, or not in time."""
        ear = await self._ear() if self.hears(language) else None
        if ear is None:
            return None
        try:
            async with asyncio.timeout(RECOGNISE_S):
                return await ear.transcribe(pcm)
        except (AudioError, TimeoutError) as error:
            why = str(error) or "too slow"
            _log.warning("an answer could not be heard on this machine: %s", why)
            return None

    def weigh(
        self, question: Question, transcript: str | None, recognised: str | None, by: str
    ) -> Settlement:
        """The verdict on what was said. None: that source does not exist, or came too late."""
        told = None if transcript is None else self._bare(transcript)
        own = None if recognised is None else self._bare(recognised)
        secure = question.tier is Tier.SECURE
        verdict, always = weigh(
            told, own, secure, self._forms, question.object.split(", "), question.text
        )
        return Settlement(verdict, by if verdict == "yes" else "", always)

    async def enter(self, digits: str, by: str) -> Settlement:
        """The verdict on a PIN."""
        if self._pin is None or not digits:
            return Settlement("unclear")
        match await self._pin.check(digits):
            case "right":
                return Settlement("yes", f"pin {by}")
            case "wrong":
                return Settlement("no", why="asking.wrong_pin")
            case _:
                return Settlement("no", why="asking.locked_pin")

    async def spelled(self, pcm: bytes) -> str:
        """The digits that were spoken, "" where none were heard."""
        ear = await self._ear()
        if ear is None:
            return ""
        try:
            async with asyncio.timeout(RECOGNISE_S):
                return read_digits(await ear.spell(pcm), self._languages)
        except (AudioError, TimeoutError) as error:
            _log.warning("a PIN could not be heard on this machine: %s", str(error) or "too slow")
            return ""

    def typed_digits(self, text: str) -> str:
        """The digits of a typed PIN."""
        return read_digits(text, self._languages)

    def _bare(self, text: str) -> str:
        """Without a wake word in front."""
        for word in self._wake_words:
            head, found, rest = text.casefold().partition(word)
            if found and not any(sign.isalnum() for sign in head):
                return rest.lstrip(" ,.!?")
        return text


def _is_among(language: str, codes: Sequence[str]) -> bool:
    return language.partition("-")[0] in {code.partition("-")[0] for code in codes}
