"""Events around a turn: one half of the turn machine's vocabulary (see `effects`).

Times are milliseconds of sound since the source's first sample, unless said.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assistant.domain.brain import PEOPLE, ConversationOwner
from assistant.speech.sink import PLAIN, Manner

if TYPE_CHECKING:
    from assistant.conversation.program_questions import Inquiry

# What programs may have the conversation do: ask, or begin to talk. A tone always goes before.

How = Literal[
    "answered",
    "silence",  # nobody said anything
    "unclear",  # and once more asked, it was no answer either
    "command",  # what was said instead is a turn of its own
    "unheard",  # the question or its tone did not sound, or the microphone had gone
    "cut",  # somebody had something else to say before the answer was complete
    "stopped",  # somebody wanted silence, or whoever asked has gone
]


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a question."""

    how: How
    turn_id: str
    heard: str | None = None  # the words of the answer, as they were understood


@dataclass(frozen=True, slots=True)
class Weighed:
    """Judgement of somebody's words as an answer."""

    fits: bool  # an answer
    again: bool = True  # where not: to ask once more may help
    is_command_like: bool = False  # where not: they may be something quite different


@dataclass(frozen=True, slots=True, eq=False)
class ForAnswer:
    """A question is said, and the microphone opens for its answer."""

    caller: str  # the program, as the journal names it
    wait_ms: float  # that the answer may take to begin
    inquiry: "Inquiry"


@dataclass(frozen=True, slots=True, eq=False)
class ForTalk:
    """An opening line is said, and the microphone opens for whoever goes on."""

    caller: str
    instruction: str = ""  # for the model, with the next turn alone


Then = ForAnswer | ForTalk


Source = Literal[
    "voice",  # with the wake word, or a button in its place
    "follow_up",  # after a question of ours
    "barge_in",  # by talking over our voice
    "text",
    "announcement",
]
STOP_WORD = "stop"  # a wake engine's word that opens nothing: it asks for silence


@dataclass(frozen=True, slots=True)
class WakeHeard:
    """A wake engine fired."""

    word: str
    score: float  # 0 to 1
    at_ms: float  # when it fired
    mark_ms: float  # from where the turn's sound is kept
    pressed: bool = False  # no word at all: a button, or the API
    caller: str = ""  # the program that pressed it, which our tone has told; "": a person


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
class SpeechHeld:
    """Speech has really lasted: it was voiced for `Rules.barge_in_ms`."""

    at_ms: float  # when it became known
    began_ms: float  # first voiced sample


@dataclass(frozen=True, slots=True)
class SpeechPassed:
    """Speech has fallen silent before it had lasted: a cough, a word, a plate."""

    at_ms: float  # last voiced sample


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
    """The microphone gives sound again; its time goes on, or begins anew with another source."""

    at_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Typed:
    """A person typed a sentence, or a program put one; then nothing of it sounds."""

    text: str
    caller: str = ""  # the program; "": a person
    owner: ConversationOwner = PEOPLE


@dataclass(frozen=True, slots=True)
class Announced:
    """There is something to be said that nobody asked for just now."""

    text: str
    language: str
    manner: Manner = PLAIN
    then: Then | None = None  # why the microphone opens afterwards; None: it does not


@dataclass(frozen=True, slots=True)
class OpeningSounded:
    """Our tone before a microphone that a program opens is over."""

    turn: int
    heard: bool  # False: nobody can have heard it


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Whoever asked or wanted to talk has gone."""

    then: Then


@dataclass(frozen=True, slots=True)
class Muted:
    """The person wants not to be listened to, or to be listened to again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Ringing:
    """A timer begins to ring, or nothing rings any more."""

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


AsideFor = Literal["echo", "stop_word"]


@dataclass(frozen=True, slots=True)
class SetAside:
    """The words of this turn want no answer."""

    turn: int
    why: AsideFor


@dataclass(frozen=True, slots=True)
class StillThinking:
    """A person has waited, in real time, and nothing is known to have been said."""

    turn: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The request was seen to be done: a tone may tell it in place of words."""

    turn: int


@dataclass(frozen=True, slots=True)
class WentOffline:
    """This device alone serves from here on; the sentence about it is on its way to the mouth."""

    turn: int


@dataclass(frozen=True, slots=True)
class PlaybackEnded:
    """All that was to be said has been played, measured at the player."""

    turn: int


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody wants silence: a stop word, a button, the API."""


@dataclass(frozen=True, slots=True)
class StopHeard:
    """A stop word, by ear; meanwhile the conversation may have gone on."""

    after: int  # the newest turn when it was said


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
    more: bool = False  # the turn goes on: with a further question, or with the brain's answer


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
