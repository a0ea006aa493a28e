"""Tests of `hearth setup --export` and `--import`: from one box to another, all or nothing."""

import asyncio
import json
import sqlite3
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.app.process import locked
from assistant.cli.main import main
from assistant.config import load_settings
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import MemoryRecord, TimerRecord
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord
from assistant.interfaces.http_tokens import TokenFile
from assistant.journal.database import Database, Work
from assistant.journal.store import Store
from assistant.setup.document import Before, NewFile, write_all

CONFIG = """\
# Ours.
[assistant]
area = "Kitchen"
data = "{data}"
[home_assistant]
url = "http://ha:8123"
token = "c4nary-token"
"""
NOW = datetime.now(UTC)


class Box:
    """A configuration and a data folder."""

    def __init__(self, folder: Path, text: str = CONFIG) -> None:
        self.config, self.data = folder / "hearth.toml", folder / "data"
        folder.mkdir()
        self.config.write_text(text.format(data=self.data))

    @property
    def settings(self) -> Settings:
        return load_settings(self.config, {})

    def store(self) -> Store:
        return Store(self.settings.database, SystemClock())

    async def fill(self) -> None:
        async with self.store() as store:
            await store.memory.keep(MemoryRecord("m1", "The bins go out on Monday", NOW))
            await store.add_timer(TimerRecord("t1", NOW + timedelta(hours=1), 3600.0, NOW, "tea"))
            await store.add_timer(TimerRecord("t2", NOW - timedelta(hours=1), 3600.0, NOW, "old"))
            await store.keep("ratings", {"script.movie": "comfort"})
            await store.add_openings({"switch.hall": frozenset({"lock.front", "lock.back"})})
            await store.keep("microphone_muted", True)
        TokenFile(self.data).make("panel", ["read"], NOW)
        DeviceFile(self.data, SystemClock()).write(
            DeviceRecord("box", "http://ha:8123", "c4nary-hook")
        )

    async def holds(self) -> tuple[list[str], list[str], object]:
        """Return the ids of facts and timers, and the ratings."""
        async with self.store() as store:
            facts = [fact.id for fact in await store.memory.all()]
            timers = [timer.id for timer in await store.timers()]
            return facts, timers, await store.kept("ratings")


async def setup(box: Box, *arguments: object) -> int:
    words = ["setup", "--config", str(box.config), *map(str, arguments)]
    return await asyncio.to_thread(main, words)


@pytest.fixture
async def old(tmp_path: Path) -> Box:
    box = Box(tmp_path / "old")
    await box.fill()
    return box


@pytest.fixture
def new(tmp_path: Path) -> Box:
    return Box(tmp_path / "new", '[assistant]\ndata = "{data}"\n')


