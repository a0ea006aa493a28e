"""The mixer's output, sample by sample."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio.mixer import CAPACITY, DOWN_MS, DUCK_DB, HOLD_MS, RATE, SMOOTH_MS, UP_MS, Mixer, limited
from audio.player import StreamName

Samples = NDArray[np.int16]
BLOCK = RATE // 50
MS = RATE // 1000


def tone(seconds: float, hertz: float = 440.0, level: float = 8000.0) -> Samples:
    """Make a sine that begins at 0."""
    return (np.sin(np.arange(round(seconds * RATE)) * 2 * np.pi * hertz / RATE) * level).astype(
        np.int16
    )


def mixed(mixer: Mixer, samples: int, block: int = BLOCK) -> Samples:
    """Return the device's sound, mixed in blocks."""
    blocks = [mixer.mix(min(block, samples - at)) for at in range(0, samples, block)]
    return np.frombuffer(b"".join(blocks), np.int16)


def steepest(sound: Samples) -> int:
    """Return the largest jump between two samples, with silence before the first."""
    return int(np.abs(np.diff(sound.astype(int), prepend=0)).max())


def level(sound: Samples) -> float:
    return float(np.sqrt(np.mean(sound.astype(float) ** 2)))


def test_one_stream_comes_out_as_it_went_in_and_is_counted() -> None:
    mixer, sound = Mixer(), tone(0.5)
    voice = mixer.tracks["voice"]
    for piece in np.array_split(sound, 7):
        voice.put(piece)
    out = mixed(mixer, 10 * BLOCK)
    assert np.array_equal(out, sound[: 10 * BLOCK])
    assert (voice.handed, voice.waiting) == (10 * BLOCK, len(sound) - 10 * BLOCK)
    out = np.concatenate([out, mixed(mixer, len(sound))])
    assert np.array_equal(out[: len(sound)], sound)
    assert voice.handed == len(sound)
    assert mixer.quiet


def test_streams_are_added_up_and_counted_apart() -> None:
    mixer = Mixer()
    voice, bell = tone(0.4, 300), tone(0.1, 700, 4000)
    mixer.tracks["voice"].put(voice)
    mixer.tracks["sounds"].put(bell)
    out = mixed(mixer, len(voice))
    both = voice.astype(int)
    both[: len(bell)] += bell
    heard = slice(0, len(bell))
    assert np.array_equal(out[heard], both[heard])
    after = len(bell) + RATE * SMOOTH_MS // 1000  # the bell's last sample was not silence
    assert np.array_equal(out[after:], voice[after:])
    assert [mixer.tracks[name].handed for name in ("voice", "sounds", "ringing")] == [
        len(voice),
        len(bell),
        0,
    ]


@given(
    pieces=st.lists(
        st.tuples(
            st.sampled_from(("voice", "announcements", "sounds", "ringing")),
            st.integers(1, 3000),
            st.integers(-32768, 32767),
        ),
        max_size=6,
    ),
    events=st.lists(
        st.tuples(
            st.integers(0, 6000), st.sampled_from(("duck", "raise", "voice", "ringing", "more"))
        ),
        max_size=4,
    ),
    cuts=st.lists(st.integers(0, 9000), max_size=12),
)
@settings(deadline=None)
def test_it_does_not_matter_how_it_is_cut_into_blocks(
    pieces: Sequence[tuple[StreamName, int, int]],
    events: Sequence[tuple[int, str]],
    cuts: Sequence[int],
) -> None:
    def run(cuts: Sequence[int]) -> bytes:
        mixer = Mixer()
        mixer.lead_in(100)
        for name, length, value in pieces:
            mixer.tracks[name].put(np.full(length, value, np.int16))
        out = bytearray()
        at = 0
        marks = sorted({*cuts, *(moment for moment, _ in events), 9000})
        for mark in marks:
            for moment, what in events:
                if moment == at:
                    happen(mixer, what)
            out += mixer.mix(mark - at)
            at = mark
        return bytes(out)

    def happen(mixer: Mixer, what: str) -> None:
        match what:
            case "duck" | "raise":
                mixer.duck(what == "duck")
            case "voice" | "ringing":
                mixer.tracks["voice" if what == "voice" else "ringing"].stop()
            case _:
                mixer.tracks["voice"].put(tone(0.01))

    assert run(cuts) == run([])


