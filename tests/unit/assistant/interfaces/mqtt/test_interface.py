"""Tests of the device's state over MQTT: published at every connection, unavailable at the end."""

import json
from collections.abc import AsyncIterator

import pytest

from assistant.config.schema import Settings
from assistant.conversation.rules.state import State
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent
from assistant.interfaces.mqtt.discovery import Topics
from assistant.interfaces.mqtt.interface import MqttInterface, answered, event
from assistant.speech.catalogue import Catalogue
from integrations.mqtt.messages import Arrival, Publication
from integrations.web.requests import QuestionAnswer
from tests.unit.assistant.interfaces.mqtt.doubles import FakeClient, House

TOPICS = Topics("hearth", "homeassistant", "0123456789abcdef")
BIRTH = Arrival("homeassistant/status", b"online")


class Rig:
    """An MQTT interface with everything that it depends on."""

    def __init__(self, *, words: bool = False) -> None:
        self.house = House()
        self.clock = VirtualClock()
        settings = Settings.model_validate(
            {
                "mqtt": {"host": "broker", "topic": "hearth"},
                "privacy": {"share_heard": words},
                "home_assistant": {"url": "http://ha:8123", "token": "token"},
            }
        )
        parts = self.house.parts
        self.face = MqttInterface(
            settings, TOPICS.identifier, parts, Catalogue(), self.clock, FakeClient
        )

    @property
    def client(self) -> FakeClient:
        return FakeClient.made[-1]

    async def connect(self) -> dict[str, str]:
        """Make the broker available and return what is published then."""
        self.client.connect()
        await self.clock.settle()
        return self.client.take()

    async def told(self) -> dict[str, str]:
        """Return what has been published since the last call."""
        await self.clock.settle()
        return self.client.take()


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    made = Rig()
    async with made.face:
        yield made


async def test_without_a_broker_everything_else_goes_on(rig: Rig) -> None:
    rig.house.conversation.stand(state=State.LISTENING)
    assert await rig.told() == {}
    assert rig.face.problem == "The broker is away."
    await rig.connect()
    assert rig.face.problem == ""


async def test_everything_stands_at_the_connection_and_only_then_it_is_there(rig: Rig) -> None:
    told = await rig.connect()
    topics = list(told)
    assert (topics[0], topics[-1]) == (TOPICS.config, TOPICS.availability)
    assert told["hearth/availability"] == "online"
    assert told["hearth/state"] == "idle"
    assert told["hearth/mute"] == "OFF"
    assert json.loads(told[TOPICS.config])["device"]["name"] == "Hearth"
    assert rig.client.will == Publication("hearth/availability", "offline", retain=True)
    assert rig.client.name == "hearth-0123456789abcdef"


async def test_states_and_all_of_that_are_retained_but_no_event(rig: Rig) -> None:
    rig.house.bus.publish("wake", "turn1", word="okay_nabu")
    rig.client.connect()
    await rig.clock.settle()
    passing = {one.topic for one in rig.client.published if not one.retain}
    assert passing == {"hearth/event"}


async def test_words_stay_at_home(rig: Rig) -> None:
    rig.house.bus.publish("heard", "turn1", {"text": "lights on"})
    told = await rig.connect()
    assert told["hearth/last_heard"] == told["hearth/last_answer"] == ""
    assert "lights on" not in str(told)
    assert json.loads(told["hearth/event"]) == {"event_type": "heard", "turn_id": "turn1"}


async def test_what_a_turn_was_about_is_told_without_its_words(rig: Rig) -> None:
    await rig.connect()
    rig.house.bus.publish("tool_call", "turn1", name="intent__HassTurnOn", status="done")
    rig.house.bus.publish("tool_call", "turn1", name="intent__HassLightSet", status="done")
    rig.house.bus.publish("answer", "turn1", {"text": "Done."})
    rig.house.bus.publish("answer", "turn2", {"text": "It is noon."})
    told = [json.loads(one.payload) for one in await events(rig)]
    assert [one.get("intent") for one in told] == ["HassTurnOn"] * 3 + [None]
    assert "text" not in told[2]


async def test_words_go_out_where_they_may_but_not_those_of_guests() -> None:
    rig = Rig(words=True)
    async with rig.face:
        told = await rig.connect()
        assert json.loads(told["hearth/last_heard"]) == {"text": "lights on"}
        rig.house.bus.publish("heard", "turn1", {"text": "lights on"})
        assert json.loads((await rig.told())["hearth/event"])["text"] == "lights on"
        rig.house.guests = True
        rig.house.bus.publish("heard", "turn2", {"text": "our secret"})
        assert json.loads((await rig.told())["hearth/event"]).get("text") is None


async def test_only_what_changes_is_told(rig: Rig) -> None:
    await rig.connect()
    rig.house.conversation.stand(state=State.SPEAKING, muted=True)
    assert await rig.told() == {
        "hearth/state": "speaking",
        "hearth/speaking": "ON",
        "hearth/mute": "ON",
    }
    rig.house.live.volume = 0.7
    rig.house.live.tell()
    assert await rig.told() == {"hearth/volume": "70"}
    rig.house.timers.count = 2
    rig.house.timers.tell()
    assert await rig.told() == {"hearth/timers": "2"}
    rig.house.figures.brain = "gemini-live"
    rig.house.figures.tell()
    assert await rig.told() == {"hearth/brain": "gemini-live"}
    rig.house.troubles.sentences = ("No microphone.",)
    rig.house.troubles.tell()
    assert list(await rig.told()) == ["hearth/problem"]


