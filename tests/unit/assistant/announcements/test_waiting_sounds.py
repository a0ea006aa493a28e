"""The sound of what waits: in memory or on the disk, no more of it than there is room for."""

from pathlib import Path

import pytest

from assistant.announcements import queue
from assistant.announcements.queue import MOST_S, TooMuchSound, WaitingSounds
from assistant.domain.records import StoreError
from audio.sound_files import Clip

RATE = 8_000


def clip(seconds: float = 1.0) -> Clip:
    return Clip("bell.wav", b"\1\2" * round(RATE * seconds), RATE)


def files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.wav"))


@pytest.fixture
def sounds(tmp_path: Path) -> WaitingSounds:
    return WaitingSounds(tmp_path / "announcements")


async def test_what_is_held_is_there_until_it_is_let_go(sounds: WaitingSounds) -> None:
    sounds.hold("one", clip())
    assert await sounds.take("one", "bell.wav") == clip()
    sounds.let_go("one")
    sounds.let_go("one")
    assert await sounds.take("one", "bell.wav") is None


def test_there_is_room_for_so_much_in_memory(sounds: WaitingSounds) -> None:
    sounds.hold("one", clip(MOST_S - 1))
    with pytest.raises(TooMuchSound):
        sounds.hold("two", clip(2))
    sounds.let_go("one")
    sounds.hold("two", clip(2))


async def test_what_is_kept_is_there_for_the_next_process(
    sounds: WaitingSounds, tmp_path: Path
) -> None:
    await sounds.keep("../../etc/one", clip())
    assert [path.parent for path in files(tmp_path)] == [tmp_path / "announcements"]
    assert (tmp_path / "announcements").stat().st_mode & 0o777 == 0o700
    after = WaitingSounds(tmp_path / "announcements")
    assert await after.take("../../etc/one", "bell.wav") == clip()
    await after.drop("../../etc/one")
    await after.drop("../../etc/one")
    assert await after.take("../../etc/one", "bell.wav") is None
    assert not files(tmp_path)


async def test_there_is_room_for_so_much_on_the_disk(
    sounds: WaitingSounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST_KEPT_S", 1.5)
    await sounds.keep("one", clip())
    await sounds.keep("one", clip())  # in the place of itself
    with pytest.raises(TooMuchSound):
        await sounds.keep("two", clip())
    await sounds.drop("one")
    await sounds.keep("two", clip())


async def test_of_earlier_processes_only_what_waits_is_left(
    sounds: WaitingSounds, tmp_path: Path
) -> None:
    earlier = WaitingSounds(tmp_path / "announcements")
    await earlier.keep("over", clip())
    await earlier.keep("waits", clip())
    await sounds.keep("new", clip())
    await sounds.drop_others(["waits"])
    assert await sounds.take("over", "x") is None
    assert await sounds.take("waits", "x") is not None
    assert await sounds.take("new", "x") is not None


async def test_where_there_was_never_any(sounds: WaitingSounds, tmp_path: Path) -> None:
    await sounds.drop_others([])
    await sounds.drop("one")
    assert not files(tmp_path)
    assert await sounds.take("one", "bell.wav") is None


async def test_a_disk_that_does_not_take_it(tmp_path: Path) -> None:
    (tmp_path / "announcements").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        await WaitingSounds(tmp_path / "announcements").keep("one", clip())


async def test_one_that_is_damaged_is_lost(sounds: WaitingSounds, tmp_path: Path) -> None:
    await sounds.keep("one", clip())
    for file in files(tmp_path):
        file.write_bytes(b"RIFF")
    assert await sounds.take("one", "bell.wav") is None
