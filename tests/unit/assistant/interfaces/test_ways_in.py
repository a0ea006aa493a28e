"""Tests that every way into the house leads to the same judge and the same verdicts.

The settings here never require a confirmation, so that whatever is not done is refused because of
the situation: a guest's turn, a turn that has read text from outside, a turn so soon after our own
voice, or a program's turn.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import httpx
import pytest

from assistant.conversation.record import FinishedTurn
from assistant.conversation.rules.events import AtTerminal
from assistant.domain.brain import Brain, ConversationOwner
from assistant.domain.clock import SystemClock, VirtualClock
from assistant.domain.events import EventBus
from assistant.domain.records import TurnRecord
from assistant.domain.tool_call import (
    CALLERS,
    CallContext,
    Mode,
    PolicyContext,
    Rights,
    ToolCall,
    ToolOutcome,
)
from assistant.interfaces.api.box import Box
from assistant.interfaces.device.inbox import Commander, Inbox
from assistant.interfaces.device.sensors import DeviceEvents
from assistant.interfaces.mqtt.commands import Orders
from assistant.interfaces.mqtt.discovery import Topics
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import TimerBook
from assistant.timers.later import FrozenCalls, LaterTool
from assistant.timers.telling import TimerTelling
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.rules import Rulings
from assistant.tools.undo.stack import UndoStack
from assistant.tools.undo.tools import Undoing, through
from integrations.demo_home import DemoHome
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House as LiveHouse
from integrations.home_assistant.mobile_app import Push
from integrations.home_assistant.services import Services, Snapshots
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import home_assistant_server
from integrations.mcp_server.server import TOOLS
from integrations.mqtt.messages import Arrival
from integrations.owner import OwnedTasks
from integrations.web.api import api_routes, web_app
from integrations.web.box import Caller
from integrations.web.requests import AskRequest
from tests.fakes.journal import FakeJournal
from tests.unit.assistant.interfaces.api.doubles import (
    FakeDesk,
    FakeLive,
    FakeModes,
    TalkingConversation,
    parts,
)
from tests.unit.assistant.interfaces.device.doubles import Fired, Says
from tests.unit.assistant.interfaces.mqtt.doubles import House as MqttHouse
from tests.unit.assistant.timers.conftest import Shelf, an_almanac
from tests.unit.integrations.web.doubles import TOKEN, patient_guard, with_scope

# Each thing: the call, and how the house shows that it was done.
LAMP, HEAT, DOOR = "lamp", "heat", "door"
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    LAMP: ("HassTurnOn", {"name": "Hall light"}),
    HEAT: ("HassClimateSetTemperature", {"name": "Living room thermostat", "temperature": 28}),
    DOOR: ("HassTurnOff", {"name": "Front door"}),
}
# Permitted without any confirmation by the settings: comfort, costs, security.
LET: dict[str, frozenset[str]] = {
    "person": frozenset({LAMP, HEAT, DOOR}),
    "guest": frozenset({LAMP}),
    "tainted": frozenset({LAMP, HEAT}),
    "own speech": frozenset({LAMP, HEAT}),
    "program": frozenset({LAMP}),
}


class TypedTurns(TalkingConversation):
    """Runs a typed turn as `ProgramTurns` does, within the rights of the program or person."""

    def __init__(self, rig: "Rig") -> None:
        super().__init__()
        self._rig = rig

    async def ask_quietly(
        self,
        text: str,
        rights: Rights,
        caller: str,
        owner: ConversationOwner,
        brain: Brain | None = None,
    ) -> FinishedTurn:
        turn = self._rig.new_turn()
        self._rig.tools.restrict(turn, rights, caller)
        outcome = await self._rig.call(*CALLS[text], turn=turn)
        self._rig.tools.release(turn)
        return self._finished(turn, text, caller, outcome)

    async def ask_at_terminal(
        self, text: str, terminal: AtTerminal, brain: Brain | None = None
    ) -> list[FinishedTurn]:
        turn = self._rig.new_turn()
        outcome = await self._rig.call(*CALLS[text], turn=turn)
        return [self._finished(turn, text, "", outcome)]

    def _finished(self, turn: str, text: str, caller: str, outcome: ToolOutcome) -> FinishedTurn:
        record = TurnRecord(turn, VirtualClock().now(), "text", "en", answer=outcome.sentence)
        return FinishedTurn(replace(record, heard=text, caller=caller), (outcome,))


@dataclass
class Rig:
    """One house with all its ways in, in one mood."""

    mood: str
    demo: DemoHome
    home: HomeAssistant
    tools: Toolbox
    later: FrozenCalls
    book: TimerBook
    modes: FakeModes
    live: FakeLive
    bus: EventBus
    turns: int = 0

    @property
    def box(self) -> Box:
        made = parts(modes=self.modes, live=self.live, conversation=TypedTurns(self))
        return Box(made, self.bus, VirtualClock())

    def new_turn(self) -> str:
        """Begin a turn in the rig's mood and return its id."""
        self.turns += 1
        turn = f"turn{self.turns}"
        if self.mood == "tainted":
            self.tools.taint(turn)
        if self.mood == "program":
            self.tools.restrict(turn, CALLERS, "http:panel")
        return turn

    async def call(self, tool: str, arguments: dict[str, Any], turn: str = "") -> ToolOutcome:
        situation = CallContext(
            can_ask=True, spoken=True, near_own_speech=self.mood == "own speech"
        )
        turn = turn or self.new_turn()
        return await self.tools.call(
            ToolCall(f"{turn}-c", tool, arguments), turn, "do it", "en", situation
        )

    async def before(self, tool: str, arguments: dict[str, Any]) -> None:
        """Do something as a person earlier, in a calm situation."""
        mode, self.modes.current = self.modes.current, Mode.NORMAL
        self.turns += 1
        call = ToolCall("c", tool, arguments)
        await self.tools.call(call, f"before{self.turns}", "do it", "en", CallContext(can_ask=True))
        self.modes.current = mode

    def done(self, thing: str) -> bool:
        house = self.demo.house
        if thing == LAMP:
            return house.get("light.hall").state == "on"
        if thing == HEAT:
            return bool(house.get("climate.living_room").attributes["temperature"] == 28)
        return house.get("lock.front_door").state in ("unlocked", "unlocking", "open")


