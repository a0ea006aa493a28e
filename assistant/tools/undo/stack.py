"""The undo stack, with one level for everything that a turn has changed."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues
from assistant.domain.tool_call import Status, Tier, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.house.intents import Move, suffix
from assistant.tools.undo.reversible import AskTiers, ReversibleThings, choose
from assistant.tools.undo.step import (
    UNKNOWN,
    HomeStep,
    StoredStep,
    UndoneReport,
    UndoStep,
    forgotten,
    ran,
    reasons,
)
from assistant.tools.undo.storage import (
    SnapshotShelf,
    StoredLevel,
    StoredLevels,
    numbers_of,
)
from integrations.errors import IntegrationError
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.services import Services, Snapshots
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant


_log = logging.getLogger(__name__)
LIFE_S = 600.0  # how long a change can be undone
MAX_LEVELS = 10
BEFORE_S = 1.0  # longest delay of a call by its snapshot
CLOSE_S = 1.0  # for deleting what is left when the process exits
_OTHER_MEDIA = frozenset({"HassMediaNext", "HassMediaPrevious", "HassMediaSearchAndPlay"})


@dataclass(frozen=True, slots=True)
class DoneCall:
    name: str  # of the tool, without Home Assistant's prefix
    arguments: Mapping[str, Any]
    entities: tuple[str, ...]
    at_s: float  # end of the call, `Clock.since_boot`


@dataclass(frozen=True, slots=True)
class Undone:
    levels: int  # number of levels that were undone
    report: UndoneReport
    away: bool = False  # Home Assistant is unreachable; nothing was tried or lost
    # Undoing stopped, because it would now make a move that was not judged.
    changed: bool = False


@dataclass(eq=False, slots=True)
class _Kept:
    step: UndoStep
    keys: set[str]
    moves: tuple[Move, ...] = ()  # the moves of a step that isn't a HomeStep


@dataclass(eq=False, slots=True)
class _Level:
    turn_id: str
    begun_s: float  # `Clock.since_boot`
    kept: list[_Kept] = field(default_factory=list)
    calls: list[DoneCall] = field(default_factory=list)
    unknown: bool = False  # it also did something that can't be undone
    saved: bool = False  # other processes can undo it too

    @property
    def at_home(self) -> bool:
        return any(isinstance(one.step, HomeStep) for one in self.kept)

    async def save(self, stored: StoredLevels, clock: Clock) -> None:
        steps = [one.step.stored for one in self.kept if isinstance(one.step, HomeStep)]
        at = clock.now() - timedelta(seconds=clock.since_boot() - self.begun_s)
        unknown = self.unknown or len(steps) < len(self.kept)
        row = StoredLevel(self.turn_id, at, tuple(steps), unknown)
        self.saved = await stored.save(row) or self.saved

    async def withdraw(self, stored: StoredLevels) -> None:
        """Remove the level from the store, so that no other process undoes it a second time."""
        if self.saved:
            self.saved = False
            await stored.drop(self.turn_id)


class UndoStack(Opened):
    """All changes that can be undone. Enter this context manager after that of Home Assistant.

    A change that can't be undone has a level too, so that "undo" reports it instead of undoing an
    older change.
    """

    def __init__(
        self,
        home: "HomeAssistant",
        snapshots: Snapshots,
        services: Services,
        clock: Clock,
        *,
        alone: bool,
        store: SmallValues | None = None,
        tiers: AskTiers = dict,
    ) -> None:
        """`alone` means that no other Hearth process uses this house. `store` contains levels that
        other processes can undo too, and `tiers` returns the owner's ratings."""
        self._home = home
        self._services = services
        self._tiers = tiers
        self._clock = clock
        self._tasks = OwnedTasks()
        self._shelf = SnapshotShelf(snapshots, clock, self._tasks, alone=alone)
        self._levels: list[_Level] = []  # oldest first
        self._timers: dict[_Level, asyncio.Task[None]] = {}  # each ends the lifetime of its level
        self._open: dict[str, str] = {}  # running calls and their turns
        self._lock = asyncio.Lock()
        self._closed = True
        self._stored = StoredLevels(store, clock, LIFE_S)
        self._writing: set[asyncio.Task[None]] = set()

    async def _enter(self, stack: AsyncExitStack) -> None:
        stack.push_async_callback(self._let_go)
        await stack.enter_async_context(self._tasks)
        stack.callback(self._close)
        self._closed = False
        self._shelf.reserve(numbers_of(await self._stored.load() or ()))
        self._shelf.clean_up()

    def _close(self) -> None:
        self._closed = True

    async def before(self, key: str, entities: Sequence[str], turn_id: str) -> None:
        """Take a snapshot before a call is sent. Never raises. `key` must be unique among all
        calls."""
        if self._closed:
            return
        self._open[key] = turn_id
        choice = choose(entities, self._home.house, self._tiers())
        try:
            async with asyncio.timeout(BEFORE_S), self._lock:
                await self._keep(key, choice, turn_id)
        except (TimeoutError, IntegrationError) as error:
            _log.warning(
                "A change cannot be undone later because copying its old state failed: %s",
                str(error) or "out of time",
            )
            fresh = self._fresh(key, choice, turn_id)
            lost = (*fresh.by_scene, *fresh.players)
            self._add(key, turn_id, {}, None, reasons(fresh.never, fresh.away, lost))

    def after(self, key: str, outcome: ToolOutcome) -> None:
        """Record that a call has ended. If it can't have changed anything, its step is dropped."""
        turn_id = self._open.pop(key, None)
        if self._closed or turn_id is None or outcome.tier is Tier.READ:
            return
        found = [(level, one) for level in self._levels for one in level.kept if key in one.keys]
        if not _has_run(outcome, [one.step for _, one in found]):
            for level, one in found:
                self._release(key, level, one)
            return
        if not found:
            # Built-in tools undo their own changes, or make none that need it.
            if outcome.server != HEARTH:
                unknown = self._level(turn_id)
                unknown.unknown = True
                self._write(self._save(unknown))
            return
        name = suffix(outcome.name)
        done = DoneCall(name, outcome.arguments, outcome.entities, self._clock.since_boot())
        level = found[-1][0]
        level.calls.append(done)
        for _, one in found:
            if isinstance(one.step, HomeStep) and name in _OTHER_MEDIA:
                one.step.choose_other_media()
        self._write(self._save(level))

    def push(self, key: str, turn_id: str, step: UndoStep, moves: tuple[Move, ...] = ()) -> None:
        """Add an undo step that isn't a HomeStep to the current call. `moves` are the changes that
        the step would make, for the policy to judge."""
        if not self._closed:
            self._level(turn_id).kept.append(_Kept(step, {key}, moves))

    def moves(self, steps: int = 1) -> tuple[Move, ...]:
        """Return the moves that `undo` would make now, for the policy to judge."""
        self._forget_old()
        found: list[Move] = []
        house = self._home.house
        for level in reversed(self._levels[-steps:]):
            some, house = _moves(level, house)
            found += some
        return tuple(found)

    async def undo(self, steps: int = 1, judged: Sequence[Move] | None = None) -> Undone:
        """Undo the changes of the last `steps` turns, newest first. Never raises.

        `judged` contains the moves from `moves` that the policy has allowed; None allows every
        move. Undoing stops before a level that needs another move.
        """
        report, count = UndoneReport(), 0
        async with self._lock:
            self._forget_old()
            await self._join()
            while count < steps and self._levels:
                if self._levels[-1].at_home and not self._home.connected:
                    return Undone(count, report, away=not count)
                asked, _ = _moves(self._levels[-1], self._home.house)
                if judged is not None and not all(move in judged for move in asked):
                    return Undone(count, report, changed=True)
                report += await self._run(self._levels.pop())
                count += 1
        return Undone(count, report)

    async def _join(self) -> None:
        stored = await self._stored.load()
        if stored is None:
            return
        known = {one.turn_id for one in stored}
        for level in [one for one in self._levels if one.saved and one.turn_id not in known]:
            self._discard(level)
        mine = {one.turn_id for one in self._levels}
        now, now_s = self._clock.now(), self._clock.since_boot()
        for one in stored:
            if one.turn_id in mine:
                continue
            begun_s = now_s - (now - one.at).total_seconds()
            steps = [_Kept(self._step(step), {one.turn_id}) for step in one.steps]
            level = _Level(one.turn_id, begun_s, steps, unknown=one.unknown, saved=True)
            self._shelf.reserve(numbers_of([one]))
            self._levels.append(level)
        self._levels.sort(key=lambda one: one.begun_s)

    def _step(self, stored: StoredStep) -> HomeStep:
        return HomeStep(self._home, self._shelf, self._services, stored, self._tiers)

    async def _save(self, level: _Level) -> None:
        await level.save(self._stored, self._clock)
        if level not in self._levels:  # undone in the meantime
            await self._stored.drop(level.turn_id)

    def _write(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    def last_calls(self, within_s: float) -> tuple[DoneCall, ...]:
        """Return the newest level's calls, or () if the last one ended over `within_s`
        seconds ago."""
        level = self._levels[-1] if self._levels else None
        if level is None or not level.calls:
            return ()
        recent = self._clock.since_boot() - level.calls[-1].at_s <= within_s
        return tuple(level.calls) if recent else ()

    async def _keep(self, key: str, choice: ReversibleThings, turn_id: str) -> None:
        """Add a step for entities that this turn hasn't changed before. Raises IntegrationError."""
        fresh = self._fresh(key, choice, turn_id)
        known = self._home.house.entities
        number = await self._shelf.take(fresh.by_scene) if fresh.by_scene else None
        # Read after the snapshot: by then, earlier changes have arrived on the same connection.
        newest = {**known, **self._home.house.entities}
        was = {name: newest[name] for name in (*fresh.by_scene, *fresh.players)}
        self._add(key, turn_id, was, number, reasons(fresh.never, fresh.away))

    def _fresh(self, key: str, choice: ReversibleThings, turn_id: str) -> ReversibleThings:
        level = self._levels[-1] if self._levels else None
        known: set[str] = set()
        for one in level.kept if level is not None and level.turn_id == turn_id else ():
            if isinstance(one.step, HomeStep):
                if one.step.entities & choice.all:
                    one.keys.add(key)
                known |= one.step.entities
        return choice.without(known)

    def _add(
        self,
        key: str,
        turn_id: str,
        was: Mapping[str, Entity],
        number: int | None,
        not_kept: Mapping[str, str],
    ) -> None:
        if was or not_kept:
            step = self._step(StoredStep(was, number, not_kept))
            self._level(turn_id).kept.append(_Kept(step, {key}))

    def _level(self, turn_id: str) -> _Level:
        if self._levels and self._levels[-1].turn_id == turn_id:
            return self._levels[-1]
        level = _Level(turn_id, self._clock.since_boot())
        self._timers[level] = self._tasks.start(self._expire(level), "undo expires")
        self._levels.append(level)
        if len(self._levels) > MAX_LEVELS:
            self._discard(self._levels[0])
        return level

    async def _run(self, level: _Level) -> UndoneReport:
        report = UndoneReport()
        await level.withdraw(self._stored)
        try:
            for one in reversed(level.kept):
                report += await ran(one.step)
        finally:
            self._discard(level)
        return report + UNKNOWN if level.unknown else report

    def _release(self, key: str, level: _Level, one: _Kept) -> None:
        one.keys.discard(key)
        if one.keys:
            return
        level.kept.remove(one)
        self._tasks.start(forgotten(one.step), "undo forgets")
        if not level.kept and not level.unknown:
            self._discard(level)

    def _discard(self, level: _Level) -> None:
        if level in self._levels:
            self._levels.remove(level)
        if level.saved:
            self._write(self._stored.drop(level.turn_id))
        if timer := self._timers.pop(level, None):
            timer.cancel()
        if not self._closed:
            for one in level.kept:
                self._tasks.start(forgotten(one.step), "undo forgets")

    def _forget_old(self) -> None:
        """Drop levels that expired while the machine was suspended and no timers were running."""
        now_s = self._clock.since_boot()
        for level in [one for one in self._levels if now_s - one.begun_s > LIFE_S]:
            self._discard(level)

    async def _expire(self, level: _Level) -> None:
        await self._clock.sleep(LIFE_S)
        self._timers.pop(level, None)
        self._discard(level)

    async def _let_go(self) -> None:
        if self._writing:
            await asyncio.wait(set(self._writing), timeout=CLOSE_S)
        needed = {
            one.step.number
            for level in self._levels
            if level.saved
            for one in level.kept
            if isinstance(one.step, HomeStep) and one.step.number is not None
        } | numbers_of(await self._stored.load() or ())
        steps = [one.step for level in self._levels for one in level.kept]
        self._levels.clear()
        others = [forgotten(step) for step in steps if not isinstance(step, HomeStep)]
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.gather(*others, self._shelf.empty(besides=needed))
        except TimeoutError:
            _log.info("Snapshots remain in Home Assistant; they are deleted at the next start.")


def _moves(level: _Level, house: House) -> tuple[list[Move], House]:
    found: list[Move] = []
    for one in reversed(level.kept):
        if isinstance(one.step, HomeStep):
            found += one.step.moves(house)
            house = one.step.after(house)
        found += one.moves
    return found, house


def _has_run(outcome: ToolOutcome, steps: Sequence[UndoStep]) -> bool:
    """Return True if the call may have changed something, which is possible even if it failed."""
    if outcome.status is Status.NOT_RUN:
        return False
    if outcome.status is not Status.FAILED or outcome.observed:
        return True
    return any(not isinstance(step, HomeStep) or step.has_changed() for step in steps)
