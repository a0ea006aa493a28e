"""A complete Hearth in the demo house, to which sentences are typed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from unittest.mock import patch

from assistant.app.build import App, open_app
from assistant.conversation.record import FinishedTurn
from assistant.domain.records import UNASKED, TimerKind, TimerRecord
from assistant.domain.tool_call import Decision, Status, Tier
from assistant.timers.book import left_of
from integrations.demo_home import surroundings
from integrations.demo_home.house import DemoHouse, Snapshot
from integrations.home_assistant.house import House
from integrations.home_assistant.services import is_snapshot
from tests.dialogues.engine import Engine, engine_in
from tests.pipeline.gemini_rig import LeapingClock
from tests.pipeline.rig import offline_settings
from tests.understanding.cases import Case, Said
from tests.understanding.judge import Reaction, Result, Timer, View, hold

ROOM = "Living Room"  # of the box
HOME = "home-assistant"
_BETWEEN_S = 700.0  # between dialogues, so that none follows the one before
_HOUR = 14  # local time at which each dialogue begins, or a little later
_SETTLE_S = 2.0  # longest time until something that moves, or a command that is due, is done
_LOOK_S = 0.01
_ON_ITS_WAY = frozenset({"opening", "closing", "locking", "unlocking", "returning"})
_UNDONE = (Status.FAILED, Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN)
_NOT_RUN = (Decision.DENIED, Decision.NEEDS_CONFIRMATION)
_KINDS: tuple[TimerKind, ...] = ("timer", "alarm", "reminder")


class Keyboard:
    """Answers the questions that Hearth asks within a turn with the dialogue's next sentence."""

    def __init__(self) -> None:
        self.questions: asyncio.Queue[str] = asyncio.Queue()
        self._reply: asyncio.Future[str | None] | None = None

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        self._reply = asyncio.get_running_loop().create_future()
        self.questions.put_nowait(question)
        return await self._reply

    def type(self, text: str | None) -> None:
        assert self._reply is not None
        self._reply.set_result(text)


