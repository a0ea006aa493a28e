"""Speech starts and ends by the rules, for any row of probabilities."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.endpoint import Endpointer, SpeechEnded, SpeechStarted
from audio.vad import Voicing

CHUNK = 512
Event = SpeechStarted | SpeechEnded


def play(endpointer: Endpointer, probabilities: list[float], first: int = 0) -> list[Event]:
    """Chunk after chunk, from chunk number `first`."""
    heard = [
        endpointer.hear(Voicing((first + number + 1) * CHUNK, probability))
        for number, probability in enumerate(probabilities)
    ]
    return [event for event in heard if event is not None]


def chunks(*numbers: int) -> list[int]:
    return [number * CHUNK for number in numbers]


SILENCE = [0.0] * 22  # 704 ms, the first length of silence above 700 ms

STARTS = [
    ("three in a row", [0, 0, 1, 1, 1], 2),
    ("three of four", [0, 1, 0, 1, 1], 1),
    ("a gap of two is too long", [1, 0, 0, 1, 1], None),
    ("two are not enough", [0, 1, 1, 0, 0, 0], None),
    ("exactly at the threshold is not above it", [0.5, 0.5, 0.5, 0.5], None),
    ("the window slides", [1, 0, 0, 1, 1, 1], 3),
    ("at once", [0.51, 0.6, 0.7], 0),
]


@pytest.mark.parametrize(
    ("probabilities", "first"), [row[1:] for row in STARTS], ids=[row[0] for row in STARTS]
)
def test_start(probabilities: list[float], first: int | None) -> None:
    expected = [] if first is None else [SpeechStarted(at=first * CHUNK)]
    assert play(Endpointer(), probabilities) == expected


def test_the_end_is_where_the_voice_was_last() -> None:
    events = play(Endpointer(), [1, 1, 1, 1, *SILENCE])
    last, decided = chunks(4, 26)
    assert events == [SpeechStarted(0), SpeechEnded(at=last, decided_at=decided)]


def test_it_is_decided_as_soon_as_the_hang_over_is_full() -> None:
    assert len(play(Endpointer(), [1, 1, 1, *SILENCE[:-1]])) == 1


@pytest.mark.parametrize(
    ("hang_over_ms", "silent"), [(300, 9), (304, 9), (305, 10), (860, 27), (1150, 36)]
)
def test_a_pause_is_the_number_of_chunks_that_is_nearest(hang_over_ms: int, silent: int) -> None:
    events = play(Endpointer(hang_over_ms), [1, 1, 1, *[0.0] * 40])
    assert events[-1] == SpeechEnded(*chunks(3, 3 + silent))


def test_a_weak_syllable_keeps_speech_going() -> None:
    events = play(Endpointer(), [1, 1, 1, *SILENCE[:10], 0.36, 0.36, *SILENCE[:-1]])
    assert events == [SpeechStarted(0)]
    events = play(Endpointer(), [1, 1, 1, *SILENCE[:10], 0.35, 0.35, *SILENCE[:11]])
    assert events[-1] == SpeechEnded(*chunks(3, 25))


@pytest.mark.parametrize(
    ("pause", "last"),
    [
        pytest.param([*SILENCE[:10], 0.9, *SILENCE[:11]], 3, id="a blip of the noise"),
        pytest.param([*SILENCE[:10], 0.9, 0, 0, 0.9, *SILENCE[:8]], 3, id="two, far apart"),
        pytest.param([*SILENCE[:10], 0.9, 0, 0.9, *SILENCE], 16, id="a weak word"),
        pytest.param([*SILENCE[:5], 0.9, *SILENCE], 9, id="in a pause between syllables"),
    ],
)
def test_one_chunk_alone_in_a_pause_is_nobody_speaking(pause: list[float], last: int) -> None:
    [_, ended] = play(Endpointer(), [1, 1, 1, *pause])
    assert ended == SpeechEnded(at=last * CHUNK, decided_at=(last + 22) * CHUNK)


def test_nothing_ends_on_a_chunk_that_may_be_the_first_of_a_word() -> None:
    assert len(play(Endpointer(), [1, 1, 1, *SILENCE[:-1], 0.9, 0.9, *SILENCE[:-1]])) == 1


def test_the_hang_over_can_be_changed_while_running() -> None:
    endpointer = Endpointer()
    assert play(endpointer, [1, 1, 1, *SILENCE[:10]]) == [SpeechStarted(0)]
    endpointer.hang_over_ms = 300
    assert play(endpointer, [0.0], first=13) == [SpeechEnded(*chunks(3, 14))]


def test_after_an_end_speech_can_start_again() -> None:
    events = play(Endpointer(), [1, 1, 1, *SILENCE, 1, 1, 1])
    assert [type(event) for event in events] == [SpeechStarted, SpeechEnded, SpeechStarted]
    assert events[2] == SpeechStarted(25 * CHUNK)


def test_what_lies_before_the_reset_does_not_count() -> None:
    endpointer = Endpointer()
    play(endpointer, [1, 1, 1, 1])
    assert endpointer.speaking
    endpointer.reset(after=6 * CHUNK + 1)
    assert not endpointer.speaking
    # Chunk 6 begins one sample too early; 7, 8 and 9 make the start.
    assert play(endpointer, [1, 1, 1, 1, 1, 1], first=4) == [SpeechStarted(7 * CHUNK)]


def test_a_reset_without_a_place_forgets_a_half_begun_start() -> None:
    endpointer = Endpointer()
    play(endpointer, [1, 1])
    endpointer.reset()
    assert play(endpointer, [1, 1], first=2) == []


def test_chunks_of_another_length() -> None:
    endpointer = Endpointer(chunk_samples=320)
    heard = [endpointer.hear(Voicing(end, 1.0)) for end in (16_320, 16_640, 16_960)]
    assert heard == [None, None, SpeechStarted(16_000)]


@given(
    st.lists(st.floats(0, 1), max_size=200),
    st.integers(100, 1500),
    st.integers(0, 100_000),
)
@settings(deadline=None)
def test_any_row_of_probabilities(row: list[float], hang_over_ms: int, after: int) -> None:
    endpointer = Endpointer(hang_over_ms=hang_over_ms)
    endpointer.reset(after=after)
    events = play(endpointer, row)

    kinds = [type(event) for event in events]
    assert kinds == [SpeechStarted, SpeechEnded] * (len(kinds) // 2) + (
        [SpeechStarted] if len(kinds) % 2 else []
    )
    assert endpointer.speaking == bool(len(kinds) % 2)
    places = [event.at for event in events]
    assert places == sorted(places)
    assert all(place >= after for place in places)
    for event in events:
        if isinstance(event, SpeechStarted):
            assert row[event.at // CHUNK] > 0.5
        else:
            assert row[event.at // CHUNK - 1] > 0.35
            silence = row[event.at // CHUNK : event.decided_at // CHUNK]
            assert all(probability <= 0.35 for probability in silence)
            hang_over = hang_over_ms * 16
            assert abs(event.decided_at - event.at - hang_over) <= CHUNK // 2
