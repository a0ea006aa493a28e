"""Events of the turn machine. Effects are in `effects`.

Times are in milliseconds of audio since the source's first sample, unless stated otherwise.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from assistant.domain.brain import PEOPLE, Brain, ConversationOwner
from assistant.speech.sink import PLAIN, Manner

if TYPE_CHECKING:
    from assistant.conversation.program_questions import Inquiry

# Programs can ask a question or start a conversation. A tone always precedes the microphone.

How = Literal[
    "answered",
    "silence",  # nobody spoke
    "unclear",  # the reply did not answer the question
    "command",  # the reply was a command and becomes a turn of its own
    "unheard",  # the question or its tone was not played, or the microphone was gone
    "cut",  # a person's own command interrupted the question
    "stopped",  # somebody asked for silence, or the program is gone
]


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a program's question."""

    how: How
    turn_id: str
    heard: str | None = None  # transcript of the answer


@dataclass(frozen=True, slots=True)
class Weighed:
    """The verdict on whether a reply answers a program's question."""

    fits: bool  # the reply is an answer
    again: bool = True  # if it isn't: asking again may help
    is_command_like: bool = False  # if it isn't: it may be a command


@dataclass(frozen=True, slots=True, eq=False)
class ForAnswer:
    """The reason for opening the microphone after an announcement: a program asked a question."""

    caller: str  # the program's name in the journal
    wait_ms: float  # time for the answer to begin
    inquiry: "Inquiry"


@dataclass(frozen=True, slots=True, eq=False)
class ForTalk:
    """The reason for opening the microphone after an announcement: a program started a
    conversation."""

    caller: str
    instruction: str = ""  # for the model, in the next turn only


Then = ForAnswer | ForTalk


Source = Literal[
    "voice",  # with the wake word or a button
    "follow_up",  # after an answer, without the wake word
    "barge_in",  # by interrupting Hearth
    "text",
    "announcement",
]
STOP_WORD = "stop"  # wake word that asks for silence instead of opening a turn


@dataclass(frozen=True, slots=True)
class WakeHeard:
    """A wake word was detected, or the microphone was opened without one."""

    word: str
    score: float  # 0 to 1
    at_ms: float  # when the engine fired
    mark_ms: float  # start of the turn's audio
    pressed: bool = False  # opened by a button or the API, without a wake word
    caller: str = ""  # the program that opened it, after a tone; "" for a person


@dataclass(frozen=True, slots=True)
class WakeRising:
    """The wake-word score is rising, so somebody is probably saying the wake word."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody has started to speak."""

    at_ms: float  # first voiced sample


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """The speaker has been silent for too long to be still in the middle of a sentence."""

    at_ms: float  # last voiced sample
    decided_ms: float


@dataclass(frozen=True, slots=True)
class SpeechHeld:
    """The speech has lasted long enough to interrupt Hearth."""

    at_ms: float  # time of the decision
    began_ms: float  # first voiced sample


@dataclass(frozen=True, slots=True)
class SpeechPassed:
    """The speech was too short to interrupt Hearth: a cough, a single word or a clinking plate."""

    at_ms: float  # last voiced sample


@dataclass(frozen=True, slots=True)
class Tick:
    """The audio source has advanced to `at_ms`."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class SourceEnded:
    """The audio file has ended."""

    at_ms: float


@dataclass(frozen=True, slots=True)
class SourceLost:
    """The microphone has disappeared."""


@dataclass(frozen=True, slots=True)
class SourceBack:
    """The microphone delivers audio again. If it is a different source, its clock has restarted."""

    at_ms: float = 0.0


class Prompter(Protocol):
    """Prompts a person at a keyboard."""

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        """Return the line that the person typed, or None if they typed nothing in time. With
        `hidden`, the input is not shown."""
        ...


@dataclass(frozen=True, slots=True)
class AtTerminal:
    """A person at a terminal. Their turn is printed in the terminal and not spoken."""

    prompter: Prompter | None = None  # None if nobody can type an answer


@dataclass(frozen=True, slots=True)
class Typed:
    """A person typed a sentence, or a program sent one. Answers to programs are not spoken."""

    text: str
    caller: str = ""  # the program's name, "" for a person
    owner: ConversationOwner = PEOPLE
    terminal: AtTerminal | None = None  # the terminal that prints the turn, if any
    brain: Brain | None = None  # understands this sentence in place of the configured brains


@dataclass(frozen=True, slots=True)
class Announced:
    """An announcement is waiting to be spoken."""

    text: str
    language: str
    manner: Manner = PLAIN
    then: Then | None = None  # why the microphone opens afterwards; None keeps it closed


@dataclass(frozen=True, slots=True)
class OpeningSounded:
    """The tone that precedes opening the microphone for a program has ended."""

    turn: int
    heard: bool  # False if the tone was not audible


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A program has withdrawn its question or its conversation."""

    then: Then


