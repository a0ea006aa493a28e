"""What a test writes: what the simulated service does, step by step. All values are frozen."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


class Gate:
    """Holds a step back until the test opens it, from any thread."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def open(self) -> None:
        """Let the step go on; for good."""
        with self._lock:
            self._open.set()
            waiting, self._waiting = self._waiting, []
        for release in waiting:
            release()

    def when_open(self, release: Callable[[], None]) -> None:
        """Call `release` once it is open: at once, or in the thread that opens it."""
        with self._lock:
            if not self._open.is_set():
                self._waiting.append(release)
                return
        release()


@dataclass(frozen=True, slots=True)
class Tokens:
    """A usageMetadata. The details are (modality, count); they need not add up, as in life."""

    prompt: int = 100
    response: int = 20
    thoughts: int = 0
    prompt_details: Mapping[str, int] = field(default_factory=dict)  # {"AUDIO": 80, "TEXT": 20}
    response_details: Mapping[str, int] = field(default_factory=dict)


class Step:
    """One thing that the service does. Most are for a Live session; REST has some of its own."""

    __slots__ = ()


LiveStep = Step  # where a name for the steps of a Live session reads better


@dataclass(frozen=True, slots=True)
class Wait(Step):
    """Nothing for this long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Think(Step):
    """Nothing until this long after the turn's input has ended."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stall(Step):
    """Nothing for `seconds`, or until a gate opens, or (neither given) for ever."""

    seconds: float | None = None
    until: Gate | None = None


@dataclass(frozen=True, slots=True)
class Hear(Step):
    """The transcript of what the person said; parts are independent of everything else."""

    text: str
    pieces: int = 1
    every_s: float = 0.0  # between the pieces
    language: str | None = None  # BCP-47


@dataclass(frozen=True, slots=True)
class Say(Step):
    """A piece of speech: 24 kHz sound and its transcript."""

    text: str
    audio_s: float | None = None  # None: 0.35 s a word
    pieces: int | None = None  # of the transcript; None: one for three words
    lag_s: float = 0.0  # of the transcript after the sound it belongs to; negative: before it
    speed: float = 0.0  # of the sound, times real time; 0: all at once
    together: bool = False  # sound and text that fall together come in one frame


@dataclass(frozen=True, slots=True)
class Sound(Step):
    """Sound that has no transcript."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Inner(Step):
    """A text part, which an audio model uses for thoughts and tool texts."""

    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class Phantom(Step):
    """A transcript without any sound, as it occurs after a function call."""

    text: str


Expected = Mapping[str, Any] | Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Call(Step):
    """One function call."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    answer: Expected | None = None  # what the response must contain, or a predicate on it
    id: str | None = None  # None: numbered
    wait: bool = True  # for the response, before the next step
    undeclared: bool = False  # the model invents a function that was not offered


@dataclass(frozen=True, slots=True, init=False)
class CallTogether(Step):
    """Parallel calls: one frame, and all are waited for that say so."""

    calls: tuple[Call, ...]

    def __init__(self, *calls: Call) -> None:
        object.__setattr__(self, "calls", calls)


@dataclass(frozen=True, slots=True)
class AwaitAnswers(Step):
    """Wait for the responses to all calls that are open."""


@dataclass(frozen=True, slots=True, init=False)
class Cancel(Step):
    """The service takes calls back; without ids all that are open."""

    ids: tuple[str, ...]

    def __init__(self, *ids: str) -> None:
        object.__setattr__(self, "ids", ids)


@dataclass(frozen=True, slots=True)
class Interrupt(Step):
    """`interrupted`, by itself."""


@dataclass(frozen=True, slots=True)
class GenerationDone(Step):
    """`generationComplete`, by itself."""


@dataclass(frozen=True, slots=True)
class Used(Step):
    """A usageMetadata in a frame of its own."""

    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Done(Step):
    """The end of the model's turn."""

    status: Literal["IN_PROGRESS", "IDLE"] | None = None  # IN_PROGRESS: more will come by itself
    reason: str | None = None  # turnCompleteReason; for REST the finishReason
    usage: Tokens | None = None
    generation: bool = True  # generationComplete comes before
    waits_for_text: bool = True  # False: a lagging transcript comes after it


@dataclass(frozen=True, slots=True)
class Drop(Step):
    """The connection breaks without a word."""


@dataclass(frozen=True, slots=True)
class Close(Step):
    """The service closes the connection."""

    code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GoAway(Step):
    """The service announces that it will close the connection (it does not do so by itself)."""

    left_s: float


@dataclass(frozen=True, slots=True)
class Handle(Step):
    """A further resumption update, beside those that come by themselves."""

    resumable: bool = True


@dataclass(frozen=True, slots=True)
class Raw(Step):
    """Any other frame, as it is."""

    frame: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HttpError(Step):
    """REST: the request fails with this status, before or amid its answer."""

    status: int  # HTTP, e.g. 429
    message: str = ""  # "": the service's own for this status


@dataclass(frozen=True, slots=True)
class Blocked(Step):
    """REST: the prompt is blocked, there is no candidate."""

    reason: str = "SAFETY"


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a Live session."""

    expect: Literal["audio", "text"]
    steps: Sequence[Step] = ()  # after the input has ended
    during: Sequence[Step] = ()  # from the start of the activity on
    cut: bool | None = False  # True: the rest is to be cut off; None: it may be; False: it may not


@dataclass(frozen=True, slots=True)
class OnceTurn:
    """One exchange over REST; each call begins a further request."""

    steps: Sequence[Step] = ()
    cut: bool | None = False  # as in Turn


@dataclass(frozen=True, slots=True)
class Opening:
    """How one connection begins."""

    http_status: int | None = None  # instead of the upgrade, e.g. 403, 503
    upgrade_delay_s: float = 0.0  # before the websocket is there
    delay_s: float = 0.0  # of setupComplete
    silent: bool = False  # setupComplete never comes
    refuse: tuple[int, str] | None = None  # close code and reason instead of setupComplete
    drop: bool = False  # the connection breaks instead of setupComplete
    refuse_handle: bool = False  # a handle is not known any more; without one it is as usual
    pong_delay_s: float | None = 0.0  # of the answer to a ping; None: never
    then: Sequence[Step] = ()  # right after setupComplete
