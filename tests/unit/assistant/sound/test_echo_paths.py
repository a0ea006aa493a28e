"""Tests that echo measurements are kept for each pair of devices, and for nothing else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.config.sound import Audio
from assistant.domain.clock import SystemClock
from assistant.domain.records import StoreError
from assistant.journal.store import Store
from assistant.sound import echo_plan as echo_paths
from assistant.sound.echo_plan import EchoPaths
from assistant.sound.mute import NAME as MUTED
from audio.devices.portaudio import DeviceInfo
from audio.echo.measure import EchoPath, Pair
from audio.errors import AudioError, DeviceLost, InputUnusable

MICROPHONE = DeviceInfo("usb:0b0e:0412:501A", "input", 1, 16_000, True, 4)
LOUDSPEAKER = DeviceInfo("alsa_output.pci", "output", 2, 48_000, True, 5, volume=0.5)
PAIR = Pair(MICROPHONE, LOUDSPEAKER, None)
ECHO = EchoPath("echo", -6.0, 120.0, 12.0)
APART = EchoPath("apart", -100.0, 0.0, 12.0)
AUDIO = Audio()


class Kept:
    """A small disk, which may be full."""

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.full = False

    async def keep(self, name: str, value: Any) -> None:
        self._look()
        self.values[name] = value

    async def kept(self, name: str) -> Any | None:
        self._look()
        return self.values.get(name)

    async def drop_kept(self, name: str) -> None:
        raise AssertionError("nothing is dropped")

    def _look(self) -> None:
        if self.full:
            raise StoreError("the disk is full")


class Chirps:
    """Returns each scripted measurement once."""

    def __init__(self, *results: EchoPath | AudioError) -> None:
        self.results = list(results)

    async def __call__(self, pair: Pair, lead_in_ms: int) -> EchoPath:
        result = self.results.pop(0)
        if isinstance(result, AudioError):
            raise result
        return result


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """Return the list of devices that are found when a measurement has ended."""
    found = [PAIR]
    monkeypatch.setattr(echo_paths, "find_pair", lambda *names: found[0])
    return found


async def test_a_result_outlives_the_process(there: list[Pair], tmp_path: Path) -> None:
    async with Store(tmp_path / "hearth.db", SystemClock()) as store:
        paths = EchoPaths(store, Chirps(ECHO))
        assert await paths.known(PAIR) is None
        assert await paths.measured(PAIR, AUDIO) == ECHO
    async with Store(tmp_path / "hearth.db", SystemClock()) as store:
        assert await EchoPaths(store, Chirps()).known(PAIR) == ECHO


@pytest.mark.parametrize(
    "other",
    [
        replace(PAIR, input=replace(MICROPHONE, name="usb:0d8c:0014")),
        replace(PAIR, output=replace(LOUDSPEAKER, name="alsa_output.hdmi")),
        replace(PAIR, channel=2),
    ],
    ids=["microphone", "loudspeaker", "channel"],
)
async def test_another_pair_is_measured_for_itself(there: list[Pair], other: Pair) -> None:
    paths = EchoPaths(Kept(), Chirps(ECHO, APART))
    await paths.measured(PAIR, AUDIO)
    assert await paths.known(other) is None
    there[0] = other
    await paths.measured(other, AUDIO)
    assert (await paths.known(PAIR), await paths.known(other)) == (ECHO, APART)


async def test_a_new_result_takes_the_place_of_the_old(there: list[Pair]) -> None:
    paths = EchoPaths(Kept(), Chirps(ECHO, APART))
    await paths.measured(PAIR, AUDIO)
    await paths.measured(PAIR, AUDIO)
    assert await paths.known(PAIR) == APART


async def test_the_number_of_a_device_does_not_count(there: list[Pair]) -> None:
    paths = EchoPaths(Kept(), Chirps(ECHO))
    await paths.measured(PAIR, AUDIO)
    again = Pair(replace(MICROPHONE, index=9), replace(LOUDSPEAKER, index=8, volume=1.0), None)
    assert await paths.known(again) == ECHO


@pytest.mark.parametrize(
    ("then", "now", "holds"),
    [(0.5, 0.5, True), (0.5, 0.6, True), (0.5, 0.8, False), (0.5, 0.2, True), (None, 1.0, True)],
)
async def test_no_echo_at_a_low_volume_says_nothing_of_a_high_one(
    there: list[Pair], then: float | None, now: float, holds: bool
) -> None:
    paths = EchoPaths(Kept(), Chirps(APART))
    await paths.measured(replace(PAIR, output=replace(LOUDSPEAKER, volume=then)), AUDIO)
    found = await paths.known(replace(PAIR, output=replace(LOUDSPEAKER, volume=now)))
    assert found == (APART if holds else None)


@pytest.mark.parametrize("trouble", [InputUnusable("muted"), DeviceLost("gone")])
async def test_what_failed_is_not_kept(there: list[Pair], trouble: AudioError) -> None:
    kept = Kept()
    with pytest.raises(type(trouble)):
        await EchoPaths(kept, Chirps(trouble)).measured(PAIR, AUDIO)
    assert kept.values == {}


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (replace(PAIR, input=replace(MICROPHONE, name="other")), "changed"),
        (replace(PAIR, output=replace(LOUDSPEAKER, muted=True)), "muted"),
        (replace(PAIR, input=replace(MICROPHONE, volume=0.0)), "volume 0"),
    ],
)
async def test_devices_that_change_meanwhile_were_not_measured(
    there: list[Pair], after: Pair, words: str
) -> None:
    kept = Kept()
    there[0] = after
    with pytest.raises(DeviceLost, match=words):
        await EchoPaths(kept, Chirps(ECHO)).measured(PAIR, AUDIO)
    assert kept.values == {}


@pytest.mark.parametrize("value", [True, "odd"])
async def test_a_muted_microphone_is_not_opened(there: list[Pair], value: Any) -> None:
    with pytest.raises(InputUnusable, match="A person has muted the microphone"):
        await EchoPaths(Kept(**{MUTED: value}), Chirps()).measured(PAIR, AUDIO)


async def test_a_disk_that_cannot_be_read_may_say_muted(there: list[Pair]) -> None:
    kept = Kept()
    kept.full = True
    with pytest.raises(StoreError):
        await EchoPaths(kept, Chirps()).measured(PAIR, AUDIO)


@pytest.mark.parametrize("row", [None, "echo", [], {}, {"path": "echo"}, {"path": {"kind": "x"}}])
async def test_what_was_kept_otherwise_counts_as_nothing(there: list[Pair], row: Any) -> None:
    kept = Kept()
    paths = EchoPaths(kept, Chirps(ECHO))
    await paths.measured(PAIR, AUDIO)
    kept.values = dict.fromkeys(kept.values, row)
    assert await paths.known(PAIR) is None
