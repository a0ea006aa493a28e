"""`hearth trace` lists and plays the sounds that were kept."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.domain.clock import SystemClock
from assistant.domain.records import TurnRecord
from assistant.journal.store import Store
from assistant.sound.recordings import FOLDER, Recording, write
from audio.sound_files import read_wav

NOW = datetime.now(UTC)
SOUND = bytes([0, 32]) * 40_000  # 2.5 s
TURN = Recording(
    "20260101T120003.000000Z-turn-okay_nabu-0.97", "turn", NOW, "okay_nabu", 0.9712, 2.5, "t1"
)
NEAR = Recording(
    "20260101T120001.500000Z-near-okay_nabu-0.40", "near", NOW, "okay_nabu", 0.4, 0.5, closeness=0.6
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A journal with three turns, of which one has its sound."""
    file = tmp_path / "hearth.toml"
    file.write_text(
        f'[assistant]\ndata = "{tmp_path}"\n[audio]\noutput = "file:{tmp_path}/out.wav"\n'
    )

    async def fill() -> None:
        async with Store(tmp_path / "hearth.db", SystemClock()) as store:
            await store.record_turn(TurnRecord("t1", NOW, "voice", "en"))
            await store.record_turn(TurnRecord("t2", NOW, "voice", "en"))
            await store.record_turn(TurnRecord("t3", NOW, "text", "en"))

    asyncio.run(fill())
    write(tmp_path / FOLDER, TURN, SOUND)
    write(tmp_path / FOLDER, NEAR, SOUND[:16_000])
    return file


def trace(config: Path, *words: str) -> int:
    return main(["trace", *words, "--config", str(config)])


def test_a_turn_is_shown_and_played(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trace(config, "t1", "--play") == 0
    assert "t1" in capsys.readouterr().out
    assert read_wav(tmp_path / "out.wav") == SOUND


def test_a_recording_is_played_by_its_name(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trace(config, NEAR.name, "--play") == 0
    assert read_wav(tmp_path / "out.wav") == SOUND[:16_000]


@pytest.mark.parametrize(
    ("turn", "keep", "sentence"),
    [
        ("t2", "", "No sound of the turn t2 was kept; set recordings.keep"),
        ("t2", "[recordings]\nkeep = 5\n", "No sound of the turn t2 is kept"),
        ("t3", "", "The turn t3 was not spoken"),
        ("t9", "", "There is no turn t9"),
    ],
)
def test_where_there_is_no_sound(
    config: Path, capsys: pytest.CaptureFixture[str], turn: str, keep: str, sentence: str
) -> None:
    config.write_text(config.read_text() + keep)
    assert trace(config, turn, "--play") == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_all_that_is_kept(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trace(config, "--recordings") == 0
    near, turn = capsys.readouterr().out.splitlines()
    assert "near" in near
    assert "0.40" in near
    assert "0.97" in turn
    assert turn.endswith(TURN.name)
    assert trace(config, "--recordings", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [NEAR.name, TURN.name]
    assert rows[1]["turn_id"] == "t1"
    assert Path(rows[1]["file"]).is_file()


def test_nothing_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(f'[assistant]\ndata = "{tmp_path}/none"\n')
    assert trace(file, "--recordings") == 0
    assert "recordings.keep" in capsys.readouterr().out
    assert trace(file, "--recordings", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []
