"""The home's conversation engine: reading its answers, and the commands sent to it."""

from typing import Any

import pytest

from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.assist import (
    AGENT,
    MAX_KEPT,
    Conversation,
    EngineReply,
    Recognized,
)
from integrations.home_assistant.reasons import CommandRefused, Unanswered

# As answered by Home Assistant 2026.11.0.
LIGHTS = {
    "intent": {"name": "HassTurnOn"},
    "slots": {"name": "kitchen lights"},
    "details": {"name": {"name": "name", "value": "Kitchen Lights", "text": "kitchen lights"}},
    "targets": {"light.kitchen_lights": {"matched": True}},
    "match": True,
    "sentence_template": "<turn> on [<the>] {name}",
    "unmatched_slots": {},
    "source": "builtin",
}
TRIGGER = {"match": True, "source": "trigger", "sentence_template": "activate party mode"}
GUESS = {
    **LIGHTS,
    "match": False,
    "slots": {},
    "details": {},
    "targets": {},
    "unmatched_slots": {"name": "a joke"},
}
DONE = {
    "response": {
        "speech": {"plain": {"speech": "Turned on the light", "extra_data": None}},
        "card": {},
        "language": "en",
        "response_type": "action_done",
        "data": {
            "success": [
                {"name": "Kitchen", "type": "area", "id": "kitchen"},
                {"name": "Kitchen Lights", "type": "entity", "id": "light.kitchen_lights"},
            ],
            "failed": [{"name": "Old Lamp", "type": "entity", "id": "light.old"}],
        },
    },
    "conversation_id": "01M80RMTTHYJ5WRT2W7HP2BH7R",
    "continue_conversation": False,
}
NOT_FOUND = {
    "response": {
        "speech": {"plain": {"speech": "Sorry, I am not aware of any device called a joke"}},
        "response_type": "error",
        "data": {"code": "no_valid_targets"},
    },
    "conversation_id": "01M80RMTTQ94YTC6BDZ4Y894VY",
}

# The command without a sentence, for 2026.11.0 and for 2026.2.3, which does not accept a device.
_REFUSED = "Home Assistant rejected conversation/process: {}."
NO_TEXT = CommandRefused(
    _REFUSED.format("required key not provided at 'text'. Got None"), "invalid_format"
)
NO_DEVICE = CommandRefused(
    _REFUSED.format("extra keys not allowed @ data['device_id']. Got 'box'"), "invalid_format"
)


class Home:
    """Answer each command with the next row; one too many fails."""

    def __init__(self, *answers: Any, connected: bool = True) -> None:
        self._answers = list(answers)
        self.connected = connected
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def command(self, kind: str, **fields: Any) -> Any:
        self.asked.append((kind, fields))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            LIGHTS,
            Recognized(
                "x", "builtin", "HassTurnOn", {"name": "Kitchen Lights"}, ("light.kitchen_lights",)
            ),
        ),
        (TRIGGER, Recognized("x", "trigger")),
        (
            {**LIGHTS, "source": "custom"},
            Recognized(
                "x", "custom", "HassTurnOn", {"name": "Kitchen Lights"}, ("light.kitchen_lights",)
            ),
        ),
        (
            {"intent": {"name": "HassNevermind"}, "match": True},
            Recognized("x", "builtin", "HassNevermind"),
        ),
        (GUESS, None),
        (None, None),
    ],
)
async def test_what_a_sentence_would_do(row: Any, found: Recognized | None) -> None:
    home = Home(NO_TEXT, {"results": [row]})
    assert await Conversation(home, lambda: "box").recognize(["x"], "en") == found
    assert home.asked[1:] == [
        (
            "conversation/agent/homeassistant/debug",
            {"sentences": ["x"], "language": "en", "device_id": "box"},
        )
    ]


async def test_the_first_of_several_that_is_known() -> None:
    conversation = Conversation(Home({"results": [GUESS, TRIGGER]}))
    assert await conversation.recognize(["a", "b"], "en") == Recognized("b", "trigger")


@pytest.mark.parametrize("answer", [None, [], {}, {"results": []}, {"results": [{"match": True}]}])
async def test_an_unknown_form_is_no_match(answer: Any) -> None:
    with pytest.raises(Unavailable):
        await Conversation(Home(answer)).recognize(["x"], "en")


@pytest.mark.parametrize(
    ("answer", "offered"),
    [
        ({"results": []}, True),
        (CommandRefused("No.", "unknown_command"), False),
        (CommandRefused("No.", "unknown_error"), True),
        (Unavailable("It is gone."), None),
    ],
)
async def test_whether_it_can_be_asked(answer: Any, offered: bool | None) -> None:
    assert await Conversation(Home(answer)).offered() is offered


