"""Opens the daemon's interfaces: HTTP and MCP, device, MQTT, Wyoming and metrics."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assistant.app.build import App
from assistant.app.guards import rulings_of
from assistant.app.process import ClockWatch, LoopLag
from assistant.app.services import DaemonServices
from assistant.config.masked_log import hide_in_logs, recent_log
from assistant.config.schema import Settings
from assistant.domain.clock import Clock, SystemClock, synchronised
from assistant.domain.records import StoreError
from assistant.domain.tool_call import Mode
from assistant.domain.version import own_version
from assistant.interfaces.api.box import Box
from assistant.interfaces.api.house import HouseChanges, HousePage
from assistant.interfaces.api.parts import (
    Confirmations,
    History,
    Openers,
    Parts,
    Records,
    Sentences,
    TurnSounds,
)
from assistant.interfaces.device.interface import DeviceInterface, Reach
from assistant.interfaces.http import open_guard, serving_http
from assistant.interfaces.prometheus import CONTENT_TYPE, Measures, Standing
from assistant.interfaces.status import HealthMonitor, StatusSources
from assistant.tools.policy.rules import menu_json
from integrations.errors import SignInAgain
from integrations.mcp_server.server import McpServer
from integrations.mcp_server.sign_in import CALLBACK
from integrations.web.box import Health, NotKept
from integrations.web.pages import metrics_route
from integrations.web.speech import speech_route

if TYPE_CHECKING:
    from assistant.interfaces.mqtt.interface import MqttInterface
    from assistant.interfaces.wyoming import WyomingInterface
    from assistant.sound.devices import SoundState


# Renders the Prometheus page of this process.
Page = Callable[[], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Broker:
    """State of the MQTT connection, for the metrics."""

    openings: Callable[[], int]
    connected: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Watched:
    app: App
    stay: DaemonServices
    sound: "SoundState | None"
    health: Callable[[], Health]
    broker: Broker | None = None
    began: float = field(default_factory=time.time)  # seconds since the epoch


@asynccontextmanager
async def watching(watched: Watched) -> AsyncIterator[Page]:
    """Collect metrics while the context is open, and yield the function that renders the metrics
    page."""
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
    with suppress(StoreError, NotKept):  # the other metrics are still shown
        timers = len(await stay.timers.rows())
    return Standing(
        watched.health(),
        lag.worst_s,
        frames=_frames(watched),
        connections=_connections(watched),
        connected=_connected(watched),
        queues={
            "announcements": stay.announcements.waiting,
            "store": app.home.store.waiting,
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
        "home_assistant": app.home.client.openings,
        "gemini": app.brains.openings(),
        **{f"tools:{name}": count for name, count in app.home.hub.openings().items()},
    }
    if watched.broker is not None:
        opened["mqtt"] = watched.broker.openings()
    if microphone := _report(watched).get("microphone"):
        opened["microphone"] = 1 + microphone["reopened"]
    return opened


def _connected(watched: Watched) -> dict[str, bool]:
    home = watched.app.home
    now = {"home_assistant": home.client.connected}
    now |= {f"tools:{state.name}": state.ok for state in home.hub.states()}
    chain = watched.app.brains.chain
    now |= {slot.name: slot.name not in chain.troubles for slot in chain.slots if slot.cloud}
    if watched.broker is not None:
        now["mqtt"] = watched.broker.connected()
    return now


def _report(watched: Watched) -> Mapping[str, Any]:
    return {} if watched.sound is None else watched.sound.report()


@dataclass(frozen=True, slots=True)
class Interfaces:
    box: Box
    port: int  # port of the HTTP interface
    troubles: HealthMonitor


@asynccontextmanager
async def open_interfaces(
    app: App,
    sound: "SoundState | None" = None,
    clock: Clock | None = None,
    more_troubles: Mapping[str, Callable[[], str]] | None = None,
    stuck: Callable[[], str] = str,
) -> AsyncIterator[Interfaces]:
    """Open all configured interfaces, and close them on exit. Raises ConfigError and Misconfigured.

    `app` must be the daemon's. `sound` is the state of the sound devices; with None they are not
    reported. `more_troubles` maps the name of a part to a function that returns a sentence on its
    problem, or "". `stuck` returns the reason why Hearth has to be restarted, or "".
    """
    stay, clock = app.daemon, clock or SystemClock()
    assert stay is not None
    async with AsyncExitStack() as stack:
        looks = dict(more_troubles or {})  # problems of the interfaces are added below
        looks["clock"] = ClockWatch(clock, synchronised).problem
        troubles = HealthMonitor(partial(_troubles, app, sound, looks), app.home.bus, clock)
        await stack.enter_async_context(troubles)
        box = _box(app, stay, sound, clock, troubles, stuck)
        stack.enter_context(box)
        changes = HouseChanges(box.events, lambda: app.home.client.house)
        stack.callback(changes.close)
        stack.callback(app.home.client.observe(changes.note))
        broker = None
        if app.settings.mqtt.host:
            face = await _mqtt(app, stay, box, troubles, clock)
            looks["mqtt"] = lambda: face.problem
            await stack.enter_async_context(face)
            broker = Broker(lambda: face.openings, lambda: face.connected)
        if app.home.demo is None:
            await stack.enter_async_context(_device(app, stay, box, troubles, clock))
        if app.settings.wyoming.enabled:
            await stack.enter_async_context(_wyoming(app, stay))
        watched = Watched(app, stay, sound, lambda: box.health, broker)
        page = await stack.enter_async_context(watching(watched))
        port = await _serve(stack, app.settings, box, page)
        yield Interfaces(box, port, troubles)


def _box(
    app: App,
    stay: DaemonServices,
    sound: "SoundState | None",
    clock: Clock,
    troubles: HealthMonitor,
    stuck: Callable[[], str],
) -> Box:
    home, runner, settings = app.home, app.runner, app.settings
    recent_log()  # it may have begun with the process
    hide_in_logs(settings)

    async def doctor() -> Sequence[Mapping[str, Any]]:
        whole = await asyncio.to_thread(import_module, "assistant.doctor.whole")
        return [asdict(finding) for finding in await whole.examine_all(settings)]

    async def test_gemini() -> Mapping[str, Any]:
        cloud = await asyncio.to_thread(import_module, "assistant.doctor.cloud")
        return asdict(await cloud.probe_cloud(settings, home, clock))

    async def backup() -> bytes:
        # Backups are above the interfaces, because they contain data of all of them.
        transfer = await asyncio.to_thread(import_module, "assistant.transfer.contents")
        file = settings.source
        text = "" if file is None else await asyncio.to_thread(file.read_text, encoding="utf-8")
        made = await transfer.backup_of(home.store, settings, text, clock, with_secrets=False)
        return bytes(made.data)

    async def tools() -> Mapping[str, Any]:
        menu = await home.tools.menu()
        return menu_json(home.hub.states(), menu.entries, rulings_of(settings.policy).rules)

    def guests() -> bool:
        return home.policy_contexts.modes.current is Mode.GUEST

    sounds = TurnSounds(settings.data_folder)
    cap_usd = settings.limits.daily_cost_usd
    parts = Parts(
        runner,
        stay.mute,
        home.policy_contexts.modes,
        stay.desk,
        stay.questions,
        stay.talks,
        stay.timers,
        stay.live,
        Confirmations(lambda: [runner.exchange, *stay.speech.asked()], home.bus),
        Records(home.store, guests, clock),
        Openers(lambda: home.client.house, home.policy_contexts.ratings),
        HousePage(
            *(home.client, home.tools, home.catalogue, clock, settings.assistant.languages),
            *(home.policy_contexts, home.policy_contexts.ratings, rulings_of(settings.policy)),
        ),
        Sentences(home.own_sentences, lambda: home.client.house),
        History(home.store, sounds, guests, cap_usd, clock),
        stay.speech,
        tools,
        doctor,
        test_gemini,
        lambda: troubles.now,
        sound,
        stuck,
        backup,
        lambda: recent_log().lines,
        settings.http.mcp_turns,
        partial(_home_state, app),
        home.client.hurry,
    )
    return Box(parts, home.bus, clock)


def _home_state(app: App) -> str:
    """Return a value of `integrations.web.replies.StateReply.home`."""
    client = app.home.client
    if client.connected:
        return "connected"
    if app.home.demo is None and not app.settings.home_assistant.token.get_secret_value():
        return "unconfigured"
    return "rejected" if isinstance(client.problem, SignInAgain) else "unreachable"


def _troubles(
    app: App, sound: "SoundState | None", looks: Mapping[str, Callable[[], str]]
) -> dict[str, str]:
    found = {} if sound is None else dict(sound.troubles)
    found |= {what: problem for what, look in looks.items() if (problem := look())}
    found |= app.brains.chain.troubles
    client = app.home.client
    if not client.connected:
        found["home_assistant"] = str(client.problem or "Home Assistant is not connected.")
    if app.home.store.problem:
        found["journal"] = app.home.store.problem
    return found


def _device(
    app: App, stay: DaemonServices, box: Box, troubles: HealthMonitor, clock: Clock
) -> DeviceInterface:
    home = app.home
    reach = Reach(box, stay.desk, stay.announcements, home.catalogue, home.store)
    return DeviceInterface(
        *(app.settings, home.device, home.client, _sources(app, stay, troubles)),
        *(home.bus, home.keeps_words, reach, clock),
    )


def _sources(app: App, stay: DaemonServices, troubles: HealthMonitor) -> StatusSources:
    return StatusSources(app.runner, stay.figures, stay.timers, troubles)


async def _mqtt(
    app: App, stay: DaemonServices, box: Box, troubles: HealthMonitor, clock: Clock
) -> "MqttInterface":
    from assistant.interfaces.mqtt.commands import MqttParts
    from assistant.interfaces.mqtt.interface import MqttInterface, own_identifier

    home = app.home
    sources = _sources(app, stay, troubles)
    parts = MqttParts(box, stay.desk, stay.live, sources, home.bus, home.store)
    identifier = await own_identifier(home.device.file)
    return MqttInterface(app.settings, identifier, parts, home.catalogue, clock)


def _wyoming(app: App, stay: DaemonServices) -> "WyomingInterface":
    from assistant.interfaces.wyoming import HouseVoice, SatelliteRoom, WyomingInterface

    languages = app.settings.assistant.languages
    room = SatelliteRoom(stay.desk, app.home.catalogue, languages[0])
    voice = HouseVoice(app.speech_output.synthesize, languages, stay.language_of)
    return WyomingInterface(app.settings, room, voice)


async def _serve(stack: AsyncExitStack, settings: Settings, box: Box, page: Page) -> int:
    guard = await open_guard(settings)
    callbacks = [f"{settings.home_assistant.url}{CALLBACK}", *settings.http.mcp_callbacks]
    mcp = McpServer(box, guard, own_version(), turns=settings.http.mcp_turns, callbacks=callbacks)
    await stack.enter_async_context(mcp)
    routes = [
        *mcp.routes(),
        metrics_route(page, CONTENT_TYPE, guard),
        speech_route(box, guard),
    ]
    serving = serving_http(settings, box, guard, lambda: box.health, routes)
    return await stack.enter_async_context(serving)
