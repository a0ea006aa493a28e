"""Begin and end of speech by the rules, for any sequence of probabilities."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.endpoint import FAINT_MS, Endpointer, PersonLevel, SpeechEnded, SpeechStarted
from audio.vad import Voicing, level_of

CHUNK = 512
Event = SpeechStarted | SpeechEnded


def play(endpointer: Endpointer, probabilities: list[float], first: int = 0) -> list[Event]:
    """Feed chunk after chunk, from chunk number `first`."""
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
    # Chunk 6 starts one sample too early; 7, 8 and 9 begin the speech.
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


# The person's voice among others that were there before.


def test_where_nobody_talked_before_everything_is_the_persons() -> None:
    person = PersonLevel()
    person.begin()
    assert person.is_near(-20.0)
    assert person.is_near(-60.0)


def test_what_is_not_measured_is_the_persons() -> None:
    person = PersonLevel()
    for _ in range(20):
        person.background(-30.0, voiced=True)
    person.begin()
    assert person.is_near(None)


def test_noise_before_is_no_talk() -> None:
    person = PersonLevel()
    for _ in range(20):
        person.background(-20.0, voiced=False)
    person.begin()
    assert person.is_near(-20.0)
    assert person.is_near(-40.0)


def test_who_is_as_loud_as_those_before_is_not_the_person() -> None:
    person = PersonLevel()
    for _ in range(20):
        person.background(-32.0, voiced=True)
    person.begin()
    assert all(person.is_near(-20.0) for _ in range(30))
    near = [person.is_near(-32.0) for _ in range(20)]
    assert near[0]
    assert not any(near[10:])


def after_talk(talk: float, word: float) -> PersonLevel:
    """Feed talk of one level, then the wake word at another, with a pause after each."""
    person = PersonLevel()
    for level, own in ((talk, False), (word, True)):
        for _ in range(20):
            person.background(level, voiced=True, own=own)
        for _ in range(8):
            person.background(-70.0, voiced=False)
    return person


@pytest.mark.parametrize(("talk", "are_others"), [(-20.0, False), (-22.0, False), (-23.0, True)])
def test_who_talked_as_loud_as_the_wake_word_may_have_been_the_person(
    talk: float, are_others: bool
) -> None:
    person = after_talk(talk, word=-20.0)
    person.begin()
    assert all(person.is_near(-20.0) for _ in range(30))
    assert [person.is_near(-28.0) for _ in range(20)][-1] is not are_others


def test_while_only_others_have_spoken_nothing_is_faint() -> None:
    person = after_talk(-30.0, word=-20.0)
    person.begin()
    for level in (-30.0, -36.0, -30.0):
        assert all(person.is_near(level) for _ in range(40))
    assert all(person.is_near(-20.0) for _ in range(60))
    assert not [person.is_near(-36.0) for _ in range(20)][-1]


def test_in_the_next_turn_the_others_are_known_and_the_person_is_not() -> None:
    first = after_talk(-30.0, word=-20.0)
    first.begin()
    person = first.next_turn()
    person.begin()
    assert all(person.is_near(-24.0) for _ in range(30))
    assert not [person.is_near(-30.0) for _ in range(20)][-1]


def talk(
    rows: list[tuple[float, float]], person_from: int, hang_over_ms: int = 800
) -> list[SpeechStarted | SpeechEnded]:
    endpointer = Endpointer(hang_over_ms)
    endpointer.reset(after=person_from, person_from=person_from)
    return _heard(endpointer, rows)


def _heard(
    endpointer: Endpointer, rows: list[tuple[float, float]], first: int = 0
) -> list[SpeechStarted | SpeechEnded]:
    heard = [
        endpointer.hear(Voicing((number + 1) * CHUNK, probability, level))
        for number, (probability, level) in enumerate(rows, first)
    ]
    return [event for event in heard if event is not None]


OTHERS, PERSON, QUIET = (1.0, -30.0), (1.0, -20.0), (0.0, -70.0)
# Sound without pauses is the room's noise.
TALK, COMMAND = [QUIET, *[OTHERS] * 6] * 6, [QUIET, *[PERSON] * 6] * 6
BEFORE = len(TALK) * CHUNK


def test_the_turn_ends_while_others_talk_on() -> None:
    events = talk([OTHERS] * 30 + [PERSON] * 40 + [OTHERS] * 60, person_from=30 * CHUNK)
    ended = events[1]
    assert isinstance(ended, SpeechEnded)
    assert 70 * CHUNK <= ended.at < 78 * CHUNK
    assert ended.decided_at - ended.at <= FAINT_MS * 16 + CHUNK


@pytest.mark.parametrize("hang_over_ms", [900, 1150])
def test_a_pause_of_others_does_not_begin_the_wait_anew(hang_over_ms: int) -> None:
    rows = [*TALK, *COMMAND, *TALK[:22], *[QUIET] * 60]  # 0.7 s of others, then nobody
    ended = talk(rows, BEFORE, hang_over_ms)[1]
    assert isinstance(ended, SpeechEnded)
    waited = ended.decided_at - ended.at
    allowed = max(FAINT_MS, hang_over_ms) * 16
    assert allowed <= waited < allowed + CHUNK


def test_a_pause_ends_a_command_at_once_though_its_last_word_was_faint() -> None:
    rows = [*TALK, *COMMAND, *[OTHERS] * 12, *[QUIET] * 30]
    ended = talk(rows, BEFORE, hang_over_ms=300)[1]
    assert isinstance(ended, SpeechEnded)
    assert ended.decided_at == (len(TALK) + len(COMMAND) + 12 + 9) * CHUNK


def test_another_turn_goes_on_with_the_same_others_or_without_any() -> None:
    for goes_on in (True, False):
        endpointer = Endpointer(hang_over_ms=800)
        endpointer.reset(after=BEFORE, person_from=BEFORE)
        _heard(endpointer, [*TALK, *COMMAND, *[QUIET] * 40])
        first = len(TALK + COMMAND) + 40
        endpointer.reset(after=first * CHUNK, goes_on=goes_on)
        events = _heard(endpointer, [*COMMAND, *TALK], first)
        assert [type(event) for event in events][:2] == [SpeechStarted, SpeechEnded][: 1 + goes_on]


def test_one_person_may_become_faint() -> None:
    events = talk([QUIET] * 30 + [PERSON] * 40 + [OTHERS] * 60, person_from=30 * CHUNK)
    assert [type(event) for event in events] == [SpeechStarted]


def test_the_rooms_echo_is_not_voiced() -> None:
    echo = (1.0, -46.0)
    events = talk([QUIET] * 10 + [PERSON] * 40 + [echo] * 8 + [QUIET] * 30, person_from=0)
    assert isinstance(events[1], SpeechEnded)
    assert events[1].at == 50 * CHUNK


def test_levels_are_below_full_scale() -> None:
    assert level_of(bytes(640)) == -120.0
    assert round(level_of((16384).to_bytes(2, "little") * 320), 1) == -6.0
