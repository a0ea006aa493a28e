"""Tests of the device as a real Home Assistant sees and uses it.

Address and token of a user without administrator's rights are all that is needed.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.conversation.rules.state import State
from assistant.domain.clock import SystemClock
from assistant.interfaces.device.interface import DeviceInterface, Reach
from assistant.interfaces.device.registration import DeviceFile, HouseDevice
from assistant.interfaces.entities import MOBILE_APP
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.client import HomeAssistant
from integrations.web.requests import QuestionAnswer
from tests.fakes.small_values import FakeValues
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import automation, until
from tests.home_assistant.conftest import Address, Power, real_only
from tests.unit.assistant.interfaces.device.doubles import NOON, SECRET, Life, Pressed, Says

pytestmark = [real_only, pytest.mark.since(2026, 11)]

BOX, SLUG = "Voice Face room", "voice_face_room"
ACTION, ENTITY = f"notify.mobile_app_{SLUG}", f"notify.{SLUG}"
ACTIONS = [{"action": "CLOSE_BLINDS", "title": "Yes"}, {"action": "LEAVE", "title": "No"}]


class Stage(Life):
    """The device at work in the house, what it acts on, and the events on the house's bus."""

    def __init__(self, settings: Settings, admin: Admin) -> None:
        super().__init__()
        self.settings, self.admin = settings, admin
        self.figures.latency_ms, self.figures.cost_today_usd = 812.4, 0.5
        self.box, self.says = Pressed(), Says()
        self.events: list[dict[str, Any]] = []
        self.device = HouseDevice(settings, SystemClock())

    async def entities(self) -> dict[str, dict[str, Any]]:
        """Return registry rows of the device's sensors, by our own id of each."""
        rows = await self.admin.ask("config/entity_registry/list")
        return {
            row["unique_id"].partition("_")[2]: row
            for row in rows
            if row["device_id"] == self.device.device_id
            and row["entity_id"].partition(".")[0] in ("sensor", "binary_sensor")
        }

    async def state(self, name: str) -> dict[str, Any]:
        """Return the state of one of our sensors; {} while it is not there."""
        row = (await self.entities()).get(name)
        return {} if row is None else (await self.admin.states()).get(row["entity_id"], {})

    async def shows(self, name: str, state: str) -> dict[str, Any]:
        """Return its attributes, once it is in that state."""
        found: dict[str, Any] = {}

        async def so() -> bool:
            found.update(await self.state(name))
            return bool(found.get("state") == state)

        await until(so)
        attributes: dict[str, Any] = found["attributes"]
        return attributes

    async def told(self, kind: str, count: int = 1) -> dict[str, Any]:
        """Return the data of the newest event of that type, once there are `count`."""
        await until(lambda: len(self._of(kind)) >= count)
        return self._of(kind)[-1]

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return [event["data"] for event in self.events if event["event_type"] == kind]


Open = Callable[..., Any]


@pytest.fixture
async def face(house: Address, admin: Admin, tmp_path: Path) -> AsyncIterator[Open]:
    """Yield a function that opens the device; nothing of it remains in the house afterwards."""
    given: dict[str, Any] = {
        "assistant": {"name": "Voice", "area": "Face room", "data": str(tmp_path / "data")},
        "home_assistant": {"url": house.url, "token": house.token},
    }

    @asynccontextmanager
    async def opened(**sections: Any) -> AsyncIterator[Stage]:
        settings = Settings.model_validate({**given, **sections})
        stage = Stage(settings, admin)
        acts_on: Any = (stage.box, stage.says, stage.says, Catalogue(), FakeValues())
        seen = (stage.sources, stage.bus, stage.keeps_words)
        async with (
            HomeAssistant(house.url, house.admin_token) as watcher,
            HomeAssistant(house.url, house.token) as home,
            DeviceInterface(settings, stage.device, home, *seen, Reach(*acts_on), SystemClock()),
        ):
            watcher.follow(lambda event: stage.events.append(dict(event)), "subscribe_events")
            await until(lambda: stage.device.device_id)
            yield stage

    yield opened
    record = DeviceFile(tmp_path / "data", SystemClock()).read()
    assert record is not None
    for row in await admin.ask("config/device_registry/list"):
        if ["mobile_app", record.identifier] in row["identifiers"]:
            await admin.delete(f"/api/config/config_entries/entry/{row['config_entries'][0]}")


