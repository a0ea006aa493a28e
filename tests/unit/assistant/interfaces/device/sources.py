"""All that Home Assistant sees of us, as a test has it stand."""

from datetime import UTC, datetime

from assistant.domain.events import EventBus
from tests.fakes.status import FakeStatus

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SECRET = "open the safe"  # what somebody said


class Life(FakeStatus):
    """All of it."""

    def __init__(self, *, guests: bool = False) -> None:
        super().__init__()
        self.happenings = EventBus()
        self.guests = guests
        self.figures.last_heard = SECRET

    def keeps_words(self) -> bool:
        return not self.guests
