"""Tests that changes of a file server are undone, and that others' later changes stay."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.intents import Move
from assistant.tools.undo import backups as module
from assistant.tools.undo.backups import LIFE_S, Backups, FileStep, FileUndo, given_folders, meant
from assistant.tools.undo.stack import UndoStack
from assistant.tools.undo.step import WHY_UNKNOWN, NotPutBack, UndoneReport, UndoStep
from assistant.tools.undo.tools import tell
from integrations.mcp.servers import ServerSpec


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "data" / "backups"


@pytest.fixture
def backups(kept: Path) -> Backups:
    return Backups(kept, VirtualClock())


def server(folder: Path, **more: Any) -> ServerSpec:
    words = ("-y", "@modelcontextprotocol/server-filesystem", str(folder))
    return ServerSpec("files", "stdio", command="npx", args=words, **more)


def inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def names(folder: Path) -> list[str]:
    return [one.name for one in inside(folder)]


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def step(backups: Backups, spec: ServerSpec, tool: str, **arguments: str) -> FileStep:
    found = await backups.before(spec, tool, arguments)
    assert found is not None
    return found


async def test_a_file_that_was_replaced_comes_back_with_its_rights(
    notes: Path, kept: Path, backups: Backups
) -> None:
    file = notes / "list.txt"
    file.write_text("bread")
    file.chmod(0o640)
    undo = await step(backups, server(notes), "write_file", path=str(file))
    assert [rights(one) for one in (kept, *inside(kept))] == [0o700, 0o600]
    file.write_text("rubbish")
    await undo.after()
    assert await undo.run() == UndoneReport(put_back=("list.txt",))
    assert (file.read_text(), rights(file)) == ("bread", 0o640)
    assert names(notes) == ["list.txt"]
    await undo.forget()
    assert inside(kept) == []


async def test_steps_are_kept_around_a_call(notes: Path, backups: Backups) -> None:
    pushed: list[tuple[str, str, FileStep]] = []
    work: list[tuple[str, str, bool]] = []

    class Stack(UndoStack):
        def __init__(self) -> None:
            pass

        def push(
            self, key: str, turn_id: str, step: UndoStep, moves: tuple[Move, ...] = ()
        ) -> None:
            assert isinstance(step, FileStep)
            pushed.append((key, turn_id, step))
            work.extend((move.server, move.tool, move.rated) for move in moves)

    undo, file = FileUndo(backups, Stack()), notes / "list.txt"
    async with undo.around(server(notes), "read_text_file", {"path": "list.txt"}, "k", "t"):
        pass
    assert pushed == []

    async def cut_off() -> None:
        async with undo.around(server(notes), "write_file", {"path": "list.txt"}, "k", "t"):
            file.write_text("half of it")
            raise TimeoutError

    with pytest.raises(TimeoutError):
        await cut_off()
    ((key, turn_id, backup),) = pushed
    assert (key, turn_id) == ("k", "t")
    assert work == [(server(notes).name, "write_file", False)]
    assert await backup.run() == UndoneReport(put_back=("list.txt",))
    assert names(notes) == []


async def test_a_file_that_was_new_goes(notes: Path, backups: Backups) -> None:
    file = notes / "new.txt"
    undo = await step(backups, server(notes), "write_file", path=str(file))
    file.write_text("x")
    await undo.after()
    assert await undo.run() == UndoneReport(put_back=("new.txt",))
    assert not file.exists()


async def test_what_others_changed_since_stays(notes: Path, backups: Backups) -> None:
    file = notes / "list.txt"
    file.write_text("bread")
    undo = await step(backups, server(notes), "edit_file", path=str(file))
    file.write_text("rubbish")
    await undo.after()
    file.write_text("milk")
    report = await undo.run()
    assert report.not_put_back == (NotPutBack("list.txt", module.WHY_CHANGED),)
    assert file.read_text() == "milk"
    assert tell(report, Catalogue(), "en") == (
        "I couldn't change list.txt back: it has been changed since then."
    )
    assert "ha cambiado desde entonces" in tell(report, Catalogue(), "es")


async def test_without_a_look_after_the_call_nothing_is_overwritten(
    notes: Path, backups: Backups
) -> None:
    file = notes / "list.txt"
    file.write_text("bread")
    undo = await step(backups, server(notes), "write_file", path=str(file))
    file.write_text("whose is this?")
    assert (await undo.run()).not_put_back == (NotPutBack("list.txt", module.WHY_CHANGED),)


async def test_a_call_that_changed_nothing(notes: Path, backups: Backups) -> None:
    file = notes / "list.txt"
    file.write_text("bread")
    undo = await step(backups, server(notes), "edit_file", path=str(file))
    await undo.after()
    assert await undo.run() == UndoneReport(unchanged=("list.txt",))
    lost = await step(backups, server(notes), "write_file", path=str(notes / "nowhere"))
    await lost.after()
    assert (await lost.run()).not_put_back == (NotPutBack("nowhere", WHY_UNKNOWN),)


async def test_two_edits_in_a_row_go_back_in_their_order(notes: Path, backups: Backups) -> None:
    file, steps = notes / "list.txt", []
    file.write_text("1")
    for text in ("2", "3"):
        steps.append(await step(backups, server(notes), "edit_file", path="list.txt"))
        file.write_text(text)
        await steps[-1].after()
    for undo in reversed(steps):
        assert (await undo.run()).put_back == ("list.txt",)
    assert file.read_text() == "1"


@pytest.mark.parametrize("what", ["file", "folder"])
async def test_a_move_is_moved_back(what: str, notes: Path, backups: Backups) -> None:
    old, new = notes / "old", notes / "new"
    if what == "file":
        old.write_text("x" * 100)
    else:
        old.mkdir()
        (old / "inside").write_text("x")
    undo = await step(backups, server(notes), "move_file", source=str(old), destination=str(new))
    old.rename(new)
    await undo.after()
    assert await undo.run() == UndoneReport(put_back=("old",))
    assert names(notes) == ["old"]
    assert await undo.run() == UndoneReport(unchanged=("old",))


async def test_what_a_move_has_replaced_comes_back_too(notes: Path, backups: Backups) -> None:
    old, new = notes / "old", notes / "new"
    old.write_text("of old")
    new.write_text("of new")
    undo = await step(backups, server(notes), "move_file", source="old", destination="new")
    old.rename(new)
    await undo.after()
    assert (await undo.run()).put_back == ("old",)
    assert (old.read_text(), new.read_text()) == ("of old", "of new")


@pytest.mark.parametrize("meanwhile", ["another old", "another new", "new is gone"])
async def test_a_move_is_left_where_somebody_came_between(
    meanwhile: str, notes: Path, backups: Backups
) -> None:
    old, new = notes / "old", notes / "new"
    old.write_text("of old")
    undo = await step(backups, server(notes), "move_file", source="old", destination="new")
    old.rename(new)
    await undo.after()
    if meanwhile == "another old":
        old.write_text("x")
    elif meanwhile == "another new":
        new.write_text("longer than before")
    else:
        new.unlink()
    before = {one.name: one.read_text() for one in inside(notes)}
    assert (await undo.run()).not_put_back == (NotPutBack("old", module.WHY_CHANGED),)
    assert {one.name: one.read_text() for one in inside(notes)} == before


async def test_new_folders_go_while_they_are_empty(notes: Path, backups: Backups) -> None:
    undo = await step(backups, server(notes), "create_directory", path=str(notes / "a/b/c"))
    (notes / "a/b/c").mkdir(parents=True)
    (notes / "a/b/mine.txt").touch()
    await undo.after()
    assert (await undo.run()).not_put_back == (NotPutBack("c", module.WHY_CHANGED),)
    (notes / "a/b/mine.txt").unlink()
    assert await undo.run() == UndoneReport(put_back=("c",))
    assert names(notes) == []
    assert await undo.run() == UndoneReport(unchanged=("c",))


async def test_a_link_put_in_the_way_is_not_followed(
    notes: Path, tmp_path: Path, backups: Backups
) -> None:
    (notes / "sub").mkdir()
    file = notes / "sub" / "list.txt"
    file.write_text("bread")
    undo = await step(backups, server(notes), "write_file", path=str(file))
    file.write_text("rubbish")
    await undo.after()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "list.txt").write_text("rubbish")
    file.unlink()
    (notes / "sub").rmdir()
    (notes / "sub").symlink_to(outside)
    assert (await undo.run()).not_put_back == (NotPutBack("list.txt", module.WHY_CHANGED),)
    assert (outside / "list.txt").read_text() == "rubbish"
    file.unlink()
    file.symlink_to("/etc/hostname")
    assert (await undo.run()).not_put_back == (NotPutBack("list.txt", module.WHY_CHANGED),)


async def test_too_large_is_said(
    notes: Path, backups: Backups, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    (notes / "large").write_text("x" * 11)
    undo = await step(backups, server(notes), "write_file", path="large")
    await undo.after()
    assert (await undo.run()).not_put_back == (NotPutBack("large", module.WHY_TOO_LARGE),)
    await undo.forget()


async def test_a_folder_in_the_place_of_a_file_is_no_file(notes: Path, backups: Backups) -> None:
    (notes / "sub").mkdir()
    undo = await step(backups, server(notes), "write_file", path="sub")
    assert (await undo.run()).not_put_back == (NotPutBack("sub", module.WHY_NOT_KEPT),)


async def test_a_copy_that_is_gone_is_said(notes: Path, kept: Path, backups: Backups) -> None:
    (notes / "list.txt").write_text("bread")
    undo = await step(backups, server(notes), "write_file", path="list.txt")
    (notes / "list.txt").write_text("rubbish")
    await undo.after()
    for copy in inside(kept):
        copy.unlink()
    assert [one.name for one in (await undo.run()).not_put_back] == ["list.txt"]
    assert names(notes) == ["list.txt"]
    assert (notes / "list.txt").read_text() == "rubbish"
    await undo.forget()


OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("read_text_file", {"path": "list.txt"}),
    ("delete_everything", {"path": "list.txt"}),
    ("write_file", {}),
    ("write_file", {"path": 5}),
    ("write_file", {"path": ""}),
    ("write_file", {"path": "a\0b"}),
    ("write_file", {"path": "\ud800"}),
    ("write_file", {"path": "/etc/passwd"}),
    ("write_file", {"path": "../other.txt"}),
    ("write_file", {"path": "out/other.txt"}),
    ("write_file", {"path": "."}),
    ("write_file", {"path": "round"}),
    ("move_file", {"source": "list.txt"}),
    ("move_file", {"source": "list.txt", "destination": "/tmp/x"}),
]


@pytest.mark.parametrize(("tool", "arguments"), OTHERS)
async def test_what_is_no_change_below_its_folders_is_left_alone(
    tool: str, arguments: dict[str, Any], notes: Path, kept: Path, backups: Backups
) -> None:
    (notes / "list.txt").write_text("x")
    (notes / "out").symlink_to("/tmp")
    (notes / "round").symlink_to("round")
    assert await backups.before(server(notes), tool, arguments) is None
    assert inside(kept) == []


async def test_only_programs_with_folders_have_files(notes: Path, backups: Backups) -> None:
    far = ServerSpec("far", "http", url="http://127.0.0.1:9", args=(str(notes),))
    none = ServerSpec("none", "stdio", command="x", args=("-y", "some-package", ""))
    for spec in (far, none):
        assert await backups.before(spec, "write_file", {"path": str(notes / "x")}) is None


def test_paths_are_read_as_the_server_reads_them(notes: Path, tmp_path: Path) -> None:
    (notes / "deep").mkdir()
    link = tmp_path / "link"
    link.symlink_to(notes)
    spec = ServerSpec(
        "files",
        "stdio",
        command="x",
        args=("~/link", "notes/deep", "-y", "notes", "absent"),
        env={"HOME": str(tmp_path)},
        cwd=str(tmp_path),
    )
    folders = given_folders(spec)
    assert folders == (notes, notes / "deep")
    read: Callable[[str], Path | None] = lambda path: meant(path, spec, folders)  # noqa: E731
    assert read("~/notes/x") == notes / "x"
    assert read(str(link / "x")) == notes / "x"
    assert read("x") == notes / "x"
    assert read("~") is None


async def test_no_copy_outlives_its_time(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    clock, folder = VirtualClock(), tmp_path / "kept"
    backups = Backups(folder, clock)
    await backups.clean_up(alone=True)  # there is no folder yet
    (notes / "a").write_text("x")
    for _ in range(5):
        clock.advance(1)
        await step(backups, server(notes), "write_file", path="a")
    assert len(inside(folder)) == 3
    await backups.clean_up(alone=False)
    assert len(inside(folder)) == 3
    clock.advance(LIFE_S - 1)
    await backups.clean_up(alone=False)
    assert len(inside(folder)) == 1
    await backups.clean_up(alone=True)
    assert inside(folder) == []


async def test_a_folder_that_cannot_be_tidied_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "kept" / "no copy").mkdir(parents=True)
    os.utime(tmp_path / "kept" / "no copy", (0, 0))
    await Backups(tmp_path / "kept", VirtualClock()).clean_up(alone=True)
    assert "could not be deleted" in caplog.text
