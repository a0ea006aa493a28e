"""The brain that streams the sentence to Gemini Live from its first syllable.

People share one conversation, and each program has its own; each has a session, history, notes and
resumption handle. The people's session is never given up for a program's, whatever the service
refuses.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from assistant.brains.briefing.briefer import Briefer, Briefing
from assistant.brains.gemini.connection import LiveServices
from assistant.brains.gemini.lifecycle import LiveTimeouts
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

MAX_OPEN = 2  # programs' sessions open at once; Google's free tier has three in all
MAX_KEPT = 8  # programs' conversations that are remembered
WARM_S = 30.0  # seconds after its last use at which a program's session is closed


class LiveSessions:
    """One session for each owner of a conversation. Of the programs' sessions, the newest are
    kept."""

    def __init__(self, services: LiveServices) -> None:
        self._services = services
        # The owner that asked longest ago comes first.
        self._programs: dict[ConversationOwner, LiveSessionManager] = {}
        self._openings = 0  # openings of closed conversations
        self._owed: list[TokensUsed] = []  # costs that those had not reported
        self.people = self._make(PEOPLE)

    @property
    def openings(self) -> int:
        """Number of sessions opened or resumed since the start."""
        return self._openings + sum(session.openings for session in self._all)

    def start(self) -> None:
        """Start the people's session. A program's session starts with its first turn."""
        self.people.begin()

    def of(self, owner: ConversationOwner) -> LiveSessionManager:
        """Return the session of that owner's conversation, creating it if needed."""
        if owner.is_people:
            return self.people
        session = self._programs.pop(owner, None)
        if session is None:
            session = self._make(owner)
            session.begin()
        self._programs[owner] = session
        self._drop_oldest()
        return session

    def take_owed(self) -> Sequence[TokensUsed]:
        """Return the costs of closed conversations, to be reported by the next turn."""
        owed, self._owed = self._owed, []
        return owed

    async def close(self) -> None:
        """Close all sockets, in bounded time."""
        async with asyncio.TaskGroup() as closing:
            for session in self._all:
                closing.create_task(session.close())

    @property
    def _all(self) -> list[LiveSessionManager]:
        return [self.people, *self._programs.values()]

    def _make(self, owner: ConversationOwner) -> LiveSessionManager:
        services, timeouts = self._services, self._services.timeouts
        if not owner.is_people:
            warm_s = min(timeouts.warm_s, WARM_S)
            timeouts = replace(timeouts, warm_s=warm_s, unused_s=0.0, rotates=False)
        return LiveSessionManager(replace(services, timeouts=timeouts), owner, self._make_room)

    def _drop_oldest(self) -> None:
        *older, _ = self._programs.items()  # the newest session is about to be used
        idle = [owner for owner, session in older if not session.in_use]
        for owner in idle[: max(0, len(self._programs) - MAX_KEPT)]:
            session = self._programs.pop(owner)
            self._openings += session.openings
            self._owed += session.meter.take()
            self._services.tasks.start(session.end(), "gemini-live end of a conversation")

    async def _make_room(self, opening: LiveSessionManager, refused: bool) -> bool:
        """Close unused sessions of programs before `opening` connects, or after it was `refused`
        for lack of quota.

        Returns True if any was closed. Before connecting this is done only for programs: people
        must not wait for it.
        """
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
    """A Brain. Its context owns the sessions, their timers and every turn's upload.

    Each owner of a conversation has its own session (`LiveSessions`). Audio is only sent during a
    turn's activity; a session that is merely kept warm sends none.
    """

    def __init__(
        self,
        client: LiveClient | SetupRepair,
        briefer: Briefer,
        row: ModelRow,
        clock: Clock,
        *,
        google_search: bool = False,
        native_voice: bool = False,
        timeouts: LiveTimeouts | None = None,
    ) -> None:
        """`native_voice`: play the model's own voice; otherwise a local voice speaks its
        transcript.

        The caller enters and leaves `client` and `briefer` around this brain.
        """
        self._row = row
        self._google_search = google_search
        self._native_voice = native_voice
        self._tasks = OwnedTasks()
        services = LiveServices(
            client, briefer, self._setup, self._tasks, clock, timeouts or LiveTimeouts()
        )
        self._sessions = LiveSessions(services)
        self._means = TurnMeans(services, self._sessions.take_owed, row, native_voice)
        self._entered = False
        self._empty_turn = ""  # id of the newest turn that ended without an answer

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
        """Number of sessions opened or resumed since the start."""
        return self._sessions.openings

    def begin(self, request: TurnRequest) -> GeminiLiveTurn:
        """Start a turn; nothing is sent before its events are requested.

        A turn that was heard but left without an answer is repeated as text, because models that do
        this usually answer then (googleapis/python-genai #2117). After any other failure the
        transcript may be incomplete, so the audio is sent again.
        """
        heard_whole = request.turn_id == self._empty_turn and bool(request.heard)
        session = self._sessions.of(request.owner)
        return GeminiLiveTurn(request, session, self._means, heard_whole, self._note_empty)

    def anticipate(self) -> None:
        """Brief and connect because a person may be about to speak, unless that was done
        recently."""
        if self._entered:
            self._sessions.people.suspect()

    def forget(self) -> None:
        """Forget the people's conversation, so that their next turn begins without it."""
        self._sessions.people.forget()

    def learn(self, text: str) -> None:
        """Add a note for the model's next turn with people; it is not answered."""
        self._sessions.people.note(text)

    def cut_off(self, turn_id: str, heard: str) -> None:
        """Record that only these words of a turn's answer were heard."""
        self._sessions.people.cut_off(turn_id, heard)

    def _note_empty(self, turn_id: str) -> None:
        self._empty_turn = turn_id

    def _setup(self, briefing: Briefing) -> LiveSetup:
        return LiveSetup(
            row=self._row,
            instruction=briefing.instruction,
            declarations=briefing.declarations,
            vocabulary=briefing.vocabulary,
            language_codes=briefing.language_codes,
            voice=briefing.voice if self._native_voice else "",
            google_search=self._google_search,
            # If the model has no such setting, a profile's wish must not need another session.
            thinking="" if self._row.thinking is ThinkingSetting.NONE else briefing.thinking,
        )
