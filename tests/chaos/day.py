"""A day of a household over HTTP, compressed: turns one after the other, timers, announcements.

python -m tests.chaos.day PORT TOKEN TURNS IDLE_S      prints one JSON object: what was done
"""

import asyncio
import itertools
import json
import sys
from collections import Counter
from dataclasses import dataclass

import httpx

SENTENCES = (
    "turn on the office lights",
    "what time is it",
    "turn off the office lights",
    "set the kitchen light to 40 percent",
    "what is the temperature in the bedroom",
    "turn on the fan",
    "add milk to the shopping list",
    "is the front door locked",
    "turn off the kitchen lights",
    "how tall is the moon",
)
EVERY = 10  # so many turns to one timer and one announcement
_RINGS_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Day:
    """The contents of a day."""

    turns: int
    idle_s: float  # after the turns, in real time


async def live(client: httpx.AsyncClient, day: Day) -> dict[str, int]:
    """Play the day and return the numbers of turns per brain, timers and announcements."""
    done: Counter[str] = Counter()
    for number, text in enumerate(itertools.islice(itertools.cycle(SENTENCES), day.turns)):
        answer = await client.post("/v1/ask", json={"text": text})
        assert answer.status_code == 200, answer.text
        done[str(answer.json()["brain"])] += 1
        if number % EVERY == 0:
            await timer(client)
            await announcement(client, number)
            done["timers"] += 1
            done["announcements"] += 1
    await asyncio.sleep(day.idle_s)
    return dict(done)


async def timer(client: httpx.AsyncClient) -> None:
    """Let one ring, and stop it."""
    answer = await client.post("/v1/timers", json={"seconds": 1, "name": "tea"})
    assert answer.status_code == 201, answer.text
    timer = answer.json()["id"]
    async with asyncio.timeout(_RINGS_WITHIN_S):
        while not await _rings(client, timer):  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.1)
    assert (await client.delete(f"/v1/timers/{timer}")).status_code == 204


async def _rings(client: httpx.AsyncClient, timer: str) -> bool:
    running = (await client.get("/v1/timers")).json()
    return any(one["id"] == timer and one["state"] == "rings" for one in running)


async def announcement(client: httpx.AsyncClient, number: int) -> None:
    wanted = {"text": f"Message {number}.", "persist": True}
    answer = await client.post("/v1/announce", json=wanted)
    assert answer.status_code == 202, answer.text


async def _main(port: str, token: str, turns: str, idle_s: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60.0) as client:
        print(json.dumps(await live(client, Day(int(turns), float(idle_s)))))


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
