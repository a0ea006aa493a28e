"""What the doctor finds of the data folder, the journal and the disk."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.doctor import box
from assistant.doctor.finding import examine
from assistant.domain.clock import SystemClock
from assistant.interfaces.device import inbox as old_orders
from assistant.journal.store import Store
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


async def test_orders_in_the_text_are_told_until_the_automation_is_mended(tmp_path: Path) -> None:
    at, now = scene(settings(tmp_path)), datetime.now(UTC)
    ago = timedelta(days=10)
    async with Store(at.settings.database, SystemClock()) as store:
        for what in ("command_mode", "command_mute", "command_mode"):
            await old_orders.note(store, what, now - ago)
        kept = await store.kept(old_orders.NAME)
    found = await look(box.CHECKS, "messages", at)
    assert found.status == "warn"
    assert "command_mode (2), command_mute (1)" in found.detail
    assert f"{(now - ago).astimezone():%Y-%m-%d at %H:%M}" in found.detail
    assert '"data: {hearth_command: mode}"' in found.mend
    assert old_orders.recent(kept, now + old_orders.RECENT - ago) == {}
    async with Store(at.settings.database, SystemClock()) as store:
        await store.keep(old_orders.NAME, ["damaged"])
    assert (await look(box.CHECKS, "messages", at)).status == "ok"
