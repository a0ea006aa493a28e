"""Tests of the report's part on the end of a turn: whose delays count, and the others' remarks."""

import math

from tests.benchmarks.end_of_turn import HEAD, Delays, row
from tests.benchmarks.report.ending import BESIDE, BOUNDS_MS, _line
from tests.benchmarks.report.line import Verdict
from tests.benchmarks.utterances import Utterance

HALF = Utterance("command", "held", "slt", 500, "turn on", "the light")
OPEN = Utterance("question", "held", "slt", 500, "what is", "the time")


def test_who_was_cut_off_or_never_ended_has_no_delay() -> None:
    found: Delays = {
        "ours": [(HALF, None, 350.0), (HALF, None, -40.0), (OPEN, None, 900.0)],
        BESIDE: [(HALF, None, 1_225.0), (HALF, None, math.inf), (OPEN, None, 1_230.0)],
    }
    line = _line("command", found, "ours")
    assert line.theirs is not None
    assert (line.ours.values, line.theirs.values) == ((350.0,), (1_225.0,))
    assert (line.most, line.verdict, line.own) == (BOUNDS_MS["command"], Verdict.KEPT, True)


def test_a_figure_that_is_none_is_told_in_words() -> None:
    never = dict(zip(HEAD, row("a pause", "commands", [300.0, math.inf]).cells(), strict=True))
    assert (never["max ms"], never["after 1.5 s"]) == ("never", 1)
    cut = dict(zip(HEAD, row("a pause", "commands", [-10.0, -20.0]).cells(), strict=True))
    assert (cut["cut off %"], cut["p50 ms"], cut["max ms"]) == (100.0, "", "")
