"""The same trouble is logged once, then once an hour with a count."""

import io
import logging
from collections.abc import Iterator

import pytest

from assistant.cli import log_repeats
from assistant.cli.log_repeats import EVERY_S, RepeatHandler
from assistant.cli.main import _log_to_stderr


class Log:
    def __init__(self) -> None:
        self.now = 5_000.0
        self._stream = io.StringIO()
        self.logger = logging.Logger("hearth.test")
        self.logger.addHandler(RepeatHandler(self._stream, lambda: self.now))

    def lines(self) -> list[str]:
        """Return the lines since the last call."""
        written = self._stream.getvalue().splitlines()
        self._stream.seek(0)
        self._stream.truncate()
        return written


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_trouble_is_logged_once_and_then_hourly_with_a_count(log: Log) -> None:
    for _ in range(240):  # every 30 s for two hours
        log.logger.warning("Home Assistant is unreachable: %s", "connection refused")
        log.now += 30
    first = "Home Assistant is unreachable: connection refused"
    assert log.lines() == [first, f"{first} (happened 119 more times since last logged)"]


def test_the_count_begins_again_with_each_line(log: Log) -> None:
    log.logger.error("The broker refuses the password")
    log.logger.error("The broker refuses the password")
    log.now += EVERY_S
    log.logger.error("The broker refuses the password")
    log.now += EVERY_S
    log.logger.error("The broker refuses the password")
    first = "The broker refuses the password"
    counted = f"{first} (happened once more since last logged)"
    assert log.lines() == [first, counted, first]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no answer from 10.0.0.5:8123 after 5 s", "no answer from 10.0.0.5:8124 after 10.5 s"),
        ("try 1 failed", "try 17 failed"),
    ],
)
def test_numbers_do_not_make_another_trouble(one: str, other: str, log: Log) -> None:
    log.logger.warning(one)
    log.logger.warning(other)
    assert log.lines() == [one]


def test_other_troubles_are_logged(log: Log) -> None:
    log.logger.warning("%s is away", "The kitchen microphone")
    log.logger.warning("%s is away", "The hall microphone")
    log.logger.error("%s is away", "The hall microphone")
    try:
        raise OSError("disk full")
    except OSError:
        log.logger.warning("%s is away", "The hall microphone", exc_info=True)
    assert [line for line in log.lines() if "microphone" in line] == [
        "The kitchen microphone is away",
        "The hall microphone is away",
        "The hall microphone is away",
        "The hall microphone is away",
    ]


def test_what_is_no_trouble_is_always_logged(log: Log) -> None:
    for _ in range(3):
        log.logger.info("turn id=1")
    assert log.lines() == ["turn id=1"] * 3


def test_what_it_remembers_is_bounded(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_repeats, "_MOST", 2)
    for name in ("a", "b", "a", "c", "a", "b"):
        log.logger.warning(name)
    assert log.lines() == ["a", "b", "c", "b"]  # b was forgotten for c; a happened since


def test_a_record_that_cannot_be_formatted_stops_nobody(
    log: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    log.logger.warning("%d", "one")
    log.logger.warning("still here")
    assert log.lines() == ["still here"]
    assert "not enough arguments" in (told := capsys.readouterr().err) or "TypeError" in told


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield root
    root.handlers[:] = before
    root.setLevel(level)


@pytest.mark.parametrize("debug", [False, True])
def test_every_logger_of_the_program_is_covered_unless_it_is_debugged(
    debug: bool, root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    _log_to_stderr(debug)
    for _ in range(3):
        logging.getLogger("integrations.mqtt").warning("the broker is away")
    told = capsys.readouterr().err
    assert told.count("the broker is away") == (3 if debug else 1)
