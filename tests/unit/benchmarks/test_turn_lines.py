"""Tests of the report's figures of whole turns, with the peer and without it."""

from tests.benchmarks.lost_start import Opened
from tests.benchmarks.peers.pipecat import NAME
from tests.benchmarks.report.line import Verdict
from tests.benchmarks.report.turn_lines import (
    BOUND_MS,
    Found,
    lines,
    lost_lines,
    lost_table,
    memory_table,
    sounds,
    tables,
)
from tests.benchmarks.utterances import Utterance
from tests.benchmarks.weighing import OURS, THEIRS, Size, Weights
from tests.benchmarks.whole_turns import Turn

HALF = Utterance("command", "held", "slt", 500, "turn on", "the light")
OPEN = Utterance("question", "held", "slt", 500, "what is", "the time")


def turns(first_sound_ms: float, lost: float = 0.0) -> list[Turn]:
    """Return one that was answered, one that was cut off, one without an answer."""
    return [
        Turn(first_sound_ms + 300, 310.0, lost),
        Turn(100.0, -200.0, lost),
        Turn(None, 320.0, lost),
    ]


def found(*, peer: bool) -> Found:
    who = {"gemini": 330.0, "espeak": 350.0} | ({THEIRS: 520.0} if peer else {})
    rows = {(name, calls): turns(ms, 60.0 * (name == THEIRS)) for name, ms in who.items()
            for calls in (0, 1)}  # fmt: skip
    names = (OURS, THEIRS) if peer else (OURS,)
    cold = (Turn(900.0, 310.0, 0.0),)
    nobody = (Turn(None, None, None, spoken=1_342.0),)
    weights = Weights(
        idle={name: [1.0] if name == OURS else [9.0] for name in names},
        ready={name: Size(100.0, 140.0) for name in names},
        after={name: Size(200.0 if name == OURS else 190.0, 240.0) for name in names},
        turns=4,
        said=4,
    )
    return Found(
        rows,
        [Opened(1.0, cold, nobody if peer else ())],
        {name: [(HALF, 300.0), (HALF, -5.0), (OPEN, 900.0)] for name in names},
        weights,
        dict.fromkeys(names, (300.0, 71)),
        speakers=10,
    )


def test_only_who_was_heard_out_and_answered_has_a_time() -> None:
    assert sounds(turns(330.0)) == (330.0,)


def test_the_lines_beside_the_peer() -> None:
    by_subject = {line.subject: line for line in lines(found(peer=True))}
    native = by_subject["from the last word to the first audio, Gemini's voice, no tool call"]
    assert (native.most, native.verdict) == (BOUND_MS, Verdict.KEPT)
    assert native.theirs is not None
    assert native.theirs.values == (520.0,)
    local = by_subject["from the last word to the first audio, local voice, no tool call"]
    assert (native.peer, local.peer) == (NAME, f"{NAME}, Gemini's voice")
    cut = by_subject["share of 2 commands cut off (synthetic voices, 2 with a pause)"]
    assert cut.ours.values == (50.0,)
    warm = by_subject["lost start of a command, open session"]
    assert warm.theirs is not None
    assert (warm.ours.p50, warm.theirs.p50, warm.verdict) == (0.0, 60.0, Verdict.KEPT)
    cold = by_subject["lost start of a command, connection time 1 s"]
    assert cold.theirs is not None
    assert cold.theirs.values == (1_342.0,)
    assert "head start" in cold.remark
    assert by_subject["idle in a silent room"].verdict is Verdict.KEPT
    assert by_subject["memory, ready"].verdict is Verdict.KEPT
    after = by_subject["memory, after 4 turns"]
    assert after.verdict is Verdict.MISSED
    assert "recogniser" in after.remark


def test_a_warm_command_of_which_nothing_arrived_is_lost_whole() -> None:
    unheard = [Turn(None, None, None, spoken=1_342.0)]
    (warm,) = lost_lines({("gemini", 0): unheard}, [])
    assert (warm.ours.values, warm.verdict) == ((1_342.0,), Verdict.MISSED)


def test_without_the_peer_ours_stand_alone() -> None:
    alone = list(lines(found(peer=False)))
    assert [line.subject for line in alone] == [line.subject for line in lines(found(peer=True))]
    assert all(line.theirs is None and line.ratio is None for line in alone)
    assert not any("The peer" in line.remark for line in alone if "lost" in line.subject)


def test_the_tables() -> None:
    by_title = {table.title: table for table in tables(found(peer=True))}
    told = by_title["Time from the last voiced sample, ms"].rows[0]
    assert told == ("Hearth, Gemini's voice", "no tool call", 3, 1, 1, "315 / 320", "330 / 330")
    assert all(len(table.head) == len(one) for table in by_title.values() for one in table.rows)
    assert by_title["Installed size and code to write"].rows[0][0] == "Hearth"


def test_commands_that_were_said_again_are_told() -> None:
    weights = Weights(after={OURS: Size(200.0, 240.0)}, turns=4, said=6)
    assert memory_table(weights).rows == [
        ("Hearth", "4 turns, 2 commands said again", "200", "240")
    ]


def test_a_peer_that_is_not_there_has_no_row() -> None:
    table = lost_table([Opened(0.0, (Turn(1.0, 1.0, 0.0),), ())])
    assert table.rows == [("0 s", "Hearth", "0", "0 of 1")]
