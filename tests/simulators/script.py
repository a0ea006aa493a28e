"""Scripts of tests: the simulated service's steps. All values are frozen."""

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from assistant.tools.builtin.protocol import CALL_TOOL


class Gate:
    """Hold a step back until the test opens it, from any thread."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def open(self) -> None:
        """Let the step continue, permanently."""
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
    """A usageMetadata. The details are (modality, count); as in reality, they need not add up."""

    prompt: int = 100
    response: int = 20
    thoughts: int = 0
    prompt_details: Mapping[str, int] = field(default_factory=dict)  # {"AUDIO": 80, "TEXT": 20}
    response_details: Mapping[str, int] = field(default_factory=dict)


class Step:
    """A step of the service. Most are for a Live session; REST has some of its own."""

    __slots__ = ()


LiveStep = Step  # for the steps of a Live session


@dataclass(frozen=True, slots=True)
class Wait(Step):
    """Do nothing for this long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Think(Step):
    """Do nothing until this long after the end of the turn's input."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stall(Step):
    """Do nothing for `seconds`, or until a gate opens, or (neither given) forever."""

    seconds: float | None = None
    until: Gate | None = None


@dataclass(frozen=True, slots=True)
class Hear(Step):
    """Send the transcript of the person's speech; parts are independent of everything else."""

    text: str
    pieces: int = 1
    every_s: float = 0.0  # between the pieces
    language: str | None = None  # BCP-47


@dataclass(frozen=True, slots=True)
class Say(Step):
    """Send a piece of speech: 24 kHz sound and its transcript."""

    text: str
    audio_s: float | None = None  # None: 0.35 s per word
    pieces: int | None = None  # of the transcript; None: one for three words
    lag_s: float = 0.0  # delay of the transcript after its sound; negative: before it
    speed: float = 0.0  # of the sound, as a multiple of real time; 0: all at once
    together: bool = False  # sound and text for the same time are sent in one frame


@dataclass(frozen=True, slots=True)
class Sound(Step):
    """Send sound without a transcript."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Inner(Step):
    """Send a text part, which an audio model uses for thoughts and tool texts."""

    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class Phantom(Step):
    """Send a transcript without sound, as may happen after a function call."""

    text: str


Expected = Mapping[str, Any] | Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Call(Step):
    """Make a function call."""

    name: str
    args: Mapping[str, Any] | None = field(default_factory=dict)
    answer: Expected | None = None  # what the response must contain, or a predicate on it
    id: str | None = None  # None: numbered
    wait: bool = True  # wait for the response before the next step
    undeclared: bool = False  # the model invents a function that was not declared


def as_declared(call: Call, declared: Collection[str]) -> Call:
    """Return the call as a model makes it that wasn't sent the tool: through `call_tool`."""
    if call.undeclared or call.name in declared or CALL_TOOL not in declared:
        return call
    arguments = json.dumps(dict(call.args or {}), ensure_ascii=False)
    return replace(call, name=CALL_TOOL, args={"name": call.name, "arguments": arguments})


@dataclass(frozen=True, slots=True, init=False)
class CallTogether(Step):
    """Make parallel calls: one frame, then wait for all that say so."""

    calls: tuple[Call, ...]

    def __init__(self, *calls: Call) -> None:
        object.__setattr__(self, "calls", calls)


@dataclass(frozen=True, slots=True)
class AwaitAnswers(Step):
    """Wait for the responses to all open calls."""


@dataclass(frozen=True, slots=True, init=False)
class Cancel(Step):
    """Cancel calls; without ids, all open ones."""

    ids: tuple[str, ...]

    def __init__(self, *ids: str) -> None:
        object.__setattr__(self, "ids", ids)


@dataclass(frozen=True, slots=True)
class Interrupt(Step):
    """Send `interrupted` alone."""


@dataclass(frozen=True, slots=True)
class GenerationDone(Step):
    """Send `generationComplete` alone."""


@dataclass(frozen=True, slots=True)
class Used(Step):
    """Send a usageMetadata in its own frame."""

    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Done(Step):
    """End the model's turn."""

    status: Literal["IN_PROGRESS", "IDLE"] | None = None  # IN_PROGRESS: more will come by itself
    reason: str | None = None  # turnCompleteReason; for REST the finishReason
    usage: Tokens | None = None
    generation: bool = True  # generationComplete comes first
    waits_for_text: bool = True  # False: a late transcript comes after it


@dataclass(frozen=True, slots=True)
class Drop(Step):
    """Break the connection."""


@dataclass(frozen=True, slots=True)
class Close(Step):
    """Close the connection."""

    code: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GoAway(Step):
    """Announce that the connection will be closed, without closing it."""

    left_s: float


@dataclass(frozen=True, slots=True)
class Handle(Step):
    """Send another resumption update, besides those that come by themselves."""

    resumable: bool = True


@dataclass(frozen=True, slots=True)
class Garbage(Step):
    """Send a frame that is no JSON."""


@dataclass(frozen=True, slots=True)
class Raw(Step):
    """Send any other frame unchanged."""

    frame: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HttpError(Step):
    """REST: fail the request with this status, before or during its answer."""

    status: int  # HTTP, e.g. 429
    message: str = ""  # "": the service's default for this status


@dataclass(frozen=True, slots=True)
class Blocked(Step):
    """REST: block the prompt, without a candidate."""

    reason: str = "SAFETY"


@dataclass(frozen=True, slots=True)
class Turn:
    """An exchange of a Live session."""

    expect: Literal["audio", "text"]
    steps: Sequence[Step] = ()  # after the input has ended
    during: Sequence[Step] = ()  # from the start of the activity on
    # True: the rest is to be cut off; None: it may be; False: it must not be
    cut: bool | None = False


@dataclass(frozen=True, slots=True)
class OnceTurn:
    """An exchange over REST; each call starts another request."""

    steps: Sequence[Step] = ()
    cut: bool | None = False  # as in Turn


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a connection."""

    http_status: int | None = None  # instead of the upgrade, e.g. 403, 503
    http_message: str = ""  # "": the service's default for this status
    upgrade_delay_s: float = 0.0  # before the websocket opens
    delay_s: float = 0.0  # of setupComplete
    silent: bool = False  # setupComplete never comes
    refuse: tuple[int, str] | None = None  # close code and reason instead of setupComplete
    # Fields of the setup that are not taken ("inputAudioTranscription.customVocabulary"), and the
    # close with which they are refused.
    refuses: Sequence[str] = ()
    refusal: tuple[int, str] = (1007, "Request contains an invalid argument.")
    drop: bool = False  # the connection breaks instead of setupComplete
    refuse_handle: bool = False  # a handle is not known any more; without one it is as usual
    # The close with which a context update is refused, although the model's row allows it.
    update_refusal: tuple[int, str] | None = None
    pong_delay_s: float | None = 0.0  # of the answer to a ping; None: never
    then: Sequence[Step] = ()  # right after setupComplete
