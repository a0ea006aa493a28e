"""Response times of the console's requests to a `hearth run` with 10,000 turns in its journal.

The journal is written first: a month of voice turns with a call each, figures, audit rows and
faults. Then every path that the page reads is asked over loopback, one after the other, signed in
as a browser is. What takes seconds by its nature (the doctor) and what never ends (the events) is
left out; the console shows both when they come.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from assistant.domain.brain import Usage
from assistant.domain.clock import SystemClock
from assistant.domain.records import AuditRecord, CallRecord, TurnRecord, WakeRecord
from assistant.domain.tool_call import Decision, Status, Tier, ToolOutcome
from assistant.interfaces.http_tokens import AdminToken
from assistant.journal.store import Store
from integrations.web.pages import FOLDER
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.devices.daemon import daemon, settings

TURNS = 10_000
MOST_MS = 300.0
_AT_ONCE = 500  # turns that are written side by side
_DAYS = 29
_AGO = timedelta(days=_DAYS)
_BRAINS = (("gemini-live", "gemini-3.8-live"), ("gemini-once", "gemini-3.8-flash"), ("offline", ""))
_TIMELINE = ("wake", "speech_end", "end_of_turn", "heard", "first_audio_out", "answer_done")


def main() -> None:
    """Print the milliseconds of each path; write out/benchmarks/console_pages.json.

    Raises AssertionError if a path's median is above the limit of a page.
    """
    asked = asyncio.run(_measure())
    rows, figures = [], {}
    for path, took in asked.items():
        figures[path] = {"median ms": statistics.median(took), "longest ms": max(took)}
        rows.append((path, f"{statistics.median(took):.1f}", f"{max(took):.1f}"))
    print()
    print_table((f"with {TURNS:,} turns", "median ms", "longest ms"), rows)
    write_figures("console_pages", figures)
    slow = [path for path, took in asked.items() if statistics.median(took) > MOST_MS]
    if slow:
        raise AssertionError(f"{', '.join(slow)} took more than {MOST_MS:g} ms")


async def _measure() -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        given = {**settings(data), "HEARTH_ASSISTANT__DATA": name, "HEARTH_AUDIO__INPUT": "null"}
        middle = await fill(data / "hearth.db")
        base = f"http://127.0.0.1:{given['HEARTH_HTTP__PORT']}"
        async with daemon(given), httpx.AsyncClient(base_url=base) as browser:
            token = await asyncio.to_thread(AdminToken(data).replace)
            answer = await browser.post("/v1/session", json={"token": token})
            answer.raise_for_status()
            return {path: await _asked(browser, path) for path in _paths(middle)}


def _paths(turn_id: str) -> Sequence[str]:
    files = sorted(path.relative_to(FOLDER) for path in FOLDER.rglob("*.js"))
    return (
        "/",
        *(f"/console/{file}" for file in files[:3]),
        *("/v1/session", "/v1/state", "/v1/settings", "/v1/tools", "/v1/level"),
        *("/v1/turns?limit=25", "/v1/turns?limit=200", f"/v1/turns?limit=25&before={turn_id}"),
        *(f"/v1/turns/{turn_id}", "/v1/costs?days=30", "/v1/shares?days=7", "/v1/shares?days=30"),
        *("/v1/faults?days=30", "/v1/timers", "/v1/confirmations", "/v1/memory"),
    )


async def _asked(browser: httpx.AsyncClient, path: str) -> list[float]:
    took = []
    for _ in range(how_many(5, 20)):
        await asyncio.sleep(0.1)  # a program may ask ten times a second
        began = time.perf_counter()
        answer = await browser.get(path)
        took.append((time.perf_counter() - began) * 1000)
        if answer.status_code != 200:
            raise AssertionError(f"{path} was answered with {answer.status_code}: {answer.text}")
    return took


async def fill(path: Path, turns: int = TURNS) -> str:
    """Write a journal of a month with `turns` turns; return the id of one in its middle."""
    now = datetime.now(UTC)
    async with Store(path, SystemClock()) as store:
        for first in range(0, turns, _AT_ONCE):
            many = range(first, min(first + _AT_ONCE, turns))
            moments = {f"t{one:05}": now - _AGO * (1 - one / turns) for one in many}
            await asyncio.gather(*(write_turn(store, name, at) for name, at in moments.items()))
        for hour in range(0, 24 * _DAYS, 12):
            began = now - timedelta(hours=hour + 1)
            await store.reports.begin_fault("home_assistant", "It does not answer.", began)
            await store.reports.end_fault("home_assistant", began + timedelta(minutes=3))
    return f"t{turns // 2:05}"


async def write_turn(store: Store, turn_id: str, at: datetime) -> None:
    """Write a turn by voice with one call, as a running Hearth does. `turn_id` ends in a digit."""
    brain, model = _BRAINS[int(turn_id[-1]) % len(_BRAINS)]
    usage = Usage(1500, 90, {"input_audio": 1200, "input_text": 300, "output_text": 90})
    record = TurnRecord(
        turn_id,
        at,
        "voice",
        "en",
        brain=brain,
        model=model or None,
        wake=WakeRecord("okay_nabu", 0.93, 1200.0),
        heard="turn on the lights in the kitchen and tell me whether the garage is closed",
        answer="The kitchen lights are on, and the garage door is closed.",
        clauses=("The kitchen lights are on,", "and the garage door is closed."),
        audio_ms=2400.0,
        timeline={stage: 300.0 * place for place, stage in enumerate(_TIMELINE)},
        usage=usage if model else None,
        cost_usd=0.0004 if model else 0.0,
    )
    await store.record_turn(record)
    arguments = {"area": "Kitchen", "domain": ["light"]}
    done, allowed, tier = Status.DONE, Decision.ALLOWED, Tier.COMFORT
    await store.start_call(
        CallRecord(turn_id, "c1", "home_assistant", "HassTurnOn", arguments, allowed, tier, at)
    )
    outcome = ToolOutcome(
        id="c1",
        server="home_assistant",
        name="HassTurnOn",
        arguments=arguments,
        decision=allowed,
        tier=tier,
        status=done,
        observed=(),
        ms=40.0,
        sentence="Done.",
    )
    await store.finish_call(turn_id, outcome)
    await store.audit(
        AuditRecord(
            *(at, turn_id, "c1", "home_assistant", "HassTurnOn", arguments),
            *(tier, allowed, done, "rating"),
            entities=("light.kitchen",),
        )
    )
