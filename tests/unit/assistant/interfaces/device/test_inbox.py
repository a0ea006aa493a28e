"""Tests of what becomes of a message: spoken, done, asked, or dropped."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.interfaces.device import inbox as old_orders
from assistant.interfaces.device.inbox import Commander, Inbox
from assistant.interfaces.device.sensors import DeviceEvents
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.mobile_app import Push
from integrations.web.box import NotAnnounced, NotKept, NotPossible
from integrations.web.requests import QuestionAnswer
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.interfaces.device.doubles import Fired, Heard, Pressed, Says

YES_NO = [{"action": "YES", "title": "Yes"}, {"action": "NO", "title": "No"}]


class Room:
    """An inbox, and everything that it acts on."""

    def __init__(self) -> None:
        self.box, self.says, self.fired, self.heard = Pressed(), Says(), Fired(), Heard()
        self.clock, self.shelf = VirtualClock(), FakeValues()
        commander = Commander(self.box, self.heard.bus, self.shelf, self.clock)
        says, events = cast(Any, self.says), cast(DeviceEvents, self.fired)
        self.inbox = Inbox(
            *(says, says, self.box, commander, events, Catalogue(), self.clock), ("en", "es")
        )

    async def send(self, message: str, confirm_id: str = "1", title: str = "", **data: Any) -> None:
        await self.inbox.take(Push(confirm_id, message, title, data))
        await self.clock.settle()

    async def answer(self, answer: QuestionAnswer | Exception) -> None:
        self.box.answers.put_nowait(answer)
        await self.clock.settle()

    @property
    def said(self) -> list[tuple[str | None, str]]:
        return [(wanted.text or wanted.media, name) for wanted, name in self.says.wanted]


@asynccontextmanager
async def taking() -> AsyncIterator[Room]:
    room = Room()
    async with room.inbox:
        yield room


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with taking() as room:
        yield room


async def test_words_are_announced_under_the_messages_own_id(room: Room) -> None:
    await room.send("is done", "abc", title="The washing", volume=0.5)
    ((wanted, name),) = room.says.wanted
    assert (wanted.text, wanted.volume, wanted.persist) == ("The washing. is done", 0.5, True)
    assert name == "abc"  # so that it is said once, whatever happens


async def test_a_timer_rings(room: Room) -> None:
    await room.send("tea finished", "t", group="timers", channel="Timers")
    (record,) = room.says.rung
    assert (record.id, record.text) == ("t", "Your tea timer is done.")
    assert record.options == {"language": "en", "sound": "timer", "alarm": True}
    assert record.expires_at is not None
    assert (record.expires_at - record.created_at).total_seconds() == 600


async def test_a_command_acts_and_is_not_spoken(room: Room) -> None:
    await room.send("The microphone is off.", hearth_command="mute")
    assert room.box.done == ["muted"]
    assert room.said == []


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("command_mute", {}),
        ("command_unmute", {}),
        ("command_mode", {"mode": "trusting"}),
        ("command_mode normal", {}),
        ("command_profile", {"profile": "parents"}),
    ],
)
async def test_a_text_is_neither_an_order_nor_spoken_as_one(
    room: Room, message: str, data: dict[str, Any]
) -> None:
    await room.send(message, **data)
    assert (room.box.done, room.said) == ([], [])
    ((what, problem),) = room.heard.faults
    assert what == message.partition(" ")[0]
    assert "data: {hearth_command: mode, mode: guest}" in problem  # how it is sent now
    assert list(old_orders.recent(room.shelf.values[old_orders.NAME], room.clock.now())) == [what]


async def test_a_full_disk_keeps_no_old_order_and_harms_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def keep(name: str, value: Any) -> None:
        raise StoreError("The disk is full")

    monkeypatch.setattr(room.shelf, "keep", keep)
    await room.send("command_mute")
    assert [what for what, _ in room.heard.faults] == ["command_mute"]


@pytest.mark.parametrize("message", ["", "clear_notification", "command_bluetooth", "?!"])
async def test_what_is_not_for_ears_is_left_out(room: Room, message: str) -> None:
    await room.send(message)
    assert (room.said, room.box.done, room.fired.events) == ([], [], [])


async def test_what_cannot_be_kept_is_not_taken(room: Room) -> None:
    room.says.trouble = NotKept("The disk is full.")
    with pytest.raises(NotKept):
        await room.send("Lost.")


async def test_what_will_not_be_said_is_told(room: Room) -> None:
    room.says.trouble = NotAnnounced("Too much waits.")
    await room.send("News.")
    assert room.heard.faults == [("announcement", "Too much waits.")]


async def test_for_a_sound_that_is_not_to_be_had_the_words_are_said(room: Room) -> None:
    await room.send("Ding.", "a", media="gong.wav")
    room.says.trouble = NotPossible("There is no such file.")
    await room.send("Dong.", "b", media="gone.wav", volume=0.3)
    assert room.said == [("gong.wav", "a"), ("Dong.", "b")]
    assert room.says.wanted[-1][0].volume == 0.3
    assert room.heard.faults == [("announcement", "There is no such file.")]


async def test_a_sound_that_does_not_come_in_time(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.interfaces.device.inbox.FETCH_S", 0.01)
    room.says.hangs = True
    await room.send("Dong.", "b", media="http://slow.invalid/gong.wav")
    assert room.said == [("Dong.", "b")]
    assert room.heard.faults == [("announcement", "The sound did not arrive in time.")]


# --- questions


async def test_buttons_are_a_question_and_the_answer_is_the_companions_own_event(
    room: Room,
) -> None:
    await room.send("Close the blinds?", actions=YES_NO, tag="blinds", action_data={"a": 1})
    (asked,) = room.box.asked  # and the message is accepted, although there is no answer yet
    assert asked.question == "Close the blinds?"
    assert room.fired.events == []
    answer = QuestionAnswer(result="answered", id="YES", sentence="yes", turn_id="t1")
    await room.answer(answer)
    told = {"action": "YES", "turn_id": "t1", "tag": "blinds", "action_data": {"a": 1}}
    assert room.fired.events == [
        ("mobile_app_notification_action", told),
        ("hearth_question", {"result": "answered", **told}),
    ]
    assert room.said == []


@pytest.mark.parametrize("result", ["no_answer", "unclear", "busy"])
async def test_without_an_answer_that_is_told(room: Room, result: Any) -> None:
    await room.send("Close the blinds?", actions=YES_NO, tag="blinds")
    await room.answer(QuestionAnswer(result=result, sentence="the kitchen", turn_id="t1"))
    told = {"result": result, "action": "", "turn_id": "t1", "tag": "blinds"}
    assert room.fired.events == [("hearth_question", told)]


async def test_what_cannot_be_asked_is_told(room: Room) -> None:
    await room.send("Close the blinds?", actions=YES_NO)
    await room.answer(NotPossible("It is muted."))
    told = {"result": "not_possible", "action": "", "turn_id": ""}
    assert room.fired.events == [("hearth_question", told)]
    assert room.heard.faults == [("question", "It is muted.")]


@pytest.mark.parametrize(("more", "name"), [([], None), (YES_NO, "REPLY")])
async def test_any_words_are_a_reply_which_is_told_where_words_are_shared(
    room: Room, more: list[Any], name: str | None
) -> None:
    slots = {"reply": "milk and eggs"} if name else {}
    for shared in (False, True):
        room.fired.words = shared
        await room.send("What shall I buy?", actions=[*more, {"action": "REPLY", "title": "Say"}])
        await room.answer(
            QuestionAnswer(result="answered", id=name, sentence="milk and eggs", slots=slots)
        )
    (_, secret), _, (_, told), _ = room.fired.events
    assert secret == {"action": "REPLY", "turn_id": ""}
    assert told == {**secret, "reply_text": "milk and eggs"}


async def test_the_values_that_were_asked_for_are_told(room: Room) -> None:
    await room.send("Where?", actions=[{"action": "ROOM", "sentences": "in the {room}"}])
    answer = QuestionAnswer(
        result="answered", id="ROOM", sentence="well, in the attic", slots={"room": "attic"}
    )
    await room.answer(answer)
    told = {"action": "ROOM", "turn_id": "", "slots": {"room": "attic"}}
    assert room.fired.events[0] == ("mobile_app_notification_action", told)
    assert "well" not in str(room.fired.events)


async def test_the_words_of_a_button_are_never_told(room: Room) -> None:
    room.fired.words = True
    await room.send("Close the blinds?", actions=YES_NO)
    await room.answer(QuestionAnswer(result="answered", id="YES", sentence="oh yes"))
    assert "oh yes" not in str(room.fired.events)


async def test_a_plain_yes_is_a_reply_where_any_words_are(room: Room) -> None:
    await room.send("Shall I buy milk?", actions=[{"action": "REPLY", "title": "Say"}])
    await room.answer(QuestionAnswer(result="answered", id="yes", sentence="yes"))
    assert room.fired.events[-1][1]["action"] == "REPLY"


async def test_a_question_holds_up_no_other_message(room: Room) -> None:
    for tag in ("first", "second"):
        await room.send("Well?", tag, actions=YES_NO, tag=tag)
    assert len(room.box.asked) == 2
    await room.send("The washing is done.", "third")
    assert room.said == [("The washing is done.", "third")]


async def test_at_the_end_nobody_is_asked_any_more() -> None:
    async with taking() as room:
        await room.send("Well?", actions=YES_NO)
    assert room.fired.events == []