@asynccontextmanager
async def living(mood: str) -> AsyncIterator[Rig]:
    """Yield a rig whose settings require no confirmation."""
    async with (
        DemoHome(settle_s=0.02) as demo,
        McpHub([home_assistant_server(demo.url, demo.token)]) as hub,
        HomeAssistant(demo.url, demo.token) as home,
        UndoStack(home, Snapshots(home), Services(home), VirtualClock(), alone=True) as stack,
    ):
        modes, clock, catalogue = FakeModes(), VirtualClock(), Catalogue()
        modes.current = Mode.GUEST if mood == "guest" else Mode.NORMAL
        tools = Toolbox(
            hub,
            home,
            FakeJournal(),
            catalogue,
            SystemClock(),
            area="Hall",
            wait_s=1.0,
            rulings=Rulings(costly="allow", secure="allow"),
            moment=lambda: PolicyContext(mode=modes.current),
            governance=CallGuards(undo=stack),
        )
        shelf = Shelf()
        book = TimerBook(shelf, clock, an_almanac(shelf))
        later = FrozenCalls(tools, lambda: True, lambda: "due", catalogue)
        telling = TimerTelling(lambda: True, catalogue, clock, an_almanac(shelf))
        undoing = Undoing(
            stack, through(tools), lambda: tools.current_menu, lambda: home.house, catalogue
        )
        tools.offer(*undoing.tools(), LaterTool(book, later, telling).tool())
        await tools.menu()
        yield Rig(mood, demo, home, tools, later, book, modes, FakeLive(), EventBus())


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the real-time limit for snapshots, for busy machines."""
    monkeypatch.setattr("assistant.tools.undo.stack.BEFORE_S", 20.0)


# --- the ways in


async def by_call(rig: Rig, thing: str) -> None:
    """Make the call in a person's turn, as the model or the offline grammar does."""
    await rig.call(*CALLS[thing])


