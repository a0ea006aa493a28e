"""A complete Hearth in a house, which receives typed sentences."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

from assistant.app.build import App, open_app
from assistant.conversation.record import FinishedTurn
from assistant.domain.records import UNASKED, TimerKind, TimerRecord
from assistant.domain.tool_call import Decision, Status, Tier
from assistant.timers.book import left_of
from integrations.demo_home.house import DemoHouse
from tests.dialogues.engine import Engine, engine_in
from tests.pipeline.gemini_rig import LeapingClock
from tests.pipeline.rig import offline_settings
from tests.understanding.cases import Case, Said
from tests.understanding.judge import Reaction, Result, Timer, View, hold
from tests.understanding.stages import SETTLE_S, DemoStage, Stage, real_stage

ROOM = "Living Room"  # of the box
HOME = "home-assistant"
_BETWEEN_S = 700.0  # between dialogues, so that none follows the one before
_HOUR = 14  # local time at which each dialogue begins, or a little later
_LOOK_S = 0.01
_UNDONE = (Status.FAILED, Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN)
_NOT_RUN = (Decision.DENIED, Decision.NEEDS_CONFIRMATION)
_LIMITS = ("comfort_per_minute", "costly_per_hour", "secure_per_hour")
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


@dataclass(frozen=True, slots=True)
class RealHouse:
    """The address of a real Home Assistant, and the tokens of Hearth's user and an admin."""

    url: str
    token: str = field(repr=False)
    admin_token: str = field(repr=False)


class Household:
    """Holds dialogues one after another. Each starts with the house in its first state."""

    def __init__(self, app: App, clock: LeapingClock, keyboard: Keyboard, stage: Stage) -> None:
        self._app = app
        self._clock = clock
        self._keyboard = keyboard
        self._stage = stage
        self._turns: list[FinishedTurn] = []
        self._running: asyncio.Task[None] | None = None  # a turn that asks something
        app.log.on_turn(self._note)

    def _note(self, turn: FinishedTurn) -> None:
        if turn.record.source not in UNASKED:
            self._turns.append(turn)

    def has(self, case: Case) -> bool:
        """Return True if the house has what the dialogue is about."""
        return not (case.needs and case.needs not in self._stage.domains) and not any(
            word in f"{right.changes}{right.says}"
            for word in self._stage.unseen
            for said in case.turns
            for right in said.rights
        )

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
        await self._stage.settle()
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
        """Let time pass, and let the commands that become due run."""
        self._clock.leap(seconds)
        due = self._clock.now()
        for _ in range(round(SETTLE_S / _LOOK_S)):
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
        shown = await self._stage.shown()
        timers = await self._timers()
        kinds = {kind: tuple(self._timer(t) for t in timers if t.kind == kind) for kind in _KINDS}
        return View(
            {one: known.state for one, known in shown.items()},
            {one: known.attributes for one, known in shown.items()},
            await self._stage.items(),
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

    async def _reset(self, case: Case) -> None:
        """Set the house to its first state and the case's own states. Cancels all timers and ends
        the last conversation."""
        for timer in await self._timers():
            await self._app.home.store.cancel_timer(timer.id)
        self._turns.clear()
        self._clock.leap(_BETWEEN_S)
        now = self._clock.now()
        start = now.replace(hour=_HOUR, minute=0, second=0, microsecond=0)
        if _tells_time(case) and not start <= now < start + timedelta(minutes=1):
            start += timedelta(days=start < now)
            self._clock.leap((start - now).total_seconds())
        await self._stage.reset(case.given)


def _tells_time(case: Case) -> bool:
    """Return True if the result depends on the time at which the dialogue begins."""
    return case.leaps or any(
        key in ("alarms", "reminders")
        for said in case.turns
        for right in said.rights
        for key, _ in right.changes
    )


@asynccontextmanager
async def household(
    language: str, order: Sequence[str], folder: Path, real: RealHouse | None = None
) -> AsyncIterator[Household]:
    """Yield a household that speaks one language, in the demo house or in a real one. Its brains
    are tried in `order`."""
    clock, keyboard = LeapingClock(), Keyboard()
    async with AsyncExitStack() as stack:
        stack.enter_context(patch("assistant.app.conversation.SystemClock", lambda: clock))
        apps: list[App] = []
        if HOME in order and real is None:
            engine = Engine(lambda: _demo(apps[0]), lambda _: "")
            stack.enter_context(engine_in(engine, language))
        home = {"url": real.url, "token": real.token} if real else {"url": "demo"}
        settings = offline_settings(
            folder,
            assistant={"data": str(folder / "data"), "languages": [language], "area": ROOM},
            home_assistant=home,
            brain={"order": list(order)},
            limits=dict.fromkeys(_LIMITS, 10_000),
            media={"during_turn": "leave"},
        )
        opened = open_app(settings, None, hears=False, resident=True, prompter=keyboard)
        app = await stack.enter_async_context(opened)
        apps.append(app)
        if real is None:
            yield Household(app, clock, keyboard, DemoStage(app, clock))
        else:
            opened_stage = real_stage(app, clock, real.url, real.admin_token)
            stage = await stack.enter_async_context(opened_stage)
            yield Household(app, clock, keyboard, stage)


def _demo(app: App) -> DemoHouse:
    assert app.home.demo is not None
    return app.home.demo.house
