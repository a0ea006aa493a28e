"""The daemon's API for programs: read its state, change it, and start actions."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from assistant.conversation.record import as_json, joined, no_turn
from assistant.conversation.rules.events import AtTerminal
from assistant.conversation.rules.state import Standing
from assistant.domain.brain import Brain, ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.health import word_of
from assistant.domain.tool_call import CALLERS, Mode
from assistant.domain.version import own_version
from assistant.interfaces.api.parts import Parts
from assistant.interfaces.api.taught import TaughtBox, told
from assistant.tools.policy.ratings import Rating
from audio.device_status import MicrophoneStatus, SpeakerChange
from integrations.web.box import (
    Busy,
    Caller,
    EventLog,
    Health,
    Loosening,
    NotPossible,
    Unknown,
)
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConfirmRequest,
    ConverseRequest,
    LiveRequest,
    MarkRequest,
    QuestionAnswer,
    QuestionRequest,
    RateRequest,
    SnoozeRequest,
    TapRequest,
    TimerRequest,
)

_WHO_LOOSENS: Mapping[Loosening, str] = {
    "mode": "Only a person or an administrator's token can make the mode more trusting.",
    "mute": "A person may have muted the microphone: only a person or an administrator's token "
    "can unmute it, or the broker if mqtt.may_unmute is true.",
    "profile": "That profile has more rights than the current one: only a person or an "
    "administrator's token can choose it, or the broker if mqtt.may_widen is true.",
}
_NO_TIMER = "There is no such timer; see GET /v1/timers."
_ANSWER_WAITED_FOR = "A confirmation is open, so the volume can't change now. Try again afterwards."


if TYPE_CHECKING:
    from integrations.web.speech import SpeechLine


class Box(TaughtBox):
    """The daemon's implementation of `integrations.web.box.Box`. While the context is open, state
    changes and bus events are added to `events`."""

    def __init__(self, parts: Parts, bus: EventBus, clock: Clock) -> None:
        super().__init__(parts, bus)
        self.events = EventLog()
        self._clock = clock
        self._version = own_version()  # cached, because reading it opens a file
        self._listening_since: datetime | None = None  # None while not listening
        self._leave: list[Callable[[], None]] = []
        self._examining = asyncio.Lock()

    def __enter__(self) -> Self:
        conversation = self._parts.conversation
        self._note_listening(conversation.standing)
        self._leave = [
            conversation.observe(self._stands_otherwise),
            self._bus.follow(self._on_happening),
        ]
        self._on_loudspeaker(lambda change: self._tell_state())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for leave in self._leave:
            leave()
        self._on_loudspeaker(lambda change: None)

    # --- state

    def state(self) -> Mapping[str, Any]:
        since = self._listening_since
        state = {
            **self._as_json(self._parts.conversation.standing),
            **self._live(),
            "version": self._version,
            "listening_since": None if since is None else since.isoformat(),
            "languages": list(self._parts.live.languages),
            "troubles": dict(self._parts.troubles()),
            "home": self._parts.home(),
        }
        sound = self._parts.sound
        if sound is None:
            return state
        return {**state, "health": self.health, "sound": sound.report()}

    def reconnect(self, caller: Caller) -> bool:
        self._ordered("reconnect", caller)
        return self._parts.reconnect()

    @property
    def health(self) -> Health:
        parts = self._parts
        sound: Health = "ok" if parts.sound is None else parts.sound.health
        return word_of(sound, parts.stuck(), parts.troubles())

    def live(self) -> Mapping[str, Any]:
        return self._parts.live.as_json()

    async def house(self, caller: Caller, language: str | None) -> Mapping[str, Any]:
        return await self._parts.house.whole(caller, language)

    def confirmations(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return self._parts.confirmations.rows(caller)

    async def timers(self) -> Sequence[Mapping[str, Any]]:
        return await self._parts.timers.rows()

    async def turns(self, limit: int, before: str | None = None) -> Sequence[Mapping[str, Any]]:
        with told("Reading failed"):
            return await self._parts.history.turns(limit, before)

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        with told("Reading failed"):
            return await self._parts.history.turn(turn_id)

    async def sound(self, turn_id: str) -> Path:
        return await self._parts.history.sound(turn_id)

    async def costs(self, days: int) -> Mapping[str, Any]:
        with told("Reading failed"):
            return await self._parts.history.costs(days)

    async def shares(self, days: int) -> Mapping[str, Any]:
        with told("Reading failed"):
            return await self._parts.history.shares(days)

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        with told("Reading failed"):
            return await self._parts.history.faults(days)

    async def tools(self) -> Mapping[str, Any]:
        return await self._parts.tools()

    def level(self) -> Mapping[str, Any]:
        return asdict(self._parts.conversation.hearing.level.read())

    def log(self) -> Sequence[Mapping[str, Any]]:
        zone = self._clock.now().tzinfo
        return [
            {**asdict(one), "at": datetime.fromtimestamp(one.at, zone).isoformat()}
            for one in self._parts.log()
        ]

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        # Run one at a time: the doctor loads voices and connects to Home Assistant again.
        async with self._examining:
            return await self._parts.doctor()

    async def test_gemini(self, caller: Caller) -> Mapping[str, Any]:
        if self._examining.locked():  # two presses of the button must not cost twice
            raise Busy("Another check is running. Try again when it has finished.")
        self._ordered("test_gemini", caller)
        async with self._examining:
            with told("The test of Gemini failed"):
                return await self._parts.test_gemini()

    # --- buttons

    async def mute(self, on: bool, caller: Caller) -> None:
        if not on:
            _require(caller, "mute")
        self._ordered("mute", caller, on=on)
        # An administrator acts for a person, so no tone needs to be played.
        aloud = not caller.may("admin")
        with told("Applied, but not saved"):
            await self._parts.mute.set(on, aloud=aloud)

    async def set_mode(self, mode: str, minutes: int | None, caller: Caller) -> None:
        until = None if minutes is None else self._clock.now() + timedelta(minutes=minutes)
        if self._parts.modes.loosens(Mode(mode), until):
            _require(caller, "mode")
        self._ordered("mode", caller, mode=mode)
        try:
            with told("The mode was applied, but not saved"):
                await self._parts.modes.set(Mode(mode), until)
        finally:
            self._tell_state()

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        if wanted.profile is not None and self._parts.live.widens(wanted.profile):
            _require(caller, "profile")
        if wanted.volume is not None and self._parts.confirmations.secure:
            raise NotPossible(_ANSWER_WAITED_FOR)
        for name in wanted.model_dump(exclude_none=True):
            self._ordered(name, caller)
        try:
            with told("Applied, but not saved"):
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
        return await self._ask(wanted.text, caller)

    async def tap(self, entity_id: str, wanted: TapRequest, caller: Caller) -> Mapping[str, Any]:
        house = self._parts.house
        text, brain = await house.tap(entity_id, wanted.action, caller, wanted.language)
        return await self._ask(text, caller, brain)

    async def _ask(
        self, text: str, caller: Caller, brain: Brain | None = None
    ) -> Mapping[str, Any]:
        if caller.is_person:
            return await self._ask_for_person(text, caller, brain)
        recalls = self._may_recall(caller)
        rights = replace(CALLERS, recalls=recalls)
        owner = ConversationOwner(caller.name, caller.token, recalls)
        asking = self._parts.conversation.ask_quietly(text, rights, caller.name, owner, brain)
        turn = await asking
        return as_json(turn.record, turn.outcomes)

    async def _ask_for_person(
        self, text: str, caller: Caller, brain: Brain | None
    ) -> Mapping[str, Any]:
        """Run a person's turn. If a call needs confirmation, the console asks for it."""
        on_page = AtTerminal(self._parts.confirmations.prompter(caller))
        turns = await self._parts.conversation.ask_at_terminal(text, on_page, brain)
        if not turns:  # a stop word
            return no_turn()
        turn = joined(turns)
        return as_json(turn.record, turn.outcomes)

    async def speech(self, line: "SpeechLine") -> None:
        recalls = line.caller.is_person or self._may_recall(line.caller)
        await self._parts.speech.converse(line, recalls)

    def _may_recall(self, caller: Caller) -> bool:
        over_mcp = caller.name.startswith("mcp:")
        return caller.may("read") and (self._parts.mcp_turns or not over_mcp)

    # --- timers, confirmations, marks

    async def set_timer(self, wanted: TimerRequest, caller: Caller) -> Mapping[str, Any]:
        return await self._parts.timers.set(wanted, caller.name)

    async def end_timer(self, timer_id: str, caller: Caller) -> None:
        if not await self._parts.timers.end(timer_id):
            raise Unknown(_NO_TIMER)
        self._ordered("end_timer", caller)

    async def snooze_timer(
        self, timer_id: str, wanted: SnoozeRequest, caller: Caller
    ) -> Mapping[str, Any]:
        later = await self._parts.timers.snooze(timer_id, wanted.minutes * 60)
        if later is None:
            raise Unknown(_NO_TIMER)
        self._ordered("snooze_timer", caller)
        return later

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        return await self._parts.confirmations.settle(name, wanted, caller)

    async def mark(self, turn_id: str, wanted: MarkRequest, caller: Caller) -> None:
        with told("Not saved"):
            await self._parts.history.mark(turn_id, wanted.mark)
        self._ordered("mark", caller, turn=turn_id, mark=wanted.mark)

    async def rate_device(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        with told("Not saved"):
            await self._parts.house.rate(entity_id, Rating(wanted.tier))
        self._ordered("rate", caller, entity=entity_id, tier=wanted.tier)

    def openers(self) -> Sequence[Mapping[str, Any]]:
        return self._parts.openers.rows()

    async def rate(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        self._ordered("rate", caller, entity=entity_id, tier=wanted.tier)
        with told("Not saved"):
            await self._parts.openers.rate(entity_id, Rating(wanted.tier))

    # --- events

    def _pressed(self, name: str, caller: Caller) -> None:
        """Publish the button press even if it has no effect, because it shows that somebody is at
        home."""
        self._ordered(name, caller)
        self._bus.publish("button", name=name, caller=caller.name)

    def _stands_otherwise(self, standing: Standing) -> None:
        self._note_listening(standing)
        self._tell_state()

    def _note_listening(self, standing: Standing) -> None:
        if standing.muted or standing.microphone is not MicrophoneStatus.LISTENING:
            self._listening_since = None
        elif self._listening_since is None:
            self._listening_since = self._clock.now()

    def _live(self) -> dict[str, Any]:
        return {"settings": dict(self._parts.live.as_json())}

    def _as_json(self, standing: Standing) -> dict[str, Any]:
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

    def _on_loudspeaker(self, tell: Callable[[SpeakerChange], None]) -> None:
        sound = self._parts.sound
        if sound is not None and sound.presence is not None:
            sound.presence.on_change = tell

    def _on_happening(self, happening: BusEvent) -> None:
        told = {"turn_id": happening.turn_id, **happening.data, **happening.words}
        self.events.tell(happening.kind, told)


def _require(caller: Caller, what: Loosening) -> None:
    if not caller.may_loosen(what):
        raise NotPossible(_WHO_LOOSENS[what])
