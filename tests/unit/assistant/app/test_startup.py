"""Tests of the measured duration of the start."""

import time

from assistant.app.process import Startup


def test_stages_count_from_the_start_of_the_process() -> None:
    ours = Startup.of_process()
    ours.reach("now")
    age_ms = ours.stages["now"]
    assert 100 < age_ms < 3_600_000  # the tests have been imported by it
    time.sleep(0.03)
    ours.reach("now")
    assert ours.stages["now"] == age_ms  # each counts once
    ours.reach("later")
    assert 25 < ours.stages["later"] - age_ms < 5_000


def test_it_reads_as_one_line() -> None:
    startup = Startup()
    startup.stages |= {"ear": 820.4, "listening": 1004.0}
    assert str(startup) == "ear 0.82 s, listening 1.00 s"