async def test_a_home_that_is_away_is_not_asked() -> None:
    assert await Conversation(Home(connected=False)).offered() is None


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (
            DONE,
            EngineReply(
                "Turned on the light",
                "action_done",
                succeeded=("light.kitchen_lights",),
                failed=("Old Lamp",),
            ),
        ),
        (
            NOT_FOUND,
            EngineReply(
                "Sorry, I am not aware of any device called a joke", "error", "no_valid_targets"
            ),
        ),
        ({}, EngineReply("", "")),
        (None, EngineReply("", "")),
        ({"response": {"speech": [], "data": {"success": "yes"}}}, EngineReply("", "")),
    ],
)
async def test_what_it_answered(answer: Any, reply: EngineReply) -> None:
    assert await Conversation(Home(answer)).process("x", "en") == reply


async def test_only_the_built_in_agent_is_ever_asked() -> None:
    home = Home(NO_TEXT, DONE)
    await Conversation(home, lambda: "box").process("lights on", "en")
    (_, (kind, fields)) = home.asked
    assert kind == "conversation/process"
    assert fields == {
        "text": "lights on",
        "language": "en",
        "agent_id": AGENT,
        "conversation_id": None,
        "device_id": "box",
    }


async def test_whether_a_release_takes_the_device_is_asked_once_and_without_a_sentence() -> None:
    home = Home(NO_TEXT, DONE, {"results": [LIGHTS]})
    conversation = Conversation(home, lambda: "box")
    await conversation.process("lights on", "en")
    await conversation.recognize(["lights on"], "en")
    (probe, *others) = [fields for _, fields in home.asked]
    assert probe == {"device_id": "box"}
    assert [fields["device_id"] for fields in others] == ["box", "box"]


async def test_a_release_that_refuses_the_device_gets_neither_kind_of_sentence_with_it() -> None:
    home = Home(NO_DEVICE, {"results": [LIGHTS]}, DONE)
    conversation = Conversation(home, lambda: "box")
    await conversation.recognize(["lights on"], "en")
    await conversation.process("lights on", "en")
    assert ["device_id" in fields for _, fields in home.asked] == [True, False, False]


async def test_nothing_is_asked_about_a_device_that_there_is_not() -> None:
    home = Home(DONE)
    await Conversation(home).process("lights on", "en")
    ((_, fields),) = home.asked
    assert "device_id" not in fields


async def test_a_conversation_goes_on_for_five_minutes() -> None:
    now = 1000.0
    home = Home(DONE, DONE, DONE)
    conversation = Conversation(home, monotonic=lambda: now)
    await conversation.process("one", "en")
    now += 299
    await conversation.process("two", "en")
    now += 301
    await conversation.process("three", "en")
    kept = [fields["conversation_id"] for _, fields in home.asked]
    assert kept == [None, DONE["conversation_id"], None]


async def test_a_conversation_that_is_to_be_forgotten_does_not_go_on() -> None:
    home = Home(DONE, DONE)
    conversation = Conversation(home, monotonic=lambda: 1000.0)
    await conversation.process("one", "en")
    conversation.forget()
    await conversation.process("two", "en")
    assert [fields["conversation_id"] for _, fields in home.asked] == [None, None]


@pytest.mark.parametrize("error", [Unanswered("Lost.", timed_out=False), Unavailable("Away.")])
async def test_what_goes_wrong_is_told_as_it_is(error: IntegrationError) -> None:
    with pytest.raises(type(error)):
        await Conversation(Home(error)).process("x", "en")


def replies(*names: str) -> list[dict[str, Any]]:
    return [{**DONE, "conversation_id": name} for name in names]


async def test_each_owner_has_a_conversation_of_its_own() -> None:
    home = Home(*replies("people", "agent", "panel", "people", "agent", "panel"))
    conversation = Conversation(home, monotonic=lambda: 1000.0)
    for owner in ("", "mcp:agent", "http:panel") * 2:
        await conversation.process("lights on", "en", owner)
    kept = [fields["conversation_id"] for _, fields in home.asked]
    assert kept == [None, None, None, "people", "agent", "panel"]


async def test_people_who_forget_leave_the_programs_theirs() -> None:
    home = Home(*replies("people", "agent", "new", "agent"))
    conversation = Conversation(home, monotonic=lambda: 1000.0)
    await conversation.process("one", "en")
    await conversation.process("one", "en", "mcp:agent")
    conversation.forget()
    await conversation.process("two", "en")
    await conversation.process("two", "en", "mcp:agent")
    kept = [fields["conversation_id"] for _, fields in home.asked]
    assert kept == [None, None, None, "agent"]


async def test_of_many_programs_the_oldest_is_forgotten_and_never_the_people() -> None:
    names = [f"c{number}" for number in range(MAX_KEPT)]
    home = Home(*replies("people", *names, "anew", "people"))
    conversation = Conversation(home, monotonic=lambda: 1000.0)
    await conversation.process("one", "en")
    for name in names:
        await conversation.process("one", "en", name)
    await conversation.process("two", "en", "c0")
    await conversation.process("two", "en")
    kept = [fields["conversation_id"] for _, fields in home.asked]
    assert kept[-2:] == [None, "people"]
