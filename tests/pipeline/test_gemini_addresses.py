"""Tests of a Gemini whose IPv6 address answers nothing, while its IPv4 address does."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import DualStackLoop
from tests.pipeline.gemini_rig import LIVE, OFFICE, ONCE, TURN_ON, ended, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, OnceTurn, Say, Step, Turn

STEPS: list[Step] = [Call(TURN_ON, OFFICE), Say("The office lights are on.")]
NAME = "localhost"  # it is in the simulator's certificate


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Yield a port of ::1 that leaves every further connection unanswered.

    Its queue of one is full, so Linux drops the packets, as a router without IPv6 does.
    """
    with closing(socket.socket(socket.AF_INET6)) as full:
        try:
            full.bind(("::1", 0))
        except OSError as error:
            pytest.skip(f"this machine has no IPv6: {error}")
        full.listen(0)
        with closing(socket.create_connection(full.getsockname()[:2])):
            yield full.getsockname()[1]


@pytest.mark.parametrize("brain", [LIVE, ONCE])
def test_a_turn_does_not_wait_for_a_dead_ipv6(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    silent_port: int,
    brain: str,
) -> None:
    look_up = socket.getaddrinfo

    def both(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host not in (NAME, NAME.encode()):
            return look_up(host, port, *rest, **more)
        dead = look_up("::1", silent_port, type=socket.SOCK_STREAM)
        return dead + look_up("127.0.0.1", port, type=socket.SOCK_STREAM)

    live = [Turn("text", [*STEPS, Done()])] if brain == LIVE else []
    service = GeminiSimulator(live, once=[OnceTurn(STEPS)] if brain == ONCE else [])

    async def turn() -> tuple[str | None, str | None]:
        async with scene(tmp_path, service, brain={"order": [brain]}) as on:
            return ended(await on.ask("turn on the office lights"))

    address = property(lambda service: f"https://{NAME}:{service.port}")
    monkeypatch.setattr(GeminiSimulator, "url", address)
    monkeypatch.setattr(socket, "getaddrinfo", both)
    with asyncio.Runner(loop_factory=DualStackLoop) as runner:
        assert runner.run(turn()) == (brain, None)
