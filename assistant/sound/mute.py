"""The closed microphone: a person's word that holds until they take it back, whatever happens.

Muted, the device itself is closed, and nothing that was heard counts. It is on the disk before it
is acknowledged, so it holds over a restart and over a lost plug.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from assistant.domain.records import StoreError
from assistant.tools.modes import Kept
from audio.errors import AudioError
from integrations.web.box import NotPossible

NAME = "microphone_muted"  # under which it is kept
MUTE, UNMUTE = "mute", "unmute"  # sounds of `audio.earcons`

_log = logging.getLogger(__name__)


class Device(Protocol):
    """The microphone (`audio.steady.SteadyMicrophone`)."""

    def pause(self, on: bool) -> None:
        """Close the device, or open it again. Returns at once."""
        ...


class Conversation(Protocol):
    """Who hears (`assistant.conversation.runner.Runner`)."""

    def mute(self, on: bool) -> None:
        """Listen to nothing, or listen again. What is under way ends as the turn's rules say."""
        ...


class Mute:
    """Mutes and remembers. Call `load` before anything is listened to."""

    def __init__(
        self,
        kept: Kept,
        conversation: Conversation,
        sound: Callable[[str], Awaitable[None]] | None = None,
        opening: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`kept`: the store; `sound`: plays a sound of `audio.earcons`; `opening`: the tone before
        a microphone that a program opens, False: it did not sound; None: nobody would hear."""
        self._kept = kept
        self._conversation = conversation
        self._sound = sound
        self._opening = opening
        self._device: Device | None = None
        self._on = False
        self._unkept = False  # the disk does not know what holds
        self._busy = asyncio.Lock()

    @property
    def on(self) -> bool:
        """Nothing is listened to."""
        return self._on

    async def load(self) -> None:
        """Take up what an earlier process has left. Where that cannot be read it is muted."""
        try:
            value = await self._kept.kept(NAME)
        except StoreError as error:
            _log.error("Whether the microphone was muted cannot be read, so it is: %s", error)
            self._unkept = True
            value = True
        self._apply(value is not None and value is not False)

    def attach(self, device: Device) -> None:
        """From now on this is the microphone; it is closed at once where it is muted."""
        self._device = device
        device.pause(self._on)

    async def set(self, on: bool, *, aloud: bool = False) -> None:
        """Mute, or listen again; on the disk when this returns, and then acknowledged by a sound.

        It closes first and opens last. It holds even where the disk is full, but then not over a
        restart, and no sound says that it is done. Raises StoreError. `aloud`: a program wants it,
        so nothing opens before a tone was heard: raises NotPossible where it was not.
        """
        async with self._busy:
            if on is self._on and not self._unkept:
                return
            changes = on is not self._on
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
        self._on = on
        if self._device is not None:
            self._device.pause(on)
        self._conversation.mute(on)

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
            await self._sound(MUTE if self._on else UNMUTE)
        except AudioError as error:
            _log.warning("the sound of muting could not be played: %s", error)