async def test_everything_comes_over_but_secrets(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as parts:
        whole = b"".join(parts.read(name) for name in parts.namelist())
        assert json.loads(parts.read("manifest.json"))["version"] == 1
    assert b"c4nary" not in whole
    assert await setup(new, "--import", file, "--non-interactive") == 0
    told = " ".join(capsys.readouterr().err.split())
    for part in (
        "assistant.area",
        "1 fact, 1 of them new",
        "1 expired and left out",
        "tokens: panel",
    ):
        assert part in told
    assert "entities seen opening something: 1, new here: switch.hall" in told
    assert "confirmed less often than now: script.movie (unrated -> comfort)" in told
    assert await new.holds() == (["m1"], ["t1"], {"script.movie": "comfort"})
    settings = new.settings
    assert (settings.assistant.area, settings.data_folder) == ("Kitchen", new.data)
    assert "# Ours." in new.config.read_text()
    assert [row.name for row in TokenFile(new.data).rows()] == ["panel"]
    assert DeviceFile(new.data, SystemClock()).read() is None
    async with new.store() as store:
        assert await store.kept("microphone_muted") is None
        assert await store.openings() == {"switch.hall": frozenset({"lock.front", "lock.back"})}


async def test_with_secrets_the_other_box_is_the_same_device(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file, "--with-secrets") == 0
    assert await setup(new, "--import", file, "--non-interactive") == 0
    told = capsys.readouterr().err
    assert "c4nary" not in told
    assert "anyone who has this file has access to your home" in told
    assert new.settings.home_assistant.token.get_secret_value() == "c4nary-token"
    token = new.config.with_name("home_assistant.token")
    assert token.stat().st_mode & 0o777 == 0o600
    record = DeviceFile(new.data, SystemClock()).read()
    assert record is not None
    assert record.webhook_id == "c4nary-hook"


async def test_no_secret_of_this_box_goes_to_an_address_of_the_export(
    old: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = CONFIG.replace("http://ha:8123", "http://mine:8123").replace("c4nary", "mine")
    new = Box(tmp_path / "new", ours + '[policy]\npin = "4711"\n')
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    assert await setup(new, "--import", file, "--non-interactive") == 0
    told = " ".join(capsys.readouterr().err.split())
    assert (
        "left out because their address has changed: home_assistant.token; enter them "
        "again for the new one, as home_assistant.token_file" in told
    )
    assert "--token-file FILE" in told
    settings = new.settings
    assert settings.home_assistant.url == "http://ha:8123"
    assert settings.home_assistant.token.get_secret_value() == ""
    assert settings.policy.pin.get_secret_value() == "4711"  # it goes nowhere
    assert "mine-token" not in new.config.read_text()


async def test_at_the_same_address_it_stays(old: Box, tmp_path: Path) -> None:
    new = Box(tmp_path / "new", CONFIG.replace("c4nary", "mine"))
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    assert await setup(new, "--import", file, "--non-interactive") == 0
    assert new.settings.home_assistant.token.get_secret_value() == "mine-token"


@pytest.mark.parametrize("address", ["", "http://mine:8123"])
async def test_a_secret_of_the_environment_cannot_be_left_out(
    old: Box,
    new: Box,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    monkeypatch.setenv("HEARTH_HOME_ASSISTANT__TOKEN", "mine-token")
    if address:  # it comes from the environment, which overrides the export
        monkeypatch.setenv("HEARTH_HOME_ASSISTANT__URL", address)
    before = new.config.read_text()
    code = await setup(new, "--import", file, "--non-interactive")
    if address:
        assert code == 0
        return
    assert code == 2
    assert "remove it from the environment first" in " ".join(capsys.readouterr().err.split())
    assert new.config.read_text() == before


async def test_taken_up_twice_it_is_the_same_once(old: Box, new: Box, tmp_path: Path) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    assert await setup(new, "--import", file, "--non-interactive") == 0
    async with new.store() as store:
        assert await store.cancel_timer("t1")
    assert await setup(new, "--import", file, "--non-interactive") == 0
    # What has ended since then does not begin again.
    assert await new.holds() == (["m1"], [], {"script.movie": "comfort"})


async def test_a_rating_does_not_hold_over_what_the_other_box_saw(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    async with old.store() as store:
        await store.keep("ratings", {"switch.yard": "comfort", "cover.left": "comfort"})
    async with new.store() as store:
        await store.keep("ratings", {"switch.hall": "comfort", "cover.left": "secure"})
        await store.add_openings({"switch.yard": frozenset({"cover.gate"})})
    assert await setup(old, "--export", file) == 0
    assert await setup(new, "--import", file, "--non-interactive") == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "confirmed less often than now: cover.left (secure -> comfort)" in told
    assert "ratings removed, because these were seen opening something: switch.hall" in told
    async with new.store() as store:
        assert await store.kept("ratings") == {"cover.left": "comfort"}
        assert sorted(await store.openings()) == ["switch.hall", "switch.yard"]


async def test_while_hearth_runs_nothing_is_taken_up(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    with locked(old.data):  # an export only reads
        assert await setup(old, "--export", file) == 0
    before = new.config.read_text()
    with locked(new.data):
        assert await setup(new, "--import", file, "--non-interactive") == 2
    assert "hearth run" in capsys.readouterr().err
    assert new.config.read_text() == before


async def test_what_fails_on_the_way_changes_nothing(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file, "--with-secrets") == 0
    before = new.config.read_text()
    # The first secret can be written, but a folder in another file's place cannot be replaced.
    (new.data / "http_tokens.json" / "in the way").mkdir(parents=True)
    assert await setup(new, "--import", file, "--non-interactive") == 2
    (new.data / "http_tokens.json" / "in the way").rmdir()
    (new.data / "http_tokens.json").rmdir()
    assert await new.holds() == ([], [], None)
    assert new.config.read_text() == before
    assert not new.config.with_name("home_assistant.token").exists()
    assert capsys.readouterr().err.count("Traceback") == 0


async def test_what_the_disk_refuses_at_the_end_changes_nothing(
    old: Box,
    new: Box,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file, "--with-secrets") == 0
    before = new.config.read_text()
    written: list[Before] = []

    def write_then_fail(files: Sequence[NewFile]) -> Before:
        written.append(write_all(files))
        return written[-1]

    async def run(database: Database, work: Work[object], *, durable: bool = False) -> object:
        def refused(db: sqlite3.Connection) -> object:
            result = work(db)
            if written:  # it is the import's own, and all of it is done
                raise sqlite3.OperationalError("database or disk is full")
            return result

        return await done(database, refused, durable=durable)

    done = Database.run
    monkeypatch.setattr("assistant.transfer.bring.write_all", write_then_fail)
    monkeypatch.setattr(Database, "run", run)
    assert await setup(new, "--import", file, "--non-interactive") != 0
    monkeypatch.undo()
    assert len(written) == 1
    assert "full" in capsys.readouterr().err
    assert await new.holds() == ([], [], None)
    assert new.config.read_text() == before
    assert not new.config.with_name("home_assistant.token").exists()
    assert TokenFile(new.data).rows() == ()


async def test_a_damaged_file_changes_nothing(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    file.write_bytes(b"PK no zip")
    before = new.config.read_text()
    assert await setup(new, "--import", file, "--non-interactive") == 2
    assert "is damaged" in capsys.readouterr().err
    assert new.config.read_text() == before


async def test_an_export_is_not_written_over(
    old: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    file.write_text("mine")
    assert await setup(old, "--export", file) == 2
    assert "--force" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert await setup(old, "--export", file, "--force") == 0


async def test_without_a_terminal_somebody_has_to_say_so(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    assert await setup(new, "--import", file) == 2
    assert "--non-interactive" in capsys.readouterr().err
    assert await new.holds() == ([], [], None)


async def test_a_yes_to_gemini_that_comes_along_is_told(
    old: Box, new: Box, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with old.config.open("a") as config:
        config.write("[privacy]\naccept_cloud = true\n[limits]\ndaily_cost_usd = 7.5\n")
    file = tmp_path / "hearth.zip"
    assert await setup(old, "--export", file) == 0
    assert await setup(new, "--import", file, "--non-interactive") == 0
    told = capsys.readouterr().err
    assert "It turns Gemini on:" in told
    assert "Hearth spends at most 7.50 USD a day" in told  # as it will be here then
    assert new.settings.privacy.accept_cloud is True
