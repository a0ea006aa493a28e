"""Timers, alarms, reminders, requests and commands for later, wired together."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from assistant.domain.brain import PEOPLE
from assistant.domain.clock import Clock, synchronised
from assistant.domain.records import REQUEST, new_id
from assistant.domain.rights import READ_ONLY
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput
from assistant.timers.book import TimerBook
from assistant.timers.desk import TimerDesk
from assistant.timers.keeper import TimerService
from assistant.timers.later import FrozenCalls
from assistant.timers.later_tool import LaterTool
from assistant.timers.recurrence import Almanac, local_zone
from assistant.timers.telling import TimerTelling
from assistant.timers.tools import AlarmTool, TimerTools
from assistant.tools.builtin.protocol import BuiltIn
from assistant.tools.execution.toolbox import Toolbox
from integrations.home_assistant.client import HomeAssistant
from integrations.web.problems import Busy

if TYPE_CHECKING:
    from assistant.conversation.loop import ConversationLoop


class Timekeeping:
    """What every process has of it; `keeper` and `desk` are for the one that stays."""

    def __init__(
        self,
        store: Store,
        tools: Toolbox,
        home: HomeAssistant,
        rings: Callable[[], bool],
        catalogue: Catalogue,
        clock: Clock,
    ) -> None:
        """`rings`: whether a process is there that will ring."""
        self._store = store
        self._catalogue = catalogue
        self._clock = clock
        self._almanac = Almanac(local_zone(), lambda: home.house, store)
        self._book = TimerBook(store, clock, self._almanac)
        self._calls = FrozenCalls(
            tools, lambda: home.connected, lambda: new_id(clock.now()), catalogue
        )
        self._telling = TimerTelling(rings, catalogue, clock, self._almanac.zone)

    def tools(self) -> tuple[BuiltIn, ...]:
        """For the menu."""
        return (
            *TimerTools(self._book, self._telling).tools(),
            AlarmTool(self._book, self._telling).tool(),
            LaterTool(self._book, self._calls, self._telling).tool(),
        )

    def keeper(
        self, runner: "ConversationLoop", mouth: SpeechOutput, say: Callable[[str, str], None]
    ) -> TimerService:
        """Who rings and does what is due. `say`: aloud, soon, in that language."""

        async def ask(text: str, language: str, caller: str) -> str:
            # What a person has asked for goes on with the people's talk; what a program has, not.
            rights = READ_ONLY if caller else replace(READ_ONLY, recalls=True)
            owner = None if caller else PEOPLE
            try:
                turn = await runner.ask_quietly(text, rights, caller or REQUEST, owner)
            except Busy:
                return self._catalogue.say("later.failed", language, what=text)
            error = turn.record.error
            told = turn.record.answer or (error.message if error else None)
            return told or self._catalogue.say("later.failed", language, what=text)

        return TimerService(
            self._store,
            runner,
            mouth.ring,
            mouth.hush,
            self._catalogue,
            self._clock,
            self._almanac,
            self._calls,
            ask,
            say,
            synchronised,
        )

    def desk(self, keeper: TimerService, language_of: Callable[[str], str]) -> TimerDesk:
        """For programs. `language_of`: the words of one that names no language."""
        return TimerDesk(self._book, keeper, self._almanac, self._clock, language_of)
