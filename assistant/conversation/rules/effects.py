"""Effects, which are carried out for a turn: one half of the turn machine's vocabulary.

Times are milliseconds of sound since the source's first sample, unless said.
"""

from dataclasses import dataclass
from typing import Literal

from assistant.conversation.rules.events import Announced, AnswersBy, Source, Then, WakeHeard
from assistant.domain.brain import PEOPLE, ConversationOwner
from assistant.speech.sink import Manner


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
    manner: Manner | None = None  # of an announcement
    near_own_speech: bool = False  # it began while we spoke, or so soon after that it may be us
    over_ours: bool = False  # we were at work, spoke or rang when it began
    held: bool = False  # a brain is at it already: it was said in place of a yes or no
    then: Then | None = None  # of an announcement: why the microphone opens afterwards
    caller: str = ""  # the program that opened it; "": a person
    talk: Announced | None = None  # a program's opening line, which the person now answers
    owner: ConversationOwner = (
        PEOPLE  # whose conversation it belongs to; all that is spoken: theirs
    )

    @property
    def silent(self) -> bool:
        """A program's sentence: nothing of it sounds, and nobody in the room is asked."""
        return self.source == "text" and self.caller != ""


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
class ListenForStop:
    """Somebody said something short while we spoke or rang: it may be a stop word."""

    from_ms: float  # first voiced sample
    after: int  # the newest turn


@dataclass(frozen=True, slots=True)
class Duck:
    """Lower our voice, or raise it again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Hush:
    """Silence what rings: somebody has heard it."""


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
    """The answer to our question is complete."""

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
class SoundOpening:
    """Tell by a tone that nothing silences that the microphone opens: OpeningSounded follows."""

    turn: int


@dataclass(frozen=True, slots=True)
class WatchThinking:
    """Tell by StillThinking when so much time has passed and the turn is not over."""

    turn: int
    after_ms: float  # of real time


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
class AnnounceLine:
    """Speak a sentence of the catalogue once the conversation rests."""

    key: str


@dataclass(frozen=True, slots=True)
class FinishSpeech:
    """Nothing more will be said in this turn; PlaybackEnded is awaited."""

    turn: int


CancelReason = Literal["barge_in", "stop", "source_lost", "no_speech", "muted", "withdrawn"]


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
    | ListenForStop
    | Duck
    | Hush
    | EndListening
    | AwaitAnswer
    | HearAnswer
    | EndAnswer
    | NoAnswer
    | PlaySound
    | SoundOpening
    | WatchThinking
    | SayLine
    | SayText
    | AnnounceLine
    | FinishSpeech
    | CancelTurn
    | CloseTurn
)
