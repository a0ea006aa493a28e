"""The brain that streams the sentence to Gemini Live from its first syllable."""

from dataclasses import replace
from types import TracebackType
from typing import Self

from assistant.brains.briefing import Briefing
from assistant.brains.gemini.ports import Briefer, LiveOpener, LiveTimeouts
from assistant.brains.gemini.sessions import LiveSessions, Making
from assistant.brains.gemini.turn import GeminiLiveTurn, TurnMeans
from assistant.domain.brain import TurnRequest
from assistant.domain.clock import Clock
from integrations.gemini.models import ModelRow, ThinkingSetting
from integrations.gemini.setup import LiveSetup
from integrations.owner import OwnedTasks


class GeminiLiveBrain:
    """A Brain. Enter it: its context owns the sessions, their timers and every turn's upload.

    Each owner of a conversation has a session of its own (`gemini.keepers`). No byte of sound
    leaves outside of a turn's activity; a session that is only warm is silent.
    """

    def __init__(
        self,
        client: LiveOpener,
        briefer: Briefer,
        row: ModelRow,
        clock: Clock,
        *,
        google_search: bool = False,
        native_voice: bool = False,
        habits: LiveTimeouts | None = None,
    ) -> None:
        """`native_voice`: the model's own voice is played; else a local one speaks its transcript.

        `client` and `briefer` are entered and left by the caller, around this brain.
        """
        self._row = row
        self._google_search = google_search
        self._native_voice = native_voice
        habits = habits or LiveTimeouts()
        self._tasks = OwnedTasks()
        self._keepers = LiveSessions(
            Making(client, briefer, self._setup, self._tasks, clock, habits)
        )
        self._means = TurnMeans(
            self._keepers,
            self._keepers.people,
            briefer,
            row,
            native_voice,
            self._tasks,
            clock,
            habits,
        )
        self._entered = False
        self._empty_turn = ""  # id of the newest turn that ended without an answer

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._keepers.start()
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
            await self._keepers.close()
        finally:
            await self._tasks.__aexit__(kind, error, traceback)

    @property
    def name(self) -> str:
        """As in `brain.order`."""
        return "gemini-live"

    @property
    def openings(self) -> int:
        """How many sessions were opened or resumed since the start."""
        return self._keepers.openings

    def begin(self, request: TurnRequest) -> GeminiLiveTurn:
        """Start on a turn; nothing is sent before its events are asked for.

        A turn that was heard and then left without an answer is asked again as text: models that
        do so mostly answer then (googleapis/python-genai #2117). After any other failure what was
        heard may be half of the sentence, so the sound is sent again.
        """
        heard_whole = request.turn_id == self._empty_turn and bool(request.heard)
        means = replace(self._means, keeper=self._keepers.of(request.owner))
        return GeminiLiveTurn(request, means, heard_whole, self._note_empty)

    def anticipate(self) -> None:
        """A person may be about to speak: brief and connect, unless that was done just now."""
        if self._entered:
            self._keepers.people.suspect()

    def forget(self) -> None:
        """The people's talk so far is over, and their next turn begins without it."""
        self._keepers.people.forget()

    def learn(self, text: str) -> None:
        """Something that the model is to know with the people's next turn; it does not answer."""
        self._keepers.people.note(text)

    def cut_off(self, turn_id: str, heard: str) -> None:
        """The answer to that turn of people's was cut off: only these words of it were heard."""
        self._keepers.people.cut_off(turn_id, heard)

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
            # Where it cannot be set, a profile's wish must not cost a session of its own.
            thinking="" if self._row.thinking is ThinkingSetting.NONE else briefing.thinking,
        )
