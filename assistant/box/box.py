"""The box as programs see it: how it stands, as that changes, and what they may ask of it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from assistant.box.parts import Parts
from assistant.clock import Clock
from assistant.happenings import Happening, Happenings
from assistant.journal.records import StoreError
from assistant.tools.moment import Mode
from assistant.tools.rights import CALLERS
from assistant.turn.record import as_json
from assistant.turn.standing import Standing
from audio.speaker_status import SpeakerChange
from integrations.web.box import NotKept, Unknown
from integrations.web.callers import Caller
from integrations.web.events import EventLog
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConfirmRequest,
    ConverseRequest,
    LiveRequest,
    QuestionAnswer,
    QuestionRequest,
    TimerRequest,
)


class Box:
    """Implements `integrations.web.box.Box` on the parts of a process that stays. Enter it."""

    def __init__(self, parts: Parts, happenings: Happenings, clock: Clock) -> None:
        self.events = EventLog()
        self._parts = parts
        self._happenings = happenings
        self._clock = clock
        self._leave: list[Callable[[], None]] = []
        self._examining = asyncio.Lock()

    def __enter__(self) -> Self:
        conversation, sound = self._parts.conversation, self._parts.sound
        self._leave = [
            conversation.observe(lambda standing: self._tell_state()),
            self._happenings.follow(self._on_happening),
        ]
        if sound is not None and sound.presence is not None:
            sound.presence.on_change = self._loudspeaker_changed
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for leave in self._leave:
            leave()
        sound = self._parts.sound
        if sound is not None and sound.presence is not None:
            sound.presence.on_change = lambda change: None

    # --- how it stands

    def state(self) -> Mapping[str, Any]:
        state = {**self._as_json(self._parts.conversation.standing), **self._live()}
        sound = self._parts.sound
        if sound is None:
            return state
        return {**state, "health": sound.health, "sound": sound.report()}

    def live(self) -> Mapping[str, Any]:
        return self._parts.live.as_json()

    def confirmations(self) -> Sequence[Mapping[str, Any]]:
        return self._parts.confirmations.rows()

    async def timers(self) -> Sequence[Mapping[str, Any]]:
        return await self._parts.timers.rows()

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        with _told("It cannot be read now"):
            return await self._parts.records.memories()

    async def turns(self, limit: int) -> Sequence[Mapping[str, Any]]:
        with _told("It cannot be read now"):
            return await self._parts.records.turns(limit)

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        with _told("It cannot be read now"):
            return await self._parts.records.turn(turn_id)

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        async with self._examining:  # one at a time: it loads voices and opens the house anew
            return await self._parts.doctor()

    # --- buttons

    async def mute(self, on: bool, caller: Caller) -> None:
        self._ordered("mute", caller, on=on)
        with _told("It holds now, but not over a restart"):
            await self._parts.mute(on)

    async def set_mode(self, mode: str, minutes: int | None, caller: Caller) -> None:
        self._ordered("mode", caller, mode=mode)
        until = None if minutes is None else self._clock.now() + timedelta(minutes=minutes)
        try:
            with _told("The mode holds now, but not over a restart"):
                await self._parts.modes.set(Mode(mode), until)
        finally:
            self._tell_state()

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        for name in wanted.model_dump(exclude_none=True):
            self._ordered(name, caller)
        try:
            with _told("It holds now, but not over a restart"):
                await self._parts.live.set(wanted)
        finally:
            self._tell_state()

    def listen(self, caller: Caller) -> bool:
        self._pressed("listen", caller)
        return self._parts.conversation.wake(caller=caller.name)

    def stop(self, caller: Caller) -> None:
        self._pressed("stop", caller)
        self._parts.conversation.stop()

    # --- speech

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> str:
        return await self._parts.announcing.announce(wanted, caller)

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        return await self._parts.questions.ask(wanted, caller)

    async def converse(self, wanted: ConverseRequest, caller: Caller) -> str:
        return await self._parts.talks.begin(wanted, caller)

    async def ask(self, wanted: AskRequest, caller: Caller) -> Mapping[str, Any]:
        turn = await self._parts.conversation.ask_quietly(wanted.text, CALLERS, caller.name)
        return as_json(turn.record, turn.outcomes)

    # --- timers, confirmations, memory

    async def set_timer(self, wanted: TimerRequest, caller: Caller) -> Mapping[str, Any]:
        return await self._parts.timers.set(wanted, caller.name)

    async def end_timer(self, timer_id: str, caller: Caller) -> None:
        if not await self._parts.timers.end(timer_id):
            raise Unknown("There is no such timer; see GET /v1/timers.")
        self._ordered("end_timer", caller)

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        return await self._parts.confirmations.settle(name, wanted, caller)

    async def forget(self, caller: Caller) -> int:
        self._ordered("forget", caller)
        with _told("Not all of it is forgotten"):
            return await self._parts.records.forget()

    # --- what is told

    def _ordered(self, what: str, caller: Caller, **more: Any) -> None:
        self._happenings.tell("command", caller=caller.name, what=what, **more)

    def _pressed(self, name: str, caller: Caller) -> None:
        """Whatever comes of it: whoever pressed has shown that they are there."""
        self._ordered(name, caller)
        self._happenings.tell("button", name=name, caller=caller.name)

    def _live(self) -> dict[str, Any]:
        return {"settings": dict(self._parts.live.as_json())}

    def _as_json(self, standing: Standing) -> dict[str, Any]:
        """The words are those of the enums, in small letters. What is told of every change: what
        changes all the time is only in `state`."""
        state = {
            "state": standing.state.name.lower(),
            "muted": standing.muted,
            "microphone": standing.microphone.name.lower(),
            "mode": str(self._parts.modes.current),
        }
        sound = self._parts.sound
        if sound is None:
            return state
        return {**state, "loudspeaker": sound.loudspeaker, "problems": sound.problems}

    def _tell_state(self) -> None:
        self.events.tell(
            "state", {**self._as_json(self._parts.conversation.standing), **self._live()}
        )

    def _loudspeaker_changed(self, change: SpeakerChange) -> None:
        self._tell_state()

    def _on_happening(self, happening: Happening) -> None:
        told = {"turn_id": happening.turn_id, **happening.data, **happening.words}
        self.events.tell(happening.kind, told)


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise NotKept(f"{what}: {error}") from error
