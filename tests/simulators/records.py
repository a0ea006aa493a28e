"""Records of the simulated service for the test's assertions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.simulators.handshake import Setup
from tests.simulators.sound import RATE_IN, find
from tests.simulators.window import Window
from tests.simulators.wire import Json


@dataclass(frozen=True, slots=True)
class Frame:
    """A JSON message to send."""

    message: Json
    instead: str = ""  # sent instead of the message, if it isn't to be valid JSON


@dataclass(frozen=True, slots=True)
class Ending:
    """An end of the connection to send."""

    code: int | None  # None: without a close frame
    reason: str = ""


@dataclass(slots=True)
class CallRecord:
    """A function call and its outcome. Times are seconds of the simulator's clock."""

    id: str
    name: str
    args: Json
    behavior: str
    sent_at: float
    status: Literal["open", "answered", "cancelled"] = "open"
    answered_at: float | None = None
    cancelled_at: float = 0.0
    response: Json | None = None
    scheduling: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """Position of the service's sound in a recording: samples at 16 kHz, `end` excluded."""

    start: int
    end: int


@dataclass(slots=True)
class HeardTurn:
    """An exchange as the service saw it. Times are seconds of the simulator's clock."""

    index: int
    kind: Literal["audio", "text"]
    connection: int  # index
    session: str
    started_at: float
    ended_at: float | None = None  # activity_end, or the arrival of the text
    text: str = ""  # of a typed turn
    first_audio_at: float | None = None
    last_audio_at: float | None = None
    chunks: list[tuple[float, int]] = field(default_factory=list)  # arrival, bytes
    heard: bytearray = field(default_factory=bytearray)
    calls: list[CallRecord] = field(default_factory=list)
    replied_at: float | None = None  # first frame of ours that belongs to it
    done_at: float | None = None  # turnComplete
    reply_pcm: bytearray = field(default_factory=bytearray)  # 24 kHz, as sent
    reply_text: str = ""  # transcript, as sent
    cut: Literal["", "by new input", "by the end of the connection"] = ""

    @property
    def pcm(self) -> bytes:
        """The person's sound: mono int16 at 16 kHz."""
        return bytes(self.heard)

    @property
    def longest_chunk_s(self) -> float:
        """Length of the longest chunk of the person's sound."""
        return max((size for _, size in self.chunks), default=0) / 2 / RATE_IN

    def assert_heard(
        self,
        recording: bytes,
        window: tuple[int, int] | None = None,
        *,
        covers: tuple[int, int] | None = None,
        added_silence_s: float = 0.0,
    ) -> Heard:
        """Check that the sound is one exact, contiguous part of `recording` (mono int16, 16 kHz).

        `window`: it lies within these samples. `covers`: it contains all these samples.
        `added_silence_s`: at most this much of zeros may follow that the recording does not have.
        """
        pcm = self.pcm
        assert pcm, f"turn {self.index} holds no sound"
        for length in _lengths(pcm, added_silence_s):
            places = [Heard(at, at + length // 2) for at in find(pcm[:length], recording)]
            fitting = [place for place in places if _fits(place, window, covers)]
            if fitting:
                return fitting[0]
            if places:
                raise AssertionError(
                    f"turn {self.index} was found at samples "
                    f"{', '.join(f'{place.start}..{place.end}' for place in places)}, "
                    f"not within {window} covering {covers}"
                )
        raise AssertionError(
            f"the {len(pcm) // 2} samples of turn {self.index} are no contiguous part of the "
            f"recording; {_agreement(pcm, recording)}"
        )


def _lengths(pcm: bytes, added_silence_s: float) -> list[int]:
    """Return the lengths in bytes, whole and without the zeros at the end."""
    if added_silence_s <= 0:
        return [len(pcm)]
    most = round(added_silence_s * RATE_IN) * 2
    zeros = min(len(pcm) - len(pcm.rstrip(b"\0")), most)
    return [len(pcm), len(pcm) - zeros // 2 * 2]


def _fits(place: Heard, window: tuple[int, int] | None, covers: tuple[int, int] | None) -> bool:
    inside = window is None or (window[0] <= place.start and place.end <= window[1])
    return inside and (covers is None or (place.start <= covers[0] and covers[1] <= place.end))


def _agreement(pcm: bytes, recording: bytes) -> str:
    """Describe how far they agree, for debugging."""
    step = RATE_IN // 10 * 2  # 100 ms
    for offset in range(0, len(pcm) - step, step):
        places = find(pcm[offset : offset + step], recording)
        if len(places) == 1:
            start, length = places[0] * 2, 0
            while (
                pcm[offset + length : offset + length + 2]
                == recording[start + length : start + length + 2]
                != b""
            ):
                length += 2
            return (
                f"its samples {offset // 2}..{(offset + length) // 2} are the recording's "
                f"{start // 2}..{(start + length) // 2}"
            )
    return "no 100 ms of it are in the recording"


@dataclass(slots=True)
class ConnectionRecord:
    """A socket from its upgrade on. Times are seconds of the simulator's clock."""

    index: int
    opened_at: float
    send: Callable[[Frame | Ending], None]  # thread-safe
    setup: Setup | None = None  # None: none was accepted
    setup_at: float | None = None  # arrival of the setup
    ready_at: float | None = None  # setupComplete
    closed_at: float | None = None
    close_code: int | None = None  # as seen by the socket; 1006: broken
    refused: tuple[int, str] | None = None  # why the service closed it
    session: str = ""
    resumed: bool = False
    stray: bytearray = field(default_factory=bytearray)  # sound outside of any activity
    contents: list[tuple[str, str, bool]] = field(default_factory=list)  # role, text, complete
    updates: list[Json] = field(default_factory=list)  # context updates, in camel case
    answers: list[Json] = field(default_factory=list)  # function responses, in camel case
    turns: list[int] = field(default_factory=list)  # indices
    pings: int = 0
    # Every message as it was received, if the simulator has `keep_frames`.
    frames: list[str] = field(default_factory=list)

    @property
    def handle(self) -> str | None:
        """The handle in its set-up."""
        return self.setup.resumes if self.setup else None

    @property
    def open(self) -> bool:
        """True while the socket is open."""
        return self.closed_at is None

    def push(self, frame: Json) -> None:
        """Send any message, now, from any thread."""
        self.send(Frame(frame))

    def go_away(self, left_s: float) -> None:
        """Announce the end of this connection."""
        self.push({"goAway": {"timeLeft": f"{left_s:g}s"}})

    def drop(self) -> None:
        """Break the connection."""
        self.send(Ending(None))

    def close(self, code: int, reason: str = "") -> None:
        self.send(Ending(code, reason))


@dataclass(slots=True)
class Session:
    """A conversation as the service knows it, over all its connections."""

    name: str
    history: list[str] = field(default_factory=list)  # "user: ...", "model: ...", bounded
    handles: list[str] = field(default_factory=list)
    connection: int | None = None  # index of the socket that is open on it
    # Calls that were open when their connection ended. It waits for them until they are answered,
    # or until new input ends their exchange without being answered itself.
    lost: list[CallRecord] = field(default_factory=list)
    window: Window = field(default_factory=Window)  # counted only with `window` rules

    def remember(self, who: str, text: str) -> None:
        """Add to the history."""
        self.history.append(f"{who}: {text}")
        del self.history[:-200]


@dataclass(slots=True)
class OnceRequest:
    """A REST request."""

    index: int
    at: float
    model: str
    contents: Sequence[Json]  # in camel case
    instruction: str
    functions: tuple[str, ...]  # names
    thinking_level: str | None
    audio: bytes  # the newest inline sound: mono int16 at 16 kHz; empty where there is none
    texts: tuple[str, ...]  # of the newest content
    responses: list[Json] = field(default_factory=list)  # function responses of the newest content
    status: int | None = None  # of the answer
    raw: dict[str, Any] = field(default_factory=dict)