def test_loud_streams_bend_and_never_wrap() -> None:
    mixer = Mixer()
    for name in ("voice", "announcements", "sounds"):
        mixer.tracks[name].put(tone(0.2, 200, 32767))
    out = mixed(mixer, RATE // 5)
    wanted = 3 * tone(0.2, 200, 32767).astype(int)
    assert (np.sign(out) * np.sign(wanted) >= 0).all()
    assert 32000 < np.abs(out.astype(int)).max() <= 32767
    assert steepest(out) < 3 * steepest(tone(0.2, 200, 32767)) + 2


def test_the_limit_is_a_smooth_curve_that_leaves_the_quiet_alone() -> None:
    line = np.arange(-100_000, 100_000, 10).astype(np.float32)
    bent = limited(line.copy())
    quiet = np.abs(line) <= 0.9 * 32767
    assert np.array_equal(bent[quiet], line[quiet])
    assert (np.diff(bent) >= 0).all()
    assert (np.diff(bent) <= 10.01).all()
    assert np.abs(bent).max() <= 32767


def test_ducking_goes_down_and_up_in_its_time_without_a_click() -> None:
    mixer, sound = Mixer(), tone(2.0)
    mixer.tracks["voice"].put(sound)
    before = mixed(mixer, 200 * MS)
    mixer.duck(True)
    down = mixed(mixer, DOWN_MS * MS)
    ducked = mixed(mixer, 200 * MS)
    mixer.duck(False)
    up = mixed(mixer, UP_MS * MS)
    after = mixed(mixer, 200 * MS)
    assert 20 * math.log10(level(ducked) / level(before)) == pytest.approx(DUCK_DB, abs=0.1)
    assert np.array_equal(after, sound[(400 + DOWN_MS + UP_MS) * MS :][: 200 * MS])
    assert steepest(np.concatenate([before, down, ducked, up, after])) <= steepest(sound) + 5
    assert level(down[: DOWN_MS * MS // 5]) > 0.8 * level(before)  # a ramp, not a step


def test_only_words_are_ducked_and_ringing_gives_way_to_words() -> None:
    mixer = Mixer()
    mixer.duck(True)
    mixed(mixer, 100 * MS)
    mixer.tracks["sounds"].put(tone(0.1))
    assert np.array_equal(mixed(mixer, 100 * MS), tone(0.1))
    mixer.duck(False)
    mixed(mixer, 200 * MS)
    ringing = tone(2.0, 600)
    mixer.tracks["ringing"].put(ringing)
    alone = mixed(mixer, 100 * MS)
    mixer.tracks["announcements"].put(np.zeros(500 * MS, np.int16))
    under = mixed(mixer, 500 * MS)[DOWN_MS * MS :]
    held = mixed(mixer, HOLD_MS * MS)  # a pause between words keeps it down
    mixed(mixer, UP_MS * MS)
    again = mixed(mixer, 100 * MS)
    assert level(alone) == pytest.approx(level(again), rel=0.01)
    for part in (under, held):
        assert 20 * math.log10(level(part) / level(alone)) == pytest.approx(DUCK_DB, abs=0.2)


def pieces_of(sound: Samples, length: int) -> Iterator[Samples]:
    for at in range(0, len(sound), length):
        yield sound[at : at + length]


def test_a_stream_that_runs_dry_does_not_click_and_is_counted() -> None:
    mixer, sound = Mixer(), tone(0.5, 300)
    voice = mixer.tracks["voice"]
    out = []
    for piece in pieces_of(sound, 5011):  # each piece ends somewhere in the wave
        voice.put(piece)
        out.append(mixed(mixer, 7 * BLOCK))
    heard = np.concatenate(out)
    assert steepest(heard) <= 2 * steepest(sound)
    assert voice.underruns == 4  # it also ran dry after the last one, but nothing followed
    assert voice.handed == len(sound)
    voice.end()
    voice.put(sound[:100])
    assert voice.underruns == 4
    voice.put(sound[100:200])
    assert voice.underruns == 4


def test_what_was_put_in_time_is_joined_without_a_gap() -> None:
    mixer, sound = Mixer(), tone(1.0, 300)
    voice = mixer.tracks["voice"]
    out = []
    for piece in pieces_of(sound, BLOCK + 7):
        voice.put(piece)
        out.append(mixed(mixer, BLOCK))
    out.append(mixed(mixer, len(sound) - BLOCK * len(out)))
    assert np.array_equal(np.concatenate(out), sound)
    assert voice.underruns == 0


def test_stop_is_silence_within_a_few_milliseconds_and_of_one_stream_only() -> None:
    mixer = Mixer()
    voice, ringing = mixer.tracks["voice"], mixer.tracks["ringing"]
    sound = tone(1.0, 300)
    voice.put(sound)
    before = mixed(mixer, 130 * MS + 17)
    voice.stop()
    after = mixed(mixer, 100 * MS)
    assert voice.handed == len(before)
    assert steepest(np.concatenate([before, after])) <= 2 * steepest(sound)
    assert not after[SMOOTH_MS * MS :].any()
    assert mixer.quiet
    ringing.put(sound)
    mixed(mixer, BLOCK)
    voice.stop()
    assert mixed(mixer, BLOCK).any()


def test_sound_that_follows_a_stop_at_once_does_not_click_either() -> None:
    mixer, sound = Mixer(), tone(1.0, 300)
    voice = mixer.tracks["voice"]
    voice.put(sound)
    before = mixed(mixer, 130 * MS + 40)
    voice.stop()
    voice.put(-sound[40 + 130 * MS :])
    after = mixed(mixer, 100 * MS)
    assert steepest(np.concatenate([before, after])) <= 2 * steepest(sound)


def test_lead_in_is_silence_that_swallows_nothing() -> None:
    mixer, sound = Mixer(), tone(0.2)
    mixer.lead_in(1500)
    mixer.tracks["voice"].put(sound)
    out = mixed(mixer, 1500 + len(sound))
    assert not out[:1500].any()
    assert np.array_equal(out[1500:], sound)


def test_the_position_is_what_has_left_the_loudspeaker() -> None:
    mixer = Mixer()
    voice = mixer.tracks["voice"]
    mixer.mix(BLOCK, 10.0)
    voice.put(tone(0.05))
    for block in range(4):
        mixer.mix(BLOCK, 10.1 + 0.02 * block)
    assert voice.handed == 50 * MS
    told = [voice.position(10.1 + late) for late in (-1.0, 0.0, 0.01, 0.03, 0.045, 0.05, 1.0)]
    assert told == pytest.approx([0, 0, 10 * MS, 30 * MS, 45 * MS, 50 * MS, 50 * MS], abs=1)
    assert voice.position(0.0) == 50 * MS  # never back


def test_a_pause_between_blocks_of_a_stream_is_no_progress() -> None:
    mixer = Mixer()
    voice = mixer.tracks["voice"]
    voice.put(tone(0.02))
    mixer.mix(BLOCK, 1.0)
    mixer.mix(BLOCK, 1.02)
    voice.put(tone(0.02))
    mixer.mix(BLOCK, 1.04)
    assert voice.position(1.03) == 20 * MS
    assert voice.position(1.05) == pytest.approx(30 * MS, abs=1)


def test_what_the_device_holds_at_a_stop_counts_at_once() -> None:
    mixer = Mixer()
    voice = mixer.tracks["voice"]
    voice.put(tone(0.1))
    mixer.mix(BLOCK, 5.0)
    voice.stop()
    assert voice.position(4.0) == BLOCK


def test_a_device_that_has_gone_gives_back_what_was_not_heard() -> None:
    mixer, sound = Mixer(), tone(0.2)
    voice = mixer.tracks["voice"]
    voice.put(sound)
    for block in range(4):
        mixer.mix(BLOCK, 3.0 + 0.02 * block)
    mixer.rewind(3.03)
    heard = voice.handed
    assert heard == pytest.approx(30 * MS, abs=1)
    assert voice.waiting == len(sound) - heard
    rest = mixed(mixer, len(sound))
    assert (
        np.abs(rest[MS * SMOOTH_MS : 100 * MS] - sound[heard:][MS * SMOOTH_MS : 100 * MS]).max()
        == 0
    )
    assert steepest(rest) <= 2 * steepest(sound)


def test_a_stream_is_bounded() -> None:
    voice = Mixer().tracks["voice"]
    voice.put(np.zeros(CAPACITY, np.int16))
    with pytest.raises(OverflowError):
        voice.put(np.zeros(1, np.int16))
