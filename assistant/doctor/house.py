"""Checks of the house: Home Assistant, its tools and states, Hearth's device and the
MQTT broker."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from assistant.app.home import DEMO, HomeContext, open_home
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.doctor.daemon import Scene
from assistant.doctor.finding import (
    Check,
    Finding,
    Found,
    Watch,
    bad,
    examine,
    finding,
    good,
    odd,
    unwatched,
)
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Tier
from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord, address_of
from assistant.interfaces.mqtt.interface import broker_of
from assistant.timers.recurrence import local_zone
from assistant.tools.catalog.menu import Menu
from assistant.tools.policy.ratings import may_open
from integrations.address import shown
from integrations.errors import IntegrationError, SignInAgain
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.mobile_app import Address, find_device
from integrations.home_assistant.rest import Instance, check
from integrations.mcp.sandbox import holds
from integrations.mcp.servers import HOME_ASSISTANT, ServerSpec, ServerState
from integrations.mqtt.client import publish_last

_OPEN_S = 25.0  # seconds for connecting and the first snapshot
_CLOCKS_APART_S = 60.0  # difference of two clocks, from which on one must be wrong
_NAMED = 5  # names shown per list; `hearth tools rate` shows all
_SERVERS_S = 20.0  # seconds for programs to start and list their tools


@dataclass(frozen=True, slots=True)
class HouseScene:
    """The open house and Home Assistant's first response, for the checks."""

    settings: Settings
    home: HomeContext
    address: Address
    answer: Instance | IntegrationError  # response to the first request
    record: DeviceRecord | ConfigError | None

    @property
    def demo(self) -> bool:
        return self.settings.home_assistant.url == DEMO


async def examine_house(settings: Settings, watch: Watch = unwatched) -> list[Finding]:
    """Connect to the house and return the findings. If Home Assistant is unreachable or rejects the
    token, only the other tool servers are checked further."""
    async with AsyncExitStack() as stack:
        try:
            home = await stack.enter_async_context(open_home(settings, SystemClock()))
        except ConfigError as error:
            return [Finding("home assistant", "fail", "not checked", str(error))]
        scene = await _scene(settings, home)
        findings = await examine(CHECKS[:2], scene, watch)
        if not any(found.status == "fail" for found in findings):
            findings += await examine(CHECKS[2:], scene, watch)
        elif settings.mcp.servers:
            watch("tool servers")
            await home.hub.tools(_SERVERS_S)
        servers = home.hub.servers
        return findings + judge_servers(home.hub.states(), await _counts(home), servers)


async def _scene(settings: Settings, home: HomeContext) -> HouseScene:
    address = address_of(settings)
    if home.demo is not None:
        address = replace(address, url=home.demo.url, token=home.demo.token)
    answer: Instance | IntegrationError
    try:
        answer = await check(address.url, address.token, address.verify_tls, address.ca_file)
    except IntegrationError as error:
        answer = error
    record: DeviceRecord | ConfigError | None
    try:
        record = DeviceFile(settings.data_folder, SystemClock()).read()
    except ConfigError as error:
        record = error
    return HouseScene(settings, home, address, answer, record)


async def _answers(scene: HouseScene) -> Found:
    if isinstance(scene.answer, SignInAgain):
        return good("answers")  # the next check reports that access is refused
    if isinstance(scene.answer, IntegrationError):
        return bad("does not answer as expected", str(scene.answer))
    told = f"{scene.answer.version} at {shown(scene.address.url)}"
    if scene.answer.state != "RUNNING":
        return odd(f"{told}, still starting", "try again in a minute")
    return good(f"{told} (simulated)" if scene.demo else told)


async def _token(scene: HouseScene) -> Found:
    if isinstance(scene.answer, SignInAgain):
        return bad("not accepted", str(scene.answer))
    if isinstance(scene.answer, IntegrationError):
        return odd("not checked", "fix the check above first")
    return good("accepted")


async def _tools(scene: HouseScene) -> Found:
    await scene.home.hub.tools(_SERVERS_S)
    menu = await scene.home.tools.menu()
    own = [state for state in scene.home.hub.states() if state.name == HOME_ASSISTANT]
    reason = "; ".join(state.reason for state in own if not state.ok)
    if reason:
        return bad("cannot use Home Assistant's tools", reason)
    return good(judge_menu(menu))


