"""The registration on the disk: whole, private, one process at a time."""

import asyncio
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.domain.clock import VirtualClock
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord, new_record

RECORD = DeviceRecord("ours", "http://ha", "hook", "device", "house", "person", "Voice", "1")


def test_what_is_written_is_read(file: DeviceFile) -> None:
    assert file.read() is None
    file.write(RECORD)
    assert file.read() == RECORD
    file.forget()
    assert file.read() is None
    file.forget()


def test_only_its_owner_may_read_it(file: DeviceFile) -> None:
    file.write(RECORD)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_write_that_was_cut_off_does_not_hinder_the_next(file: DeviceFile) -> None:
    file.write(RECORD)
    file.path.with_suffix(".new").write_text("{")
    assert file.read() == RECORD
    file.write(new_record())
    assert file.read() != RECORD


def test_the_secret_is_not_shown() -> None:
    assert "hook" not in repr(RECORD)


def test_no_two_boxes_are_the_same() -> None:
    assert new_record().identifier != new_record().identifier


@pytest.mark.parametrize("text", ["{", "[]", '{"unknown": 1}', "\xff"])
def test_a_damaged_file_is_said(file: DeviceFile, text: str) -> None:
    file.write(RECORD)
    file.path.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError, match="damaged"):
        file.read()


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path, clock: VirtualClock) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigError, match=r"assistant\.data"):
        DeviceFile(tmp_path / "data", clock).write(RECORD)


async def test_one_process_waits_for_the_other(
    file: DeviceFile, tmp_path: Path, clock: VirtualClock
) -> None:
    other = DeviceFile(tmp_path / "data", clock)
    order = []

    async def later() -> None:
        async with other.alone():
            order.append("second")

    async with asyncio.TaskGroup() as group:
        async with file.alone():
            group.create_task(later())
            await clock.run(5)
            order.append("first")
        await clock.run(1)
    assert order == ["first", "second"]


async def test_it_does_not_wait_for_ever(
    file: DeviceFile, tmp_path: Path, clock: VirtualClock
) -> None:
    other = DeviceFile(tmp_path / "data", clock)

    async def later() -> None:
        with pytest.raises(ConfigError, match=r"device\.lock"):
            async with other.alone():
                pass

    async with file.alone(), asyncio.TaskGroup() as group:
        group.create_task(later())
        await clock.run(31)
