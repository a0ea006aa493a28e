"""State of the conversation: all that the turn machine remembers between two events."""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Literal

from assistant.conversation.rules.events import Announced, AnswersBy, ForAnswer, Source, Then
from audio.device_status import MicrophoneStatus

FollowUp = Literal["question", "always", "never"]  # after which answers it listens on
ANNOUNCEMENTS_WAITING = 16  # beyond that the oldest is given up: the newest is still true


class State(Enum):
    """State of the conversation."""

    IDLE = auto()  # waiting for the wake word
    WAKING = auto()  # the wake word was heard, the command has not begun
    LISTENING = auto()  # the person is speaking to us
    THINKING = auto()  # the sentence is over, nothing of the answer is to be heard yet
    SPEAKING = auto()  # the answer is being played
    CONFIRMING = auto()  # we asked whether a call may run; the answer is waited for, or heard
    FOLLOW_UP = auto()  # we asked; the microphone is open without wake word
    FAULT = auto()  # there is no microphone; typed turns still work


class MicrophoneState(Enum):
    """State of the source of sound."""

    OPEN = auto()
    ENDED = auto()  # a file that is over, or a process that only takes typed turns
    LOST = auto()  # a device that is being looked for


@dataclass(frozen=True, slots=True)
class Rules:
    """The waits and habits, in milliseconds of sound."""

    settle_ms: float = 200  # speech this soon after the detection may be the wake word's own tail
    wake_sound_ms: float = 400  # the wake sound plays only after this much silence
    no_speech_ms: float = 5_000  # after the wake word
    longest_ms: float = (
        20_000  # from the detection, or the start of a follow-up, to the end of the sentence
    )
    follow_up_ms: float = 8_000  # the microphone stays open this long after a question
    pre_roll_ms: float = 300  # kept from before the speech that answers a question
    echo_tail_ms: float = 200  # speech this soon after our own voice is its echo
    confirm_ms: float = 20_000  # a yes or no is waited for this long
    own_speech_ms: float = 2_000  # a request this soon after our own voice opens nothing
    barge_in_ms: float = 300  # speech that lasts this long cuts our voice
    # A wake word this soon after the beginning of speech that cut our voice is its beginning.
    wake_first_ms: float = 1_000
    stop_word_ms: float = 1_500  # no stop word is longer
    thinking_ms: float = 1_500  # of real time without a word, after which a tone tells that we work
    thinking_again_ms: float = 4_000  # and again
    # What cuts our voice: speech, where our own is taken out of what the microphone hears; else
    # only the wake word and a stop word.
    barge_in: Literal["speech", "wake"] = "wake"
    follow_up: FollowUp = "question"


@dataclass(frozen=True, slots=True)
class Machine:
    """The whole state of the conversation."""

    rules: Rules = field(default_factory=Rules)
    state: State = State.IDLE
    turn: int = 0  # number of the newest turn; events of older ones are stale
    source: Source = "voice"  # how the newest turn came in
    since_ms: float = 0.0  # when WAKING, LISTENING or FOLLOW_UP began to be counted
    now_ms: float = 0.0  # the latest Tick
    sounded: bool = False  # the wake sound of this turn was played
    asks: bool = False  # the answer ends in a question
    over: bool = False  # the person has said good-bye: no follow-up
    confirming: AnswersBy | None = None  # a yes is needed, and comes from there
    answering: bool = False  # in CONFIRMING: the person speaks
    answer_near: bool = False  # and began so soon after our question that it may be its echo
    silent_since_ms: float | None = None  # when our own voice last ended, in this source's time
    over_ms: float | None = None  # since then somebody speaks over our voice, or a ringing timer
    ringing: bool = False  # a timer rings between the turns
    acknowledged: bool = False  # a tone has told that it is done
    error: tuple[str, str] | None = None  # kind and sentence, once the turn has gone wrong
    silent: bool = False  # nothing of the turn sounds: a program's sentence
    microphone: MicrophoneState = MicrophoneState.OPEN
    muted: bool = False  # nothing is listened to; what is under way is still answered
    announcing: Announced | None = None  # what the newest turn announces
    announcements: tuple[Announced, ...] = ()  # waiting for the conversation to rest

    @property
    def then(self) -> Then | None:
        """Why the microphone opens after what the newest turn announces."""
        return None if self.announcing is None else self.announcing.then

    def fresh(self) -> "Machine":
        """As before any turn. An announcement cut off before its first sample waits again; whether
        a question is asked again, whoever asks it knows."""
        waiting = self.announcements
        unheard = self.state is State.THINKING and not isinstance(self.then, ForAnswer)
        if unheard and self.announcing is not None:
            waiting = (self.announcing, *waiting)
        return replace(
            self,
            sounded=False,
            asks=False,
            over=False,
            confirming=None,
            answering=False,
            over_ms=None,
            acknowledged=False,
            silent=False,
            error=None,
            announcing=None,
            announcements=waiting,
        )

    @property
    def wants_sound(self) -> bool:
        """The microphone is wanted: a file that is pulled may go on."""
        return self.state in _OPEN_EARS

    @property
    def rests(self) -> bool:
        """No turn is under way and nobody is expected to speak."""
        return self.state in _RESTING

    @property
    def hears_over(self) -> bool:
        """Speech over our voice may cut it. A question of ours for a yes is heard to its end."""
        speech = self.rules.barge_in == "speech" and self.confirming is None
        return speech and self.microphone is MicrophoneState.OPEN and not self.muted

    @property
    def ducks(self) -> bool:
        """Our voice is lowered."""
        return self.state is State.SPEAKING and self.over_ms is not None

    @property
    def stops_by_ear(self) -> bool:
        """A stop word that the box hears by itself is believed."""
        return self.state in _STOPS_BY_EAR or self.ringing

    @property
    def stops_by_text(self) -> bool:
        """A stop word that was typed is believed: there is something to stop."""
        return self.stops_by_ear or self.state is State.THINKING

    @property
    def tells_time(self) -> bool:
        """Time alone may change something."""
        return self.state in _TIMED


_OPEN_EARS = frozenset(
    {State.IDLE, State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP}
)
_RESTING = frozenset({State.IDLE, State.FAULT})
# Not while the brain thinks: the word may be the end of the sentence just heard.
_STOPS_BY_EAR = frozenset({State.SPEAKING, State.CONFIRMING, State.FOLLOW_UP})
_TIMED = frozenset({State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP})


@dataclass(frozen=True, slots=True)
class Standing:
    """Visible state of a conversation."""

    state: State
    muted: bool
    microphone: MicrophoneStatus
