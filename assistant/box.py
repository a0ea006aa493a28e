"""The box as programs see it: how it stands, as that changes, and its buttons."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, Self

from assistant.announcements import KEEP, PREANNOUNCE
from assistant.clock import Clock
from assistant.journal.records import AnnouncementRecord, StoreError, new_id
from assistant.tools.moment import Mode
from assistant.turn.standing import Standing
from audio.speaker_status import Presence, SpeakerChange
from integrations.web.api import AnnounceRequest, NotAnnounced, NotKept
from integrations.web.events import EventLog
from integrations.web.health import Health


class Conversation(Protocol):
    """What is needed of the turn's `Runner`."""

    @property
    def standing(self) -> Standing:
        """How it stands now."""
        ...

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        """Call it with each change; what is returned ends that."""
        ...

    def wake(self) -> bool:
        """Listen as after the wake word; False where that cannot be."""
        ...

    def stop(self) -> None:
        """Silence at once."""
        ...


class Modes(Protocol):
    """Who knows the mode (`assistant.modes.ModeKeeper`)."""

    @property
    def current(self) -> Mode:
        """What holds now."""
        ...

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        """Switch. `until`: aware; None: for good. Raises StoreError."""
        ...


class Announcing(Protocol):
    """Who says what nobody asked for (`assistant.announcements.Announcements`)."""

    async def keep(self, record: AnnouncementRecord) -> bool:
        """Say it, if need be after a restart. False: much waits that is more important. Raises
        StoreError."""
        ...

    def hold(self, record: AnnouncementRecord) -> bool:
        """Say it in this process. False: as `keep`."""
        ...


class Sound(Protocol):
    """Who knows the sound devices (`assistant.sound_state.SoundState`)."""

    @property
    def presence(self) -> Presence | None:
        """Of the loudspeaker, which tells of its changes; None: there is none to look at."""
        ...

    @property
    def loudspeaker(self) -> str:
        """How the loudspeaker stands, in a word."""
        ...

    @property
    def problems(self) -> list[str]:
        """What a person should know of the devices, a sentence each."""
        ...

    @property
    def health(self) -> Health:
        """One word for all."""
        ...

    def report(self) -> Mapping[str, Any]:
        """All of it, with what was counted, as JSON."""
        ...


class Box:
    """Implements `integrations.web.api.Box` on the conversation, while its context is open."""

    def __init__(
        self,
        conversation: Conversation,
        mute: Callable[[bool], Awaitable[None]],
        modes: Modes,
        clock: Clock,
        sound: Sound | None = None,
        announcing: Announcing | None = None,
    ) -> None:
        """`mute`: keeps it and carries it out; raises StoreError. `sound`: None where no device is
        meant to be told of. `announcing`: None where nothing is said unasked."""
        self.events = EventLog()
        self._conversation = conversation
        self._mute = mute
        self._modes = modes
        self._clock = clock
        self._sound = sound
        self._announcing = announcing
        self._leave: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        self._leave = self._conversation.observe(
            lambda standing: self.events.tell("state", self._as_json(standing))
        )
        if self._sound is not None and self._sound.presence is not None:
            self._sound.presence.on_change = self._loudspeaker_changed
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        if self._sound is not None and self._sound.presence is not None:
            self._sound.presence.on_change = lambda change: None

    def state(self) -> Mapping[str, Any]:
        state = self._as_json(self._conversation.standing)
        if self._sound is None:
            return state
        return {**state, "health": self._sound.health, "sound": self._sound.report()}

    async def mute(self, on: bool) -> None:
        with _told("It holds now"):
            await self._mute(on)

    async def set_mode(self, mode: str, minutes: int | None) -> None:
        until = None if minutes is None else self._clock.now() + timedelta(minutes=minutes)
        try:
            with _told("The mode holds now"):
                await self._modes.set(Mode(mode), until)
        finally:
            self.events.tell("state", self._as_json(self._conversation.standing))

    def listen(self) -> bool:
        return self._conversation.wake()

    def stop(self) -> None:
        self._conversation.stop()

    async def announce(self, wanted: AnnounceRequest) -> str:
        if self._announcing is None:
            raise NotAnnounced("Nothing is announced by this process.")
        record = _record_of(wanted, self._clock.now())
        if wanted.persist:
            try:
                taken = await self._announcing.keep(record)
            except StoreError as error:
                raise NotKept(f"It is not announced, since it cannot be kept: {error}") from error
        else:
            taken = self._announcing.hold(record)
        if not taken:
            raise NotAnnounced(
                "It is not announced: what waits already is as important, or more so."
            )
        return record.id

    def _as_json(self, standing: Standing) -> dict[str, Any]:
        """The words are those of the enums, in small letters. What is told of every change: what
        changes all the time is only in `state`."""
        state = {
            "state": standing.state.name.lower(),
            "muted": standing.muted,
            "microphone": standing.microphone.name.lower(),
            "mode": str(self._modes.current),
        }
        if self._sound is None:
            return state
        return {
            **state,
            "loudspeaker": self._sound.loudspeaker,
            "problems": self._sound.problems,
        }

    def _loudspeaker_changed(self, change: SpeakerChange) -> None:
        self.events.tell("state", self._as_json(self._conversation.standing))


def _record_of(wanted: AnnounceRequest, now: datetime) -> AnnouncementRecord:
    length = KEEP if wanted.expire_s is None else timedelta(seconds=wanted.expire_s)
    options: dict[str, Any] = {"priority": wanted.priority}
    if wanted.preannounce:
        options["sound"] = PREANNOUNCE
    if wanted.volume is not None:
        options["volume"] = wanted.volume
    if wanted.language is not None:
        options["language"] = wanted.language
    return AnnouncementRecord(new_id(now), wanted.text, now, now + length, options)


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise NotKept(f"{what}, but not over a restart: {error}") from error