def judge_menu(menu: Menu) -> str:
    offered = menu.offered()
    own = sum(entry.server == HOME_ASSISTANT for entry in offered)
    hidden = len(menu.entries) - len(offered)
    told = f"{len(offered)} tools offered, {own} of them from Home Assistant"
    return f"{told}, {hidden} not offered (see `hearth tools`)" if hidden else told


async def _counts(home: HomeContext) -> Counter[str]:
    menu = await home.tools.menu()
    return Counter(entry.server for entry in menu.entries)


def judge_servers(
    states: Sequence[ServerState], tools: Mapping[str, int], servers: Mapping[str, ServerSpec]
) -> list[Finding]:
    """Return a finding for each tool server other than Home Assistant's own. `tools` maps the name
    of each server to its number of tools."""
    return [
        finding(
            f"server {state.name}",
            _judge_server(state, tools.get(state.name, 0), servers[state.name]),
        )
        for state in states
        if state.name != HOME_ASSISTANT
    ]


def _judge_server(state: ServerState, tools: int, spec: ServerSpec) -> Found:
    if not state.ok:
        return odd("cannot be used", state.reason or "run `hearth --debug tools` to see why")
    if not tools:
        return odd("connected, but offers no tools", "check `allow` and `deny` in mcp.servers")
    told = f"{tools} tool{'' if tools == 1 else 's'}"
    if spec.transport != "stdio":
        return good(told)
    if holds(spec):
        return good(f"{told}; sandboxed, cannot read Hearth's files")
    if spec.sandbox:
        return odd(
            f"{told}; not sandboxed: this kernel has no Landlock",
            "use a kernel with Landlock (Debian's has it, Raspberry Pi OS's does not), or run the "
            "server as another user and connect to it over http",
        )
    return odd(
        f"{told}; not sandboxed: it can read Hearth's tokens and journal",
        f'remove sandbox = false from mcp.servers "{spec.name}" and name its folders in `folders`',
    )


async def _picture(scene: HouseScene) -> Found:
    client = scene.home.client
    if not client.connected:
        return bad("not connected", str(client.problem or "try again in a minute"))
    house = client.house
    exposed = len(house.exposed())
    told = (
        f"{len(house.entities)} entities, {exposed} exposed, {len(house.areas)} areas (websocket)"
    )
    if not exposed:
        return odd(told, "expose devices to Assist: Settings > Voice assistants > Expose")
    return good(told)


async def _time_zone(scene: HouseScene) -> Found:
    if scene.demo:
        return good("not needed in the simulated house")
    answer = scene.answer
    ahead_s = None if isinstance(answer, IntegrationError) else answer.ahead_s
    clocks = judge_clocks(ahead_s or 0.0)
    if clocks is not None:
        return clocks
    return judge_time_zone(
        scene.home.client.house.settings.time_zone, datetime.now(UTC), local_zone()
    )


def judge_clocks(ahead_s: float) -> Found | None:
    """Return a finding if Home Assistant's clock is ahead of this machine's, or behind it, by more
    than a minute. `ahead_s` is negative if it is behind."""
    if abs(ahead_s) <= _CLOCKS_APART_S:
        return None
    minutes = f"{abs(ahead_s) / 60:,.0f} min"
    return odd(
        f"Home Assistant's clock is {minutes} {'ahead of' if ahead_s > 0 else 'behind'} this "
        "machine's, so one of them is wrong",
        "set both from the network: sudo timedatectl set-ntp true",
    )


def judge_time_zone(name: str, now: datetime, machine: tzinfo) -> Found:
    """Check that the house's time zone and this machine's show the same time now."""
    if not name:
        return odd("unknown", "fix the check above first")
    try:
        house = ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return odd(f"this machine doesn't know {name}", "sudo apt install tzdata")
    if now.astimezone(house).utcoffset() == now.astimezone(machine).utcoffset():
        return good(name)
    return odd(
        f"{name} in Home Assistant, which Hearth uses; this machine's clock shows "
        f"{now.astimezone(machine):%H:%M}, the house's {now.astimezone(house):%H:%M}",
        f"sudo timedatectl set-timezone {name}",
    )


