"""Tests of messages that act: their effects and their refusals; plain text never acts."""

from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.inbox import MARK, Commander, command_of, old_command_of
from integrations.home_assistant.mobile_app import Push
from integrations.web.box import NotKept, NotPossible
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.interfaces.device.doubles import Heard, Pressed


@pytest.fixture
def box() -> Pressed:
    return Pressed()


@pytest.fixture
def heard() -> Heard:
    return Heard()


async def obey(box: Pressed, heard: Heard, what: Any, **data: Any) -> None:
    command = command_of(Push("1", "whatever", data={MARK: what, **data}))
    assert command is not None
    await Commander(box, heard.bus, FakeValues(), VirtualClock()).obey(command)


@pytest.mark.parametrize(
    ("what", "data", "done"),
    [
        ("mute", {}, "muted"),
        (" Unmute\n", {}, "unmuted"),
        ("listen", {}, "listens for home-assistant"),
        ("stop", {}, "stopped"),
        ("volume", {"volume": 0.25}, {"volume": 0.25}),
        ("volume", {"volume": "0.25"}, {"volume": 0.25}),
        ("volume", {"volume": 0}, {"volume": 0.0}),
        ("profile", {"profile": "night"}, {"profile": "night"}),
        ("mode", {"mode": "guest"}, ("guest", None)),
        ("mode", {"mode": " Guest ", "minutes": "90"}, ("guest", 90)),
        ("mode", {"mode": "normal", "minutes": None}, ("normal", None)),
    ],
)
async def test_it_acts(
    box: Pressed, heard: Heard, what: str, data: dict[str, Any], done: Any
) -> None:
    await obey(box, heard, what, **data)
    assert box.done == [done]
    assert heard.faults == []


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("volume", {}),
        ("volume", {"volume": 40}),
        ("volume", {"volume": True}),
        ("profile", {}),
        ("profile", {"profile": ["night"]}),
        ("mode", {}),
        ("mode", {"mode": "party"}),
        ("mode", {"mode": ["guest"]}),
        ("mode", {"mode": "guest", "minutes": -1}),
        ("mode", {"mode": "guest", "minutes": 0.5}),
        ("mode", {"mode": "guest", "minutes": "nan"}),
    ],
)
async def test_what_makes_no_sense_is_told(
    box: Pressed, heard: Heard, what: str, data: dict[str, Any]
) -> None:
    await obey(box, heard, what, **data)
    assert box.done == []
    ((told, problem),) = heard.faults
    assert told == what
    assert f'"{what}"' in problem  # the right spelling


@pytest.mark.parametrize("what", ["bluetooth", "command_mute", "", ["mute"], {"mute": 1}, 7])
async def test_what_is_no_order_of_ours_is_told(box: Pressed, heard: Heard, what: Any) -> None:
    await obey(box, heard, what)
    assert box.done == []
    ((_, problem),) = heard.faults
    assert "mute, unmute, listen, stop, volume, profile and mode" in problem


@pytest.mark.parametrize("trouble", [NotKept("The disk is full."), NotPossible("No such profile.")])
async def test_what_cannot_be_is_told(box: Pressed, heard: Heard, trouble: Exception) -> None:
    box.trouble = trouble
    await obey(box, heard, "profile", profile="night")
    assert heard.faults == [("profile", str(trouble))]


async def test_a_box_that_cannot_listen_says_so(box: Pressed, heard: Heard) -> None:
    box.can_listen = False
    await obey(box, heard, "listen")
    ((what, problem),) = heard.faults
    assert what == "listen"
    assert "muted" in problem


@pytest.mark.parametrize(
    "message",
    ["mute", "command_mute", "command_mode trusting", "command_unmute", "{{ calendar }}", ""],
)
def test_a_text_is_no_order(message: str) -> None:
    assert command_of(Push("1", message, data={"mode": "trusting"})) is None


@pytest.mark.parametrize(
    ("message", "old"),
    [
        ("command_mode trusting 120", "command_mode"),
        (" command_unmute\n", "command_unmute"),
        ("command_bluetooth", ""),
        ("command_", ""),
        ("commander mute", ""),
        ("say command_mute", ""),
    ],
)
def test_a_text_that_was_one_is_known(message: str, old: str) -> None:
    assert old_command_of(Push("1", message)) == old
