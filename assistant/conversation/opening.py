"""Makes a turn of what opened it: its sound, its brain, its timeline, its profile."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assistant.conversation.calls import ToolRun
from assistant.conversation.confirmation_dialog import Judge
from assistant.conversation.effects import Effect, OpenTurn
from assistant.conversation.events import Event
from assistant.conversation.hearing import Hearing
from assistant.conversation.live import LiveTurn
from assistant.conversation.machine import reduce
from assistant.conversation.speculative_turn import SpeculativeBrain
from assistant.conversation.state import Machine, Rules, State
from assistant.conversation.timeline import ConversationClock, Timeline
from assistant.conversation.turn_services import TurnServices
from assistant.domain.clock import Clock
from assistant.speech.identify import Languages


class TurnMaker:
    """What every turn of one conversation is made of."""

    def __init__(
        self,
        performers: TurnServices,
        hearing: Hearing,
        conversation: ConversationClock,
        clock: Clock,
        new_turn_id: Callable[[], str],
        languages: Languages,
        profiles: Mapping[str, str],
    ) -> None:
        """`profiles`: wake word -> name of the profile that its turns have."""
        self.new_turn_id = new_turn_id
        self._performers = performers
        self._hearing = hearing
        self._conversation = conversation
        self._clock = clock
        self.languages = languages
        self._profiles = profiles
        self.profile = ""  # of a turn whose wake word names none

    def make(
        self,
        opening: OpenTurn,
        before: LiveTurn | None,
        dispatch: Callable[[Event], None],
        spawn: Callable[[ToolRun], asyncio.Task[bool]],
    ) -> LiveTurn:
        """`before`: the turn before it. `spawn` starts what outlives the turn."""
        asked = before.open_question if opening.held and before is not None else None
        held = asked.promoted if asked is not None else None
        conversation = self._conversation
        conversation.listen()
        timeline = Timeline(conversation)
        audio = held.audio if held is not None else self._hearing.sound_for(opening)
        performers = self._performers
        if held is not None:
            performers = replace(performers, brain=SpeculativeBrain(held.turn, performers.brain))
        if opening.wake is not None:
            timeline.mark("wake", conversation.at(opening.wake.at_ms))
        if opening.source in ("text", "announcement") or held is not None:
            conversation.stand()
        if opening.source == "text":
            timeline.mark("end_of_turn")
        turn_id = held.turn_id if held is not None else self.new_turn_id()
        profile = self._profile_of(opening, before)
        assumed = performers.profiles.begin(turn_id, profile) if performers.profiles else ""
        turn = LiveTurn(
            opening,
            turn_id,
            self._clock.now(),
            self.languages.led_by(assumed),
            timeline,
            performers,
            audio,
            dispatch,
            spawn,
            profile,
            Judge(opening, self.languages.codes, lambda: _said(before)),
        )
        if held is not None:
            turn.end_listening(None, conversation.now_ms)
        return turn

    def _profile_of(self, opening: OpenTurn, before: LiveTurn | None) -> str:
        if opening.source in ("follow_up", "barge_in"):
            return before.profile if before is not None else ""  # it goes on as it began
        return self._profiles.get(opening.wake.word if opening.wake else "", self.profile)


def _said(turn: LiveTurn | None) -> Sequence[str]:
    return turn.spoken.clauses if turn is not None else ()


# Feeds the turn machine: one event at a time, and each effect carried out before the next.


class Stepping:
    """Owns the machine. On the loop's thread."""

    def __init__(
        self,
        machine: Machine,
        perform: Callable[[Effect], None],
        at_ms: Callable[[], float],
        stepped: Callable[[State], None],
    ) -> None:
        """`perform` carries an effect out. `at_ms`: how far the source of sound has come.
        `stepped` is told after each event, once its effects are carried out, of the state before
        it."""
        self.machine = machine
        self.rules = machine.rules  # from the next turn on
        self._perform = perform
        self._at_ms = at_ms
        self._stepped = stepped
        self._pending: deque[Event] = deque()
        self._changed = asyncio.Event()  # set and replaced after every event

    def take(self, event: Event) -> bool:
        """Give the machine an event. False: it came of an effect, and waits for its turn."""
        self._pending.append(event)
        if len(self._pending) > 1:
            return False
        try:
            while self._pending:
                self._step(self._pending[0])
                self._pending.popleft()
        finally:
            self._pending.clear()  # whatever an effect raises, the next event must be taken
        self._use_rules()
        self.wake_waiters()
        return True

    def use(self, rules: Rules) -> None:
        """Go by these from the next turn on; one under way ends by those by which it began."""
        self.rules = rules
        self._use_rules()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once it holds; it is looked at after every event."""
        while not condition():
            await self._changed.wait()

    def wake_waiters(self) -> None:
        """Something else has changed: whoever waits looks again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _step(self, event: Event) -> None:
        before, at_ms = self.machine, self._at_ms()
        if before.now_ms < at_ms:
            before = replace(before, now_ms=at_ms)
        self.machine, effects = reduce(before, event)
        for effect in effects:
            self._perform(effect)
        self._stepped(before.state)

    def _use_rules(self) -> None:
        if self.machine.rests and self.machine.rules is not self.rules:
            self.machine = replace(self.machine, rules=self.rules)
