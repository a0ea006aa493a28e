"""Tests of setup's requests to other services."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.domain.records import StoreError
from assistant.models.shelf import ModelEntry
from assistant.setup.services import SetupServices
from audio.tts.piper import need_piper
from integrations.demo_home.rest import DemoHome
from integrations.demo_home.websocket import Json, Socket


async def no_fetch(entries: Sequence[ModelEntry], folder: Path) -> None:
    raise AssertionError("nothing is to be fetched")


async def no_live(settings: Settings) -> Sequence[str]:
    raise StoreError("The disk is full.")


async def test_a_live_session_that_cannot_be_tried_is_told() -> None:
    problems = await SetupServices(no_fetch, no_live).try_live(Settings())
    assert problems == ["Could not test Gemini Live: The disk is full."]


async def test_the_simulated_house_tells_its_rooms() -> None:
    facts = await SetupServices(no_fetch, no_live).visit("demo", "")
    assert facts.name == "Demo home"
    assert facts.language == "en"
    assert {"Kitchen", "Office"} <= set(facts.rooms)
    assert facts.unread == ""


class StrangeSocket(Socket):
    """A websocket that answers the command for the rooms with something else."""

    def special_commands(self) -> dict[str, Callable[[int, Json], None]]:
        """Replace the command."""
        strange = {"config/area_registry/list": lambda id_, message: self._succeed(id_, None)}
        return {**super().special_commands(), **strange}


class LeavingSocket(Socket):
    """A websocket that is closed instead of telling the rooms."""

    def special_commands(self) -> dict[str, Callable[[int, Json], None]]:
        """Replace the command."""
        leaving = {"config/area_registry/list": lambda id_, message: self._over.set()}
        return {**super().special_commands(), **leaving}


@pytest.mark.parametrize(
    ("socket", "why"),
    [
        (StrangeSocket, "that Hearth does not understand"),
        (LeavingSocket, "The connection to Home Assistant closed"),
    ],
)
async def test_rooms_that_cannot_be_read_are_told(
    socket: type[Socket], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    class House(DemoHome):
        socket_class = socket

    async with House() as house:
        with caplog.at_level(logging.WARNING):
            facts = await SetupServices(no_fetch, no_live).visit(house.url, house.token)
    assert (facts.name, facts.rooms, facts.language) == ("Demo home", (), "")
    assert why in facts.unread
    assert f"Cannot read the rooms in Home Assistant: {facts.unread}" in caplog.text


async def test_without_piper_no_voice_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    need_piper()
    monkeypatch.setattr("audio.tts.piper.find_spec", lambda name: None)
    problem = await SetupServices(no_fetch, no_live).fetch_voices(Settings())
    assert problem == (
        "Piper is not installed: run `pip install piper-tts` in Hearth's environment, or set "
        'voice.engine = "espeak".'
    )
