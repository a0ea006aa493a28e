"""Tests that a timer set by voice outlives the process that was to ring it, however that ends."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from assistant.cli.main import main
from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.domain.clock import SystemClock
from assistant.domain.records import TimerRecord, TurnRecord
from assistant.interfaces.http_tokens import AdminToken
from assistant.journal.store import Store
from assistant.timers.ringer import PAUSE_S
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
WITHIN_S = 120.0
SOON_S = 10.0  # that are left when the second process has started
ON_TIME_S = 2.0


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def data(port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "hearth.toml").write_text("")
    for name, value in {
        "CONFIG": str(tmp_path / "hearth.toml"),
        "ASSISTANT__DATA": str(tmp_path / "data"),
        "HOME_ASSISTANT__URL": "demo",
        "BRAIN__ORDER": '["offline"]',
        "VOICE__ENGINE": "espeak",
        "AUDIO__INPUT": "null",
        "AUDIO__OUTPUT": "null",
        "HTTP__PORT": str(port),
    }.items():
        monkeypatch.setenv(f"HEARTH_{name}", value)
    return tmp_path / "data"


@contextmanager
def running(log: Path, port: int, ahead_s: float = 0.0) -> Iterator[float]:
    """Run `hearth run`, yield the seconds that the start took, and kill it with SIGKILL at
    the end."""
    command = [sys.executable, "-m", "tests.pipeline.run_ahead", str(ahead_s), "run"]
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=file)
    try:
        began_s = time.monotonic()
        while not serves(port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < began_s + WITHIN_S, log.read_text()
            time.sleep(0.05)
        yield time.monotonic() - began_s
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def serves(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def kept(data: Path) -> dict[str, TimerRecord]:
    """Return the stored timers by name."""

    async def read() -> list[TimerRecord]:
        async with Store(data / "hearth.db", SystemClock()) as store:
            return await store.timers()

    return {timer.name: timer for timer in asyncio.run(read())}


def first_said(data: Path, words: str) -> TurnRecord:
    """Return the first announcement with these words, once it is written."""

    async def look() -> list[TurnRecord]:
        async with Store(data / "hearth.db", SystemClock()) as store:
            return await store.turns(100)

    ends_s = time.monotonic() + WITHIN_S
    while True:
        said = asyncio.run(look())
        found = [turn for turn in said if words in (turn.answer or "")]
        if found:
            return found[-1]
        assert time.monotonic() < ends_s, [turn.answer for turn in said]
        time.sleep(0.2)


def stop(data: Path, port: int) -> None:
    """Press the stop button."""
    token = AdminToken(data).replace()  # taken at once
    headers = {"Authorization": f"Bearer {token}"}
    httpx.post(f"http://127.0.0.1:{port}/v1/stop", headers=headers).raise_for_status()


def seconds_until(moment: datetime) -> float:
    return (moment - SystemClock().now()).total_seconds()


@pytest.mark.timeout(300)
def test_killed_and_started_again_it_tells_what_it_missed_and_rings_on_time(
    data: Path, port: int, tmp_path: Path
) -> None:
    clip = make_clip(SpokenCommand("pasta", "set a pasta timer for ten minutes", "slt"), tmp_path)
    with running(tmp_path / "first.log", port) as start_s:
        assert main(["hear", str(clip), "--fast"]) == 0
        assert main(["ask", "set a bread timer for five minutes"]) == 0
        timers = kept(data)
        assert timers["pasta"].duration_s == 600
        due = {name: timer.due for name, timer in timers.items()}
    # Off until after the bread was done
    ahead_s = seconds_until(due["pasta"]) - SOON_S - 2 * start_s
    with running(tmp_path / "second.log", port, ahead_s):
        served = SystemClock().now() + timedelta(seconds=ahead_s)
        at = f"{due['bread'].astimezone():%H:%M}"
        bread = first_said(data, f"Your bread timer finished at {at}")
        assert bread.started_at - served < timedelta(seconds=ON_TIME_S)
        assert bread.started_at < due["pasta"], "the machine was too slow to show anything"
        stop(data, port)
        stopped = SystemClock().now() + timedelta(seconds=ahead_s)
        pasta = first_said(data, "Your pasta timer is done.")
        assert pasta.started_at >= due["pasta"]
        # While one rings the next waits: for the stop, and for the pause between two rings.
        late = pasta.started_at - max(due["pasta"], stopped)
        assert late < timedelta(seconds=PAUSE_S + ON_TIME_S)
    # A timer that rings during the kill is still there; a stopped one is over.
    assert {name: timer.due for name, timer in kept(data).items()} == {"pasta": due["pasta"]}
