"""How programs get at the box: HTTP and MCP, a device of Home Assistant, MQTT, Wyoming."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from assistant.app import App
from assistant.box.box import Box
from assistant.box.confirmations import Confirmations
from assistant.box.parts import Parts, Sound
from assistant.box.records import Records
from assistant.clock import Clock, SystemClock
from assistant.config.schema import Settings
from assistant.device.face import DeviceFace, Reach, Sources
from assistant.doctor.whole import examine_all
from assistant.http_serving import open_guard, serving_http
from assistant.mqtt import needs
from assistant.mqtt.face import MqttFace
from assistant.mqtt.make import mqtt_face, own_identifier
from assistant.resident import Stay
from assistant.tools.moment import Mode
from assistant.troubles import Troubles
from assistant.version import own_version
from assistant.wyoming_face import HouseVoice, Room, WyomingFace
from integrations.mcp_server.endpoint import McpServer


@dataclass(frozen=True, slots=True)
class Faces:
    """What the faces stand on, for whoever opened them."""

    box: Box
    port: int  # of the HTTP interface
    troubles: Troubles


@asynccontextmanager
async def open_faces(
    app: App, sound: Sound | None = None, clock: Clock | None = None
) -> AsyncIterator[Faces]:
    """All of them, as the settings want, for as long as the context is open.

    `app`: of a process that stays; `sound`: None where no device is meant to be told of. Raises
    ConfigError and Misconfigured.
    """
    stay, clock = app.stay, clock or SystemClock()
    assert stay is not None
    async with AsyncExitStack() as stack:
        looks: dict[str, Callable[[], str]] = {}  # of the faces themselves
        troubles = Troubles(partial(_troubles, app, sound, looks), app.bridge.happenings, clock)
        await stack.enter_async_context(troubles)
        box = _box(app, stay, sound, clock)
        stack.enter_context(box)
        if app.settings.mqtt.host:
            face = await _mqtt(app, stay, box, troubles, clock)
            looks["mqtt"] = lambda: face.problem
            await stack.enter_async_context(face)
        if app.bridge.demo is None:
            await stack.enter_async_context(_device(app, stay, box, troubles, clock))
        if app.settings.wyoming.enabled:
            await stack.enter_async_context(_wyoming(app, stay))
        port = await _serve(stack, app.settings, box, sound)
        yield Faces(box, port, troubles)


def _box(app: App, stay: Stay, sound: Sound | None, clock: Clock) -> Box:
    bridge, runner = app.bridge, app.runner

    async def doctor() -> Sequence[Mapping[str, Any]]:
        return [asdict(finding) for finding in await examine_all(app.settings)]

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
        Records(bridge.store, lambda: bridge.moments.modes.current is Mode.GUEST),
        doctor,
        sound,
    )
    return Box(parts, bridge.happenings, clock)


def _troubles(
    app: App, sound: Sound | None, looks: Mapping[str, Callable[[], str]]
) -> dict[str, str]:
    """What does not work now: what has it, and a sentence."""
    found = {} if sound is None else dict(sound.troubles)
    found |= {what: problem for what, look in looks.items() if (problem := look())}
    home = app.bridge.home
    if not home.connected:
        found["home_assistant"] = str(home.problem or "Home Assistant is not connected.")
    return found


def _device(app: App, stay: Stay, box: Box, troubles: Troubles, clock: Clock) -> DeviceFace:
    bridge = app.bridge
    sources = Sources(
        app.runner, stay.figures, stay.timers, troubles, bridge.happenings, bridge.keeps_words
    )
    reach = Reach(box, stay.desk, stay.announcements, bridge.catalogue)
    return DeviceFace(app.settings, bridge.device, bridge.home, sources, reach, clock)


async def _mqtt(app: App, stay: Stay, box: Box, troubles: Troubles, clock: Clock) -> MqttFace:
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


def _wyoming(app: App, stay: Stay) -> WyomingFace:
    languages = app.settings.assistant.languages
    room = Room(stay.desk, app.bridge.catalogue, languages[0])
    voice = HouseVoice(app.mouth.synthesize, languages, stay.language_of)
    return WyomingFace(app.settings, room, voice)


async def _serve(stack: AsyncExitStack, settings: Settings, box: Box, sound: Sound | None) -> int:
    """HTTP, with MCP on one of its paths; the port."""
    guard = await open_guard(settings)
    mcp = McpServer(box, guard, own_version(), turns=settings.http.mcp_turns)
    await stack.enter_async_context(mcp)
    serving = serving_http(
        settings, box, guard, lambda: "ok" if sound is None else sound.health, mcp.routes()
    )
    return await stack.enter_async_context(serving)