async def _openers(scene: HouseScene) -> Found:
    client = scene.home.client
    if not client.connected:
        return odd("unknown", "fix the check above first")
    return judge_openers(client.house, scene.home.policy_contexts.ratings.tiers)


def judge_openers(house: House, tiers: Mapping[str, Tier]) -> Found:
    """Check the entities that could open the house. Warns if the owner hasn't rated all of them."""
    things = may_open(house)
    seen = [one for one in things if house.seen_opening.get(one.entity_id)]
    freed = [one for one in things if tiers.get(one.entity_id) is Tier.COMFORT]
    unrated = [one for one in things if one.entity_id not in tiers]
    told = [
        f"{words}: {_few(found)}"
        for words, found in (
            ("rated harmless, so allowed without asking", freed),
            ("need confirmation until they are rated", unrated),
            ("seen opening something", seen),
        )
        if found
    ]
    if not told:
        return good("everything that could open something is known and needs confirmation")
    detail = "; ".join(told)
    if unrated:
        return odd(detail, 'if one opens nothing, run: hearth tools rate "NAME" comfort')
    return good(
        f'{detail} (to require confirmation again: hearth tools rate "NAME" secure)'
        if freed
        else detail
    )


def _few(things: Sequence[Entity]) -> str:
    names = ", ".join(one.name for one in things[:_NAMED])
    return f"{names} and {len(things) - _NAMED} more" if len(things) > _NAMED else names


async def _device(scene: HouseScene) -> Found:
    if scene.demo:
        return good("not needed in the simulated house")
    if isinstance(scene.record, ConfigError):
        return odd("unknown", str(scene.record))
    record = scene.record
    if record is None or not record.device_id or record.url != scene.address.url:
        return odd("not registered", "`hearth run` registers it when it starts")
    try:
        device = await find_device(scene.home.client, record.identifier)
    except IntegrationError as error:
        return odd("unknown", str(error))
    if device is None:
        return odd(
            "registered before, but deleted in Home Assistant",
            "`hearth run` registers it again within ten minutes, or when it next starts",
        )
    if device.disabled:
        return odd(
            f"{device.name} is disabled", "enable it: Settings > Devices & services > Mobile App"
        )
    return good(device.name)


async def _area(scene: HouseScene) -> Found:
    name = scene.settings.assistant.area
    if not name:
        return odd(
            "assistant.area is empty, so Hearth asks which room you mean",
            "set it to the room that this box is in",
        )
    record = None if isinstance(scene.record, ConfigError) else scene.record
    try:
        found = await place.look_up(scene.home.client, record, name)
    except IntegrationError as error:
        return odd("unknown", str(error))
    if found.wanted is None:
        return odd(f'assistant.area is "{name}"', place.no_such_area(name, found))
    if record is None or not found.registered or found.agrees:
        return good(found.wanted.name)
    there = found.present.name if found.present else "no area"
    return odd(
        f"{found.wanted.name} here, {there} in Home Assistant",
        place.move_by_hand(record, found.wanted.name),
    )


# The other checks run only if the first two pass.
CHECKS: tuple[Check[HouseScene], ...] = (
    Check("home assistant", _answers),
    Check("token", _token),
    Check("tools", _tools, limit_s=_OPEN_S),
    Check("live picture", _picture),
    Check("time zone", _time_zone),
    Check("what may open", _openers),
    Check("device", _device),
    Check("area", _area),
)


_MEND = "fix this to get Hearth's MQTT entities back in Home Assistant"


async def _broker(scene: Scene) -> Found:
    mqtt = scene.settings.mqtt
    if not mqtt.host:
        return good("not used: mqtt.host is empty")
    try:
        # Use a different client id, or the broker would disconnect a running Hearth.
        await publish_last(broker_of(mqtt), f"hearth-doctor-{secrets.token_hex(4)}", ())
    except IntegrationError as error:
        return bad(str(error), _MEND)
    return good(f"connected to {mqtt.host}:{mqtt.port}")


BROKER_CHECKS: tuple[Check[Scene], ...] = (Check("broker", _broker),)