async def test_a_state_comes_before_the_event_that_it_goes_with(rig: Rig) -> None:
    await rig.connect()
    rig.house.bus.publish("wake", "turn1")
    rig.house.conversation.stand(state=State.WAKING)
    assert list(await rig.told()) == ["hearth/state", "hearth/event"]


async def test_all_is_told_again_at_the_next_connection(rig: Rig) -> None:
    first = await rig.connect()
    rig.client.there = False
    rig.house.conversation.stand(muted=True)
    assert await rig.told() == {}
    assert await rig.connect() == {**first, "hearth/mute": "ON"}


async def test_a_switch_that_may_not_be_turned_is_shown_as_it_was(rig: Rig) -> None:
    rig.house.conversation.stand(muted=True)
    await rig.connect()
    assert await rig.client.receive(Arrival("hearth/mute/set", b"OFF"))
    told = await rig.told()
    assert told["hearth/mute"] == "ON"
    assert json.loads(told["hearth/event"])["event_type"] == "fault"
    assert rig.house.box.done == []


async def test_and_when_home_assistant_has_started(rig: Rig) -> None:
    first = await rig.connect()
    assert await rig.client.receive(BIRTH)
    assert await rig.told() == first
    assert await rig.client.receive(Arrival("homeassistant/status", b"offline"))
    assert await rig.told() == {}


async def test_what_the_broker_did_not_take_is_told_again(rig: Rig) -> None:
    first = await rig.connect()
    rig.client.refuses = 1
    rig.house.conversation.stand(muted=True)
    assert await rig.told() == {}
    await rig.clock.run(1)
    assert await rig.told() == {**first, "hearth/mute": "ON"}


async def test_news_waits_for_the_broker_a_little_while(rig: Rig) -> None:
    rig.house.bus.publish("wake", "turn1")
    rig.clock.advance(10)
    rig.house.bus.publish("wake", "turn2")
    rig.clock.advance(10)
    await rig.clock.settle()
    told = [json.loads(one.payload) for one in await events(rig)]
    assert told == [{"event_type": "wake", "turn_id": "turn2"}]


async def test_no_event_is_lost_or_told_twice_where_the_broker_falters(rig: Rig) -> None:
    await rig.connect()
    for turn in ("turn1", "turn2"):
        rig.house.bus.publish("wake", turn)
    rig.client.refuses = 1
    await rig.clock.settle()
    await rig.clock.run(1)
    told = [json.loads(one.payload)["turn_id"] for one in await events(rig)]
    assert told == ["turn1", "turn2"]


async def test_at_the_end_nobody_is_there() -> None:
    rig = Rig()
    async with rig.face:
        await rig.connect()
    assert rig.client.published == [Publication("hearth/availability", "offline", retain=True)]
    assert not rig.client.entered
    assert not any(one.followers for one in (*rig.house.all, rig.house.live))


async def test_an_end_without_a_broker_is_one() -> None:
    rig = Rig()
    async with rig.face:
        pass
    assert rig.client.published == []


async def test_a_question_and_its_answer(rig: Rig) -> None:
    await rig.connect()
    rig.house.box.answers = [
        QuestionAnswer(result="answered", id="yes", sentence="yes please", turn_id="t1")
    ]
    asked = json.dumps({"question": "Close the blinds?", "id": "blinds"})
    assert await rig.client.receive(Arrival("hearth/ask", asked.encode()))
    told = await rig.told()
    assert told["hearth/event"] == told["hearth/answer"]
    assert json.loads(told["hearth/answer"]) == {
        "event_type": "answered",
        "id": "blinds",
        "result": "answered",
        "answer": "yes",
        "slots": {},
        "turn_id": "t1",
    }


async def events(rig: Rig) -> list[Publication]:
    """Return the published events, after a connection if there was none."""
    if not rig.client.there:
        rig.client.connect()
    await rig.clock.settle()
    return [one for one in rig.client.published if one.topic == "hearth/event"]


# Events are published with their turn's id, and with words only if they may be shared.


HEARD = BusEvent("heard", "turn1", {"language": "en"}, {"text": "lights on"})


def test_a_heard_sentence_without_its_words() -> None:
    told = event(HEARD, None, words=False)
    assert told is not None
    assert json.loads(told) == {"event_type": "heard", "turn_id": "turn1", "language": "en"}


def test_and_with_them() -> None:
    told = event(HEARD, None, words=True)
    assert told is not None
    assert json.loads(told)["text"] == "lights on"


def test_what_is_too_long_is_told_without_its_details() -> None:
    told = event(
        BusEvent("tool_call", "turn1", {"entities": ["light.x"] * 2000}), "HassTurnOn", words=True
    )
    assert told is not None
    assert json.loads(told) == {
        "event_type": "tool_call",
        "turn_id": "turn1",
        "intent": "HassTurnOn",
    }


@pytest.mark.parametrize("words", [False, True])
def test_an_answer_goes_to_who_asked(words: bool) -> None:
    answer = QuestionAnswer(
        result="answered", id="yes", sentence="yes please", slots={"room": "kitchen"}, turn_id="t1"
    )
    told = json.loads(answered("blinds", answer, words=words))
    assert told.pop("sentence", None) == ("yes please" if words else None)
    assert told == {
        "event_type": "answered",
        "id": "blinds",
        "result": "answered",
        "answer": "yes",
        "slots": {"room": "kitchen"},
        "turn_id": "t1",
    }


def test_a_question_that_could_not_be_asked_is_not_one_that_nobody_answered() -> None:
    told = json.loads(answered("blinds", None, words=True))
    assert (told["result"], told["answer"], told["id"]) == ("not_possible", None, "blinds")
