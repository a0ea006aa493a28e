"""A brain that streams speech to Gemini Live while the person is still speaking.

The people at the box share one conversation, and each program and each browser has its own. The
people's session is never closed to make room for another.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from assistant.brains.briefing.briefer import Briefer, Briefing
from assistant.brains.gemini.connection import LiveServices
from assistant.brains.gemini.lifecycle import LiveTimeouts
from assistant.brains.gemini.model_chain import ModelChain
from assistant.brains.gemini.repair import SetupRepair
from assistant.brains.gemini.session_manager import LiveSessionManager
from assistant.brains.gemini.turn import GeminiLiveTurn, TurnMeans
from assistant.domain.brain import PEOPLE, ConversationOwner, TurnRequest
from assistant.domain.clock import Clock
from integrations.gemini.events import TokensUsed
from integrations.gemini.live import LiveClient
from integrations.gemini.models import ModelRow, ThinkingSetting
from integrations.gemini.setup import LiveSetup
from integrations.owner import OwnedTasks

MAX_OPEN = 2  # open sessions of programs; Google's free tier allows three sessions in total
MAX_KEPT = 8  # conversations of programs to keep
WARM_S = 30.0  # seconds after which a program's unused session is closed


class LiveSessions:
    """The sessions of all conversation owners.

    Only the most recently used conversations of programs are kept.
    """

    def __init__(self, services: LiveServices) -> None:
        self._services = services
        # Least recently used first.
        self._programs: dict[ConversationOwner, LiveSessionManager] = {}
        self._openings = 0  # sessions opened by dropped conversations
        self._owed: list[TokensUsed] = []  # their unreported costs
        self.people = self._make(PEOPLE)

    @property
    def openings(self) -> int:
        return self._openings + sum(session.openings for session in self._all)

    def start(self) -> None:
        """Start the people's session. A program's session starts with its first turn."""
        self.people.begin()

    def of(self, owner: ConversationOwner) -> LiveSessionManager:
        """Return the owner's session, creating it if necessary."""
        if owner == PEOPLE:
            return self.people
        session = self._programs.pop(owner, None)
        if session is None:
            session = self._make(owner)
            session.begin()
        self._programs[owner] = session
        self._drop_oldest()
        return session

    def take_owed(self) -> Sequence[TokensUsed]:
        """Return unreported costs of dropped conversations. The next turn reports them."""
        owed, self._owed = self._owed, []
        return owed

    async def close(self) -> None:
        """Close all sockets within a limited time."""
        async with asyncio.TaskGroup() as closing:
            for session in self._all:
                closing.create_task(session.close())

    @property
    def _all(self) -> list[LiveSessionManager]:
        return [self.people, *self._programs.values()]

    def _make(self, owner: ConversationOwner) -> LiveSessionManager:
        services, timeouts = self._services, self._services.timeouts
        if owner != PEOPLE:
            warm_s = min(timeouts.warm_s, WARM_S)
            timeouts = replace(timeouts, warm_s=warm_s, unused_s=0.0, rotates=False)
        return LiveSessionManager(replace(services, timeouts=timeouts), owner, self._make_room)

    def _drop_oldest(self) -> None:
        *older, _ = self._programs.items()  # the last one is about to be used
        idle = [owner for owner, session in older if not session.in_use]
        for owner in idle[: max(0, len(self._programs) - MAX_KEPT)]:
            session = self._programs.pop(owner)
            self._openings += session.openings
            self._owed += session.meter.take()
            self._services.tasks.start(session.end(), "gemini-live end of a conversation")

    async def _make_room(self, opening: LiveSessionManager, refused: bool) -> bool:
        # If the service has refused `opening` for lack of quota, all idle sessions of programs are
        # closed. Otherwise people must not wait while sessions are closed.
        others = [session for session in self._programs.values() if session is not opening]
        open_ones = [session for session in others if session.is_open]
        if refused:
            surplus = open_ones
        elif opening is self.people:
            surplus = []
        else:
            surplus = open_ones[: max(0, len(open_ones) - (MAX_OPEN - 1))]
        closed = [await session.rest() for session in surplus]
        return any(closed)


# The brain itself.


class GeminiLiveBrain:
    """The Gemini Live brain. Use it as an async context manager.

    Audio is sent only during a turn. With `native_voice`, the model's own speech is played;
    otherwise a local voice speaks its transcript. The caller must enter and exit `client` and
    `briefer`.
    """

    def __init__(
        self,
        client: LiveClient | SetupRepair,
        briefer: Briefer,
        models: ModelChain,
        clock: Clock,
        *,
        google_search: bool = False,
        native_voice: bool = False,
        timeouts: LiveTimeouts | None = None,
    ) -> None:
        self._tasks = OwnedTasks()

        def make_setup(briefing: Briefing) -> LiveSetup:
            return setup_of(
                briefing, models.row, google_search=google_search, native_voice=native_voice
            )

        services = LiveServices(
            client, briefer, models, make_setup, self._tasks, clock, timeouts or LiveTimeouts()
        )
        self._sessions = LiveSessions(services)
        self._means = TurnMeans(services, self._sessions.take_owed, native_voice)
        self._entered = False
        self._empty_turn = ""  # id of the last turn that ended without an answer

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._sessions.start()
        self._entered = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._entered = False
        try:
            await self._sessions.close()
        finally:
            await self._tasks.__aexit__(kind, error, traceback)

    @property
    def name(self) -> str:
        return "gemini-live"

    @property
    def openings(self) -> int:
        return self._sessions.openings

    def begin(self, request: TurnRequest) -> GeminiLiveTurn:
        """Create a turn. Nothing is sent until its events are iterated."""
        # If the model heard the sentence but gave no answer, its transcript as text usually gets an
        # answer (googleapis/python-genai #2117). After other failures the transcript can be
        # incomplete.
        heard_whole = request.turn_id == self._empty_turn and bool(request.heard)
        session = self._sessions.of(request.owner)
        return GeminiLiveTurn(request, session, self._means, heard_whole, self._note_empty)

    def anticipate(self) -> None:
        if self._entered:
            self._sessions.people.suspect()

    def forget(self) -> None:
        """Erase the people's conversation, so that their next turn starts a new one."""
        self._sessions.people.forget()

    def learn(self, text: str) -> None:
        """Add a note that the model receives with a later turn of people, without answering it."""
        self._sessions.people.history.note(text)

    def cut_off(self, turn_id: str, heard: str) -> None:
        """Record that a turn's answer was cut off after the words in `heard`."""
        self._sessions.people.history.cut_off(turn_id, heard)

    def _note_empty(self, turn_id: str) -> None:
        self._empty_turn = turn_id


def setup_of(
    briefing: Briefing, row: ModelRow, *, google_search: bool, native_voice: bool
) -> LiveSetup:
    """Return the set-up of a turn's session, without a handle or a history.

    If the model accepts no text along with speech, the turn's note is part of the instruction.
    """
    note = "" if row.client_content else briefing.note
    return LiveSetup(
        row=row,
        instruction=f"{briefing.instruction}\n\n{note}" if note else briefing.instruction,
        declarations=briefing.declarations,
        vocabulary=briefing.vocabulary,
        language_codes=briefing.language_codes,
        voice=briefing.voice if native_voice else "",
        google_search=google_search,
        # If the model has no such setting, a profile's level must not cause a new session.
        thinking="" if row.thinking is ThinkingSetting.NONE else briefing.thinking,
    )
