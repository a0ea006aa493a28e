"""Calls that are made later: judged when they are asked for, frozen, and judged again when due."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from assistant.domain.call import ToolCall
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.domain.records import TimerRecord
from assistant.domain.rights import COMMAND, Program, Rights
from assistant.speech.catalogue import Catalogue
from assistant.tools.menu import Menu, MenuEntry
from assistant.tools.verdict import Verdict

# Nobody is there to be asked. What is secure is not done later, whatever the settings say of it.
LATER = Program(COMMAND, Rights(Tier.COSTLY, asks=False, free=Tier.COSTLY, recalls=True))


class Tools(Protocol):
    """The calls' one way (`assistant.tools.toolbox.Toolbox`)."""

    @property
    def current_menu(self) -> Menu:
        """The menu as last listed."""
        ...

    @property
    def asks_aloud(self) -> bool:
        """Whether a person is being asked about something secure."""
        ...

    async def explain(
        self,
        name: str,
        arguments: Mapping[str, Any],
        heard: str | None = None,
        program: Program | None = None,
        turn_id: str = "",
    ) -> tuple[MenuEntry, Verdict] | None:
        """What would be decided about a call of that turn; nothing is run."""
        ...

    async def call(
        self, call: ToolCall, turn_id: str, heard: str | None = None, language: str = "en"
    ) -> ToolOutcome:
        """Judge, run, verify and journal one call."""
        ...

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """This turn is a program's."""
        ...

    def release(self, turn_id: str) -> None:
        """It is over."""
        ...

    def taint(self, turn_id: str) -> None:
        """Text from outside has come into it."""
        ...

    def is_tainted(self, turn_id: str) -> bool:
        """Whether it has."""
        ...


class NotLater(Exception):
    """It is not done later; one sentence for a person."""

    def __init__(self, sentence: str, options: tuple[str, ...] = ()) -> None:
        """`options`: what would be right instead."""
        super().__init__(sentence)
        self.options = options


class FrozenCalls:
    """Freezes calls, and makes them."""

    def __init__(
        self,
        tools: Tools,
        connected: Callable[[], bool],
        new_turn_id: Callable[[], str],
        catalogue: Catalogue,
    ) -> None:
        """`connected`: whether the house is within reach."""
        self._tools = tools
        self._connected = connected
        self._new_turn_id = new_turn_id
        self._catalogue = catalogue

    async def freeze(
        self,
        name: str,
        arguments: Mapping[str, Any],
        heard: str | None,
        language: str,
        turn_id: str = "",
        *,
        searched: bool = False,
    ) -> dict[str, Any]:
        """The call as it is kept. Raises NotLater: it would not be let through now.

        `turn_id`: in which it is asked for; what its profile leaves out is not done later either,
        and what text from outside may have wanted is judged as that when due. `searched`: that
        turn's answer rests on a web search.
        """
        found = await self._tools.explain(name, arguments, heard, LATER, turn_id)
        if found is None:
            raise NotLater(self._catalogue.say("later.no_tool", language))
        entry, verdict = found
        if entry.built_in is not None or verdict.tier is Tier.READ:
            raise NotLater(self._catalogue.say("later.not_such", language))
        if verdict.tier is Tier.SECURE:
            raise NotLater(self._catalogue.say("later.secure", language))
        if verdict.decision is Decision.NEEDS_CONFIRMATION:
            raise NotLater(self._catalogue.say("later.asks", language))
        if verdict.decision is Decision.DENIED:
            sentence = self._catalogue.say(verdict.key, language, **verdict.values)
            raise NotLater(sentence, verdict.options)
        # As it was understood now: a room that was meant stays that room.
        return {
            "tool": entry.declaration.name,
            "arguments": dict(verdict.arguments),
            "heard": heard,
            "tainted": searched or self._tools.is_tainted(turn_id),
        }

    def ready(self, timer: TimerRecord) -> bool:
        """Whether it can be made now; the house may be away, as after a power cut, or somebody is
        being asked something that nothing may disturb."""
        if self._tools.asks_aloud:
            return False
        entry = self._tools.current_menu.find(_payload(timer)["tool"])
        return self._connected() if entry is None or entry.of_home else True

    async def make(self, timer: TimerRecord) -> str:
        """Make it, now; what a person must be told, "" where it is done."""
        payload, turn_id, language = _payload(timer), self._new_turn_id(), timer.language
        call = ToolCall(f"{turn_id}-1", payload["tool"], payload["arguments"])
        self._tools.restrict(turn_id, LATER.rights, LATER.name)
        if payload.get("tainted"):
            self._tools.taint(turn_id)
        try:
            outcome = await self._tools.call(call, turn_id, payload["heard"], language)
        finally:
            self._tools.release(turn_id)
        if outcome.status is Status.DONE:
            return ""
        key = "later.failed" if outcome.failed else "later.not_seen"
        if outcome.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION):
            key = "later.not_allowed"
        return self._catalogue.say(key, language, what=timer.text)


def _payload(timer: TimerRecord) -> dict[str, Any]:
    assert timer.payload is not None
    return timer.payload
