"""Feeds the turn machine: one event at a time, and each effect carried out before the next."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from assistant.conversation.effects import Effect
from assistant.conversation.events import Event
from assistant.conversation.machine import reduce
from assistant.conversation.state import Machine, Rules, State


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
