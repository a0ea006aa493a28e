"""Whose an event is: the turn's that uses the session, or an earlier one's. No I/O in here.

Events carry no name of the turn they belong to. What is known: with manual activity the model
answers nothing before the sentence is over, and a reply that a new sentence cuts off still ends
with TurnComplete. So after a turn that left before its end, everything up to there is discarded.
"""

from enum import Enum, auto

from integrations.gemini.events import (
    FunctionCalls,
    InputText,
    Interrupted,
    LiveEvent,
    OutputAudio,
    OutputText,
    TurnComplete,
)


class Phase(Enum):
    """Where the turn stands that uses the session."""

    FREE = auto()  # there is none
    LISTENING = auto()  # its sentence is not over
    ANSWERING = auto()  # the sentence is over: what the model says is this turn's


class TurnAttribution:
    """Follows one session's turns and judges its events, in the order of their arrival."""

    def __init__(self) -> None:
        self.phase = Phase.FREE
        self.debt = False  # the model still has to end the answer to an earlier turn
        self._cut = False  # and that answer was interrupted
        self._spoken = False  # this turn's sound has begun: what is transcribed is its own
        self._replied = False  # it has begun to answer this turn
        self._owing = False  # it still has to answer this turn, or to end its answer

    def attach(self) -> None:
        """A turn begins to use the session."""
        self.leave()
        self.phase = Phase.LISTENING
        self._spoken = self._replied = False

    def leave(self) -> None:
        """The turn is over; what the model still says to it is nobody's."""
        self.debt = self.debt or self._owing
        self._owing = False
        self.phase = Phase.FREE

    def speech_begins(self) -> None:
        """The turn's sound follows."""
        self._spoken = True

    def sentence_over(self) -> None:
        """The turn's input is complete: the model answers it."""
        self.phase = Phase.ANSWERING
        self._owing = True

    def continues(self) -> None:
        """Results went to the model: it goes on with whatever turn it is at."""
        if self.phase is Phase.ANSWERING:
            self._owing = True
        else:
            self.debt = True

    def judge(self, event: LiveEvent) -> bool:
        """Whether `event` is of the turn that uses the session."""
        if self.debt:
            self._pay(event)
            return False
        if self.phase is Phase.FREE:
            return False
        if isinstance(event, Interrupted) and not self._replied:
            # An answer that had just ended is cut off all the same (langwatch/scenario #360).
            self.debt = self._cut = True
            return False
        if isinstance(event, InputText):
            return self._spoken
        if self.phase is Phase.LISTENING:
            return False
        if isinstance(event, OutputText | OutputAudio | FunctionCalls):
            self._replied = True
        if isinstance(event, TurnComplete) and event.idle:
            self._owing = False
        return True

    def _pay(self, event: LiveEvent) -> None:
        """Look for the end of the earlier turn's answer."""
        if isinstance(event, Interrupted):
            self._cut = True
        if isinstance(event, TurnComplete) and (event.idle or self._cut):
            self.debt = self._cut = False
