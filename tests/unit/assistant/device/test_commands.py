"""Messages that act: what each does, and what it says where it cannot."""

from typing import Any

import pytest

from assistant.device.commands import Commander, command_of
from integrations.home_assistant.push import Push
from integrations.web.box import NotKept, NotPossible
from tests.unit.assistant.device.box import Heard, Pressed


@pytest.fixture
def box() -> Pressed:
    return Pressed()


@pytest.fixture
def heard() -> Heard:
    return Heard()


async def obey(box: Pressed, heard: Heard, message: str, **data: Any) -> None:
    command = command_of(Push("1", message, data=data))
    assert command is not None
    await Commander(box, heard.happenings).obey(command)


@pytest.mark.parametrize(
    ("message", "data", "done"),
    [
        ("command_mute", {}, "muted"),
        (" command_unmute\n", {}, "unmuted"),
        ("command_listen", {}, "listens for home-assistant"),
        ("command_stop", {}, "stopped"),
        ("command_volume 40", {}, {"volume": 0.4}),
        ("command_volume 40 %", {}, {"volume": 0.4}),
        ("command_volume 0", {}, {"volume": 0.0}),
        ("command_volume", {"volume": 0.25}, {"volume": 0.25}),
        ("command_volume", {"volume": "0.25"}, {"volume": 0.25}),
        ("command_profile night", {}, {"profile": "night"}),
        ("command_profile", {"profile": "night"}, {"profile": "night"}),
        ("command_mode", {"mode": "guest"}, ("guest", None)),
        ("command_mode", {"mode": " Guest ", "minutes": "90"}, ("guest", 90)),
        ("command_mode", {"mode": "normal", "minutes": None}, ("normal", None)),
        ("command_mode guest", {}, ("guest", None)),
        ("command_mode guest 120", {}, ("guest", 120)),
    ],
)
async def test_it_acts(
    box: Pressed, heard: Heard, message: str, data: dict[str, Any], done: Any
) -> None:
    await obey(box, heard, message, **data)
    assert box.done == [done]
    assert heard.faults == []


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("command_volume", {}),
        ("command_volume loud", {}),
        ("command_volume 140", {}),
        ("command_volume", {"volume": 40}),
        ("command_volume", {"volume": True}),
        ("command_profile", {}),
        ("command_profile", {"profile": ["night"]}),
        ("command_mode", {}),
        ("command_mode", {"mode": "party"}),
        ("command_mode", {"mode": ["guest"]}),
        ("command_mode", {"mode": "guest", "minutes": -1}),
        ("command_mode", {"mode": "guest", "minutes": 0.5}),
        ("command_mode", {"mode": "guest", "minutes": "nan"}),
        ("command_mode guest soon", {}),
    ],
)
async def test_what_makes_no_sense_is_told(
    box: Pressed, heard: Heard, message: str, data: dict[str, Any]
) -> None:
    await obey(box, heard, message, **data)
    assert box.done == []
    ((what, problem),) = heard.faults
    assert what == message.partition(" ")[0]
    assert what in problem  # how it is said right


@pytest.mark.parametrize("trouble", [NotKept("The disk is full."), NotPossible("No such profile.")])
async def test_what_cannot_be_is_told(box: Pressed, heard: Heard, trouble: Exception) -> None:
    box.trouble = trouble
    await obey(box, heard, "command_profile night")
    assert heard.faults == [("command_profile", str(trouble))]


async def test_a_box_that_cannot_listen_says_so(box: Pressed, heard: Heard) -> None:
    box.can_listen = False
    await obey(box, heard, "command_listen")
    ((what, problem),) = heard.faults
    assert what == "command_listen"
    assert "muted" in problem


@pytest.mark.parametrize(
    "message", ["mute", "command_bluetooth", "command_", "commander mute", "command_volume_level"]
)
def test_what_is_no_command_of_ours(message: str) -> None:
    assert command_of(Push("1", message)) is None
