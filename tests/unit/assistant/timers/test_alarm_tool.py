"""Tests of sentences for alarms, reminders, requests and scheduled commands."""

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import TimerRecord
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import MOST, TimerBook
from assistant.timers.later import FrozenCalls, LaterTool, NotLater
from assistant.timers.telling import TimerTelling
from assistant.timers.tools import AlarmTool, TimerTools
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.catalog.arguments import fit
from integrations.gemini.declarations import convert
from tests.unit.assistant.timers.conftest import Shelf, an_almanac

MADRID = ZoneInfo("Europe/Madrid")  # it is 13:00 there, on a Thursday
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri"]


class Calls(FrozenCalls):
    """A double that freezes every call unless `refusal` is set."""

    def __init__(self) -> None:
        self.refusal = ""

    async def freeze(
        self,
        name: str,
        arguments: Any,
        heard: Any,
        language: str,
        turn_id: str = "",
        *,
        searched: bool = False,
    ) -> dict[str, Any]:
        if self.refusal:
            raise NotLater(self.refusal, ("hall",))
        return {"tool": name, "arguments": arguments, "heard": heard}


class Hall:
    """All tools over one store."""

    def __init__(self) -> None:
        self.clock, self.shelf, self.calls = VirtualClock(), Shelf(), Calls()
        almanac = an_almanac(self.shelf, MADRID)
        book = TimerBook(self.shelf, self.clock, almanac)
        telling = TimerTelling(lambda: True, Catalogue(), self.clock, almanac)
        later = LaterTool(book, self.calls, telling).tool()
        tools = (*TimerTools(book, telling).tools(), AlarmTool(book, telling).tool(), later)
        self.tools: dict[str, BuiltIn] = {tool.name: tool for tool in tools}
        self.last = BuiltInResult("")

    async def say(self, tool_name: str, language: str = "en", /, **arguments: Any) -> str:
        tool = self.tools[tool_name]
        fitted = fit(tool.schema, arguments)
        assert not fitted.problem, fitted.problem
        request = BuiltInRequest("t-1", "t", "as it was said", language)
        self.last = await tool.run(fitted.arguments, request)
        return self.last.sentence

    @property
    def only(self) -> TimerRecord:
        (timer,) = self.shelf.rows.values()
        return timer


@pytest.fixture
def hall() -> Hall:
    return Hall()


@pytest.mark.parametrize(
    ("language", "arguments", "sentence", "due"),
    [
        ("en", {"time": "19:00"}, "Alarm set for 19:00.", "01 19:00"),
        ("en", {"time": "7"}, "Alarm set for 07:00 on Friday.", "02 07:00"),
        (
            "en",
            {"time": "07:00", "days": WEEKDAYS, "name": "the gym"},
            "Gym alarm set for 07:00 on Friday, Monday to Friday.",
            "02 07:00",
        ),
        (
            "es",
            {"time": "07:30", "dates": ["tomorrow"]},
            "He puesto la alarma a las 07:30 del viernes.",
            "02 07:30",
        ),
        (
            "en",
            {"time": "07:30", "dates": ["2026-01-20"]},
            "Alarm set for 07:30 on Tuesday, January 20.",
            "20 07:30",
        ),
        (
            "en",
            {"kind": "reminder", "time": "18:00", "text": "call Ana."},
            "OK, I'll remind you at 18:00: call Ana.",
            "01 18:00",
        ),
        (
            "en",
            {"kind": "reminder", "minutes": 10, "text": "call Ana"},
            "OK, I'll remind you at 13:10: call Ana.",
            "01 13:10",
        ),
        (
            "de",
            {
                "kind": "request",
                "time": "07:00",
                "days": [*WEEKDAYS, "sat", "sun"],
                "text": "Wetter",
            },
            "Okay, ich sehe nach und sage es dir am Freitag um 07:00, jeden Tag: Wetter.",
            "02 07:00",
        ),
    ],
)
async def test_set(hall: Hall, language: str, arguments: Any, sentence: str, due: str) -> None:
    assert await hall.say("set_alarm", language, **arguments) == sentence
    timer = hall.only
    assert f"{timer.due.astimezone(MADRID):%d %H:%M}" == due
    assert (timer.kind, timer.language) == (arguments.get("kind", "alarm"), language)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "For what time?"),
        ({"time": "25:00"}, "For what time?"),
        ({"time": "07:00", "sun": "sunrise"}, "For what time?"),
        ({"time": "07:00", "dates": ["soon"]}, "For what time?"),
        ({"kind": "reminder", "time": "07:00"}, "What should the reminder be about?"),
        ({"kind": "request", "time": "07:00", "text": " . "}, "What should the reminder be about?"),
        ({"sun": "sunrise"}, "I don't know when the sun rises and sets"),
        ({"time": "12:00", "dates": ["today"]}, "That time has already passed."),
        ({"hours": 721}, "That's too long for a timer. Timers can run for up to thirty days."),
    ],
)
async def test_what_cannot_be_set(hall: Hall, arguments: Any, sentence: str) -> None:
    assert (await hall.say("set_alarm", **arguments)).startswith(sentence)
    assert hall.last.failed
    assert hall.shelf.rows == {}


async def test_not_without_end(hall: Hall) -> None:
    for _ in range(MOST):
        await hall.say("set_alarm", time="07:00")
    assert (
        await hall.say("set_alarm", time="07:00")
        == "You already have too many timers. Cancel one first."
    )


async def test_by_the_sun_that_the_house_told(hall: Hall) -> None:
    hall.shelf.values["timers.sun"] = {"sunrise": None, "sunset": "2026-01-01T17:00:00+00:00"}
    told = await hall.say("set_alarm", sun="sunset", offset_minutes=-30)
    assert told == "Alarm set for 17:30."


