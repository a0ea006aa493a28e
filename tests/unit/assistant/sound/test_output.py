"""Where the answers sound, by the settings."""

from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.sound.devices import open_file_player, open_outputs
from audio.player import NullPlayer, OneOutput
from audio.sound_files import read_wav
from audio.speaker import Speaker

PCM = bytes(range(200)) * 8
RATE = 16_000


def settings(output: str) -> Settings:
    return Settings.model_validate({"audio": {"output": output, "lead_in_ms": 300}})


@pytest.mark.parametrize("by_option", [True, False])
async def test_a_file_takes_all_streams(tmp_path: Path, by_option: bool) -> None:
    path = tmp_path / "out.wav"
    output = "default" if by_option else f"file:{path}"
    async with open_outputs(settings(output), path if by_option else None) as outputs:
        for name in ("voice", "sounds"):
            await outputs.stream(name).play(PCM, RATE)
        outputs.duck(True)
    assert read_wav(path) == PCM * 2


async def test_null_is_nowhere() -> None:
    async with open_outputs(settings("null")) as outputs:
        assert isinstance(outputs, OneOutput)
        assert isinstance(outputs.stream("voice"), NullPlayer)


async def test_anything_else_is_a_device_which_is_not_opened_yet() -> None:
    async with open_outputs(settings("Kitchen speaker")) as outputs:
        assert isinstance(outputs, Speaker)
        assert not outputs.missing


async def test_a_file_player_opens_no_device(tmp_path: Path) -> None:
    async with open_file_player(None, paced=False) as player:
        await player.play(PCM, RATE)
    async with open_file_player(tmp_path / "out.wav", paced=False) as player:
        await player.play(PCM, RATE)
    assert read_wav(tmp_path / "out.wav") == PCM
