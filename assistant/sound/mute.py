"""Muting of the microphone, which lasts until it is unmuted, even across a restart. While muted,
the device is closed and any audio that is still arriving is ignored."""

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

# Tones for a user whose microphone fails in the middle of a conversation.
#
# At other times nothing is played: a microphone that fails at night must not wake anybody.


BACK_S = 60.0  # seconds for which the user may still be waiting for a lost microphone
GONE_TONE, BACK_TONE = "error", "unmute"  # earcons of `audio.earcons`

_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_UNHEARD = (MicrophoneStatus.SILENT, MicrophoneStatus.CLOSED)
_WITH_SOMEBODY = (State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP)

_log = logging.getLogger(__name__)


class MicrophoneTones:
    """Plays tones when the microphone is lost or returns during a conversation. Call `stand` on
    every change of the conversation's state, and use this as a context manager.

    A tone signals the loss only if Hearth was waiting for a follow-up; otherwise, the turn itself
    announces it.
    """

    def __init__(
        self, sound: Callable[[str], Awaitable[None]], clock: Clock, standing: Standing
    ) -> None:
        """`sound` plays an earcon of `audio.earcons` by name. `standing` is the current state."""
        self._sound = sound
        self._clock = clock
        self._before = standing
        self._gone_at: float | None = None  # when it was lost; set while the user waits for it
        self._unheard = False  # it was silent or closed and has not worked since
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._owner.__aexit__(*error)

    def stand(self, standing: Standing) -> None:
        before, self._before = self._before, standing
        self._log_return(standing.microphone)
        if standing.muted or (standing.state in _WITH_SOMEBODY and not _gone(standing)):
            self._gone_at = None  # the user muted it, or is speaking and can be heard
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
    return standing.microphone is MicrophoneStatus.LISTENING and standing.state is State.IDLE


NAME = "microphone_muted"  # key in the store
MUTE, UNMUTE = "mute", "unmute"  # earcons of `audio.earcons`


class Mute:
    """Mutes the microphone and saves that state. Call `load` before listening starts."""

    def __init__(
        self,
        kept: SmallValues,
        mute: Callable[[bool], None],
        sound: Callable[[str], Awaitable[None]] | None = None,
        opening: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`mute` makes the conversation stop or resume listening. `sound` plays an earcon of
        `audio.earcons` by name. `opening` plays the warning tone before a program unmutes the
        microphone, and returns False if it could not be played. Without `opening`, programs can't
        unmute."""
        self._kept = kept
        self._mute = mute
        self._sound = sound
        self._opening = opening
        self._pause: Callable[[bool], None] = lambda on: None
        self.on = False  # True while muted
        self._unkept = False  # the current state is not saved
        self._busy = asyncio.Lock()

    async def load(self) -> None:
        """Load the state that an earlier process saved. If it can't be read, mute the
        microphone."""
        try:
            value = await self._kept.kept(NAME)
        except StoreError as error:
            _log.error("Could not read whether the microphone was muted, so it is muted: %s", error)
            self._unkept = True
            value = True
        self._apply(value is not None and value is not False)

    def attach(self, pause: Callable[[bool], None]) -> None:
        """Set the function that closes (True) or reopens (False) the microphone, and
        call it now."""
        self._pause = pause
        pause(self.on)

    async def set(self, on: bool, *, aloud: bool = False) -> None:
        """Mute or unmute, save the state to disk and play a tone.

        If saving fails, the change still takes effect but does not survive a restart, and
        StoreError is raised. `aloud` is for requests from programs: a tone is played before the
        microphone opens, and NotPossible is raised if that fails.
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
        if self._opening is None or not await self._opening():
            raise NotPossible(
                "The microphone stays muted: the tone that announces that a program opens it "
                "cannot be heard."
            )

    async def _acknowledge(self) -> None:
        if self._sound is None:
            return
        try:
            await self._sound(MUTE if self.on else UNMUTE)
        except AudioError as error:
            _log.warning("the mute sound could not be played: %s", error)
