"""WAV files of every kind are read correctly, and unusable ones give an error of one sentence."""

import asyncio
import struct
import tracemalloc
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.errors import InputUnusable
from audio.frames import FRAME_BYTES, Frame
from audio.sound_files import WavSource, read_wav, write_wav


def tone(rate: int, seconds: float = 1.0, amplitude: float = 0.5) -> NDArray[np.float64]:
    """Make a 440 Hz sine, full scale 1."""
    times = np.arange(int(rate * seconds)) / rate
    return amplitude * np.sin(2 * np.pi * 440 * times)


def encode(samples: NDArray[np.float64], kind: str) -> bytes:
    """Encode samples of full scale 1 as in a file."""
    if kind == "u8":
        return (np.rint(samples * 127) + 128).astype(np.uint8).tobytes()
    if kind == "i24":
        wide = np.rint(samples * (2**23 - 1)).astype("<i4").view(np.uint8).reshape(-1, 4)
        return wide[:, :3].tobytes()
    if kind.startswith("f"):
        return samples.astype(f"<{kind}").tobytes()
    bits = int(kind[1:])
    return bytes(np.rint(samples * (2 ** (bits - 1) - 1)).astype(f"<i{bits // 8}").tobytes())


WIDTHS = {"u8": 1, "i16": 2, "i24": 3, "i32": 4, "f4": 4, "f8": 8}


def wav_bytes(
    data: bytes,
    kind: str = "i16",
    rate: int = 16_000,
    channels: int = 1,
    *,
    code: int | None = None,
    extensible: bool = False,
    promised: int | None = None,
    before: bytes = b"",
) -> bytes:
    """Make a RIFF file by hand, so that nothing depends on what `wave` can write."""
    width = WIDTHS[kind]
    real = code if code is not None else (3 if kind.startswith("f") else 1)
    form = struct.pack(
        "<HHIIHH",
        0xFFFE if extensible else real,
        channels,
        rate,
        rate * channels * width,
        channels * width,
        width * 8,
    )
    if extensible:
        guid = struct.pack("<H", real) + bytes.fromhex("000000001000800000aa00389b71")
        form += struct.pack("<HHI", 22, width * 8, 0) + guid
    size = len(data) if promised is None else promised
    body = before + b"fmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", (4 + len(body)) & 0xFFFFFFFF) + b"WAVE" + body


async def collect(source: WavSource) -> list[Frame]:
    return [frame async for frame in source.frames()]


def level_and_pitch(pcm: bytes) -> tuple[float, float]:
    """Return the peak (full scale 1) and the strongest frequency in Hz."""
    samples = np.frombuffer(pcm, np.int16) / 32768
    middle = samples[1600:-1600]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    return float(np.abs(middle).max()), float(spectrum.argmax() * 16_000 / len(middle))


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(
    ("kind", "rate", "channels"),
    [
        ("u8", 8_000, 1),
        ("i16", 22_050, 1),
        ("i16", 48_000, 2),
        ("i24", 44_100, 2),
        ("i24", 16_000, 1),
        ("i32", 96_000, 6),
        ("f4", 44_100, 1),
        ("f4", 16_000, 2),
        ("f8", 32_000, 1),
    ],
)
def test_any_format_keeps_pitch_level_and_length(
    tmp_path: Path, kind: str, rate: int, channels: int, extensible: bool
) -> None:
    data = encode(np.repeat(tone(rate), channels), kind)
    path = tmp_path / "tone.wav"
    path.write_bytes(wav_bytes(data, kind, rate, channels, extensible=extensible))

    pcm = read_wav(path)

    peak, pitch = level_and_pitch(pcm)
    assert peak == pytest.approx(0.5, abs=0.01)
    assert pitch == pytest.approx(440, abs=2)
    assert len(pcm) // 2 == pytest.approx(16_000, abs=2)


async def test_16_khz_mono_16_bit_is_bit_for_bit(tmp_path: Path) -> None:
    data = np.random.default_rng(1).integers(-32768, 32768, 16_111).astype("<i2").tobytes()
    path = tmp_path / "noise.wav"
    path.write_bytes(wav_bytes(data))

    frames = await collect(WavSource(path, realtime=False))

    joined = b"".join(frame.pcm for frame in frames)
    assert joined[: len(data)] == data
    assert not any(joined[len(data) :])  # filled up with silence
    assert all(len(frame.pcm) == FRAME_BYTES for frame in frames)
    assert [frame.start for frame in frames] == [320 * n for n in range(51)]
    assert read_wav(path) == data


@pytest.mark.parametrize(
    ("kind", "samples", "expected"),
    [
        ("u8", bytes([0, 128, 255]), [-32768, 0, 32512]),
        ("i24", bytes([0, 0, 128, 0, 0, 0, 255, 255, 127]), [-32768, 0, 32767]),
        ("i32", struct.pack("<3i", -(2**31), 0, 2**31 - 1), [-32768, 0, 32767]),
        ("f4", struct.pack("<5f", -1, 1, 2.5, float("nan"), float("-inf")), None),
    ],
)
def test_extremes_neither_wrap_nor_fail(
    tmp_path: Path, kind: str, samples: bytes, expected: list[int] | None
) -> None:
    path = tmp_path / "extremes.wav"
    path.write_bytes(wav_bytes(samples, kind))
    got = np.frombuffer(read_wav(path), np.int16).tolist()
    assert got == (expected or [-32768, 32767, 32767, 0, -32768])