async def by_undo(rig: Rig, thing: str) -> None:
    """Undo an action of a person; the undo would have the effect of the call."""
    house, before = rig.demo.house, rig.home.house.entities
    house.write("light.hall", "on" if thing == LAMP else "off")
    house.write("climate.living_room", None, temperature=28 if thing == HEAT else 18)
    house.write("lock.front_door", "unlocked" if thing == DOOR else "locked")

    def is_shown(shown: LiveHouse) -> bool:
        return all(
            shown.entities[name].state == house.get(name).state
            and shown.entities[name].attributes.get("temperature")
            == house.get(name).attributes.get("temperature")
            for name in ("light.hall", "climate.living_room", "lock.front_door")
        )

    assert await rig.home.wait_for(list(before), is_shown, 5.0)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        LAMP: ("HassTurnOff", {"name": "Hall light"}),
        HEAT: ("HassClimateSetTemperature", {"name": "Living room thermostat", "temperature": 18}),
        DOOR: ("HassTurnOn", {"name": "Front door"}),
    }
    await rig.before(*calls[thing])
    assert not rig.done(thing)
    await rig.call("undo", {})


async def by_later(rig: Rig, thing: str) -> None:
    """Make a command for later in this mood, and let it become due."""
    tool, arguments = CALLS[thing]
    await rig.call(
        "do_later", {"tool": tool, "arguments": arguments, "what": "do it", "minutes": 5}
    )
    for timer in await rig.book.all():
        if rig.later.ready(timer):
            await rig.later.make(timer)


async def by_http(rig: Rig, thing: str) -> None:
    async with _browser(rig.box, with_scope("ask")) as client:
        answer = await client.post("/v1/ask", json={"text": thing})
        assert answer.status_code == 200, answer.text


async def by_console(rig: Rig, thing: str, token: str = TOKEN) -> None:
    """Type as an administrator who has signed in with a browser."""
    async with _browser(rig.box, {"Origin": "http://localhost"}) as client:
        assert (await client.post("/v1/session", json={"token": token})).status_code == 204
        answer = await client.post("/v1/ask", json={"text": thing})
        assert answer.status_code == 200, answer.text


async def by_mcp(rig: Rig, thing: str) -> None:
    (ask,) = [one for one in TOOLS if one.name == "ask"]
    caller = Caller("mcp:agent", frozenset({"ask"}))
    await ask.run(rig.box, AskRequest(text=thing), caller)


async def by_mqtt(rig: Rig, thing: str) -> None:
    """Send everything that could be taken for the order over MQTT."""
    async with _broker(rig) as send:
        for topic in ("announce", "ask", "profile/set", "mute/set", "listen"):
            await send(topic, thing)


async def by_notification(rig: Rig, thing: str) -> None:
    """Send messages whose text or data could be taken for the order."""
    async with _inbox(rig) as inbox:
        for data in ({}, {"hearth_command": thing}, {"hearth_command": "ask", "text": thing}):
            await inbox.take(Push("", thing, data=data))


@asynccontextmanager
async def _browser(box: Box, headers: dict[str, str]) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(web_app(api_routes(box, patient_guard())))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers
    ) as client:
        yield client


@asynccontextmanager
async def _broker(rig: Rig) -> AsyncIterator[Callable[[str, str], Awaitable[bool]]]:
    async with OwnedTasks() as tasks:
        house = MqttHouse()
        topics = Topics("hearth", "homeassistant", "0123456789abcdef")
        orders = Orders(
            *(topics, replace(house.parts, box=rig.box), VirtualClock(), tasks, "always"),
            *(lambda name, answer: None, lambda key: None),
            may_unmute=False,
            may_widen=False,
        )

        async def send(topic: str, text: str) -> bool:
            return await orders.take(Arrival(f"hearth/{topic}", text.encode()))

        yield send


