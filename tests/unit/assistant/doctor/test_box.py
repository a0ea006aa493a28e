"""What the doctor finds of the data folder, the journal and the disk."""

from pathlib import Path

import pytest

from assistant.doctor import box
from assistant.doctor.finding import examine
from tests.unit.assistant.doctor.scenes import look, scene, settings


async def test_a_box_that_is_well(tmp_path: Path) -> None:
    findings = await examine(box.CHECKS, scene(settings(tmp_path)))
    assert [finding.status for finding in findings] == ["ok"] * len(box.CHECKS)
    assert not any(finding.mend for finding in findings)
    assert "of at most 200 MB" in findings[1].detail
    assert "GB free" in findings[2].detail


@pytest.mark.parametrize("name", ["data folder", "journal"])
async def test_a_data_folder_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    found = await look(box.CHECKS, name, scene(settings(tmp_path / "file")))
    assert found.status == "fail"
    assert "assistant.data" in found.mend


async def test_the_disk_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    found = await look(box.CHECKS, "disk", scene(settings(tmp_path / "a" / "b")))
    assert "GB free" in found.detail
    assert not (tmp_path / "a").exists()
