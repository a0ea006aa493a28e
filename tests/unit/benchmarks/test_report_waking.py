"""Tests of the report's part on wake words: what is counted, and beside whom."""

from pathlib import Path

import numpy as np
import pytest

from audio.microphone import BLOCK_MS
from tests.benchmarks.peers.listeners import HEARTH, SATELLITE_PAIR, Listener
from tests.benchmarks.peers.wake import Answer, Fired, read_answer
from tests.benchmarks.report.line import Measured, Verdict
from tests.benchmarks.report.waking import (
    Piece,
    found_table,
    live_lines,
    live_table,
    memory_lines,
    mixed,
    told_ms,
    told_of,
)

ALEXA = Piece("alexa", Path("alexa-0.wav"), start=16_000, end=24_000)
NABU = Piece("okay_nabu", Path("okay_nabu-0.wav"), start=16_000, end=32_000)


def _answer(*fired: Fired) -> Answer:
    return Answer(fired, cpu_s=0.1)


def test_an_answer_is_read() -> None:
    told = {"found": [["alexa", 1280, 2.5]], "cpu_s": 0.25}
    assert read_answer(told) == Answer((Fired("alexa", 1280, 2.5),), 0.25)


def test_what_is_counted_is_the_chunk_and_the_work_on_it() -> None:
    answer = _answer(Fired("alexa", 16_000 + 1_600, 4.0), Fired("alexa", 16_000 + 2_880, 4.0))
    assert told_ms(answer, ALEXA) == 104.0


@pytest.mark.parametrize(
    "fired",
    [
        Fired("okay_nabu", 20_000, 1.0),  # another word
        Fired("alexa", 16_000, 1.0),  # before it was said
        Fired("alexa", 16_000 + 3 * 16_000 + 1, 1.0),  # too late to be meant
    ],
)
def test_what_is_not_that_word_is_a_miss(fired: Fired) -> None:
    assert told_ms(_answer(fired), ALEXA) is None


def test_live_the_first_that_is_told_counts_for_each_word() -> None:
    listener = Listener("one", (1,), told=[10.5, 10.7, 99.0, 20.25])
    assert told_of(listener, [10.0, 20.0, 30.0]) == {0: 500.0, 1: 250.0}


def test_a_clip_lies_in_the_room_where_it_should_and_ends_with_a_block() -> None:
    room = np.full(60_000, 3, "<i2").tobytes()
    clip = np.full(1_000, 32_767, "<i2").tobytes()
    both = np.frombuffer(mixed(room, clip, 5_000), "<i2")
    assert len(both) == 29_440  # 23 blocks of 80 ms; 30,000 were there
    assert (both[:5_000] == 3).all()
    assert (both[5_000:6_000] == 32_767).all()  # and not wrapped round
    assert (both[6_000:] == 3).all()


def test_a_room_that_is_too_short_is_said() -> None:
    with pytest.raises(ValueError, match="the room has 10 samples"):
        mixed(bytes(20), bytes(20), 0)


def test_ours_stands_beside_each_peer_on_the_words_that_both_found() -> None:
    told = {
        "micro": {ALEXA: 700.0, NABU: 1_400.0},
        "open": {ALEXA: 650.0, NABU: 1_500.0},
        "pymicro-wakeword": {NABU: 1_600.0},
    }
    micro, open_alone = memory_lines(told)
    assert (micro.ours.values, micro.peer) == ((1_400.0,), "pymicro-wakeword 2.5.0")
    assert micro.theirs == Measured((1_600.0,), "ms")
    assert (open_alone.ours.values, open_alone.theirs) == ((650.0, 1_500.0), None)


def test_the_reason_is_the_models_where_those_are_others() -> None:
    told = {
        "micro": {ALEXA: 700.0},
        "open": {ALEXA: 650.0},
        "pymicro-wakeword": {ALEXA: 600.0},
        "openwakeword": {ALEXA: 600.0},
    }
    micro, other, same = memory_lines(told)
    assert f"{BLOCK_MS} ms" in micro.remark
    assert "The models differ" in other.remark
    assert same.remark == ""


def test_who_found_no_word_of_ours_has_no_line() -> None:
    told = {"micro": {ALEXA: 700.0}, "open": {ALEXA: 650.0}, "pymicro-wakeword": {NABU: 600.0}}
    assert [line.subject for line in memory_lines(told)] == [
        "from a recording, Hearth's audio front end with open"
    ]


def test_live_hearth_stands_beside_each_on_the_words_that_both_told() -> None:
    live = {HEARTH: {0: 900.0, 1: 950.0, 2: 940.0}, SATELLITE_PAIR: {2: 1_000.0, 0: 1_100.0}}
    (line,) = live_lines(live)
    assert (line.ours.values, line.peer) == ((900.0, 940.0), SATELLITE_PAIR)
    assert line.theirs == Measured((1_100.0, 1_000.0), "ms")
    assert line.verdict is Verdict.NONE
    assert live_table(live, 3).rows == [(HEARTH, "3 of 3"), (SATELLITE_PAIR, "2 of 3")]


def test_hearth_alone_has_a_line_without_a_peer() -> None:
    (line,) = live_lines({HEARTH: {0: 900.0}})
    assert (line.ours.values, line.theirs) == ((900.0,), None)


def test_the_table_tells_hits_and_how_long_after_the_word() -> None:
    told = {"micro": {ALEXA: 450.0, NABU: 1_100.0}, "openwakeword": {}}
    table = found_table([ALEXA, NABU], told)
    assert table.rows == [
        ("Hearth's audio front end with micro", "2 of 2", "-50", "25", "100"),
        ("openwakeword 0.6.0", "0 of 2", "", "", ""),
    ]
