"""Where Hearth listens, by the settings, and who is told what changes among the devices."""

from collections.abc import Callable
from typing import Self

import pytest

from assistant.config.schema import Settings
from assistant.sound import devices as module
from assistant.sound.devices import open_microphone
from assistant.sound.echo_watch import EchoWatch
from audio.device_status import Presence
from audio.devices.watch import DeviceWatch
from audio.player import NullPlayer, OneOutput, Outputs
from audio.speaker import Speaker
from tests.fakes.sound import FakeWatch

NOWHERE = OneOutput(NullPlayer(paced=False))


class Watch(FakeWatch):
    """A device watch without threads."""

    entered: list["Watch"]

    async def __aenter__(self) -> Self:
        Watch.entered.append(self)
        return self

    async def __aexit__(self, *error: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    Watch.entered = []
    monkeypatch.setattr(module, "DeviceWatch", Watch)


def settings(source: str) -> Settings:
    return Settings.model_validate({"audio": {"input": source}})


@pytest.mark.parametrize(
    ("source", "outputs", "hears", "watched"),
    [
        ("default", NOWHERE, True, 0),
        ("default", Speaker("box"), True, 1),
        ("null", Speaker("box"), False, 1),
        ("file:/tmp/words.wav", Speaker("box"), False, 1),
    ],
)
async def test_a_loudspeaker_hears_of_the_devices_with_or_without_a_microphone(
    source: str, outputs: Outputs, hears: bool, watched: int
) -> None:
    async with open_microphone(settings(source), outputs) as microphone:
        assert (microphone is not None) is hears
        assert [len(watch.calls) for watch in Watch.entered] == [watched]
    await outputs.close()
    assert not Watch.entered[0].calls


async def test_without_any_device_nothing_is_watched() -> None:
    async with open_microphone(settings("null"), NOWHERE) as microphone:
        assert microphone is None
    assert Watch.entered == []


class Echo(EchoWatch):
    """Only notes what it is to follow."""

    def __init__(self) -> None:
        self.followed: list[DeviceWatch] = []

    def follow(self, watch: DeviceWatch) -> None:
        self.followed.append(watch)


async def test_who_plans_for_the_echo_hears_of_the_devices() -> None:
    echo = Echo()
    async with open_microphone(settings("default"), NOWHERE, echo=echo):
        assert echo.followed == list[DeviceWatch](Watch.entered)


async def test_a_loudspeaker_that_is_looked_for_asks_the_microphone_to_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Callable[[], None]] = []
    monkeypatch.setattr(Presence, "follow", lambda presence, watch, ask: asked.append(ask))
    speaker = Speaker("box")
    async with open_microphone(settings("default"), speaker) as microphone:
        assert microphone is not None
        assert asked == [microphone.make_way]
    await speaker.close()
