"""Tests of odd frames of Gemini: changed, torn, doubled, or of no kind at all."""

import asyncio
import json
import logging
import sqlite3
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from assistant.app.build import App, open_app
from assistant.conversation.record import FinishedTurn
from audio.player import NullPlayer
from tests.chaos.faults import fault
from tests.chaos.odd import as_json, changed, garbled, so_many
from tests.chaos.promises import Life, Reached, assert_nothing_lost, assert_nothing_unsaid, told_of
from tests.chaos.relay import Message, Relay, relay
from tests.pipeline.gemini_rig import LIVE, OFFICE, TURN_ON, LeapingClock, gemini_settings
from tests.simulators.certificate import make_certificate
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, Done, Hear, Inner, Say, Step, Tokens, Used
from tests.simulators.threads import in_thread

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

TURN_S = 45.0
REST_S = 4_000.0  # after which every rung is asked again, and every session has ended
OURS = ("assistant", "audio", "integrations", "asyncio")


def answered(turn: HeardTurn) -> Sequence[Step]:
    """Return a command of the house, with a bit of everything."""
    del turn
    return [
        Hear("turn on the office lights", pieces=2),
        Inner("I shall look.", thought=True),
        Call(TURN_ON, OFFICE),
        Say("The office lights are on.", audio_s=0.2),
        Used(Tokens()),
        Done(),
    ]


def answered_once(request: OnceRequest) -> Sequence[Step]:
    """Return the same for a plain request."""
    del request
    return [Call(TURN_ON, OFFICE), Say("The office lights are on."), Done()]


class OddGemini:
    """Changes frames on their way, and adds some."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._frames: list[Any] = []  # honest ones, to make others of
        self.told: Counter[str] = Counter()
        self.calls: set[tuple[int, str]] = set()  # connection and id, in whatever frame
        self._connection = 0

    def messages(self, message: Message) -> Iterable[Message]:
        """Return what is sent in place of one frame."""
        chance, sent = self._chance, list[Message]()
        honest = json.loads(message)
        if "setupComplete" in honest:  # else hardly any session would open at all
            self._connection += 1
            if chance.random() < 0.9:
                return (message,)
        if len(self._frames) < 200:
            self._frames.append(honest)
        for _ in range(chance.randrange(3)):  # a session ends at the fourth strange one
            sent.append(as_json(changed(chance.choice(self._frames), chance)).encode())
            self.told["added"] += 1
        kind = chance.random()
        if kind < 0.03:
            sent.append(as_json(changed(honest, chance)).encode())
            self.told["changed"] += 1
        elif kind < 0.05:
            sent.append(garbled(as_json(honest).encode(), chance))
            self.told["garbled"] += 1
        else:
            sent.append(message)
        for one in sent:
            self._note(one)
        return sent

    def bodies(self, path: str, body: bytes) -> bytes:
        """Return what is sent in place of an answer to a plain request."""
        del path
        if self._chance.random() < 0.5:
            return body
        self.told["bodies"] += 1
        return garbled(body, self._chance)

    def _note(self, message: Message) -> None:
        """Remember the ids of the calls in it."""
        try:
            told = json.loads(message)
        except (ValueError, RecursionError):
            return
        stack = [told]
        while stack:
            one = stack.pop()
            if isinstance(one, dict):
                if one.get("name") == TURN_ON:
                    self.calls.add((self._connection, as_json(one.get("id"))))
                stack += one.values()
            elif isinstance(one, list):
                stack += one


@fault(
    "Gemini sends invalid frames: altered, truncated, too many or unknown",
    hears=(
        "the answer if it is intelligible; otherwise the next brain's, or a report of what was done"
    ),
    retried="the turn once with the next brain, if none of its calls has started",
    kept="a call runs once per id; the next turn works as usual",
)
async def test_an_odd_gemini(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said, served, told = OddGemini(Random(21)), Counter[str](), list[FinishedTurn]()
    caplog.set_level(logging.INFO)
    async with odd_service(tmp_path, said) as (app, clock, between):
        demo = app.home.demo
        assert demo is not None
        app.log.on_turn(told.append)
        for number in range(so_many(20, 1_000)):
            async with asyncio.timeout(TURN_S):
                await app.runner.ask("turn on the office lights")
            record = told[-1].record
            assert record.clauses or record.sound, f"nothing was said in turn {number}"
            served[f"{record.brain} {record.error.kind if record.error else ''}"] += 1
            if record.error or record.brain != LIVE or number % 3 == 2:
                clock.leap(REST_S)
            tasks = len(asyncio.all_tasks())
            assert tasks < 80, f"{tasks} tasks go on after turn {number}"
        acted, turns = sum(name == TURN_ON for name, _ in demo.calls), len(told)
        between.messages, between.bodies = lambda one: (one,), lambda path, body: body
        clock.leap(REST_S)
        await asyncio.sleep(0.1)
        await app.runner.ask("turn on the office lights")
        last, reached = told[-1].record, list(demo.calls)
    assert (last.brain, last.error) == (LIVE, None)
    print(dict(served), dict(said.told), acted, len(said.calls))
    _assert_told_and_kept(told, reached, tmp_path / "data" / "hearth.db")
    broke = [one.getMessage() for one in caplog.records if _broke(one)]
    assert not broke, broke
    others = sum(count for brain, count in served.items() if not brain.startswith(LIVE))
    assert acted <= len(said.calls) + others, "a call of one id ran twice"
    assert acted <= turns * 8, "more than a turn may change"
    assert said.told["added"] > 60
    assert said.told["changed"] + said.told["garbled"] > 1
    assert served[f"{LIVE} "] > 3


@asynccontextmanager
async def odd_service(
    folder: Path, said: OddGemini
) -> AsyncIterator[tuple[App, LeapingClock, Relay]]:
    """Yield a resident Hearth, and the relay between it and the service."""
    clock = LeapingClock()
    service = GeminiSimulator(respond=answered, respond_once=answered_once, check=False)
    with in_thread(service), patch("assistant.app.conversation.SystemClock", lambda: clock):
        trusted = ssl.create_default_context(cafile=str(service.ca_file))
        ours = make_certificate(folder / "tls")
        async with relay(service.url, trusted, ours.server_context()) as between:
            settings = gemini_settings(
                service,
                folder,
                gemini={"base_url": between.url, "ca_file": str(ours.ca_file)},
                limits={"comfort_per_minute": 100_000, "daily_cost_usd": 1_000.0},
            )
            opened = open_app(settings, NullPlayer(paced=False), hears=False, resident=True)
            async with opened as app:
                between.messages, between.bodies = said.messages, said.bodies
                yield app, clock, between


def _assert_told_and_kept(told: Sequence[FinishedTurn], reached: Reached, database: Path) -> None:
    """Check the promises, except for calls that an odd frame repeats within a turn."""
    life = Life(0, (), tuple(told_of(turn) for turn in told), reached, database)
    assert_nothing_unsaid(life)
    with closing(sqlite3.connect(database, timeout=5.0)) as journal:
        assert_nothing_lost(life, journal)


def _broke(one: logging.LogRecord) -> bool:
    """Return whether that line reports an error in our own code."""
    return bool(one.exc_info) and one.levelno > logging.INFO and one.name.startswith(OURS)
