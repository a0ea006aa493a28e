"""The conversation's state: everything that the turn machine remembers between events."""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Literal

from assistant.conversation.rules.events import Announced, AnswersBy, ForAnswer, Source, Then
from audio.device_status import MicrophoneStatus

# Answers after which the microphone stays open.
FollowUp = Literal["question", "always", "never"]
ANNOUNCEMENTS_WAITING = 16  # above this, the oldest is dropped


class State(Enum):
    IDLE = auto()  # waiting for the wake word
    WAKING = auto()  # the wake word was heard, but the command has not begun
    LISTENING = auto()  # the person is speaking to Hearth
    THINKING = auto()  # the sentence is over, but the answer has not started to play
    SPEAKING = auto()  # the answer is being played
    CONFIRMING = auto()  # waiting for, or hearing, the answer to a question
    FOLLOW_UP = auto()  # after an answer; the microphone is open without a wake word
    FAULT = auto()  # no microphone; typed turns still work


class MicrophoneState(Enum):
    """The state of the audio source."""

    OPEN = auto()
    ENDED = auto()  # the file has ended, or the process has only typed turns
    LOST = auto()  # Hearth is trying to reopen the device


@dataclass(frozen=True, slots=True)
class Rules:
    """Time limits and preferences. Times are in milliseconds of audio, unless stated otherwise."""

    settle_ms: float = 200  # sooner after detection, speech may be part of the wake word
    wake_sound_ms: float = 400  # the wake sound is played only after this much silence
    no_speech_ms: float = 5_000  # after the wake word
    longest_ms: float = (
        20_000  # from the wake word, or the start of a follow-up, to the end of the sentence
    )
    follow_up_ms: float = 8_000  # the microphone stays open this long after a question
    pre_roll_ms: float = 300  # audio kept from before the speech of a follow-up or answer
    echo_tail_ms: float = 200  # speech this soon after Hearth's own may be its echo
    confirm_ms: float = 20_000  # time to answer a confirmation question
    # A request this soon after Hearth's own speech must not unlock or open anything.
    own_speech_ms: float = 2_000
    # A wake word this soon after the start of an interruption belongs to it.
    wake_first_ms: float = 1_000
    stop_word_ms: float = 1_500  # longest stop word
    thinking_ms: float = 1_500  # silence in real time before the first thinking tone
    thinking_again_ms: float = 4_000  # silence before the next thinking tone
    # "speech" needs Hearth's own voice removed from the microphone signal; with "wake", only the
    # wake word and a stop word interrupt Hearth.
    barge_in: Literal["speech", "wake"] = "wake"
    follow_up: FollowUp = "question"


@dataclass(frozen=True, slots=True)
class Machine:
    """The complete state of the conversation."""

    rules: Rules = field(default_factory=Rules)
    state: State = State.IDLE
    turn: int = 0  # number of the newest turn; events of older turns are stale
    source: Source = "voice"  # origin of the newest turn
    since_ms: float = 0.0  # start of WAKING, LISTENING, CONFIRMING or FOLLOW_UP
    now_ms: float = 0.0  # time of the latest Tick
    sounded: bool = False  # the turn's wake sound has been played
    asks: bool = False  # the answer ends in a question
    over: bool = False  # the person has said goodbye: no follow-up
    confirming: AnswersBy | None = None  # channel of the open question's answer
    answering: bool = False  # in CONFIRMING: the person is answering
    answer_near: bool = False  # the answer may be the question's echo
    # Source time at which Hearth's own speech last ended.
    silent_since_ms: float | None = None
    # Start of speech over Hearth's own or over a ringing timer; None without such speech.
    over_ms: float | None = None
    ringing: bool = False  # a timer rings between turns
    acknowledged: bool = False  # a tone has acknowledged the command
    error: tuple[str, str] | None = None  # (kind, message) once the turn has failed
    silent: bool = False  # a typed turn of a program or terminal, without sound
    microphone: MicrophoneState = MicrophoneState.OPEN
    muted: bool = False  # a turn in progress is still answered
    announcing: Announced | None = None  # the announcement of the newest turn
    announcements: tuple[Announced, ...] = ()  # waiting for an idle conversation

    @property
    def then(self) -> Then | None:
        """The reason for opening the microphone after the current announcement, or None if it stays
        closed."""
        return None if self.announcing is None else self.announcing.then

    def fresh(self) -> "Machine":
        """Return a copy of the state that is reset for a new turn. An announcement that was cut off
        before its first sample is queued again."""
        waiting = self.announcements
        # The program decides whether its question is repeated.
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
        """True if a source that can wait, such as a file, should deliver more audio."""
        return self.state in _OPEN_EARS

    @property
    def rests(self) -> bool:
        """True if no turn is in progress and nobody is expected to speak."""
        return self.state in _RESTING

    @property
    def hears_over(self) -> bool:
        """True if speech can interrupt Hearth."""
        speech = self.rules.barge_in == "speech" and self.confirming is None
        return speech and self.microphone is MicrophoneState.OPEN and not self.muted

    @property
    def ducks(self) -> bool:
        """True while Hearth is speaking more quietly because somebody is talking over it."""
        return self.state is State.SPEAKING and self.over_ms is not None

    @property
    def stops_by_ear(self) -> bool:
        """True if a stop word recognised by this device would take effect."""
        return self.state in _STOPS_BY_EAR or self.ringing

    @property
    def stops_by_text(self) -> bool:
        """True if a typed stop word would stop something."""
        return self.stops_by_ear or self.state is State.THINKING

    @property
    def tells_time(self) -> bool:
        """True if a Tick alone can change the state."""
        return self.state in _TIMED


_OPEN_EARS = frozenset(
    {State.IDLE, State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP}
)
_RESTING = frozenset({State.IDLE, State.FAULT})
# Not while the brain is thinking, because the word may end the sentence just heard.
_STOPS_BY_EAR = frozenset({State.SPEAKING, State.CONFIRMING, State.FOLLOW_UP})
_TIMED = frozenset({State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP})


@dataclass(frozen=True, slots=True)
class Standing:
    """A conversation's state, as people and programs see it."""

    state: State
    muted: bool
    microphone: MicrophoneStatus
