"""The conversations with Gemini Live: the people's, and one for each program that asks.

Each has a session, history, notes and handle of its own. The people's is never given up for a
program's, whatever the service refuses.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assistant.brains.briefing import Briefing
from assistant.brains.gemini.ports import Briefer, LiveOpener, LiveTimeouts
from assistant.brains.gemini.session_manager import LiveSessionManager
from assistant.domain.brain import PEOPLE, ConversationOwner
from assistant.domain.clock import Clock
from integrations.gemini.events import TokensUsed
from integrations.gemini.setup import LiveSetup
from integrations.owner import OwnedTasks

MAX_OPEN = 2  # sessions of programs at once; Google's free tier has three in all
MAX_KEPT = 8  # conversations of programs that are remembered
WARM_S = 30.0  # a program's session is closed so long after its last use


@dataclass(frozen=True, slots=True)
class Making:
    """What every keeper is made with."""

    client: LiveOpener
    briefer: Briefer
    make_setup: Callable[[Briefing], LiveSetup]
    tasks: OwnedTasks
    clock: Clock
    habits: LiveTimeouts


class LiveSessions:
    """One keeper for each owner of a conversation. The newest programs' are kept, the rest goes."""

    def __init__(self, making: Making) -> None:
        self._making = making
        self._programs: dict[
            ConversationOwner, LiveSessionManager
        ] = {}  # who asked longest ago comes first
        self._openings = 0  # of keepers that are gone
        self._owed: list[TokensUsed] = []  # what those could not tell of their costs
        self.people = self._make(PEOPLE)

    @property
    def openings(self) -> int:
        """Sessions opened or resumed since the start."""
        return self._openings + sum(keeper.openings for keeper in self._all)

    def start(self) -> None:
        """Let the people's do what is due from now on; a program's begins with its first turn."""
        self.people.begin()

    def of(self, owner: ConversationOwner) -> LiveSessionManager:
        """The keeper of that owner's conversation, made where there is none."""
        if owner.is_people:
            return self.people
        keeper = self._programs.pop(owner, None)
        if keeper is None:
            keeper = self._make(owner)
            keeper.begin()
        self._programs[owner] = keeper
        self._drop_oldest()
        return keeper

    def take_owed(self) -> Sequence[TokensUsed]:
        """Costs of conversations that are gone, for the next turn to tell."""
        owed, self._owed = self._owed, []
        return owed

    async def close(self) -> None:
        """Close every socket; bounded in time."""
        async with asyncio.TaskGroup() as closing:
            for keeper in self._all:
                closing.create_task(keeper.close())

    @property
    def _all(self) -> list[LiveSessionManager]:
        return [self.people, *self._programs.values()]

    def _make(self, owner: ConversationOwner) -> LiveSessionManager:
        making, habits = self._making, self._making.habits
        if not owner.is_people:
            warm_s = min(habits.warm_s, WARM_S)
            habits = replace(habits, warm_s=warm_s, unused_s=0.0, rotates=False)
        return LiveSessionManager(
            making.client,
            making.briefer,
            making.make_setup,
            making.tasks,
            making.clock,
            habits,
            owner,
            self._make_room,
        )

    def _drop_oldest(self) -> None:
        *older, _ = self._programs.items()  # the newest is about to be used
        idle = [owner for owner, keeper in older if not keeper.in_use]
        for owner in idle[: max(0, len(self._programs) - MAX_KEPT)]:
            keeper = self._programs.pop(owner)
            self._openings += keeper.openings
            self._owed += keeper.meter.take()
            self._making.tasks.start(keeper.end(), "gemini-live end of a conversation")

    async def _make_room(self, opening: LiveSessionManager, refused: bool) -> bool:
        """Close sessions of programs that nobody uses, before `opening` connects, or once that was
        `refused` for want of quota. Returns whether any was closed.

        Unasked this is done for a program alone: people must not wait for it.
        """
        others = [keeper for keeper in self._programs.values() if keeper is not opening]
        open_ones = [keeper for keeper in others if keeper.is_open]
        if refused:
            surplus = open_ones
        elif opening is self.people:
            surplus = []
        else:
            surplus = open_ones[: max(0, len(open_ones) - (MAX_OPEN - 1))]
        closed = [await keeper.rest() for keeper in surplus]
        return any(closed)