async def test_the_sensors_are_what_a_person_expects_and_follow(face: Open) -> None:
    async with face(privacy={"share_heard": True}) as stage:
        await stage.shows("problem", "off")
        rows = await stage.entities()
        assert set(rows) == set(MOBILE_APP)
        for name in rows:
            attributes = (await stage.state(name))["attributes"]
            assert attributes["friendly_name"].startswith(f"{BOX} ")
            assert attributes["icon"].startswith("mdi:")
        diagnostic = {name for name, row in rows.items() if row["entity_category"] == "diagnostic"}
        assert diagnostic == {"microphone", "brain", "latency", "cost_today", "problem"}
        cost = await stage.shows("cost_today", "0.5")
        assert (cost["device_class"], cost["unit_of_measurement"], cost["state_class"]) == (
            "monetary",
            "USD",
            "total",
        )
        assert cost["last_reset"] == stage.figures.day.isoformat()
        assert (await stage.shows("latency", "812"))["unit_of_measurement"] == "ms"
        heard = await stage.shows("last_heard", SECRET)
        assert (heard["text"], heard["turn_id"]) == (SECRET, "t1")

        stage.conversation.stand(state=State.SPEAKING)
        state = await stage.shows("state", "speaking")
        assert (state["device_class"], "idle" in state["options"]) == ("enum", True)
        await stage.shows("speaking", "on")
        stage.timers.due, stage.timers.count = NOON, 1
        stage.timers.tell()
        assert (await stage.shows("next_timer", NOON.isoformat()))["device_class"] == "timestamp"
        await stage.shows("timers", "1")
        stage.timers.due, stage.timers.count = None, 0
        stage.timers.tell()
        await stage.shows("next_timer", "unknown")
        stage.troubles.sentences = ("There is no loudspeaker.",)
        stage.troubles.tell()
        problem = await stage.shows("problem", "on")
        assert problem["problems"] == ["There is no loudspeaker."]
        stage.figures.last_answer = "word " * 100
        stage.figures.tell()
        answer = ("word " * 100)[:254] + "…"
        assert (await stage.shows("last_answer", answer))["text"] == "word " * 100
    await stage.shows("state", "unavailable")


