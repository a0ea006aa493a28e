"""The voice, services, costs and clock of a turn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from assistant.conversation.acknowledgement import IN_WORDS, Acknowledging
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.domain.brain import Brain, Spent, Usage
from assistant.domain.clock import Clock
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput

if TYPE_CHECKING:
    from assistant.jobs.jobs import Patient
    from assistant.tools.execution.toolbox import Toolbox
    from assistant.tools.policy.choices import Profiles


@dataclass(frozen=True, slots=True)
class TurnVoice:
    """Sound of a turn: there from the start of the process."""

    mouth: SpeechOutput
    catalogue: Catalogue
    acknowledging: Acknowledging = IN_WORDS


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The parts that do the work of a turn. They take seconds to open, so turns may wait for them
    (`Deferred`)."""

    brain: Brain
    tools: "Patient"
    # None: nobody can be asked, and what is gated stays undone.
    asking: AskingServices | None = None
    # Tells a brain, by its name and the turn's id, how much of its answer was heard.
    tell_heard: Callable[[str, str, str], None] = lambda brain, turn_id, heard: None
    profiles: "Profiles | None" = None  # None: there are none
    limits: "Toolbox | None" = None  # None: no program can have a sentence served


# What one turn has cost so far.


@dataclass(slots=True)
class TurnCost:
    """All that brains were paid for in it, those that then failed too."""

    usage: Usage | None = None  # None: nobody has told of any
    cost_usd: float = 0.0
    model: str | None = None  # that was paid for last

    def add(self, spent: Spent) -> None:
        """The turn has cost something more."""
        self.usage = spent.usage if self.usage is None else self.usage + spent.usage
        self.cost_usd += spent.cost_usd
        self.model = spent.model or self.model


#
# One clock per conversation and the moments of one turn on it.
#
# Sound is counted in samples, waiting in real time: while the person is listened to, the clock is
# the sound's own time; from the end of the sentence on it is that moment plus the real time since.
# So a file read faster than real time gives the same figures as the same sound in the room.


Moment = Literal[
    "wake",
    "speech_start",
    "speech_end",
    "end_of_turn",
    "connected",
    "first_upload",
    "upload_done",
    "heard",
    "first_reply_text",
    "first_tool_call",
    "last_tool_result",
    "first_audio_out",
    "answer_done",
]
MOMENTS: tuple[Moment, ...] = get_args(Moment)


class ConversationClock:
    """Milliseconds from the source's first sample (or, without sound, from when it was made)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sound_ms = 0.0  # of the source, as far as it was heard
        self._offset_ms = 0.0  # what real waiting added to the sound's own time
        self._stood: tuple[float, float] | None = (clock.monotonic(), 0.0)  # s, sound ms

    def begin(self) -> None:
        """A source of sound begins: its first sample is 0."""
        self._sound_ms = self._offset_ms = 0.0
        self._stood = None

    def heard(self, sound_ms: float) -> None:
        """The source has come this far."""
        self._sound_ms = sound_ms

    def stand(self) -> None:
        """The sentence is over: real time counts from here."""
        if self._stood is None:
            self._stood = (self._clock.monotonic(), self._sound_ms)

    def listen(self) -> None:
        """The microphone is wanted again: the sound's time counts from here."""
        if self._stood is not None:
            self._offset_ms = self.now_ms - self._sound_ms
            self._stood = None

    def at(self, sound_ms: float) -> float:
        """The moment of a place in the sound."""
        return self._offset_ms + sound_ms

    @property
    def now_ms(self) -> float:
        """The present moment."""
        if self._stood is None:
            return self._offset_ms + self._sound_ms
        since, sound_ms = self._stood
        return self._offset_ms + sound_ms + (self._clock.monotonic() - since) * 1000


class Timeline:
    """The moments of one turn, in milliseconds."""

    def __init__(self, clock: ConversationClock) -> None:
        self._clock = clock
        self._moments: dict[Moment, float] = {}

    def mark(self, moment: Moment, at_ms: float | None = None) -> None:
        """It happened now, or at `at_ms`. The first time counts; of `last_tool_result` the last."""
        at = self._clock.now_ms if at_ms is None else at_ms
        if moment == "last_tool_result":
            self._moments[moment] = at
        else:
            self._moments.setdefault(moment, at)

    def as_dict(self) -> dict[str, float]:
        """Moment to milliseconds, in the contract's order, rounded to 0.1."""
        return {m: round(self._moments[m], 1) for m in MOMENTS if m in self._moments}
