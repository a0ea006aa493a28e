"""The person's voice beside others' that were there before."""

import pytest

from audio.endpoint import FAINT_MS, Endpointer, PersonLevel, SpeechEnded, SpeechStarted
from audio.vad import Voicing, level_of

CHUNK = 512


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
    """Talk of one level, then the wake word of another, with a pause behind each."""
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


def play(
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
# What never pauses is the noise of the room.
TALK, COMMAND = [QUIET, *[OTHERS] * 6] * 6, [QUIET, *[PERSON] * 6] * 6
BEFORE = len(TALK) * CHUNK


def test_the_turn_ends_while_others_talk_on() -> None:
    events = play([OTHERS] * 30 + [PERSON] * 40 + [OTHERS] * 60, person_from=30 * CHUNK)
    ended = events[1]
    assert isinstance(ended, SpeechEnded)
    assert 70 * CHUNK <= ended.at < 78 * CHUNK
    assert ended.decided_at - ended.at <= FAINT_MS * 16 + CHUNK


@pytest.mark.parametrize("hang_over_ms", [900, 1150])
def test_a_pause_of_others_does_not_begin_the_wait_anew(hang_over_ms: int) -> None:
    rows = [*TALK, *COMMAND, *TALK[:22], *[QUIET] * 60]  # 0.7 s of others, then nobody
    ended = play(rows, BEFORE, hang_over_ms)[1]
    assert isinstance(ended, SpeechEnded)
    waited = ended.decided_at - ended.at
    allowed = max(FAINT_MS, hang_over_ms) * 16
    assert allowed <= waited < allowed + CHUNK


def test_a_pause_ends_a_command_at_once_though_its_last_word_was_faint() -> None:
    rows = [*TALK, *COMMAND, *[OTHERS] * 12, *[QUIET] * 30]
    ended = play(rows, BEFORE, hang_over_ms=300)[1]
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
    events = play([QUIET] * 30 + [PERSON] * 40 + [OTHERS] * 60, person_from=30 * CHUNK)
    assert [type(event) for event in events] == [SpeechStarted]


def test_the_rooms_echo_is_not_voiced() -> None:
    echo = (1.0, -46.0)
    events = play([QUIET] * 10 + [PERSON] * 40 + [echo] * 8 + [QUIET] * 30, person_from=0)
    assert isinstance(events[1], SpeechEnded)
    assert events[1].at == 50 * CHUNK


def test_levels_are_below_full_scale() -> None:
    assert level_of(bytes(640)) == -120.0
    assert round(level_of((16384).to_bytes(2, "little") * 320), 1) == -6.0