async def test_what_happens_is_an_event_without_being_an_administrator(
    face: Open, admin: Admin, house: Address
) -> None:
    config = {
        "triggers": [{"trigger": "event", "event_type": "hearth_tool_call"}],
        "actions": [
            {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.guest_mode"}}
        ],
    }
    await admin.call("input_boolean.turn_off", entity_id="input_boolean.guest_mode")
    async with face() as stage, automation(admin, config):
        await stage.shows("state", "idle")
        stage.bus.publish("tool_call", "t1", name="intent__HassTurnOn", entities=["light.a"])
        assert await stage.told("hearth_tool_call") == {
            "device_id": stage.device.device_id,
            "device_name": BOX,
            "turn_id": "t1",
            "name": "intent__HassTurnOn",
            "entities": ["light.a"],
            "intent": "HassTurnOn",
        }
        assert await admin.settles("input_boolean.guest_mode", "on") == "on"
    await admin.call("input_boolean.turn_off", entity_id="input_boolean.guest_mode")


async def test_words_that_are_not_shared_are_nowhere_in_the_house(face: Open, admin: Admin) -> None:
    async with face(privacy={"share_heard": True}) as stage:
        await stage.shows("last_heard", SECRET)
        stage.bus.publish("heard", "t1", {"sentence": SECRET})
        assert (await stage.told("hearth_heard"))["sentence"] == SECRET
    async with face() as stage:  # and what was shared before is not shown any more
        await stage.shows("state", "idle")
        await stage.shows("last_heard", "unavailable")
        stage.bus.publish("heard", "t2", {"sentence": SECRET})
        stage.bus.publish("answer", "t2", {"answer": SECRET}, brain="offline")
        assert (await stage.told("hearth_answer"))["turn_id"] == "t2"
        stage.figures.tell()
        stage.bus.publish("wake", "t3")
        await stage.told("hearth_wake")
        assert SECRET not in str(stage.events)
        assert SECRET not in str(await admin.states())


async def test_with_a_broker_nothing_is_shown_this_way(face: Open) -> None:
    async with face() as stage:
        await stage.shows("state", "idle")
    async with face(mqtt={"host": "127.0.0.1"}) as stage:
        await sent(stage, "News.", {})
        stage.conversation.stand(state=State.SPEAKING)
        stage.bus.publish("wake", "t1")
        await sent(stage, "More.", {})
        await stage.shows("state", "unavailable")
        assert not [one for one in stage.events if one["event_type"].startswith("hearth_")]


async def sent(stage: Stage, message: str, data: dict[str, Any]) -> None:
    """Send a message with the action. The channel may not be open at once."""

    async def so() -> bool:
        try:
            await stage.admin.call(ACTION, message=message, **({"data": data} if data else {}))
        except Exception:
            return False
        return True

    await until(so)


async def test_orders_act_by_the_data_of_the_action_alone(face: Open, admin: Admin) -> None:
    async with face() as stage:
        await sent(stage, "Quiet.", {"hearth_command": "mute"})
        await until(lambda: stage.box.done == ["muted"])
        for order in (
            {"hearth_command": "profile", "profile": "night"},
            {"hearth_command": "mode", "mode": "guest", "minutes": 120},
            {"hearth_command": "volume", "volume": 0.2},
            {"hearth_command": "listen"},
        ):
            await sent(stage, "An order.", order)
        done = [
            "muted",
            {"profile": "night"},
            ("guest", 120),
            {"volume": 0.2},
            "listens for home-assistant",
        ]
        await until(lambda: stage.box.done == done)
        text = "command_mode trusting"  # by the entity, which has no data
        await admin.call("notify.send_message", message=text, entity_id=ENTITY)
        fault = await stage.told("hearth_fault")
        assert (fault["what"], fault["caller"]) == ("command_mode", "home-assistant")
        assert stage.box.done == done
        assert stage.says.wanted == []


async def test_all_that_an_announcement_may_be_told(face: Open, admin: Admin) -> None:
    async with face() as stage:
        data = {"volume": 0.3, "priority": "high", "preannounce": False, "expire": 60}
        await sent(stage, "The washing is done.", {**data, "language": "en"})
        await until(lambda: stage.says.wanted)
        wanted = stage.says.wanted[0][0]
        assert (wanted.text, wanted.persist) == ("The washing is done.", True)
        assert (wanted.volume, wanted.priority, wanted.preannounce) == (0.3, "high", False)
        assert (wanted.expire_s, wanted.language) == (60.0, "en")
        await sent(stage, "Ding.", {"media": "gong.wav"})
        await until(lambda: len(stage.says.wanted) == 2)
        assert stage.says.wanted[1][0].media == "gong.wav"


async def test_buttons_are_asked_and_the_answer_is_what_automations_wait_for(
    face: Open, admin: Admin
) -> None:
    config = {
        "triggers": [
            {
                "trigger": "event",
                "event_type": "mobile_app_notification_action",
                "event_data": {"action": "CLOSE_BLINDS", "tag": "blinds"},
            }
        ],
        "actions": [
            {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.guest_mode"}}
        ],
    }
    await admin.call("input_boolean.turn_off", entity_id="input_boolean.guest_mode")
    async with face() as stage, automation(admin, config):
        await sent(stage, "Close the blinds?", {"actions": ACTIONS, "tag": "blinds"})
        await until(lambda: stage.box.asked)
        await sent(stage, "Meanwhile.", {})  # the question was confirmed: the channel is open
        stage.box.answers.put_nowait(
            QuestionAnswer(result="answered", id="CLOSE_BLINDS", sentence=SECRET, turn_id="t1")
        )
        assert await stage.told("mobile_app_notification_action") == {
            "turn_id": "t1",
            "device_id": stage.device.device_id,
            "device_name": BOX,
            "action": "CLOSE_BLINDS",
            "tag": "blinds",
        }
        assert await admin.settles("input_boolean.guest_mode", "on") == "on"
        await sent(stage, "Close the blinds?", {"actions": ACTIONS, "tag": "again"})
        stage.box.answers.put_nowait(QuestionAnswer(result="no_answer"))
        result = await stage.told("hearth_question", 2)
        assert (result["result"], result["tag"]) == ("no_answer", "again")
        assert SECRET not in str(stage.events)
    await admin.call("input_boolean.turn_off", entity_id="input_boolean.guest_mode")


async def test_a_restart_of_the_house_brings_all_back_and_tells_nothing_late(
    face: Open, power: Power
) -> None:
    async with face() as stage:
        await stage.shows("state", "idle")
        await power.off()
        stage.conversation.stand(state=State.THINKING)
        stage.bus.publish("heard", "t1", {"sentence": "good night"})
        await power.on()
        await stage.shows("state", "thinking")
        stage.bus.publish("wake", "t2")
        await stage.told("hearth_wake")
        assert not [one for one in stage.events if one["event_type"] == "hearth_heard"]