async def mixed(hall: Hall) -> None:
    await hall.say("start_timer", minutes=10, name="pasta")
    await hall.say("set_alarm", time="07:00", days=WEEKDAYS)
    await hall.say("set_alarm", kind="reminder", time="18:00", text="call Ana")
    lights = {"tool": "HassTurnOff", "arguments": {"area": "Hall"}, "what": "turn off the lights"}
    told = await hall.say("do_later", minutes=5, **lights)
    assert told == "OK, I'll do this in 5 minutes: turn off the lights."


async def test_the_list_tells_all_kinds(hall: Hall) -> None:
    await mixed(hall)
    assert await hall.say("list_timers") == (
        "5 minutes left on the scheduled command “turn off the lights”. "
        "10 minutes left on the pasta timer. The reminder “call Ana” at 18:00. "
        "The alarm at 07:00 on Friday, Monday to Friday."
    )
    rows = {row["kind"]: row for row in json.loads(hall.last.data)}
    assert rows["alarm"]["repeat"] == {"weekdays": WEEKDAYS, "dates": []}
    assert rows["alarm"]["due"] == "2026-01-02T07:00:00+01:00"
    told = await hall.say("list_timers", kind="command")
    assert told == "5 minutes left on the scheduled command “turn off the lights”."
    assert (
        await hall.say("list_timers", kind="request") == "You don't have any alarms or reminders."
    )
    assert await hall.say("list_timers", "es", kind="reminder") == (
        "Recordatorio “call Ana”: a las 18:00."
    )


@pytest.mark.parametrize(
    ("arguments", "sentence", "left"),
    [
        ({"kind": "alarm"}, "Cancelled the alarm.", 3),
        ({"at": "07:00"}, "Cancelled the alarm.", 3),
        ({"name": "call Ana"}, "Cancelled the reminder “call Ana”.", 3),
        ({"kind": "command"}, "Cancelled the scheduled command “turn off the lights”.", 3),
        ({"all": True, "kind": "timer"}, "Cancelled the pasta timer.", 3),
        ({"all": True}, "Cancelled all four.", 0),
        ({}, None, 4),
        ({"name": "laundry"}, None, 4),
    ],
)
async def test_cancel(hall: Hall, arguments: Any, sentence: str | None, left: int) -> None:
    await mixed(hall)
    told = await hall.say("cancel_timer", **arguments)
    assert told == sentence if sentence else hall.last.failed
    assert len(hall.shelf.rows) == left


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"action": "snooze"}, "OK, I'll ring again in 9 minutes."),
        ({"action": "snooze", "minutes": 5}, "OK, I'll ring again in 5 minutes."),
    ],
)
async def test_snooze_what_rings(hall: Hall, arguments: Any, sentence: str) -> None:
    await hall.say("set_alarm", time="14:00")
    await hall.say("start_timer", hours=5)
    assert await hall.say("change_timer", **{**arguments, "name": ""}) != sentence
    hall.clock.advance(3605)
    assert await hall.say("change_timer", **arguments) == sentence
    alarm, _ = sorted(hall.shelf.rows.values(), key=lambda timer: timer.due)
    assert alarm.rule is None, "what was snoozed has its own time from now on"


async def test_what_has_a_time_of_day_is_set_anew(hall: Hall) -> None:
    await hall.say("set_alarm", time="14:00")
    told = await hall.say("change_timer", action="add", minutes=5)
    assert told == "I can't change its time. Cancel it and set a new one."
    assert await hall.say("change_timer", action="snooze") == "Nothing is ringing."


async def test_a_command_at_a_time_of_day(hall: Hall) -> None:
    told = await hall.say("do_later", time="21:00", tool="x", arguments={"a": 1}, what="close up.")
    assert told == "OK, I'll do this at 21:00: close up."
    timer = hall.only
    assert timer.payload == {"tool": "x", "arguments": {"a": 1}, "heard": "as it was said"}
    assert (timer.kind, timer.due) == ("command", datetime(2026, 1, 1, 21, tzinfo=MADRID))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "For what time?"),
        ({"hours": 721}, "That's too long for a timer. Timers can run for up to thirty days."),
    ],
)
async def test_a_command_without_a_time_is_none(hall: Hall, given: Any, sentence: str) -> None:
    told = await hall.say("do_later", tool="x", arguments={}, what="close up", **given)
    assert (told, hall.shelf.rows) == (sentence, {})


async def test_a_refusal_is_told(hall: Hall) -> None:
    hall.calls.refusal = "No."
    told = await hall.say("do_later", tool="x", arguments={}, what="open up", minutes=1)
    assert (told, hall.last.failed, hall.shelf.rows) == ("No.", True, {})
    assert hall.last.valid_options == ("hall",)


async def test_a_store_that_fails(hall: Hall) -> None:
    hall.shelf.broken = True
    assert "can't read or save" in await hall.say("set_alarm", time="07:00")
    told = await hall.say("do_later", tool="x", arguments={}, what="x", minutes=1)
    assert "can't read or save" in told


def test_on_the_menu(hall: Hall) -> None:
    alarm, later = hall.tools["set_alarm"], hall.tools["do_later"]
    assert (alarm.tier, later.tier) == (Tier.COMFORT, Tier.COMFORT)
    assert not later.programs, "a program would leave its rights behind"
    given = convert(later.name, later.description, dict(later.schema))
    assert given.losses == ("arguments: a free object, given as JSON text",)
    fitted = fit(later.schema, {"tool": "x", "arguments": '{"a": 1}', "what": "x", "minutes": 1})
    assert fitted.arguments["arguments"] == {"a": 1}
