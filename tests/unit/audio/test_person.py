"""The person's voice beside others' that were there before."""

from audio.endpoint import Endpointer, SpeechEnded, SpeechStarted
from audio.person import FAINT_MS, PersonLevel
from audio.vad.protocol import Voicing, level_of

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


def play(rows: list[tuple[float, float]], person_from: int) -> list[SpeechStarted | SpeechEnded]:
    endpointer = Endpointer(hang_over_ms=800)
    endpointer.reset(after=person_from, person_from=person_from)
    heard = [
        endpointer.hear(Voicing((number + 1) * CHUNK, probability, level))
        for number, (probability, level) in enumerate(rows)
    ]
    return [event for event in heard if event is not None]


OTHERS, PERSON, QUIET = (1.0, -30.0), (1.0, -20.0), (0.0, -70.0)


def test_the_turn_ends_while_others_talk_on() -> None:
    events = play([OTHERS] * 30 + [PERSON] * 40 + [OTHERS] * 60, person_from=30 * CHUNK)
    ended = events[1]
    assert isinstance(ended, SpeechEnded)
    assert 70 * CHUNK <= ended.at < 78 * CHUNK
    assert ended.decided_at - ended.at <= FAINT_MS * 16 + CHUNK


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
