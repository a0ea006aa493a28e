"""Effects: the actions that the turn machine requests. Events are in `events`.

Times are in milliseconds of audio since the source's first sample, unless stated otherwise.
"""

from dataclasses import dataclass
from typing import Literal

from assistant.conversation.rules.events import (
    Announced,
    AnswersBy,
    AtTerminal,
    Source,
    Then,
    WakeHeard,
)
from assistant.domain.brain import PEOPLE, Brain, ConversationOwner
from assistant.speech.sink import Manner


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """Start a new turn. A spoken turn includes all audio since `mark_ms`."""

    turn: int
    source: Source
    mark_ms: float = 0.0
    wake: WakeHeard | None = None
    text: str | None = None
    language: str | None = None  # of an announcement; otherwise unknown
    manner: Manner | None = None  # of an announcement
    # The turn began during or shortly after Hearth's own speech, so it may be an echo.
    near_own_speech: bool = False
    over_ours: bool = False  # Hearth was thinking, speaking or ringing at its start
    held: bool = False  # a command given instead of a yes or no; a brain works on it
    then: Then | None = None  # why the microphone opens after an announcement
    caller: str = ""  # the program that opened the turn, "" for a person
    talk: Announced | None = None  # the opening line that the person answers
    owner: ConversationOwner = PEOPLE  # owner of the conversation; spoken turns belong to people
    terminal: AtTerminal | None = None  # the terminal that prints the turn, if any
    brain: Brain | None = None  # in place of the configured brains

    @property
    def silent(self) -> bool:
        """True for a sentence that a program typed, which is answered without speaking and without
        asking for confirmation."""
        return self.source == "text" and self.caller != ""


@dataclass(frozen=True, slots=True)
class Anticipate:
    """Let brains connect early, because a turn is probably about to start."""


@dataclass(frozen=True, slots=True)
class WatchSpeech:
    """Start detecting speech in the audio since `from_ms`. Only speech after `after_ms` counts."""

    from_ms: float
    after_ms: float


@dataclass(frozen=True, slots=True)
class ReleaseSound:
    """Allow the turn's audio to leave the device, because the person has started to speak."""

    turn: int


@dataclass(frozen=True, slots=True)
class StopWatching:
    """Stop detecting speech and listen only for the wake word."""


@dataclass(frozen=True, slots=True)
class ForgetSound:
    """Discard all audio heard so far."""


@dataclass(frozen=True, slots=True)
class ListenForStop:
    """Check whether a short utterance, heard while Hearth was speaking or a timer was ringing, is a
    stop word."""

    from_ms: float  # first voiced sample
    after: int  # number of the newest turn


@dataclass(frozen=True, slots=True)
class Duck:
    """Lower Hearth's speech volume, or raise it again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Hush:
    """Silence ringing timers, because a person asked Hearth to be quiet."""


@dataclass(frozen=True, slots=True)
class EndListening:
    """End the turn's audio, because Hearth has stopped listening."""

    turn: int
    speech_end_ms: float | None  # None if nobody spoke, or a file or time limit ended it
    decided_ms: float


@dataclass(frozen=True, slots=True)
class AwaitAnswer:
    """Wait for the answer to a question that Hearth has just asked."""

    turn: int
    by: AnswersBy


@dataclass(frozen=True, slots=True)
class HearAnswer:
    """Start capturing the answer to Hearth's question. Its audio starts at `mark_ms`."""

    turn: int
    mark_ms: float


@dataclass(frozen=True, slots=True)
class EndAnswer:
    """Stop capturing the answer to Hearth's question."""

    turn: int


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Report that Hearth's question was not answered."""

    turn: int
    waited: bool  # False if nobody was able to answer


@dataclass(frozen=True, slots=True)
class PlaySound:
    """Play one of Hearth's tones."""

    name: str


@dataclass(frozen=True, slots=True)
class SoundOpening:
    """Play the tone that announces an open microphone, even if Hearth's sounds are turned off.
    OpeningSounded is dispatched when the tone has ended."""

    turn: int


@dataclass(frozen=True, slots=True)
class WatchThinking:
    """Dispatch StillThinking after `after_ms`, unless the turn is over by then."""

    turn: int
    after_ms: float  # in real time


@dataclass(frozen=True, slots=True)
class SayLine:
    """Speak a sentence from the catalogue as part of the turn's answer."""

    turn: int
    key: str


@dataclass(frozen=True, slots=True)
class SayText:
    """Speak `text` as part of the turn's answer."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class AnnounceLine:
    """Speak a sentence from the catalogue once the conversation is idle."""

    key: str


@dataclass(frozen=True, slots=True)
class FinishSpeech:
    """Mark the turn's speech as complete. PlaybackEnded is dispatched once the speech has been
    played."""

    turn: int


CancelReason = Literal["barge_in", "stop", "source_lost", "no_speech", "muted", "withdrawn"]


@dataclass(frozen=True, slots=True)
class CancelTurn:
    """Stop all work on the turn, starting with its speech."""

    turn: int
    reason: CancelReason


@dataclass(frozen=True, slots=True)
class CloseTurn:
    """Store the finished turn."""

    turn: int
    error: str | None = None  # kind of error, e.g. "no_speech"
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
