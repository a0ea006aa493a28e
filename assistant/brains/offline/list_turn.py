"""Changes to a list that depend on what is on it: adding items once, and removing all of them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from assistant.brains.offline.answers import answer_outcome, answer_problem
from assistant.brains.offline.attribute_answers import items_of
from assistant.brains.offline.calls import Call, make_call
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import LIST_ITEMS, REMOVE_ITEM
from assistant.brains.offline.settle import Problem
from assistant.domain.brain import BrainEvent, ReplyText
from assistant.domain.tool_call import Status, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu
from assistant.tools.house.intents import ITEM, items_in
from assistant.tools.house.names import spoken_names, stemmed
from integrations.home_assistant.house import House

ADDING = frozenset({"HassListAddItem", "HassShoppingListAddItem"})


@dataclass(frozen=True, slots=True)
class ListTurn:
    """The part of a turn that changes a list. `call_id` begins the ids of its calls, and `outcomes`
    delivers the outcome of each."""

    call_id: str
    outcomes: asyncio.Queue[ToolOutcome]
    house: House
    menu: Menu
    now: datetime
    say: Catalogue
    language: str

    async def add(
        self, command: ParsedCommand, call: Call, gap: str = ""
    ) -> AsyncGenerator[BrainEvent]:
        """Add the items that aren't on the list yet, and name those that are. `gap` separates the
        answer from the one before it."""
        known: Sequence[str] = ()
        name = str(call.arguments.get("name", command.text))
        asked = replace(command, intent=LIST_ITEMS, entity_ids=(), text=name)
        reading = make_call(asked, self.house, self.menu, self.now)
        if isinstance(reading, Call):
            yield ToolCall(f"{self.call_id}-list", reading.tool, reading.arguments)
            outcome = await self.outcomes.get()
            known = items_of(outcome.data) if outcome.status is Status.DONE else ()
        new, there = _divided(items_in(str(call.arguments.get(ITEM, ""))), known)
        if there:
            told = self.say.say("offline.list_has", self.language, items=spoken_names(there))
            yield self._words(gap + str(told))
        if not new:
            return
        item = ", ".join(new)
        yield ToolCall(self.call_id, call.tool, {**call.arguments, ITEM: item})
        outcome = await self.outcomes.get()
        added = replace(command, slots={**command.slots, ITEM: spoken_names(new)})
        told = answer_outcome(added, outcome, self.house, self.say, self.language)
        yield self._words((" " if there else gap) + told)

    async def clear(
        self, command: ParsedCommand, items: Sequence[str]
    ) -> AsyncGenerator[BrainEvent]:
        """Remove all items of a list with one call for each, because Home Assistant has no tool for
        that."""
        if not items:
            yield self._words(self.say.say("offline.list_empty", self.language))
            return
        for number, item in enumerate(items, start=1):
            one = replace(command, intent=REMOVE_ITEM, slots={ITEM: item})
            call = make_call(one, self.house, self.menu, self.now)
            if isinstance(call, Problem):
                yield self._words(answer_problem(call, self.say, self.language))
                return
            yield ToolCall(f"{self.call_id}-clear-{number}", call.tool, call.arguments)
            outcome = await self.outcomes.get()
            if outcome.status is not Status.DONE:
                told = answer_outcome(one, outcome, self.house, self.say, self.language)
                yield self._words(told)
                return
        yield self._words(self.say.say("offline.list_cleared", self.language))

    def _words(self, text: str) -> ReplyText:
        return ReplyText(text, language=self.say.own(self.language))


def _divided(items: Sequence[str], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the items that are new, each once, and those that are known already. Capitals,
    articles and plural endings make no difference."""
    have = {stemmed(one) for one in known}
    new: dict[str, str] = {}
    there: dict[str, str] = {}
    for item in items:
        key = stemmed(item)
        (there if key in have else new).setdefault(key, item)
    return list(new.values()), list(there.values())
