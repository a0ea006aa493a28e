"""What happens around a turn, and what is to be done about it: the turn machine's vocabulary.

Times are milliseconds of sound since the source's first sample, unless said.
"""

from dataclasses import dataclass
from typing import Literal

Source = Literal["voice", "follow_up", "text", "announcement"]

# --- events: what happened -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WakeHeard:
    """A wake engine fired."""

    word: str
    score: float  # 0 to 1
    at_ms: float  # when it fired
    mark_ms: float  # from where the turn's sound is kept


@dataclass(frozen=True, slots=True)
class WakeRising:
    """The wake engine begins to hear something like the wake word; mostly it then fires."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody speaks, in the stretch that we watch."""

    at_ms: float  # first voiced sample


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """Silence has lasted for the hang-over."""

    at_ms: float  # last voiced sample
    decided_ms: float


@dataclass(frozen=True, slots=True)
class Tick:
    """The source has come this far."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class SourceEnded:
    """A file is over: nothing more will be heard."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class SourceLost:
    """The microphone has gone."""


@dataclass(frozen=True, slots=True)
class SourceBack:
    """The microphone gives sound again; its time starts at 0."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A person typed a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Announced:
    """There is something to be said that nobody asked for just now."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Muted:
    """The person wants not to be listened to, or to be listened to again."""

    on: bool


@dataclass(frozen=True, slots=True)
class PlaybackStarted:
    """The first sample of the answer has gone to the player."""

    turn: int


@dataclass(frozen=True, slots=True)
class BrainFinished:
    """The brain has given all of its answer."""

    turn: int
    asks: bool  # the answer ends in a question


@dataclass(frozen=True, slots=True)
class BrainFailed:
    """The brain gave up."""

    turn: int
    kind: str
    message: str  # one sentence for a person
    spoken: str | None = None  # said instead of the catalogue's sentence for `kind`


@dataclass(frozen=True, slots=True)
class SpeechNotMeant:
    """The brain found that what it heard was not said to us."""

    turn: int


@dataclass(frozen=True, slots=True)
class PlaybackEnded:
    """All that was to be said has been played, measured at the player."""

    turn: int


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody wants silence: a stop word, a button, the API."""


@dataclass(frozen=True, slots=True)
class TalkEnded:
    """The person wants to go: after this answer nothing is listened for."""

    turn: int


AnswersBy = Literal["ear", "keys", "phone"]


@dataclass(frozen=True, slots=True)
class ConfirmationAsked:
    """A call waits for the person's yes; the question is on its way to the mouth."""

    turn: int
    by: AnswersBy  # where the answer comes from


@dataclass(frozen=True, slots=True)
class ConfirmationSettled:
    """The question is answered, or will not be; what came of it is on its way to the mouth."""

    turn: int
    new_command: bool = False  # what was said instead is a turn of its own
    text: str | None = None  # and was typed


Event = (
    WakeHeard
    | WakeRising
    | SpeechStarted
    | SpeechEnded
    | Tick
    | SourceEnded
    | SourceLost
    | SourceBack
    | Typed
    | Announced
    | Muted
    | PlaybackStarted
    | BrainFinished
    | BrainFailed
    | SpeechNotMeant
    | PlaybackEnded
    | StopAsked
    | TalkEnded
    | ConfirmationAsked
    | ConfirmationSettled
)


# --- effects: what to do ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """Start the brain on a new turn. Spoken turns keep all sound from the mark on.

    An announcement asks no brain: its text is what is said.
    """

    turn: int
    source: Source
    mark_ms: float = 0.0
    wake: WakeHeard | None = None
    text: str | None = None
    language: str | None = None  # of an announcement; else nobody knows yet
    near_own_speech: bool = False  # it began while we spoke, or so soon after that it may be us
    held: bool = False  # a brain is at it already: it was said in place of a yes or no


@dataclass(frozen=True, slots=True)
class Anticipate:
    """A turn may be about to begin: whoever needs a connection can open it."""


@dataclass(frozen=True, slots=True)
class WatchSpeech:
    """Look for speech from `from_ms` on; only what is spoken after `after_ms` counts."""

    from_ms: float
    after_ms: float


@dataclass(frozen=True, slots=True)
class ReleaseSound:
    """The person has begun to speak: the turn's sound may leave the box."""

    turn: int


@dataclass(frozen=True, slots=True)
class StopWatching:
    """Nobody is expected to speak to us without the wake word."""


@dataclass(frozen=True, slots=True)
class ForgetSound:
    """Nothing that was heard so far may be looked back on."""


@dataclass(frozen=True, slots=True)
class EndListening:
    """The sentence is over: the turn's sound is complete."""

    turn: int
    speech_end_ms: float | None  # None: nobody spoke, or the file or the time ended it
    decided_ms: float


@dataclass(frozen=True, slots=True)
class AwaitAnswer:
    """Our question has been asked: the person is waited for."""

    turn: int
    by: AnswersBy


@dataclass(frozen=True, slots=True)
class HearAnswer:
    """Somebody answers our question: what is said is kept from the mark on."""

    turn: int
    mark_ms: float


@dataclass(frozen=True, slots=True)
class EndAnswer:
    """What was said to our question is complete."""

    turn: int


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nobody has answered our question."""

    turn: int
    waited: bool  # as long as one waits; else there is nobody who could answer


@dataclass(frozen=True, slots=True)
class PlaySound:
    """One of our short sounds."""

    name: str


@dataclass(frozen=True, slots=True)
class SayLine:
    """Speak a sentence of the catalogue as part of the turn's answer."""

    turn: int
    key: str


@dataclass(frozen=True, slots=True)
class SayText:
    """Speak this sentence as part of the turn's answer."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class FinishSpeech:
    """Nothing more will be said in this turn; PlaybackEnded is awaited."""

    turn: int


CancelReason = Literal["barge_in", "stop", "source_lost", "no_speech", "muted"]


@dataclass(frozen=True, slots=True)
class CancelTurn:
    """Stop everything that the turn still does, the voice first."""

    turn: int
    reason: CancelReason


@dataclass(frozen=True, slots=True)
class CloseTurn:
    """The turn is over: write it down."""

    turn: int
    error: str | None = None  # a kind, e.g. "no_speech"
    message: str | None = None


Effect = (
    OpenTurn
    | Anticipate
    | WatchSpeech
    | ReleaseSound
    | StopWatching
    | ForgetSound
    | EndListening
    | AwaitAnswer
    | HearAnswer
    | EndAnswer
    | NoAnswer
    | PlaySound
    | SayLine
    | SayText
    | FinishSpeech
    | CancelTurn
    | CloseTurn
)
