"""Tests of SIGKILL again and again in the middle of work: nothing is lost or done twice.

LONG=1 kills a hundred times; else five times.
"""

import asyncio
import os
import random
import signal
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.domain.tool_call import Status
from integrations.serving import serving
from tests.chaos.daemon import Daemon, daemon, until
from tests.chaos.faults import fault
from tests.chaos.front import Front

pytestmark = pytest.mark.faults

KILLS = 100 if os.environ.get("LONG") == "1" else 5
IN_ROUND = 5  # of so many kills the last is in the middle of starting,
AMID_A_CALL = 3  # and this one, from 0 on, while the house has run a call and not answered it
LATEST_S = 3.0  # after it has done a first thing, at which it is killed
LISTENERS = 3  # programs that ask at the same time
HOUR_S = 3600


@dataclass
class Told:
    """The answers that the programs got before the process died."""

    asked: int = 0
    done: dict[str, str] = field(default_factory=dict)  # item -> turn
    timers: dict[str, datetime] = field(default_factory=dict)  # id -> when it ends
    announced: dict[str, str] = field(default_factory=dict)  # id -> text


@fault(
    "the process is killed repeatedly while it is working",
    hears="nothing; announcements that hadn't started are spoken after the restart",
    retried="nothing; no call is sent again, and an interrupted call is `unknown`",
    kept="timers, announcements and all answered turns",
)
@pytest.mark.timeout(90 + 20 * KILLS)
async def test_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    chance, told = random.Random(7), Told()
    async with daemon(tmp_path / "box") as box:
        front = Front(box.house.app)
        async with serving(front, "127.0.0.1", 0) as port:
            box.settings["HOME_ASSISTANT__URL"] = f"http://127.0.0.1:{port}"
            for number in range(KILLS):
                await box.start()
                if number % IN_ROUND == IN_ROUND - 1:
                    await asyncio.sleep(chance.uniform(0.2, 2.0))
                    await box.end(signal.SIGKILL)
                    continue
                front.keeps_answers = number % IN_ROUND == AMID_A_CALL
                await _work_until_killed(box, front, told, chance.uniform(0.0, LATEST_S))
                front.keeps_answers = False
            await box.start()
            await box.serves()
            await _all_said(box, told)
            assert await box.end() == 0
        assert "was damaged" not in box.log
        print(_judge(box, told))


async def _work_until_killed(box: Daemon, front: Front, told: Told, after_s: float) -> None:
    """Keep it busy, and kill it `after_s` after its first action.

    If the house keeps its answers, the kill comes after one was kept.
    """
    await box.serves()
    async with box.client() as client:
        before, kept = len(box.house.calls), front.met["answer kept"]
        works = [asyncio.create_task(_ask(client, told)) for _ in range(LISTENERS)]
        works += [asyncio.create_task(work(client, told)) for work in (_time, _announce)]
        async with asyncio.timeout(60.0):
            await _first(box, before)
        if front.keeps_answers:
            await until(lambda: front.met["answer kept"] > kept)
        else:
            await asyncio.sleep(after_s)
        await box.end(signal.SIGKILL)
        await asyncio.gather(*works)


async def _first(box: Daemon, before: int) -> None:
    """Return once the house has been called again."""
    called = len(box.house.calls)
    while called == before:
        await asyncio.sleep(0.01)
        called = len(box.house.calls)


async def _ask(client: httpx.AsyncClient, told: Told) -> None:
    """Have one thing after the other put on the list, each with its own name."""
    with suppress(httpx.TransportError):
        while True:
            told.asked += 1
            item = f"item {told.asked}"
            answer = await client.post("/v1/ask", json={"text": f"add {item} to the shopping list"})
            if answer.status_code != 200:
                continue
            turn = answer.json()
            [call] = turn["tool_calls"]
            if call["status"] == Status.DONE:
                told.done[call["arguments"]["item"]] = turn["turn_id"]


async def _time(client: httpx.AsyncClient, told: Told) -> None:
    with suppress(httpx.TransportError):
        while True:
            wanted = {"seconds": HOUR_S, "name": f"timer {len(told.timers)}"}
            answer = await client.post("/v1/timers", json=wanted)
            if answer.status_code == 201:
                timer = answer.json()
                told.timers[timer["id"]] = datetime.fromisoformat(timer["due"])
            await asyncio.sleep(0.15)


async def _announce(client: httpx.AsyncClient, told: Told) -> None:
    with suppress(httpx.TransportError):
        while True:
            text = f"Message {len(told.announced)}."
            wanted = {"text": text, "persist": True, "preannounce": False}
            answer = await client.post("/v1/announce", json=wanted)
            if answer.status_code == 202:
                told.announced[answer.json()["id"]] = text
            await asyncio.sleep(2.5)  # while one is said nobody else is served


async def _all_said(box: Daemon, told: Told) -> None:
    """Wait until no announcement is left."""
    waits = "SELECT id FROM announcements WHERE done_at IS NULL AND started_at IS NULL"
    async with asyncio.timeout(60.0):
        left = _rows(box, waits)
        while left:
            await asyncio.sleep(0.2)
            left = _rows(box, waits)


def _rows(box: Daemon, query: str, *values: Any) -> list[Any]:
    connection = sqlite3.connect(box.data / "hearth.db", timeout=5.0)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def _judge(box: Daemon, told: Told) -> str:
    added = box.added
    assert added, "nothing was done at all"
    assert max(added.values()) == 1, "something was sent twice"
    calls = {
        str(item): (status, turn_id)
        for item, status, turn_id in _rows(
            box, "SELECT json_extract(arguments, '$.item'), status, turn_id FROM calls"
        )
    }
    assert "started" not in {status for status, _ in calls.values()}
    done = {item for item, (status, _) in calls.items() if status == Status.DONE}
    unknown = {item for item, (status, _) in calls.items() if status == Status.UNKNOWN}
    assert done <= set(added), "what is written down as done has reached the house"
    assert set(added) <= done | unknown, "what has reached the house is written down"
    assert unknown & set(added), "no call was under way when it was killed"
    assert set(told.done) <= done, "what programs were told is written down"
    turns = dict(_rows(box, "SELECT turn_id, answer FROM turns"))
    for item in unknown:  # the turn died with its process, or says that nobody knows
        answer = turns.get(calls[item][1]) or ""
        assert not answer.startswith("Added"), answer
    running = {
        name: datetime.fromisoformat(due)
        for name, due in _rows(box, "SELECT id, due FROM timers WHERE status = 'running'")
    }
    for name, due in told.timers.items():
        assert abs((running[name] - due).total_seconds()) <= 1.0
    said = [
        answer for (answer,) in _rows(box, "SELECT answer FROM turns WHERE source = 'announcement'")
    ]
    for text in told.announced.values():
        assert said.count(text) <= 1, "said twice"
    begun = {
        name for (name,) in _rows(box, "SELECT id FROM announcements WHERE started_at IS NOT NULL")
    }
    assert set(told.announced) <= begun, "none of them was lost before its first sound"
    assert _rows(box, "PRAGMA integrity_check") == [("ok",)]
    return (
        f"{box.starts - 1} starts killed, {sum(added.values())} things added, {len(done)} done, "
        f"{len(unknown)} unknown, {len(told.timers)} timers, {len(told.announced)} announcements"
    )