@dataclass(frozen=True, slots=True)
class Muted:
    """The microphone has been muted or unmuted."""

    on: bool


@dataclass(frozen=True, slots=True)
class Ringing:
    """A timer has started to ring, or the last ringing timer has stopped."""

    on: bool


@dataclass(frozen=True, slots=True)
class PlaybackStarted:
    """The first sample of the answer has been sent to the player."""

    turn: int


@dataclass(frozen=True, slots=True)
class BrainFinished:
    """The brain's answer is complete."""

    turn: int
    asks: bool  # the answer ends in a question


@dataclass(frozen=True, slots=True)
class BrainFailed:
    """The brain has failed."""

    turn: int
    kind: str
    message: str  # one sentence to show to a person
    spoken: str | None = None  # spoken instead of the catalogue's sentence for `kind`


@dataclass(frozen=True, slots=True)
class SpeechNotMeant:
    """The brain decided that the speech was not addressed to Hearth."""

    turn: int


AsideFor = Literal["echo", "stop_word"]


@dataclass(frozen=True, slots=True)
class SetAside:
    """The turn needs no answer, because the speech was Hearth's own echo or a stop word."""

    turn: int
    why: AsideFor


@dataclass(frozen=True, slots=True)
class StillThinking:
    """The delay set by WatchThinking has passed and the turn is still open."""

    turn: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The requested change was verified, so a tone can replace the spoken reply."""

    turn: int


@dataclass(frozen=True, slots=True)
class WentOffline:
    """The cloud is unavailable, so this device answers on its own. Hearth is about to say so."""

    turn: int


@dataclass(frozen=True, slots=True)
class PlaybackEnded:
    """The player has finished playing the turn's speech."""

    turn: int


@dataclass(frozen=True, slots=True)
class StopAsked:
    """A person asked Hearth to be quiet, with a stop word, a button or the API."""


@dataclass(frozen=True, slots=True)
class StopHeard:
    """This device recognised a stop word. The conversation may have moved on in the meantime."""

    after: int  # number of the newest turn when the stop word was said


@dataclass(frozen=True, slots=True)
class TalkEnded:
    """The person ended the conversation, so the microphone stays closed after this answer."""

    turn: int


AnswersBy = Literal["ear", "keys", "phone"]


@dataclass(frozen=True, slots=True)
class ConfirmationAsked:
    """A call needs confirmation, and the question is about to be spoken."""

    turn: int
    by: AnswersBy  # channel of the answer


@dataclass(frozen=True, slots=True)
class ConfirmationSettled:
    """A confirmation or a program's question is settled, and any result is about to be spoken."""

    turn: int
    new_command: bool = False  # the reply was a command and becomes a turn of its own
    text: str | None = None  # the new command, if it was typed
    more: bool = False  # the turn continues with another question or an answer
    terminal: AtTerminal | None = None  # the terminal where the new command was typed


Event = (
    WakeHeard
    | WakeRising
    | SpeechStarted
    | SpeechEnded
    | SpeechHeld
    | SpeechPassed
    | Tick
    | SourceEnded
    | SourceLost
    | SourceBack
    | Typed
    | Announced
    | OpeningSounded
    | Withdrawn
    | Muted
    | Ringing
    | PlaybackStarted
    | BrainFinished
    | BrainFailed
    | SpeechNotMeant
    | SetAside
    | StillThinking
    | Acknowledged
    | WentOffline
    | PlaybackEnded
    | StopAsked
    | StopHeard
    | TalkEnded
    | ConfirmationAsked
    | ConfirmationSettled
)