@asynccontextmanager
async def _inbox(rig: Rig) -> AsyncIterator[Inbox]:
    says = Says()
    commander = Commander(rig.box, rig.bus, Shelf(), VirtualClock())
    desk, events = cast(Any, FakeDesk()), cast(DeviceEvents, Fired())
    inbox = Inbox(
        *(desk, cast(Any, says), rig.box, commander, events, Catalogue(), VirtualClock()), ("en",)
    )
    async with inbox:
        yield inbox


@dataclass(frozen=True)
class Way:
    """One way in, and what it could reach at all."""

    come: Callable[[Rig, str], Awaitable[None]]
    reach: frozenset[str] = frozenset(CALLS)
    program: bool = False  # its caller counts as nobody's consent
    closed: bool = False  # to all programs


BACK = frozenset({LAMP, HEAT})  # nothing is undone into unlocked, nor done later
WAYS = {
    "a call": Way(by_call),
    "undo": Way(by_undo, BACK, closed=True),
    "later": Way(by_later, BACK, closed=True),
    "HTTP": Way(by_http, program=True),
    "console": Way(by_console),
    "console without admin": Way(partial(by_console, token=f"{TOKEN}-ask"), program=True),
    "MCP": Way(by_mcp, program=True),
    "MQTT": Way(by_mqtt, frozenset()),
    "notification": Way(by_notification, frozenset()),
}


def lets(way: Way, mood: str) -> frozenset[str]:
    """Return what may be done by that way in that mood; one rule for all ways."""
    if way.closed and mood == "program":
        return frozenset()
    return LET[mood] & way.reach & LET["program" if way.program else "person"]


@pytest.mark.parametrize("mood", LET)
@pytest.mark.parametrize("name", WAYS)
async def test_every_way_has_the_same_verdicts(name: str, mood: str) -> None:
    way = WAYS[name]
    async with living(mood) as rig:
        done = set()
        for thing in CALLS:
            rig.demo.house.write("light.hall", "off")
            assert not rig.done(thing)
            await way.come(rig, thing)
            done |= {thing} if rig.done(thing) else set()
        assert done == lets(way, mood)


LOOSE = ("mode", "profile", "unmute")


async def loosen_by_notification(rig: Rig) -> None:
    async with _inbox(rig) as inbox:
        for text in ("command_mode trusting", "command_unmute", "command_profile parents"):
            await inbox.take(Push("", text, data={"mode": "trusting", "profile": "parents"}))
        for order in (
            {"hearth_command": "mode", "mode": "trusting"},
            {"hearth_command": "mode", "mode": "trusting", "minutes": 1},
            {"hearth_command": "profile", "profile": "parents"},
            {"hearth_command": "unmute"},
        ):
            await inbox.take(Push("", "An order.", data=order))


async def loosen_by_mqtt(rig: Rig) -> None:
    async with _broker(rig) as send:
        for topic, text in (
            ("profile/set", "parents"),
            ("mute/set", "OFF"),
            ("mode/set", "trusting"),
        ):
            await send(topic, text)


async def loosen_by_http(rig: Rig) -> None:
    for scope in ("speak", "ask", "read"):
        async with _browser(rig.box, with_scope(scope)) as client:
            for path, body in (
                ("mode", {"mode": "trusting"}),
                ("settings", {"profile": "parents"}),
                ("mute", {"muted": False}),
            ):
                assert (await client.post(f"/v1/{path}", json=body)).status_code == 403


@pytest.mark.parametrize("mode", [Mode.NORMAL, Mode.ASK, Mode.GUEST])
@pytest.mark.parametrize("way", [loosen_by_notification, loosen_by_mqtt, loosen_by_http])
async def test_no_way_of_a_program_loosens_anything(
    way: Callable[[Rig], Awaitable[None]], mode: Mode
) -> None:
    async with living("person") as rig:
        rig.modes.current = mode
        told: list[str] = []
        rig.bus.follow(lambda one: told.append(one.kind))
        await way(rig)
        assert (rig.modes.current, rig.live.profile) == (mode, "kids")
        assert "command" not in told
