"""How programs get at the box: HTTP and MCP, a device of Home Assistant, MQTT, Wyoming."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assistant.app.build import App
from assistant.app.policy_contexts import rulings_of
from assistant.app.process import ClockWatch
from assistant.app.services import Stay
from assistant.app.watching import Broker, Page, Watched, watching
from assistant.config.schema import Settings
from assistant.domain.clock import Clock, SystemClock, synchronised
from assistant.domain.policy_context import Mode
from assistant.domain.version import own_version
from assistant.interfaces.api.box import Box
from assistant.interfaces.api.confirmations import Confirmations
from assistant.interfaces.api.history import History
from assistant.interfaces.api.parts import Openers, Parts
from assistant.interfaces.api.records import Records
from assistant.interfaces.api.turn_sounds import TurnSounds
from assistant.interfaces.device.face import DeviceInterface, Reach, Sources
from assistant.interfaces.health import HealthMonitor
from assistant.interfaces.http_serving import open_guard, serving_http
from assistant.interfaces.prometheus import CONTENT_TYPE
from assistant.tools.policy.rules import menu_json as listed
from integrations.mcp_server.endpoint import CALLBACK, McpServer
from integrations.web.pages import metrics_route

if TYPE_CHECKING:  # imported where the settings want them
    from assistant.interfaces.mqtt.face import MqttInterface
    from assistant.interfaces.wyoming import WyomingInterface
    from assistant.sound.devices import SoundState


@dataclass(frozen=True, slots=True)
class Interfaces:
    """What the faces stand on, for whoever opened them."""

    box: Box
    port: int  # of the HTTP interface
    troubles: HealthMonitor


@asynccontextmanager
async def open_interfaces(
    app: App,
    sound: "SoundState | None" = None,
    clock: Clock | None = None,
    more_troubles: Mapping[str, Callable[[], str]] | None = None,
    stuck: Callable[[], str] = str,
) -> AsyncIterator[Interfaces]:
    """All of them, as the settings want, for as long as the context is open.

    `app`: of a process that stays; `sound`: None where no device is meant to be told of;
    `more_troubles`: what else may not work, with who gives the sentence on it, "" for nothing;
    `stuck`: gives the sentence on why only a restart helps, "" for nothing.
    Raises ConfigError and Misconfigured.
    """
    stay, clock = app.stay, clock or SystemClock()
    assert stay is not None
    async with AsyncExitStack() as stack:
        looks = dict(more_troubles or {})  # and of the faces themselves
        looks["clock"] = ClockWatch(clock, synchronised).problem
        troubles = HealthMonitor(
            partial(_troubles, app, sound, looks), app.bridge.happenings, clock
        )
        await stack.enter_async_context(troubles)
        box = _box(app, stay, sound, clock, troubles, stuck)
        stack.enter_context(box)
        broker = None
        if app.settings.mqtt.host:
            face = await _mqtt(app, stay, box, troubles, clock)
            looks["mqtt"] = lambda: face.problem
            await stack.enter_async_context(face)
            broker = Broker(lambda: face.openings, lambda: face.connected)
        if app.bridge.demo is None:
            await stack.enter_async_context(_device(app, stay, box, troubles, clock))
        if app.settings.wyoming.enabled:
            await stack.enter_async_context(_wyoming(app, stay))
        watched = Watched(app, stay, sound, lambda: box.health, broker)
        page = await stack.enter_async_context(watching(watched))
        port = await _serve(stack, app.settings, box, page)
        yield Interfaces(box, port, troubles)


def _box(
    app: App,
    stay: Stay,
    sound: "SoundState | None",
    clock: Clock,
    troubles: HealthMonitor,
    stuck: Callable[[], str],
) -> Box:
    bridge, runner, settings = app.bridge, app.runner, app.settings

    async def doctor() -> Sequence[Mapping[str, Any]]:
        whole = await asyncio.to_thread(import_module, "assistant.doctor.whole")
        return [asdict(finding) for finding in await whole.examine_all(settings)]

    async def tools() -> Mapping[str, Any]:
        menu = await bridge.tools.menu()
        return listed(bridge.hub.states(), menu.entries, rulings_of(settings.policy).rules)

    def guests() -> bool:
        return bridge.moments.modes.current is Mode.GUEST

    sounds = TurnSounds(settings.data_folder)
    cap_usd = settings.limits.daily_cost_usd
    parts = Parts(
        runner,
        stay.mute.set,
        bridge.moments.modes,
        stay.desk,
        stay.questions,
        stay.talks,
        stay.timers,
        stay.live,
        Confirmations(lambda: runner.exchange, bridge.happenings),
        Records(bridge.store, guests, clock),
        Openers(lambda: bridge.home.house, bridge.moments.ratings),
        History(bridge.store, sounds, guests, cap_usd, clock),
        tools,
        doctor,
        runner.hearing.level,
        lambda: troubles.now,
        sound,
        stuck,
        settings.http.mcp_turns,
    )
    return Box(parts, bridge.happenings, clock)


def _troubles(
    app: App, sound: "SoundState | None", looks: Mapping[str, Callable[[], str]]
) -> dict[str, str]:
    """What does not work now: what has it, and a sentence."""
    found = {} if sound is None else dict(sound.troubles)
    found |= {what: problem for what, look in looks.items() if (problem := look())}
    home = app.bridge.home
    if not home.connected:
        found["home_assistant"] = str(home.problem or "Home Assistant is not connected.")
    if app.bridge.store.problem:
        found["journal"] = app.bridge.store.problem
    return found


def _device(
    app: App, stay: Stay, box: Box, troubles: HealthMonitor, clock: Clock
) -> DeviceInterface:
    bridge = app.bridge
    sources = Sources(
        app.runner, stay.figures, stay.timers, troubles, bridge.happenings, bridge.keeps_words
    )
    reach = Reach(box, stay.desk, stay.announcements, bridge.catalogue, bridge.store)
    return DeviceInterface(app.settings, bridge.device, bridge.home, sources, reach, clock)


async def _mqtt(
    app: App, stay: Stay, box: Box, troubles: HealthMonitor, clock: Clock
) -> "MqttInterface":
    from assistant.interfaces.mqtt import publishing as needs
    from assistant.interfaces.mqtt.make import mqtt_face, own_identifier

    bridge = app.bridge
    parts = needs.Parts(
        box,
        stay.desk,
        stay.live,
        stay.figures,
        stay.timers,
        app.runner,
        troubles,
        bridge.happenings,
        bridge.store,
    )
    identifier = await own_identifier(bridge.device.file)
    return mqtt_face(app.settings, identifier, parts, bridge.catalogue, clock)


def _wyoming(app: App, stay: Stay) -> "WyomingInterface":
    from assistant.interfaces.wyoming import HouseVoice, SatelliteRoom, WyomingInterface

    languages = app.settings.assistant.languages
    room = SatelliteRoom(stay.desk, app.bridge.catalogue, languages[0])
    voice = HouseVoice(app.mouth.synthesize, languages, stay.language_of)
    return WyomingInterface(app.settings, room, voice)


async def _serve(stack: AsyncExitStack, settings: Settings, box: Box, page: Page) -> int:
    """HTTP, with MCP on one of its paths and the metrics' page on another; the port."""
    guard = await open_guard(settings)
    callbacks = [f"{settings.home_assistant.url}{CALLBACK}", *settings.http.mcp_callbacks]
    mcp = McpServer(box, guard, own_version(), turns=settings.http.mcp_turns, callbacks=callbacks)
    await stack.enter_async_context(mcp)
    routes = [*mcp.routes(), metrics_route(page, CONTENT_TYPE, guard)]
    serving = serving_http(settings, box, guard, lambda: box.health, routes)
    return await stack.enter_async_context(serving)
