"""The simulated Gemini in a separate process, so that neither its work nor its memory counts.

Its times are comparable with ours: on Linux the monotonic clock is the same for all processes.
"""

import asyncio
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

from tests.simulators.book import Respond
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import Opening, Step

_KEPT_TURNS = 20
_START_S = 30.0
_END_S = 10.0


@dataclass(frozen=True, slots=True)
class Always:
    """A response that is the same for every turn."""

    steps: tuple[Step, ...]

    def __call__(self, turn: HeardTurn) -> Sequence[Step]:
        return self.steps


@dataclass(frozen=True, slots=True)
class ServedTurn:
    """One turn as the service saw it. Times are seconds of the monotonic clock."""

    index: int
    ended_at: float | None  # arrival of activity_end, or of the text
    calls: int
    samples: int  # of the person's sound


@dataclass(frozen=True, slots=True)
class ServedSound:
    """The person's sound of one turn as it arrived."""

    pcm: bytes  # mono int16 at 16 kHz
    pieces: list[tuple[float, int]]  # arrival in seconds of the monotonic clock, bytes


@dataclass(frozen=True, slots=True)
class Sounded:
    """One turn with the person's sound as it arrived."""

    turn: ServedTurn
    pcm: bytes  # mono int16 at 16 kHz


@dataclass(frozen=True, slots=True)
class Address:
    """The values that a client needs."""

    url: str
    key: str
    ca_file: str


@dataclass(slots=True)
class _Serving:
    """The other process's state; requests are functions of it."""

    simulator: GeminiSimulator
    respond: Respond


_Request = Callable[[_Serving], Any]


class GeminiProcess:
    """A context in which the service runs. Leaving it raises the errors of the requests.

    All arguments must be picklable: functions of a module, and steps without lambdas. Every method
    waits for the other process, so call them between turns.
    """

    address: Address

    def __init__(self, respond: Respond, *, check: bool = True, opens_s: float = 0.0) -> None:
        """Set `check` to False to let a client do what the real service would refuse.

        `opens_s`: from a connection's set-up to its `setupComplete`.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_run, args=(theirs, respond, check, opens_s), daemon=True
        )

    def __enter__(self) -> Self:
        self._process.start()
        if not self._pipe.poll(_START_S):
            raise RuntimeError("the simulated Gemini did not start")
        self.address = self._pipe.recv()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        failures = self._ask(None)
        self._process.join(_END_S)
        if failures and error is None:
            raise AssertionError(failures)

    def respond(self, respond: Respond) -> None:
        """Use this response from now on."""
        self._ask(partial(_respond, respond=respond))

    def newest(self) -> ServedTurn:
        """Return the newest turn."""
        turn = self._ask(_newest)
        assert isinstance(turn, ServedTurn)
        return turn

    def newest_sound(self) -> ServedSound:
        """Return the person's sound in the newest turn."""
        sound = self._ask(_newest_sound)
        assert isinstance(sound, ServedSound)
        return sound

    def since(self, index: int) -> list[Sounded]:
        """Return the turns from this one on, the oldest first; only a limited number is kept."""
        turns = self._ask(partial(_since, index=index))
        assert isinstance(turns, list)
        return turns

    def go_away(self, left_s: float) -> None:
        """Announce the end of every open connection."""
        self._ask(partial(_go_away, left_s=left_s))

    def drop(self) -> None:
        """Break every open connection."""
        self._ask(_drop)

    def sockets(self) -> tuple[int, int]:
        """Return the number of open websockets, and of all so far."""
        opened, total = self._ask(_sockets)
        return opened, total

    def _ask(self, request: _Request | None) -> Any:
        self._pipe.send(request)
        return self._pipe.recv()


def _respond(serving: _Serving, respond: Respond) -> None:
    serving.respond = respond


def _newest(serving: _Serving) -> ServedTurn:
    return _told(serving.simulator.turns[-1])


def _since(serving: _Serving, index: int) -> list[Sounded]:
    turns = serving.simulator.turns
    return [Sounded(_told(turn), turn.pcm) for turn in turns if turn.index >= index]


def _told(turn: HeardTurn) -> ServedTurn:
    return ServedTurn(turn.index, turn.ended_at, len(turn.calls), len(turn.heard) // 2)


def _newest_sound(serving: _Serving) -> ServedSound:
    turn = serving.simulator.turns[-1]
    return ServedSound(turn.pcm, list(turn.chunks))


def _go_away(serving: _Serving, left_s: float) -> None:
    for connection in serving.simulator.connections:
        if connection.open:
            connection.go_away(left_s)


def _drop(serving: _Serving) -> None:
    for connection in serving.simulator.connections:
        if connection.open:
            connection.drop()


def _sockets(serving: _Serving) -> tuple[int, int]:
    return serving.simulator.open_sockets, serving.simulator.total_sockets


def _run(pipe: Connection, respond: Respond, check: bool, opens_s: float) -> None:
    asyncio.run(_serve(pipe, respond, check, opens_s))


async def _serve(pipe: Connection, respond: Respond, check: bool, opens_s: float) -> None:
    failures = ""
    try:
        simulator = GeminiSimulator(
            respond=lambda turn: serving.respond(turn),
            opening=Opening(delay_s=opens_s),
            keep_turns=_KEPT_TURNS,
            check=check,
        )
        serving = _Serving(simulator, respond)
        async with simulator:
            pipe.send(Address(simulator.url, simulator.key, str(simulator.ca_file)))
            await _obey(pipe, serving)
    except AssertionError as error:
        failures = str(error)
    pipe.send(failures)


async def _obey(pipe: Connection, serving: _Serving) -> None:
    """Carry out the parent's requests until there are no more or the parent is gone."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def take() -> None:
        try:
            request: _Request | None = pipe.recv()
        except EOFError:
            request = None
        if request is None:
            loop.remove_reader(pipe.fileno())
            over.set()
        else:
            pipe.send(request(serving))

    loop.add_reader(pipe.fileno(), take)
    await over.wait()
