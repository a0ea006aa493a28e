"""A turn's voice, services, costs and clock."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from assistant.conversation.acknowledgement import IN_WORDS, Acknowledging
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.domain.brain import PEOPLE, Brain, ConversationOwner, Spent, Usage
from assistant.domain.clock import Clock
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput

if TYPE_CHECKING:
    from assistant.jobs.jobs import Patient
    from assistant.tools.execution.toolbox import Toolbox
    from assistant.tools.policy.choices import Profiles


@dataclass(frozen=True, slots=True)
class Speaker:
    """The person or program that speaks in a conversation away from the box."""

    owner: ConversationOwner = PEOPLE
    caller: str = ""  # a program or guest, as the journal names them; "" for a person


@dataclass(frozen=True, slots=True)
class TurnVoice:
    """The speech output for turns, which is available as soon as the process starts."""

    mouth: SpeechOutput
    catalogue: Catalogue
    acknowledging: Acknowledging = IN_WORDS
    unheard: SpeechOutput | None = None  # for turns that a terminal prints; None uses `mouth`
    speaker: Speaker | None = None  # who is answered; None for the people at the box

    def of_turn(self, *, printed: bool) -> "TurnVoice":
        """Return the voice for a turn, which is silent if the turn is printed in a terminal."""
        return replace(self, mouth=self.unheard) if printed and self.unheard else self


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The services that a turn uses. They take seconds to open, so a turn may have to wait for
    them."""

    brain: Brain
    tools: "Patient"
    # None if nobody can be asked, so that gated calls are not run.
    asking: AskingServices | None = None
    # Tells a brain how much of its answer was audible: (brain, turn id, text).
    tell_heard: Callable[[str, str, str], None] = lambda brain, turn_id, heard: None
    profiles: "Profiles | None" = None  # None if there are none
    limits: "Toolbox | None" = None  # None if programs can't send sentences
    # Returns what the household means by a sentence of its own.
    meant: Callable[[str], str] = lambda text: text


# Costs of one turn so far.


@dataclass(slots=True)
class TurnCost:
    """The costs of all brains used in a turn, including brains that failed."""

    usage: Usage | None = None  # None if no brain reported any
    cost_usd: float = 0.0
    model: str | None = None  # the model used last

    def add(self, spent: Spent) -> None:
        self.usage = spent.usage if self.usage is None else self.usage + spent.usage
        self.cost_usd += spent.cost_usd
        self.model = spent.model or self.model


#
# The conversation's clock, and a turn's milestones on it.
#
# While Hearth listens, the clock follows the audio; after the end of the sentence, it adds real
# time. A file that is read faster than real time therefore gives the same figures as the same audio
# in the room.


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
    """Counts milliseconds since the source's first sample or, without audio, since its creation."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sound_ms = 0.0  # position in the source
        self._offset_ms = 0.0  # real time spent waiting, added to the audio's time
        # Monotonic time in s and audio time in ms at which audio time stopped.
        self._stood: tuple[float, float] | None = (clock.monotonic(), 0.0)

    def begin(self) -> None:
        """Start a new audio source. Its first sample is at 0."""
        self._sound_ms = self._offset_ms = 0.0
        self._stood = None

    def heard(self, sound_ms: float) -> None:
        self._sound_ms = sound_ms

    def stand(self) -> None:
        """Switch to real time, because the sentence is over."""
        if self._stood is None:
            self._stood = (self._clock.monotonic(), self._sound_ms)

    def listen(self) -> None:
        """Switch back to audio time, because the microphone is needed again."""
        if self._stood is not None:
            self._offset_ms = self.now_ms - self._sound_ms
            self._stood = None

    def at(self, sound_ms: float) -> float:
        """Convert a position in the audio to the conversation's time, in ms."""
        return self._offset_ms + sound_ms

    @property
    def now_ms(self) -> float:
        if self._stood is None:
            return self._offset_ms + self._sound_ms
        since, sound_ms = self._stood
        return self._offset_ms + sound_ms + (self._clock.monotonic() - since) * 1000


class Timeline:
    """The timestamps of a turn's milestones, in milliseconds."""

    def __init__(self, clock: ConversationClock) -> None:
        self._clock = clock
        self._moments: dict[Moment, float] = {}

    def mark(self, moment: Moment, at_ms: float | None = None) -> None:
        """Record a milestone, now or at `at_ms`. Only the first time counts, except for
        `last_tool_result`, where only the last time counts."""
        at = self._clock.now_ms if at_ms is None else at_ms
        if moment == "last_tool_result":
            self._moments[moment] = at
        else:
            self._moments.setdefault(moment, at)

    def as_dict(self) -> dict[str, float]:
        """Return the timestamps in ms, in the documented order, rounded to 0.1."""
        return {m: round(self._moments[m], 1) for m in MOMENTS if m in self._moments}
