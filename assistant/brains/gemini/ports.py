"""What the Gemini Live brain stands on, as it needs it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from assistant.brains.briefing import Briefing
from assistant.domain.brain import PEOPLE, ConversationOwner
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import LiveEvent
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.setup import LiveSetup


class Session(Protocol):
    """One open connection. Everything that sends raises IntegrationError where it cannot."""

    @property
    def handle(self) -> str | None:
        """Resumes this session once it is closed; None while the service says that nothing does."""
        ...

    async def begin_activity(self) -> None:
        """The person begins to speak."""
        ...

    async def send_audio(self, pcm: bytes) -> None:
        """A further piece of 16 kHz mono int16."""
        ...

    async def end_activity(self) -> None:
        """The person has ended: the model answers."""
        ...

    async def send_text(self, text: str, *, complete: bool = True) -> None:
        """Words in the person's role; the model answers if they are `complete`."""
        ...

    async def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """Results of calls."""
        ...

    async def update(
        self,
        *,
        instruction: str | None = None,
        declarations: Sequence[Declaration] | None = None,
    ) -> None:
        """Change what the session was opened with."""
        ...

    async def close(self) -> None:
        """End it; it returns when the socket is closed, within a bounded time."""
        ...


class Client(Protocol):
    """Opens sessions."""

    async def connect(
        self, setup: LiveSetup, on_event: Callable[[LiveEvent], None], timeout_s: float = 5.0
    ) -> Session:
        """A session whose events go to `on_event`, in order. Raises IntegrationError."""
        ...


class Briefer(Protocol):
    """Knows what the model is to be told before a turn."""

    async def brief(
        self, profile: str = "", said: str = "", owner: ConversationOwner = PEOPLE
    ) -> Briefing:
        """Instruction and functions as they are now, for what is `said`, where that is known, in
        the conversation of `owner`.

        Never raises, and is bounded in time.
        """
        ...
