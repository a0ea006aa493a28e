"""The lines that Hearth and other frameworks' text filters are measured with."""

import pytest

from assistant.speech.speakable import speakable
from tests.benchmarks.filter_document import code
from tests.benchmarks.filter_lines import Line, read_lines
from tests.benchmarks.text_filters import DOCUMENT

LINES = read_lines()


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.written[:40])
def test_ours_is_right_on_every_line(line: Line) -> None:
    assert speakable(line.written, line.language) == line.expected


def test_there_are_enough_lines_and_none_twice() -> None:
    recorded = [line for line in LINES if line.source != "common answer"]
    assert len(LINES) >= 40
    assert len(recorded) >= 20
    assert {line.language for line in LINES} == {"en", "es"}
    assert len({(line.language, line.written) for line in LINES}) == len(LINES)


def test_what_is_expected_is_speech() -> None:
    for line in LINES:
        assert not set(line.expected) & set('*_`#|~<>[]{}\\^"=@&'), line


def test_the_document_is_of_these_lines() -> None:
    rows = [row for row in DOCUMENT.read_text("utf-8").splitlines() if row.startswith("| ")]
    for line in LINES:
        shown = f"| {line.source}, {line.language} | {code(line.written)} | {line.expected} | ✓ |"
        assert sum(row.startswith(shown) for row in rows) == 1, shown
