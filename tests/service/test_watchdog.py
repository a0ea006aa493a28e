"""Tests that the service recovers from anything that hangs, and waits for what is only absent."""

import time
from pathlib import Path

import pytest

from tests.service.freezing import frozen, threads
from tests.service.installed import UNIT, Installed

pytestmark = [pytest.mark.service, pytest.mark.timeout(300, func_only=True)]

NOTICED_S = 10.0 + 2 * 2.0  # a stuck ear, and two looks at it
SILENCE_S = 20.0  # that systemd bears (WatchdogSec)
RESTART_S = 2.0 + 2.0  # RestartSec, and the old process to go
_OF_THE_EAR = (
    "The audio thread has not answered",
    "Nothing has been read from the microphone",
)


def _pid(hearth: Installed) -> int:
    return hearth.machine.pid_here(hearth.pid)


def _since(hearth: Installed, before: str) -> str:
    """Return the journal since then."""
    return hearth.machine.journal(UNIT).removeprefix(before)


def test_a_frozen_ear_starves_the_watchdog_and_a_turn_works_again(hearth: Installed) -> None:
    before, restarts = hearth.machine.journal(UNIT), hearth.restarts
    [ear] = [tid for tid, name in threads(_pid(hearth)).items() if name == "ear"]
    with frozen(ear):
        took = hearth.machine.until(lambda: hearth.restarts > restarts, "a restart", 60)
        assert took < NOTICED_S + RESTART_S
        hearth.machine.until(hearth.answers, "a turn", 30)
    said = _since(hearth, before)
    # Its thread also takes the frames; whichever of the two is seen first is told.
    assert any(f"{words} for 10 s. Hearth must be restarted." in said for words in _OF_THE_EAR)
    assert "Failed with result 'watchdog'" in said
    print(f"frozen ear: started anew after {took:.1f} s")


def test_a_frozen_event_loop_is_ended_by_systemd(hearth: Installed) -> None:
    before, restarts = hearth.machine.journal(UNIT), hearth.restarts
    with frozen(_pid(hearth)):  # the first thread has the process's number
        took = hearth.machine.until(lambda: hearth.restarts > restarts, "a restart", 60)
        assert took < SILENCE_S + RESTART_S + 5.0  # TimeoutAbortSec: it cannot even abort
        hearth.machine.until(hearth.answers, "a turn", 30)
    assert "Watchdog timeout" in _since(hearth, before)
    print(f"frozen loop: started anew after {took:.1f} s")


@pytest.mark.parametrize("who", ["the sound server's thread", "the thread of our callback"])
def test_a_frozen_capture_ends_in_sound_again(hearth: Installed, who: str) -> None:
    """The device is opened again beside it, or else the process is restarted."""
    hearth.machine.until(lambda: _hears(hearth), "sound", 30)
    server = [tid for tid, name in threads(_pid(hearth)).items() if name == "threaded-ml"]
    restarts, started = hearth.restarts, time.monotonic()
    with frozen(server[0] if who.startswith("the sound") else _busiest(hearth)):
        hearth.machine.until(lambda: not _hears(hearth), "a loss of sound", 30)
        hearth.machine.until(lambda: _hears(hearth), "sound again", 120)
        took = time.monotonic() - started
        hearth.machine.until(hearth.answers, "a turn", 60)
    print(f"frozen: {who}: sound again after {took:.1f} s, {hearth.restarts - restarts} restarts")


def test_a_missing_microphone_is_no_reason_to_be_ended(hearth: Installed) -> None:
    restarts = hearth.restarts
    hearth.machine.run(["systemctl", "stop", "sound.service"])
    try:
        hearth.machine.until(lambda: "Not listening." in hearth.status, "the loss", 30)
        time.sleep(2 * SILENCE_S)  # real time is what this is about
        assert hearth.restarts == restarts
        assert hearth.answers()
        hearth.machine.run(["systemctl", "restart", UNIT])  # and it starts without one
        hearth.machine.until(hearth.answers, "a turn")
    finally:
        hearth.machine.run(["systemctl", "start", "sound.service"])
    hearth.machine.until(lambda: _hears(hearth), "the microphone", 60)


def test_killed_it_is_back(hearth: Installed) -> None:
    restarts = hearth.restarts
    hearth.machine.run(["systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT])
    hearth.machine.until(lambda: hearth.restarts > restarts, "a restart", 10)
    hearth.machine.until(hearth.answers, "a turn", 30)


def _hears(hearth: Installed) -> bool:
    try:
        microphone = hearth.get("/v1/state")["sound"]["microphone"]
    except OSError:
        return False
    return microphone["status"] in ("listening", "silent") and microphone["last_frame_age_s"] < 2


def _busiest(hearth: Installed) -> int:
    """Return the thread that waits most often, besides loop, ear and server: it has the
    microphone."""
    pid = _pid(hearth)

    def waits(tid: int) -> int:
        try:
            lines = Path(f"/proc/{pid}/task/{tid}/status").read_text().splitlines()
        except OSError:  # one of a pool that had its piece of work done
            return 0
        return int(next(line for line in lines if line.startswith("voluntary")).split()[1])

    others = [tid for tid, name in threads(pid).items() if tid != pid and name == "hearth"]
    before = {tid: waits(tid) for tid in others}
    time.sleep(3)
    return max(others, key=lambda tid: waits(tid) - before[tid])