def test_channels_are_averaged(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    path.write_bytes(wav_bytes(np.array([1000, 3000, -500, 500], "<i2").tobytes(), channels=2))
    assert np.frombuffer(read_wav(path), np.int16).tolist() == [2000, 0]


def test_other_chunks_are_skipped(tmp_path: Path) -> None:
    data = np.arange(500, dtype="<i2").tobytes()
    odd = b"LIST" + struct.pack("<I", 5) + b"INFOx\0"
    path = tmp_path / "tagged.wav"
    path.write_bytes(wav_bytes(data, before=odd) + b"id3 " + struct.pack("<I", 4) + b"more")
    assert read_wav(path) == data


def test_a_length_that_the_writer_left_open_means_to_the_end(tmp_path: Path) -> None:
    data = np.arange(500, dtype="<i2").tobytes()
    path = tmp_path / "piped.wav"
    path.write_bytes(wav_bytes(data, promised=0xFFFFFFFF))
    assert read_wav(path) == data


def _make_folder(path: Path) -> None:
    path.mkdir()


def _make(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


BAD = [
    ("missing", lambda path: None, "does not exist"),
    ("folder", _make_folder, "is a folder"),
    ("text", _make(b"turn on the light, please\n"), "is not a WAV file"),
    ("short text", _make(b"hi"), "is not a WAV file"),
    ("nothing", _make(b""), "is empty"),
    ("no samples", _make(wav_bytes(b"")), "contains no audio"),
    ("half a sample", _make(wav_bytes(b"\0")), "contains no audio"),
    ("cut in the sound", _make(wav_bytes(bytes(1000), promised=32_000)), "is incomplete"),
    ("cut in the header", _make(wav_bytes(bytes(1000))[:30]), "is damaged"),
    ("only a header", _make(wav_bytes(bytes(1000))[:36]), "is damaged"),
    ("A-law", _make(wav_bytes(bytes(1000), "u8", code=6)), "A-law"),
    ("unknown format", _make(wav_bytes(bytes(1000), code=0x1234)), "format 4660"),
    ("no channels", _make(wav_bytes(bytes(1000), channels=0)), "is damaged"),
    ("absurd rate", _make(wav_bytes(bytes(1000), rate=4_000_000_000 // 2)), "is damaged"),
    ("5-byte samples", _make(wav_bytes(bytes(1000), "f8", code=1)), "64-bit samples"),
]


@pytest.mark.parametrize(("case", "make", "reason"), BAD, ids=[case for case, _, _ in BAD])
async def test_a_bad_file_says_why_in_one_sentence(
    tmp_path: Path, case: str, make: Callable[[Path], object], reason: str
) -> None:
    path = tmp_path / "command.wav"
    make(path)
    for attempt in (lambda: asyncio.to_thread(read_wav, path), lambda: first(path)):
        with pytest.raises(InputUnusable) as caught:
            await attempt()
        sentence = str(caught.value)
        assert reason in sentence
        assert str(path) in sentence
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert ". " not in sentence.replace(str(path), "")  # one sentence


async def first(path: Path) -> Frame:
    return await anext(aiter(WavSource(path, realtime=False).frames()))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.wav"
    path.write_bytes(wav_bytes(bytes(1000)))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    # tests may run as root, for whom file modes do not count
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputUnusable, match="is not readable by this user"):
        read_wav(path)


class StepClock:
    """A clock on which time passes only in `sleep`, which oversleeps."""

    def __init__(self, oversleep: float) -> None:
        self.time = 100.0
        self._oversleep = oversleep

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds + (self._oversleep if seconds else 0.0)


async def test_real_time_does_not_drift(tmp_path: Path) -> None:
    path = tmp_path / "minute.wav"
    write_wav(path, bytes(16_000 * 2 * 60), 16_000)
    clock = StepClock(oversleep=0.003)

    late = []
    async for frame in WavSource(path, realtime=True, clock=clock).frames():
        late.append(clock.time - 100.0 - frame.end / 16_000)

    assert len(late) == 3000
    assert min(late) >= -1e-9  # never before the sound would have been spoken
    assert max(late) <= 0.0031  # the last frame is no later than the first


def test_pulled_says_who_sets_the_pace(tmp_path: Path) -> None:
    assert WavSource(tmp_path / "x.wav", realtime=False).pulled
    assert not WavSource(tmp_path / "x.wav", realtime=True).pulled


async def test_a_long_file_needs_little_memory_and_leaves_the_loop_free(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    minutes = 10
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        for _ in range(minutes):
            file.writeframes(bytes(16_000 * 2 * 60))
    turns = 0

    async def other_work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        other = group.create_task(other_work())
        tracemalloc.start()
        count = 0
        async for _ in WavSource(path, realtime=False).frames():
            count += 1
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        other.cancel()

    assert count == minutes * 60 * 50
    assert peak < 2_000_000
    assert turns >= count / 2


async def test_frames_can_be_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "twice.wav"
    write_wav(path, np.arange(3200, dtype="<i2").tobytes(), 16_000)
    source = WavSource(path, realtime=False)
    assert await collect(source) == await collect(source)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    pcm = np.arange(-5000, 5000, dtype="<i2").tobytes()
    write_wav(tmp_path / "out.wav", pcm, 16_000)
    assert read_wav(tmp_path / "out.wav") == pcm


def test_writing_where_one_cannot(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="cannot be written"):
        write_wav(tmp_path / "no" / "out.wav", b"", 16_000)


def test_recorded_speech_at_48_khz(speech: Path) -> None:
    pcm = read_wav(speech / "alexa_turn_off_dining_room.wav")
    assert len(pcm) // 2 == pytest.approx(100_867 / 3, abs=2)
