"""The exchanges of a conversation, and notes about what the model has missed."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from assistant.brains.briefing.prompt import MAX_EXCHANGES, Exchange, bounded
from assistant.brains.gemini.calls import note_of_cut

_MAX_NOTES = 8


class ConversationHistory:
    """A conversation's exchanges, for a new session, and notes for the next turn."""

    def __init__(self) -> None:
        self._exchanges: deque[Exchange] = deque(maxlen=MAX_EXCHANGES)
        self._late_input_counts = False  # late transcripts belong to the last exchange
        self._notes: deque[str] = deque(maxlen=_MAX_NOTES)
        self._cut: tuple[str, str] | None = None  # turn id and heard part of the last cut answer
        self._cut_notes: deque[str] = deque(maxlen=1)  # pending note about it

    def tell_whole(self) -> tuple[Exchange, ...]:
        """Return all exchanges, for the instruction of a new session."""
        self._cut_notes.clear()  # the exchanges contain this information
        return tuple(self._exchanges)

    def turn_began(self) -> None:
        self._late_input_counts = False

    def remember(self, exchange: Exchange) -> None:
        """Store an exchange, so that a new session can include it."""
        if self._cut is None or exchange.turn_id != self._cut[0]:
            self._cut_notes.clear()  # another answer has followed
        self._exchanges.append(bounded(self._as_heard(exchange)))
        self._late_input_counts = True

    def cut_off(self, turn_id: str, heard: str) -> None:
        self._cut = (turn_id, heard)
        self._cut_notes.append(note_of_cut(heard))
        for place, exchange in enumerate(self._exchanges):
            self._exchanges[place] = bounded(self._as_heard(exchange))

    def _as_heard(self, exchange: Exchange) -> Exchange:
        if self._cut is None or exchange.turn_id != self._cut[0]:
            return exchange
        return replace(exchange, answer=self._cut[1], cut=True)

    @contextmanager
    def notes(self) -> Iterator[str]:
        """Yield the pending notes for the model. If the block raises, they stay pending."""
        notes, cut = tuple(self._notes), tuple(self._cut_notes)
        self._notes.clear()
        self._cut_notes.clear()
        try:
            yield "\n".join((*notes, *cut))
        except BaseException:
            self._notes.extendleft(reversed(notes))
            self._cut_notes.extend(() if self._cut_notes else cut)
            raise

    def note(self, text: str) -> None:
        """Add a note about something that the model has missed."""
        self._notes.append(text)

    def late_input(self, text: str) -> None:
        """Append text that arrived late to the transcript of the latest exchange."""
        if self._late_input_counts:
            last = self._exchanges[-1]
            self._exchanges[-1] = bounded(replace(last, heard=last.heard + text))