class HouseClock(surroundings.SystemClock):
    """The house's clock, which shows the same time as Hearth's."""

    def __init__(self, clock: LeapingClock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()


class Household:
    """Holds one dialogue after the other, each in a house as it was at the start."""

    def __init__(self, app: App, clock: LeapingClock, keyboard: Keyboard) -> None:
        assert app.home.demo is not None
        self._app = app
        self._clock = clock
        self._keyboard = keyboard
        self._house: DemoHouse = app.home.demo.house
        self._first = self._house.all()
        self._turns: list[FinishedTurn] = []
        self._running: asyncio.Task[None] | None = None  # a turn that asks something
        app.log.on_turn(self._note)

    def _note(self, turn: FinishedTurn) -> None:
        if turn.record.source not in UNASKED:
            self._turns.append(turn)

    @property
    def domains(self) -> set[str]:
        return {one.entity_id.partition(".")[0] for one in self._first}

    async def hold(self, case: Case) -> Result:
        await self._reset(case)
        try:
            return await hold(case, self._say)
        finally:
            if self._running is not None:
                await self._reply(None)

    async def _say(self, said: Said) -> tuple[Reaction, float]:
        before = await self._view()
        self._turns.clear()
        began = time.perf_counter()
        question = ""
        if said.leap_min:
            await self._let_pass(said.leap_min * 60)
        elif self._running is not None:
            question = await self._reply(said.text)
        else:
            self._running = asyncio.create_task(self._app.runner.ask(said.text))
            question = await self._until_asked()
        ms = (time.perf_counter() - began) * 1000
        await self._settle()
        return self._reaction(before, await self._view(), question), ms

    async def _reply(self, text: str | None) -> str:
        self._keyboard.type(text)
        return await self._until_asked()

    async def _until_asked(self) -> str:
        """Return the question that the turn asks, or "" when it is over."""
        assert self._running is not None
        asked = asyncio.create_task(self._keyboard.questions.get())
        await asyncio.wait({asked, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        asked.cancel()
        task, self._running = self._running, None
        await task
        return ""

    async def _let_pass(self, seconds: float) -> None:
        """Let time pass, and commands that are due run."""
        self._clock.leap(seconds)
        due = self._clock.now()
        for _ in range(round(_SETTLE_S / _LOOK_S)):
            waiting = [one for one in await self._timers() if one.paused_s is None]
            begun = await self._app.home.store.begun_timers()
            if not begun and not any(one.due <= due for one in waiting):
                break
            await asyncio.sleep(_LOOK_S)
        await self._app.runner.rest()

    def _reaction(self, before: View, after: View, question: str) -> Reaction:
        outcomes = [one for turn in self._turns for one in turn.outcomes]
        last = self._turns[-1].record if self._turns else None
        answer = question or (last and (last.answer or " ".join(last.clauses))) or ""
        acted = {
            one.name for one in outcomes if one.status is Status.DONE and one.tier != Tier.READ
        }
        return Reaction(
            before,
            after,
            answer,
            asked=bool(question) or answer.rstrip().endswith("?"),
            understood=last is None or last.understood,
            refused=any(one.status in _UNDONE or one.decision in _NOT_RUN for one in outcomes),
            acted=tuple(sorted(acted)),
        )

    # The state of everything.

    async def _view(self) -> View:
        shown = [one for one in self._house.all() if not is_snapshot(one.entity_id)]
        timers = await self._timers()
        kinds = {kind: tuple(self._timer(t) for t in timers if t.kind == kind) for kind in _KINDS}
        items = self._house.todo["todo.shopping_list"]
        return View(
            {one.entity_id: one.state for one in shown},
            {one.entity_id: dict(one.attributes) for one in shown},
            tuple(item.summary for item in items if not item.done),
            kinds["timer"],
            kinds["alarm"],
            kinds["reminder"],
            tuple(sorted(timer.id for timer in timers if timer.kind not in _KINDS)),
        )

    async def _timers(self) -> list[TimerRecord]:
        return await self._app.home.store.timers()

    def _timer(self, timer: TimerRecord) -> Timer:
        now = self._clock.now()
        name = " ".join((timer.name, timer.text)).strip()
        due = timer.due.astimezone(now.tzinfo)
        return Timer(name, due, left_of(timer, now), timer.paused_s is not None)

    async def _settle(self) -> None:
        await self._wait(lambda _: not any(s.state in _ON_ITS_WAY for s in self._house.all()))

    async def _reset(self, case: Case) -> None:
        """Set the house to its first state with the case's own states, without timers and after the
        last conversation is over."""
        for timer in await self._timers():
            await self._app.home.store.cancel_timer(timer.id)
        self._turns.clear()
        self._clock.leap(_BETWEEN_S)
        now = self._clock.now()
        start = now.replace(hour=_HOUR, minute=0, second=0, microsecond=0)
        if _tells_time(case) and not start <= now < start + timedelta(minutes=1):
            start += timedelta(days=start < now)
            self._clock.leap((start - now).total_seconds())
        self._house.stop()
        self._house.remembered.clear()
        for items in self._house.todo.values():
            items.clear()
        first = [_given(one, case.given) for one in self._first]
        # Without this, Hearth would conclude that the lamp before it opened the door.
        self._app.home.client.expect([one.entity_id for one in first])
        for one in first:
            self._house.write(one.entity_id, one.state, **one.attributes)
        if not await self._wait(lambda house: _same(house, first)):
            raise RuntimeError("Hearth did not notice that the demo house was reset")

    async def _wait(self, predicate: Callable[[House], bool]) -> bool:
        ids = [one.entity_id for one in self._first]
        return await self._app.home.client.wait_for(ids, predicate, _SETTLE_S)


def _tells_time(case: Case) -> bool:
    """Return True if it matters at what time the dialogue begins."""
    return case.leaps or any(
        key in ("alarms", "reminders")
        for said in case.turns
        for right in said.rights
        for key, _ in right.changes
    )


def _given(first: Snapshot, given: Mapping[str, str]) -> Snapshot:
    """Return the entity's first state, changed as `given` says."""
    entity, attributes = first.entity_id, dict(first.attributes)
    state = given.get(entity, first.state)
    if state != first.state and state in ("on", "off"):
        level = {"brightness": 255, "percentage": 67, "color_mode": None}
        attributes |= {key: level[key] for key in level.keys() & attributes.keys()}
        if state == "on" and "color_mode" in attributes:
            modes = attributes["supported_color_modes"]
            attributes["color_mode"] = modes[0]
            if modes[0] == "color_temp":
                attributes["color_temp_kelvin"] = 3500
    if state in ("open", "closed") and "current_position" in attributes:
        attributes["current_position"] = 100 if state == "open" else 0
    for key, value in given.items():
        if key.startswith(f"{entity}."):
            told = {"yes": True, "no": False}.get(value)
            attributes[key.removeprefix(f"{entity}.")] = int(value) if told is None else told
    return replace(first, state=state, attributes=MappingProxyType(attributes))


def _same(house: House, wanted: Sequence[Snapshot]) -> bool:
    for one in wanted:
        entity = house.entities.get(one.entity_id)
        if entity is None:
            continue
        shown = json.dumps({**one.attributes, **dict(entity.attributes)})
        if entity.state != one.state or shown != json.dumps(
            {**entity.attributes, **one.attributes}
        ):
            return False
    return True


@asynccontextmanager
async def household(language: str, order: Sequence[str], folder: Path) -> AsyncIterator[Household]:
    """Yield a household of one language whose brains are tried in `order`."""
    clock, keyboard = LeapingClock(), Keyboard()
    apps: list[App] = []

    def house() -> DemoHouse:
        assert apps[0].home.demo is not None
        return apps[0].home.demo.house

    with ExitStack() as stack:
        stack.enter_context(patch("assistant.app.conversation.SystemClock", lambda: clock))
        if HOME in order:
            stack.enter_context(engine_in(Engine(house, lambda _: ""), language))
        unlimited = dict.fromkeys(
            ("comfort_per_minute", "costly_per_hour", "secure_per_hour"), 10_000
        )
        settings = offline_settings(
            folder,
            assistant={"data": str(folder / "data"), "languages": [language], "area": ROOM},
            brain={"order": list(order)},
            limits=unlimited,
            media={"during_turn": "leave"},
        )
        opened = open_app(settings, None, hears=False, resident=True, prompter=keyboard)
        async with opened as app:
            apps.append(app)
            house().clock = HouseClock(clock)
            yield Household(app, clock, keyboard)
