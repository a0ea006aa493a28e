"""A month of a household's life, written into the journal before Hearth is started."""

import asyncio
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

from assistant.domain.brain import Usage
from assistant.domain.clock import SystemClock
from assistant.domain.records import (
    CallRecord,
    ConfirmationRecord,
    ErrorRecord,
    Mark,
    MemoryRecord,
    Source,
    TurnRecord,
    WakeRecord,
    new_id,
)
from assistant.domain.tool_call import Decision, Observed, Status, Tier
from assistant.journal.store import Store

TURNS = 10_000
DAYS = 29  # within `journal.keep_days`
_AT_ONCE = 500
# The sentence, the answer, the tool, its tier, and its changes.
_SAID = (
    ("turn on the kitchen light", "Kitchen light is on.", "HassTurnOn", "light.kitchen", "off>on"),
    (
        "how warm is it in the bedroom",
        "It's 19.5 degrees in the bedroom.",
        "GetLiveContext",
        "",
        "",
    ),
    ("set a timer for ten minutes for the pasta", "Pasta, ten minutes.", "set_timer", "", ""),
    (
        "enciende la luz del salón",
        "La luz del salón está encendida.",
        "HassTurnOn",
        "light.living_room",
        "off>on",
    ),
    (
        "unlock the front door",
        "Done. Front door: unlocked.",
        "HassTurnOff",
        "lock.front_door",
        "locked>unlocked",
    ),
    (
        "close the blinds in the office",
        "The office blind is closing.",
        "HassTurnOff",
        "cover.office_blind",
        "open>closing",
    ),
    ("is the washing machine done", "Not yet: it has 24 minutes left.", "GetLiveContext", "", ""),
    (
        "turn everything off downstairs",
        "Six lights are off.",
        "HassTurnOff",
        "light.hall",
        "on>off",
    ),
)

# The fault, its reason, how many hours ago, for how many minutes.
_FAULTS = (
    ("microphone", "The microphone was unplugged. Plug it in again.", 200, 4),
    ("home_assistant", "Home Assistant did not answer.", 51, 26),
)


def fill(folder: Path, turns: int = TURNS) -> None:
    """Write everything into `folder`, an empty data folder."""
    with ThreadPoolExecutor(1) as thread:  # playwright has a loop of its own on this one
        thread.submit(lambda: asyncio.run(_fill(folder, turns))).result()


async def _fill(folder: Path, turns: int) -> None:
    clock = SystemClock()
    async with Store(folder / "hearth.db", clock) as store:
        written = list(_turns(clock.now(), turns))
        for first in range(0, len(written), _AT_ONCE):
            some = written[first : first + _AT_ONCE]
            await asyncio.gather(*(store.record_turn(turn) for turn, _ in some))
            await asyncio.gather(*(store.start_call(call) for _, call in some if call))
        await store.memory.keep(*_memories(clock.now()))
        for what, problem, hours, minutes in _FAULTS:
            began = clock.now() - timedelta(hours=hours)
            await store.reports.begin_fault(what, problem, began)
            await store.reports.end_fault(what, began + timedelta(minutes=minutes))


def _turns(now: datetime, turns: int) -> Iterator[tuple[TurnRecord, CallRecord | None]]:
    """Yield the turns, oldest first. Some days are busier than others."""
    chance = random.Random(8)
    busy = [chance.uniform(0.4, 1.6) for _ in range(DAYS)]
    gaps = [chance.expovariate(busy[at * DAYS // turns]) for at in range(turns)]
    scale = timedelta(days=DAYS) / sum(gaps)
    began = now - timedelta(days=DAYS)
    for number, gap in zip(range(turns, 0, -1), gaps, strict=True):
        yield _turn(began, number, chance)
        began += gap * scale


def _turn(
    began: datetime, number: int, chance: random.Random
) -> tuple[TurnRecord, CallRecord | None]:
    heard, answer, tool, entity, change = _SAID[number % len(_SAID)]
    sources: tuple[Source, ...] = ("voice", "voice", "voice", "follow_up", "text")
    source = sources[number % len(sources)]
    cloud = number % 3 == 0
    failed = number % 97 == 0
    marks: dict[int, Mark] = {5: "wrong", 31: "misheard"}
    turn_id = new_id(began)
    gated = entity.startswith("lock.")
    turn = TurnRecord(
        turn_id,
        began,
        source,
        "es" if "salón" in heard else "en",
        brain="gemini-live" if cloud else "offline",
        wake=WakeRecord("okay_nabu", 0.97, 640.0) if source == "voice" else None,
        heard=heard,
        answer=None if failed else answer,
        timeline=_timeline(chance, spoken=source != "text"),
        usage=Usage(900, 60, {"input_audio": 500, "output_text": 60}) if cloud else None,
        cost_usd=chance.uniform(0.0002, 0.0011) if cloud else 0.0,
        error=ErrorRecord("house_away", "Home Assistant cannot be reached.") if failed else None,
        confirmation=ConfirmationRecord("Unlock the front door?", "yes", "yes") if gated else None,
        model="gemini-3.8-live" if cloud else None,
        mark=marks.get(number % 61, ""),
    )
    return turn, None if failed else _call(turn, tool, entity, change, chance)


def _call(
    turn: TurnRecord, tool: str, entity: str, change: str, chance: random.Random
) -> CallRecord:
    before, _, after = change.partition(">")
    gated = entity.startswith("lock.")
    tier = Tier.SECURE if gated else Tier.COMFORT if entity else Tier.READ
    return CallRecord(
        turn.turn_id,
        "call-1",
        "hearth" if tool == "set_timer" else "home_assistant",
        tool,
        {"name": entity} if entity else {},
        Decision.CONFIRMED if gated else Decision.ALLOWED,
        tier,
        turn.started_at,
        status=Status.NOT_OBSERVED if change and before == after else Status.DONE,
        observed=(Observed(entity, before, after),) if entity else (),
        ms=chance.uniform(30, 400),
        sentence=turn.answer,
    )


def _timeline(chance: random.Random, *, spoken: bool) -> dict[str, float]:
    """Return the moments of a turn as on a Pi, in ms."""
    moments: dict[str, float] = {}
    at = 0.0

    def pass_(name: str, least: float, most: float) -> None:
        nonlocal at
        at += chance.uniform(least, most)
        moments[name] = round(at, 1)

    if spoken:
        pass_("wake", 500, 700)
        pass_("speech_start", 60, 260)
        pass_("connected", 60, 160)
        pass_("first_upload", 5, 20)
        pass_("speech_end", 800, 2_000)
    pass_("end_of_turn", 180, 420)
    pass_("upload_done", 4, 20)
    pass_("heard", 40, 320)
    pass_("first_tool_call", 5, 60)
    pass_("last_tool_result", 40, 500)
    pass_("first_reply_text", 10, 90)
    pass_("first_audio_out", 60, 260)
    pass_("answer_done", 700, 2_600)
    return moments


def _memories(now: datetime) -> Iterator[MemoryRecord]:
    told = (
        ("The bins go out on Tuesday evening.", "Ana", "", False),
        ("Leo is allergic to hazelnuts.", "Ana", "Leo", True),
        ("The spare key hangs behind the boiler.", "", "", True),
        ("The guest network is called “lighthouse”.", "Tom", "", False),
    )
    for number, (text, who, about, sensitive) in enumerate(told):
        at = now - timedelta(days=12 - 3 * number, hours=number)
        yield MemoryRecord(new_id(at), text, at, who=who, about=about, sensitive=sensitive)
