"""Tests that a run reports how many tests had no recordings."""

from pathlib import Path

import pytest

from tests.shared_data import SPEECH, shared, skipped_for_recordings


def test_tests_without_recordings_are_counted_by_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_SHARED", str(tmp_path))
    reasons = ["Skipped: needs root"]
    for parts in (SPEECH, ("home-assistant", "tools.json"), SPEECH):
        with pytest.raises(pytest.skip.Exception) as skipped:
            shared(*parts)
        reasons.append(f"Skipped: {skipped.value.msg}")
    assert skipped_for_recordings(reasons) == [
        "2 tests of real speech skipped: recordings not present (see docs/testing.md)",
        "1 test of recorded answers skipped: recordings not present (see docs/testing.md)",
    ]
    assert skipped_for_recordings(reasons[:1]) == []
