"""Results of the chirp measurement."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.echo.measure import MOST_DELAY_SECONDS, EchoPath, analyse, chirp, measure
from audio.errors import DeviceLost, InputUnusable
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Frame
from audio.player import NullPlayer

Samples = NDArray[np.int16]


def room(gain: float, delay_ms: float, noise: float, seed: int = 1) -> Samples:
    """Make a recording in a room with echoes of 40 ms."""
    rng = np.random.default_rng(seed)
    played = chirp().astype(np.float64)
    answer = rng.standard_normal(1_600) * np.exp(-np.arange(1_600) / 320) * 0.15
    answer[0] = 1.0
    echo = np.convolve(played, answer / np.sqrt(np.sum(answer**2)))
    whole = np.zeros(len(played) + round(MOST_DELAY_SECONDS * SAMPLE_RATE))
    late = round(delay_ms * SAMPLE_RATE / 1000)
    part = echo[: len(whole) - late]
    whole[late : late + len(part)] += part * gain
    whole += rng.standard_normal(len(whole)) * noise
    return np.clip(whole, -32_768, 32_767).astype(np.int16)


@pytest.mark.parametrize("noise", [0.0, 10.0, 100.0, 500.0])
@pytest.mark.parametrize("delay_ms", [20.0, 120.0, 400.0])
@pytest.mark.parametrize("gain", [0.2, 1.0])
def test_an_echo_is_found_with_level_and_delay(gain: float, delay_ms: float, noise: float) -> None:
    path = analyse(chirp(), room(gain, delay_ms, noise))
    assert path.kind == "echo"
    assert path.level_db == pytest.approx(20 * np.log10(gain), abs=3)
    assert path.delay_ms == pytest.approx(delay_ms, abs=10)
    assert path.noise_rms == pytest.approx(noise, abs=noise / 10 + 1)


@pytest.mark.parametrize("noise", [3.0, 10.0, 300.0])
@pytest.mark.parametrize("seed", range(5))
def test_headphones_have_no_echo(noise: float, seed: int) -> None:
    assert analyse(chirp(), room(0.0, 100, noise, seed)).kind == "apart"


@pytest.mark.parametrize("delay_ms", [0, 100, 250, 500])
def test_a_microphone_that_closes_is_deaf(delay_ms: int) -> None:
    heard = room(0.0, 0, 40)
    closes = 9_000 + 16 * delay_ms
    heard[closes : closes + 13_000] = 0
    assert analyse(chirp(), heard).kind == "deaf"


def test_a_dropout_is_no_closing() -> None:
    heard = room(0.5, 100, 40)
    heard[22_000:29_000] = 0
    assert analyse(chirp(), heard).kind == "echo"


def test_a_microphone_without_any_sound_is_muted_and_tells_nothing() -> None:
    with pytest.raises(InputUnusable, match="digital silence"):
        analyse(chirp(), room(0.0, 100, 0.0))


def test_a_microphone_that_is_muted_half_way_is_not_deaf() -> None:
    heard = room(0.0, 100, 40)
    heard[9_000:] = 0
    with pytest.raises(InputUnusable, match="went silent"):
        analyse(chirp(), heard)


def test_a_microphone_that_is_switched_on_after_the_chirp_tells_nothing() -> None:
    heard = room(0.0, 100, 40)
    heard[:22_000] = 0
    with pytest.raises(InputUnusable, match="digital silence"):
        analyse(chirp(), heard)


@pytest.mark.parametrize("gain", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("noise", [1_500.0, 4_000.0])
def test_a_room_in_which_no_echo_could_be_heard_tells_nothing(gain: float, noise: float) -> None:
    with pytest.raises(InputUnusable, match="too loud"):
        analyse(chirp(), room(gain, 120, noise))


@pytest.mark.parametrize("seconds", [(0.5, 1.3), (0.9, 1.5)])
@pytest.mark.parametrize("gain", [0.0, 0.015])
def test_somebody_who_talks_over_the_chirp_leaves_nothing_known(
    gain: float, seconds: tuple[float, float]
) -> None:
    heard = room(gain, 120, 10.0).astype(np.float64)
    begin, end = (round(at * SAMPLE_RATE) for at in seconds)
    hum = np.random.default_rng(7).standard_normal(end - begin)
    heard[begin:end] += 1_000 * np.convolve(hum, np.ones(8) / np.sqrt(8), "same")
    with pytest.raises(InputUnusable, match="too loud"):
        analyse(chirp(), np.clip(heard, -32_768, 32_767).astype(np.int16))


def test_a_noise_that_ends_is_not_held_down() -> None:
    heard = room(0.0, 100, 60)
    heard[8_000:] //= 4
    assert analyse(chirp(), heard).kind == "apart"


@pytest.mark.parametrize("delay_ms", [50, 100, 300])
@pytest.mark.parametrize("through_ms", [80, 150, 250])
def test_a_device_that_cancels_lets_only_the_beginning_through(
    delay_ms: int, through_ms: int
) -> None:
    heard = room(0.5, delay_ms, 10)
    quiet = room(0.0, delay_ms, 10, seed=2)
    cancels = 8_000 + 16 * (delay_ms + through_ms)
    heard[cancels:] = quiet[cancels:]
    assert analyse(chirp(), heard).kind == "cancels"


def test_a_device_that_cancels_holds_the_noise_down() -> None:
    heard = room(0.0, 100, 60)
    heard[8_000:20_000] //= 4
    assert analyse(chirp(), heard).kind == "cancels"


def test_a_short_recording_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        analyse(chirp(), chirp()[:-1])


def test_it_can_be_kept() -> None:
    path = EchoPath("echo", -6.0, 123.0, 12.0)
    assert EchoPath.from_dict(path.to_dict()) == path


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"kind": "odd", "level_db": 0, "delay_ms": 0, "noise_rms": 0},
        {"kind": "echo", "level_db": "loud", "delay_ms": 0, "noise_rms": 0},
        {"kind": "echo", "level_db": None, "delay_ms": 0, "noise_rms": 0},
    ],
)
def test_what_was_kept_otherwise_is_measured_anew(kept: dict[str, object]) -> None:
    assert EchoPath.from_dict(kept) is None


async def frames(samples: Samples):  # type: ignore[no-untyped-def]
    for at in range(0, len(samples) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
        yield Frame(samples[at : at + FRAME_SAMPLES].tobytes(), at)


async def test_it_plays_and_listens() -> None:
    heard = np.concatenate([np.zeros(FRAME_SAMPLES, np.int16), room(0.5, 120, 10), chirp()])
    player = NullPlayer(paced=False)
    path = await measure(player, frames(heard))
    assert path.kind == "echo"
    assert player.played_ms == pytest.approx(1700, abs=1)


class Unplugged(NullPlayer):
    """A player whose device goes while it plays."""

    async def drain(self) -> None:
        raise DeviceLost("The loudspeaker has gone.")


async def test_a_loudspeaker_that_goes_is_told() -> None:
    heard = np.concatenate([np.zeros(FRAME_SAMPLES, np.int16), room(0.5, 120, 10), chirp()])
    with pytest.raises(DeviceLost, match="loudspeaker"):
        await measure(Unplugged(paced=False), frames(heard))


async def test_a_microphone_that_ends_is_told() -> None:
    with pytest.raises(DeviceLost):
        await measure(NullPlayer(paced=False), frames(np.zeros(16_000, np.int16)))
