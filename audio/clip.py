"""A short sound whole in memory: one out of a sound file, as loud as our own voice.

libsndfile decodes it. It reads some thirty formats; only those are given to it that people have
their sounds in, told by their first bytes, whatever the file's name.
"""

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import soxr

from audio.errors import InputUnusable
from audio.track import RATE
from audio.tts.level import level_whole

# Changing the rate of mono int16 sound, a stream at a time or a buffer at a time, with libsoxr.


QUALITY = "HQ"  # 20 bit; costs 0.03 % of a core for 48 kHz to 16 kHz, holds back about 20 ms


class Resampler:
    """Changes the rate of a stream of mono int16; equal rates pass through untouched."""

    def __init__(self, from_rate: int, to_rate: int) -> None:
        """Rates in Hz, both above 0."""
        self._stream = (
            None
            if from_rate == to_rate
            else soxr.ResampleStream(from_rate, to_rate, 1, dtype="int16", quality=QUALITY)
        )

    def push(self, pcm: bytes) -> bytes:
        """Take a block, give what is ready: with HQ that comes in bursts, often nothing."""
        return self._run(pcm, last=False)

    def flush(self) -> bytes:
        """What the filter held back. The resampler must not be used afterwards."""
        return self._run(b"", last=True)

    def _run(self, pcm: bytes, *, last: bool) -> bytes:
        if self._stream is None:
            return pcm
        samples = np.frombuffer(pcm, dtype=np.int16)
        return bytes(self._stream.resample_chunk(samples, last=last).tobytes())


def resample(pcm: bytes, from_rate: int, to_rate: int) -> bytes:
    """The whole buffer of mono int16 at another rate, in one go; rates in Hz."""
    if from_rate == to_rate or not pcm:
        return pcm
    samples = np.frombuffer(pcm, dtype=np.int16)
    return bytes(soxr.resample(samples, from_rate, to_rate, quality=QUALITY).tobytes())


LONGEST_S = 120.0
MOST_CHANNELS = 8
_RATES = range(4_000, 192_001)  # Hz
_BLOCK = 1 << 16  # sample frames that are decoded at a time
_FULL = 32_767.0
_HEADS = (b"RIFF", b"RF64", b"fLaC", b"OggS", b"ID3", b"FORM")


@dataclass(frozen=True, slots=True)
class Clip:
    """Mono int16 PCM."""

    name: str  # for people, such as "doorbell.wav"
    pcm: bytes = field(repr=False)
    rate: int  # Hz

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.pcm) / 2 / self.rate


def decoded(data: bytes, name: str) -> Clip:
    """The sound in a WAV, AIFF, FLAC, OGG or MP3 file, levelled, at the mixer's rate. Blocking.

    Channels are mixed to one. `name` is for messages. Raises InputUnusable, one sentence.
    """
    if not data.startswith(_HEADS) and not _is_mp3(data):
        raise InputUnusable(
            f"{name} is no sound file that can be played here: give WAV, FLAC, OGG or MP3."
        )
    # Imported late: it brings a library that most processes never need.
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            rate, channels = int(file.samplerate), int(file.channels)
            if rate not in _RATES or channels > MOST_CHANNELS:
                raise InputUnusable(
                    f"{name} has {channels} channels at {rate} Hz, which is not played here: "
                    "convert it to 44100 Hz stereo or mono."
                )
            pcm = _read(file, rate, name)
    except soundfile.SoundFileError as error:
        raise InputUnusable(
            f"{name} is damaged or of a kind that is not played here: export it again as WAV, "
            "FLAC, OGG or MP3."
        ) from error
    if not pcm:
        raise InputUnusable(f"{name} holds no sound: record or export it again.")
    return Clip(name, level_whole(pcm, RATE), RATE)


def levelled(pcm: bytes, rate: int, name: str) -> Clip:
    """Mono int16 PCM that is there already, as loud as our voice and at the mixer's rate.

    Blocking, some 10 ms for each minute. Raises InputUnusable where it is too long.
    """
    if rate not in _RATES:
        raise InputUnusable(f"{name} is at {rate} Hz, which is not played here.")
    if len(pcm) / 2 / rate > LONGEST_S:
        raise _too_long(name)
    return Clip(name, level_whole(resample(pcm, rate, RATE), RATE), RATE)


def _read(file: Any, rate: int, name: str) -> bytes:
    """All of an open file as mono int16 at RATE, a piece at a time: it may be long."""
    resampler, made, samples = Resampler(rate, RATE), bytearray(), 0
    for block in file.blocks(_BLOCK, dtype="float32", always_2d=True):
        samples += len(block)
        if samples > LONGEST_S * rate:  # counted, for a header may say anything
            raise _too_long(name)
        mono = np.nan_to_num(block.mean(axis=1), nan=0.0, posinf=1.0, neginf=-1.0)
        pcm = np.rint(mono.clip(-1.0, 1.0) * _FULL).astype("<i2").tobytes()
        made += resampler.push(pcm)
    return bytes(made + resampler.flush())


def _is_mp3(data: bytes) -> bool:
    """Whether it begins with the eleven set bits of an MPEG audio frame (layer III)."""
    return len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2


def _too_long(name: str) -> InputUnusable:
    return InputUnusable(
        f"{name} is longer than {LONGEST_S:g} s: what is announced is short; play it on a media "
        "player instead."
    )
