"""Mute the microphone until the person unmutes it, whatever happens.

While muted, the device itself is closed and nothing that was heard counts. The state is on the disk
before it is acknowledged, so it survives a restart and an unplugged device.
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

# Tones for a person in the middle of a conversation when the microphone goes.
#
# Nothing is played otherwise: a microphone that fails at night must wake nobody.


BACK_S = 60.0  # seconds after the loss in which its return interests the person who was speaking
GONE_TONE, BACK_TONE = "error", "unmute"  # sounds of `audio.earcons`

_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_UNHEARD = (MicrophoneStatus.SILENT, MicrophoneStatus.CLOSED)
_WITH_SOMEBODY = (State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP)

_log = logging.getLogger(__name__)


class MicrophoneTones:
    """Play tones when the microphone is lost or comes back during a conversation.

    Pass `stand` every change of the conversation's standing, and enter the context to hear the
    tones. A person who is speaking, or is being waited for, when the microphone is lost hears a
    rising tone when it is back. The turn's own words report the loss; a tone does so only during
    the wait for an answer, which ends without words.
    """

    def __init__(
        self, sound: Callable[[str], Awaitable[None]], clock: Clock, standing: Standing
    ) -> None:
        """`sound` plays a sound of `audio.earcons`; `standing` is the current state."""
        self._sound = sound
        self._clock = clock
        self._before = standing
        self._gone_at: float | None = None  # set while somebody waits for it
        self._unheard = False  # silent or closed, and not heard since
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._owner.__aexit__(*error)

    def stand(self, standing: Standing) -> None:
        """Handle a change of the conversation's state, for the runner's `observe`."""
        before, self._before = self._before, standing
        self._log_return(standing.microphone)
        if standing.muted or (standing.state in _WITH_SOMEBODY and not _gone(standing)):
            self._gone_at = None  # muted by the person, or they are speaking and heard
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
            _log.info("the microphone is on again")

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
    """Return True once the microphone is heard and the words about its loss are over."""
    return standing.microphone is MicrophoneStatus.LISTENING and standing.state is State.IDLE


NAME = "microphone_muted"  # key in the store
MUTE, UNMUTE = "mute", "unmute"  # sounds of `audio.earcons`


class Mute:
    """Mute the microphone and remember it. Call `load` before anything is listened to."""

    def __init__(
        self,
        kept: SmallValues,
        mute: Callable[[bool], None],
        sound: Callable[[str], Awaitable[None]] | None = None,
        opening: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`kept` is the store. `mute` makes the conversation stop listening, or listen again.

        `sound` plays a sound of `audio.earcons`. `opening` plays the tone before a program opens
        the microphone and returns False if it was not played; None if nobody would hear it.
        """
        self._kept = kept
        self._mute = mute
        self._sound = sound
        self._opening = opening
        self._pause: Callable[[bool], None] = lambda on: None
        self.on = False  # muted
        self._unkept = False  # the stored state is not the current one
        self._busy = asyncio.Lock()

    async def load(self) -> None:
        """Load the state an earlier process has left. If it cannot be read, the microphone is
        muted."""
        try:
            value = await self._kept.kept(NAME)
        except StoreError as error:
            _log.error("Could not read whether the microphone was muted, so it is muted: %s", error)
            self._unkept = True
            value = True
        self._apply(value is not None and value is not False)

    def attach(self, pause: Callable[[bool], None]) -> None:
        """Close the microphone with `pause` from now on, at once if it is muted."""
        self._pause = pause
        pause(self.on)

    async def set(self, on: bool, *, aloud: bool = False) -> None:
        """Mute or unmute. The state is on the disk when this returns, and a sound acknowledges it.

        Muting closes the microphone first; unmuting opens it last. It works even with a full disk,
        but then not beyond a restart, and no sound acknowledges it. Raises StoreError. `aloud`: a
        program wants it, so a tone must be heard before the microphone opens; raises NotPossible if
        it was not.
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
        """Play the opening tone. Raises NotPossible if it was not played."""
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
