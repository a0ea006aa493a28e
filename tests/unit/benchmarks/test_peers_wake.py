"""Tests of loops that are asked: their answers, and the error of one that does not answer."""

import sys
from pathlib import Path

import pytest

from tests.benchmarks.peers._wake_engines import answer
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.peers.wake import Fired, asked, versions_of

_ECHO = """\
import json, sys
print(json.dumps({"peer": "1.0"}), flush=True)
for line in sys.stdin:
    found = [[json.loads(line)["wav"], 1280, 2.0]]
    print(json.dumps({"found": found, "cpu_s": 0.5}), flush=True)
"""
_ENDS = _ECHO.replace("for line in", "raise SystemExit(3)\nfor line in")


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", code)


def test_each_question_has_its_answer() -> None:
    with asked("peer", _python(_ECHO)) as loop:
        assert loop.versions == {"peer": "1.0"}
        for name in ("one.wav", "two.wav"):
            told = loop.ask(Path(name))
            assert (told.fired, told.cpu_s) == ((Fired(name, 1280, 2.0),), 0.5)


def test_two_loops_with_another_version_of_the_same_do_not_hide_each_other() -> None:
    begins = _ECHO.replace('{"peer": "1.0"}', '{"peer": "1.0", "numpy": "2.0"}')
    with asked("peer", _python(begins)) as loop:
        assert versions_of("peer", loop) == {"peer": "1.0", "numpy with peer": "2.0"}


def test_one_that_does_not_begin_is_missing() -> None:
    with (
        pytest.raises(PeerMissing, match="peer: it ended with 1"),
        asked("peer", _python("raise SystemExit(1)")),
    ):
        raise AssertionError("it began")


def test_one_that_ends_is_missing() -> None:
    with (
        asked("peer", _python(_ENDS)) as loop,
        pytest.raises(PeerMissing, match="peer: it ended with 3"),
    ):
        loop.ask(Path("one.wav"))


def test_one_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(PeerMissing, match="peer: "), asked("peer", (str(tmp_path / "no"),)):
        raise AssertionError("it began")


def test_a_piece_is_heard_in_chunks_and_each_firing_has_its_place() -> None:
    chunks = []

    def hear(chunk: bytes) -> list[str]:
        chunks.append(len(chunk))
        return ["alexa"] if len(chunks) == 2 else []

    told = answer(hear, bytes(3 * 160 * 2), 160)
    assert chunks == [320, 320, 320]
    ((word, behind, took_ms),) = told["found"]
    assert (word, behind) == ("alexa", 320)
    assert 0 <= took_ms < 1000
    assert told["cpu_s"] >= 0
