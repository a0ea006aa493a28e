"""Watches one process, and gives the page for Prometheus."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.app.build import App
from assistant.app.process import LoopLag
from assistant.app.services import Stay
from assistant.domain.records import StoreError
from assistant.domain.version import own_version
from assistant.interfaces.prometheus import Measures, Standing
from integrations.web.box import NotKept
from integrations.web.pages import Health

if TYPE_CHECKING:
    from assistant.sound.devices import SoundState


Page = Callable[[], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Broker:
    """The connection to the MQTT broker, where there is one."""

    openings: Callable[[], int]
    connected: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Watched:
    """Who is asked when somebody looks."""

    app: App
    stay: Stay
    sound: "SoundState | None"
    health: Callable[[], Health]
    broker: Broker | None = None
    began: float = field(default_factory=time.time)  # s since the epoch


@asynccontextmanager
async def watching(watched: Watched) -> AsyncIterator[Page]:
    """For as long as the context is open; the page is made when it is asked for."""
    measures, app = Measures(), watched.app
    async with AsyncExitStack() as stack:
        lag = await stack.enter_async_context(LoopLag())
        stack.callback(app.log.follow(measures.finished))
        stack.callback(app.runner.hearing.follow_near_misses(measures.missed))

        async def page() -> bytes:
            standing = await _standing(watched, lag)
            return await asyncio.to_thread(_page, measures, standing, watched.began)

        yield page


def _page(measures: Measures, standing: Standing, began: float) -> bytes:
    from assistant.interfaces.prometheus import page

    return page(measures, standing, own_version(), began)


async def _standing(watched: Watched, lag: LoopLag) -> Standing:
    app, stay = watched.app, watched.stay
    timers = None
    with suppress(StoreError, NotKept):  # what else there is to tell is told
        timers = len(await stay.timers.rows())
    return Standing(
        watched.health(),
        lag.worst_s,
        frames=_frames(watched),
        connections=_connections(watched),
        connected=_connected(watched),
        queues={
            "announcements": stay.announcements.waiting,
            "store": app.bridge.store.waiting,
        },
        timers=timers,
        cost_today_usd=stay.figures.cost_today_usd,
    )


def _frames(watched: Watched) -> dict[tuple[str, str], int]:
    hearing, report = watched.app.runner.hearing, _report(watched)
    frames = {
        ("wake", "heard"): hearing.frames_heard,
        ("wake", "passed"): hearing.frames_passed,
    }
    if microphone := report.get("microphone"):
        frames["microphone", "dropped"] = microphone["dropped_blocks"]
    cleaned = (report.get("echo") or {}).get("frames") or {}
    for what in ("processed", "bypassed", "failed"):
        if what in cleaned:
            frames["echo", what] = cleaned[what]
    return frames


def _connections(watched: Watched) -> dict[str, int]:
    app = watched.app
    opened = {
        "home_assistant": app.bridge.home.openings,
        "gemini": app.minds.openings(),
        **{f"tools:{name}": count for name, count in app.bridge.hub.openings().items()},
    }
    if watched.broker is not None:
        opened["mqtt"] = watched.broker.openings()
    if microphone := _report(watched).get("microphone"):
        opened["microphone"] = 1 + microphone["reopened"]
    return opened


def _connected(watched: Watched) -> dict[str, bool]:
    bridge = watched.app.bridge
    now = {"home_assistant": bridge.home.connected}
    now |= {f"tools:{state.name}": state.ok for state in bridge.hub.states()}
    if watched.broker is not None:
        now["mqtt"] = watched.broker.connected()
    return now


def _report(watched: Watched) -> Mapping[str, Any]:
    return {} if watched.sound is None else watched.sound.report()
