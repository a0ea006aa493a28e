"""Tests of the report's part on tool calls, with two rounds of it."""

import pytest

from tests.benchmarks import tool_call
from tests.benchmarks.report import tools
from tests.benchmarks.report.line import Verdict


def test_the_call_is_made_in_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HA_URL", raising=False)
    monkeypatch.setattr(tool_call, "WARM_UP", 1)
    monkeypatch.setattr(tools, "how_many", lambda *_: 2)
    part = tools.part()
    assert "in the embedded house of the same process" in part.text
    assert [line.ours.runs for line in part.lines] == [2, 2, 2]
    assert len({line.peer for line in part.lines}) == 2
    by_plain, by_sdk, whole = part.lines
    assert by_plain.most_ratio == tool_call.BUDGET
    assert by_plain.verdict is not Verdict.NONE
    assert by_plain.ours == by_sdk.ours
    assert whole.theirs == by_plain.theirs
