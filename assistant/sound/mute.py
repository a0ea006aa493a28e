"""The closed microphone: a person's word that holds until they take it back, whatever happens.

Muted, the device itself is closed, and nothing that was heard counts. It is on the disk before it
is acknowledged, so it holds over a restart and over a lost plug.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Self

from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError
from audio.device_status import MicrophoneStatus
from audio.errors import AudioError
from integrations.owner import OwnedTasks
from integrations.web.box import NotPossible

# Tones for somebody who is in the middle of a conversation when the microphone goes.
#
# Nobody else is told aloud: a microphone that comes and goes at night wakes nobody.


BACK_S = (
    60.0  # after its loss, the return interests whoever was speaking; later nobody waits for it
)
GONE_TONE, BACK_TONE = "error", "unmute"  # sounds of `audio.earcons`

_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_UNHEARD = (MicrophoneStatus.SILENT, MicrophoneStatus.CLOSED)
_WITH_SOMEBODY = (State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP)

_log = logging.getLogger(__name__)


class MicrophoneTones:
    """Give `stand` every change of the conversation's standing; enter it to hear the tones.

    Whoever is speaking, or is waited for, when the microphone goes hears a rising tone when it is
    back. Its loss itself is told by the turn's own words; only the wait for an answer, which no
    words would end, is ended by a tone.
    """

    def __init__(
        self, sound: Callable[[str], Awaitable[None]], clock: Clock, standing: Standing
    ) -> None:
        """`sound` plays a sound of `audio.earcons`; `standing`: how it stands now."""
        self._sound = sound
        self._clock = clock
        self._before = standing
        self._gone_at: float | None = None  # while somebody waits for it
        self._unheard = False  # it was silent or closed, and has not been heard since
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._owner.__aexit__(*error)

    def stand(self, standing: Standing) -> None:
        """It stands so now (`observe` of the runner)."""
        before, self._before = self._before, standing
        self._log_return(standing.microphone)
        if standing.muted or (standing.state in _WITH_SOMEBODY and not _gone(standing)):
            self._gone_at = None  # by the person's own wish; or they speak, and are heard
        elif _gone(standing) and not _gone(before) and before.state in _WITH_SOMEBODY:
            self._gone_at = self._clock.monotonic()
            if before.state is State.FOLLOW_UP:
                self._play(GONE_TONE)
        elif self._gone_at is not None and _is_back(standing):
            waited_s = self._clock.monotonic() - self._gone_at
            self._gone_at = None
            if waited_s <= BACK_S:
                self._play(BACK_TONE)

    def _log_return(self, microphone: MicrophoneStatus) -> None:
        if microphone in _UNHEARD:
            self._unheard = True
        elif microphone is MicrophoneStatus.LISTENING and self._unheard:
            self._unheard = False
            _log.info("the microphone is heard again")

    def _play(self, name: str) -> None:
        self._owner.start(self._try(name), "microphone-tone")

    async def _try(self, name: str) -> None:
        try:
            await self._sound(name)
        except AudioError as error:
            _log.warning("the %s sound could not be played: %s", name, error)


def _gone(standing: Standing) -> bool:
    return standing.microphone in _GONE


def _is_back(standing: Standing) -> bool:
    """Once the words about its loss are over, too."""
    return standing.microphone is MicrophoneStatus.LISTENING and standing.state is State.IDLE


NAME = "microphone_muted"  # under which it is kept
MUTE, UNMUTE = "mute", "unmute"  # sounds of `audio.earcons`


class Mute:
    """Mutes and remembers. Call `load` before anything is listened to."""

    def __init__(
        self,
        kept: SmallValues,
        mute: Callable[[bool], None],
        sound: Callable[[str], Awaitable[None]] | None = None,
        opening: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`kept`: the store; `mute`: makes the conversation deaf, or not; `sound`: plays a sound of
        `audio.earcons`; `opening`: the tone before
        a microphone that a program opens, False: it did not sound; None: nobody would hear."""
        self._kept = kept
        self._mute = mute
        self._sound = sound
        self._opening = opening
        self._pause: Callable[[bool], None] = lambda on: None
        self.on = False  # nothing is listened to
        self._unkept = False  # the disk does not know what holds
        self._busy = asyncio.Lock()

    async def load(self) -> None:
        """Take up what an earlier process has left. Where that cannot be read it is muted."""
        try:
            value = await self._kept.kept(NAME)
        except StoreError as error:
            _log.error("Whether the microphone was muted cannot be read, so it is: %s", error)
            self._unkept = True
            value = True
        self._apply(value is not None and value is not False)

    def attach(self, pause: Callable[[bool], None]) -> None:
        """Close the microphone by `pause` from now on, at once where it is muted."""
        self._pause = pause
        pause(self.on)

    async def set(self, on: bool, *, aloud: bool = False) -> None:
        """Mute, or listen again; on the disk when this returns, and then acknowledged by a sound.

        It closes first and opens last. It holds even where the disk is full, but then not over a
        restart, and no sound says that it is done. Raises StoreError. `aloud`: a program wants it,
        so nothing opens before a tone was heard: raises NotPossible where it was not.
        """
        async with self._busy:
            if on is self.on and not self._unkept:
                return
            changes = on is not self.on
            if changes and aloud and not on:
                await self._announce_opening()
            if on:
                self._apply(True)
            self._unkept = True
            try:
                await self._kept.keep(NAME, on)
                self._unkept = False
            finally:
                if not on:
                    self._apply(False)
            if changes and (on or not aloud):
                await self._acknowledge()

    def _apply(self, on: bool) -> None:
        self.on = on
        self._pause(on)
        self._mute(on)

    async def _announce_opening(self) -> None:
        """Raises NotPossible."""
        if self._opening is None or not await self._opening():
            raise NotPossible(
                "It stays muted: the tone before a microphone that a program opens cannot be heard."
            )

    async def _acknowledge(self) -> None:
        if self._sound is None:
            return
        try:
            await self._sound(MUTE if self.on else UNMUTE)
        except AudioError as error:
            _log.warning("the sound of muting could not be played: %s", error)
