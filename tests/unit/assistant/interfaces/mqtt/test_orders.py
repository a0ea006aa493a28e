"""Tests that orders from the broker are executed once, and that failures are reported."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.interfaces.mqtt.commands import Orders, Taken
from assistant.interfaces.mqtt.discovery import Topics
from integrations.mqtt.messages import Arrival
from integrations.owner import OwnedTasks
from integrations.web.box import NotAnnounced, NotKept, NotPossible
from integrations.web.requests import LiveRequest, QuestionAnswer
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.interfaces.mqtt.doubles import House

TOPICS = Topics("hearth", "homeassistant", "0123456789abcdef")
YES = QuestionAnswer(result="answered", id="yes", sentence="yes", turn_id="t1")


class Rig:
    """Orders with everything that they depend on."""

    def __init__(
        self, tasks: OwnedTasks, *, may_unmute: bool = False, may_widen: bool = False
    ) -> None:
        self.house = House()
        self.stands: list[str] = []  # whose state is told again
        self.clock = VirtualClock()
        self.answered: list[tuple[str, QuestionAnswer | None]] = []
        self.orders = Orders(
            TOPICS,
            self.house.parts,
            self.clock,
            tasks,
            "always",
            lambda *told: self.answered.append(told),
            self.stands.append,
            may_unmute=may_unmute,
            may_widen=may_widen,
        )

    async def take(self, key: str, payload: Any = "", **more: Any) -> bool:
        text = json.dumps(payload) if isinstance(payload, dict) else str(payload)
        taken = await self.orders.take(Arrival(f"hearth/{key}", text.encode(), **more))
        await self.clock.settle()
        return taken

    @property
    def told(self) -> list[dict[str, Any]]:
        """Return the reports about commands and faults."""
        return [{"kind": one.kind, **one.data} for one in self.house.told]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with OwnedTasks() as tasks:
        yield Rig(tasks)


# --- announcements


async def test_an_announcement_has_its_own_id(rig: Rig) -> None:
    assert await rig.take("announce", {"text": "Dinner!", "id": "d1"}, number=7)
    assert rig.house.box.done == [("Dinner!", "mqtt:d1", "mqtt")]


async def test_one_that_is_sent_again_has_the_same_id_and_the_same_text_another(rig: Rig) -> None:
    for number, again in ((7, False), (7, True), (8, False)):
        rig.clock.advance(5)
        assert await rig.take("announce", "Dinner!", number=number, again=again)
    first, second, third = (done[1] for done in rig.house.box.done)
    assert first == second != third


async def test_an_announcement_that_could_not_be_kept_is_wanted_again(rig: Rig) -> None:
    rig.house.box.raises = NotKept("The disk is full.")
    assert not await rig.take("announce", "Dinner!", number=7)
    rig.house.store.writable = False
    assert not await rig.take("announce", "Dinner!", number=7)


@pytest.mark.parametrize("error", [NotAnnounced("Too much waits."), NotPossible("No such file.")])
async def test_an_announcement_that_will_not_be_said_is_told(rig: Rig, error: Exception) -> None:
    rig.house.box.raises = error
    assert await rig.take("announce", "Dinner!", number=7)
    assert rig.told == [
        {"kind": "fault", "what": "announce", "caller": "mqtt", "problem": str(error)}
    ]


async def test_a_late_one_is_left_out(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    assert await rig.take("announce", "Dinner!", number=7, left_s=0)
    assert rig.house.box.done == []
    assert "announce came too late to be said" in caplog.text


async def test_a_retained_message_is_none(rig: Rig) -> None:
    assert await rig.take("announce", "Dinner!", retained=True)
    assert await rig.take("mute/set", "ON", retained=True)
    assert rig.house.box.done == []


async def test_what_is_wrong_is_refused_and_taken(rig: Rig) -> None:
    assert await rig.take("announce", {"text": "Dinner!", "loud": True}, number=7)
    assert rig.house.box.done == []
    (told,) = rig.told
    assert "Look at loud." in told["problem"]


async def test_a_message_that_cannot_even_be_read_does_not_come_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.interfaces.mqtt.commands.read", lambda *given: 1 // 0)
    assert await rig.take("announce", "Dinner!", number=7)


async def test_a_defect_of_ours_does_not_come_again(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.house.box.raises = RuntimeError("a defect")
    with caplog.at_level(logging.ERROR):
        assert await rig.take("announce", "Dinner!", number=7)
    assert "a defect" in caplog.text


# --- settings and buttons


async def test_settings(rig: Rig) -> None:
    for key, payload in (
        ("mute/set", "ON"),
        ("follow_up/set", "ON"),
        ("follow_up/set", "OFF"),
        ("volume/set", "40"),
    ):
        assert await rig.take(key, payload)
    assert rig.house.box.done == [
        ("mute", True, "mqtt"),
        LiveRequest(follow_up="always"),
        LiveRequest(follow_up="never"),
        LiveRequest(volume=0.4),
    ]
    assert rig.told == []  # the box reports it


async def test_a_muted_microphone_is_not_opened_from_the_broker(rig: Rig) -> None:
    assert await rig.take("mute/set", "OFF", number=3)
    assert rig.house.box.done == []
    assert rig.stands == ["mute"]
    (told,) = rig.told
    assert (told["kind"], told["what"], told["caller"]) == ("fault", "mute/set", "mqtt")
    assert told["problem"] == "It stays muted."


async def test_but_where_its_owner_lets_it() -> None:
    async with OwnedTasks() as tasks:
        rig = Rig(tasks, may_unmute=True)
        assert await rig.take("mute/set", "OFF")
        assert rig.house.box.done == [("mute", False, "mqtt")]
        assert (rig.stands, rig.told) == ([], [])
        rig.house.box.raises = NotPossible("It stays muted: nobody would hear.")
        assert await rig.take("mute/set", "OFF")
        assert rig.stands == ["mute"]
        assert rig.told[-1]["problem"] == "It stays muted: nobody would hear."


@pytest.mark.parametrize("may_widen", [False, True])
async def test_a_profile_is_widened_only_where_its_owner_lets_it(may_widen: bool) -> None:
    async with OwnedTasks() as tasks:
        rig = Rig(tasks, may_unmute=True, may_widen=may_widen)
        assert await rig.take("profile/set", "parents")
        wider = [LiveRequest(profile="parents")]
        assert rig.house.box.done == (wider if may_widen else [])
        assert rig.stands == ([] if may_widen else ["profile"])  # it shows what it is
        assert len(rig.told) == (0 if may_widen else 1)


async def test_a_setting_that_holds_but_is_not_kept_is_not_wanted_again(rig: Rig) -> None:
    rig.house.box.raises = NotKept("Applied, but not saved: the disk is full.")
    assert await rig.take("mute/set", "ON", number=3)


async def test_a_setting_that_cannot_be_is_told(rig: Rig) -> None:
    rig.house.box.raises = NotPossible("There is no such word.")
    assert await rig.take("wake_word/set", "computer")
    assert rig.told[-1]["problem"] == "There is no such word."


async def test_buttons(rig: Rig) -> None:
    assert await rig.take("listen", "PRESS")
    assert await rig.take("stop", "PRESS")
    assert rig.house.box.done == [("listen", "mqtt"), ("stop", "mqtt")]
    rig.house.box.can_listen = False
    assert await rig.take("listen", "PRESS")
    assert rig.told[-1] == {
        "kind": "fault",
        "what": "listen",
        "caller": "mqtt",
        "problem": "Hearth is muted, busy, or has no microphone.",
    }


# --- questions


async def test_what_came_of_a_question_is_told_by_its_name(rig: Rig) -> None:
    rig.house.box.answers = [YES]
    choice = {"id": "first", "sentences": ["the first"]}
    await rig.take("ask", {"question": "Which film?", "answers": [choice], "id": "film"})
    assert rig.answered == [("film", YES)]


async def test_one_that_cannot_be_asked_has_no_answer_but_an_end(rig: Rig) -> None:
    rig.house.box.answers = [NotPossible("There is no microphone.")]
    await rig.take("ask", {"question": "Now?", "id": "n"})
    assert rig.answered == [("n", None)]
    assert [told["problem"] for told in rig.told] == ["There is no microphone."]


async def test_a_late_question_is_not_asked(rig: Rig) -> None:
    sent = rig.clock.now().timestamp() - 40
    await rig.take("ask", {"question": "Now?", "id": "n", "sent": sent})
    assert rig.house.box.done == []
    assert rig.answered == [("n", QuestionAnswer(result="busy"))]


async def test_a_question_holds_up_no_other_message(rig: Rig) -> None:
    end: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
    rig.house.box.answers = [end, QuestionAnswer(result="busy")]
    await rig.take("ask", {"question": "Now?", "id": "first"})
    await rig.take("ask", {"question": "And now?", "id": "second"})
    end.set_result(YES)
    await rig.clock.settle()
    assert rig.answered == [("second", QuestionAnswer(result="busy")), ("first", YES)]


# The same message has the same id, even after a restart; the same words sent twice have two.


def message(number: int, text: str = "Dinner!", *, again: bool = False) -> Arrival:
    return Arrival("hearth/announce", text.encode(), number, again)


async def test_a_name_of_its_own_is_its_name() -> None:
    taken = Taken(FakeValues(), VirtualClock())
    assert await taken.name(message(1), "washer") == "washer"


async def test_what_is_sent_again_is_known_even_by_another_process() -> None:
    store, clock = FakeValues(), VirtualClock()
    first = await Taken(store, clock).name(message(7), "")
    clock.advance(60)
    assert await Taken(store, clock).name(message(7, again=True), "") == first


async def test_the_same_words_sent_anew_are_another_message() -> None:
    clock = VirtualClock()
    taken = Taken(FakeValues(), clock)
    first = await taken.name(message(7), "")
    clock.advance(5)
    second = await taken.name(message(8), "")
    clock.advance(5)
    third = await taken.name(message(7), "")  # the number is used again
    assert len({first, second, third}) == 3
    assert await taken.name(message(7, again=True), "") == third


async def test_what_never_came_is_new_although_it_is_sent_again() -> None:
    clock = VirtualClock()
    taken = Taken(FakeValues(), clock)
    first = await taken.name(message(7), "")
    clock.advance(1)
    assert await taken.name(message(7, "Other.", again=True), "") != first


async def test_it_is_kept_before_it_is_given() -> None:
    store = FakeValues()
    name = await Taken(store, VirtualClock()).name(message(7), "")
    assert list(store.values["mqtt_taken"].values()) == [name]


async def test_a_message_that_nobody_sends_again_is_not_remembered() -> None:
    store = FakeValues()
    assert await Taken(store, VirtualClock()).name(message(0), "")
    assert store.values == {}


async def test_only_the_newest_are_remembered() -> None:
    store, clock = FakeValues(), VirtualClock()
    taken = Taken(store, clock)
    for number in range(1, 41):
        clock.advance(1)
        await taken.name(message(number), "")
    assert len(store.values["mqtt_taken"]) == 32
    assert await taken.name(message(40, again=True), "") in store.values["mqtt_taken"].values()
