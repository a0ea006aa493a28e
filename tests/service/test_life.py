"""Tests of the unit from its start to its end."""

import time

import pytest

from tests.service.installed import CONFIG, UNIT, VENV, Installed

pytestmark = [pytest.mark.service, pytest.mark.timeout(180, func_only=True)]

EXPOSURE = 2.5  # as systemd counts it, of 10


def test_the_unit_is_sound_and_shut(hearth: Installed) -> None:
    verified = hearth.machine.run(["systemd-analyze", "verify", UNIT])
    assert verified.stdout + verified.stderr == ""
    limit = f"--threshold={int(10 * EXPOSURE)}"
    judged = hearth.machine.run(["systemd-analyze", "security", "--no-pager", limit, UNIT])
    print(judged.stdout.strip().splitlines()[-1])


def test_it_is_ready_when_it_listens_and_tells_how_it_stands(hearth: Installed) -> None:
    machine = hearth.machine
    machine.run(["systemctl", "stop", UNIT])
    started = time.monotonic()
    hearth.start()
    ready_s = time.monotonic() - started
    assert hearth.status.startswith("Listening")
    machine.until(lambda: "digital silence" in hearth.status, "what the silent device is")
    print(f"ready after {ready_s:.1f} s: {hearth.status}")
    assert machine.show(UNIT, "Type") == "notify"
    assert machine.show(UNIT, "WatchdogUSec") == "20s"


def test_it_stops_within_five_seconds_and_leaves_nobody(hearth: Installed) -> None:
    started = time.monotonic()
    hearth.machine.run(["systemctl", "stop", UNIT])
    took = time.monotonic() - started
    assert took < 5
    assert hearth.machine.show(UNIT, "Result") == "success"
    assert not [line for line in hearth.machine.processes() if VENV in line]
    print(f"stopped after {took:.1f} s")


@pytest.mark.parametrize("after_s", [0.3, 1.0, 2.5])
def test_it_stops_as_fast_while_it_starts(hearth: Installed, after_s: float) -> None:
    hearth.machine.run(["systemctl", "stop", UNIT])
    hearth.machine.run(["systemctl", "start", "--no-block", UNIT])
    time.sleep(after_s)
    started = time.monotonic()
    hearth.machine.run(["systemctl", "stop", UNIT])
    assert time.monotonic() - started < 5
    assert "SIGKILL" not in hearth.machine.journal(UNIT).rpartition("Stopping hearth")[2]


def test_the_journal_tells_a_turn_and_none_of_its_words(hearth: Installed) -> None:
    before = hearth.machine.journal(UNIT)
    assert hearth.answers()
    hearth.machine.until(lambda: "hearth: turn" in _new(hearth, before), "the turn's line", 10)
    said = _new(hearth, before)
    assert "brain=offline" in said
    assert "bedroom light" not in said


def test_bad_settings_are_told_and_tried_again_until_they_are_mended(hearth: Installed) -> None:
    machine = hearth.machine
    machine.run(["systemctl", "stop", UNIT])
    hearth.write_settings("[http]\nport = 0\n")
    before = machine.journal(UNIT)
    machine.run(["systemctl", "start", "--no-block", UNIT])
    machine.until(lambda: "Scheduled restart job" in _new(hearth, before), "another try")
    assert CONFIG in _new(hearth, before)
    hearth.configure()
    machine.until(hearth.answers, "a turn", 60)
    machine.run(["systemctl", "stop", UNIT])


def test_starts_that_fail_come_ever_more_slowly(hearth: Installed) -> None:
    machine = hearth.machine
    before = machine.journal(UNIT)
    for _ in range(2):
        machine.until(hearth.answers, "a turn", 30)
        machine.run(["systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNIT])
    machine.until(lambda: "starts failed; trying again in" in _new(hearth, before), "a pause")
    machine.run(["systemctl", "restart", UNIT], timeout=30)  # a person's wish waits for nothing
    machine.until(hearth.answers, "a turn", 30)


def _new(hearth: Installed, before: str) -> str:
    return hearth.machine.journal(UNIT).removeprefix(before)


def test_sound_goes_both_ways(hearth: Installed) -> None:
    """A spoken command is heard, and an announcement comes out of the loudspeaker."""
    machine = hearth.machine
    pactl = "PULSE_SERVER=unix:/run/sound/native"
    machine.shell(
        f"""flite -voice rms -t "okay naboo, turn off the dining room light" -o /tmp/command.wav
        {pactl} timeout 20 parec -d speaker.monitor --raw --rate=16000 --channels=1 >/tmp/said &
        sleep 1; {pactl} paplay -d micsink /tmp/command.wav"""
    )
    machine.until(lambda: _spoken(hearth), "the spoken turn", 30)
    loud = machine.shell(
        f"""{VENV}/bin/python -c '
import numpy
print((abs(numpy.fromfile("/tmp/said", "<i2").astype(int)) > 1000).sum())'"""
    )
    assert int(loud) > 3000, "the loudspeaker gave no answer"


def _spoken(hearth: Installed) -> bool:
    turns = hearth.get("/v1/turns")
    return any(turn["source"] == "voice" and turn["answer"] for turn in turns)
