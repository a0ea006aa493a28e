"""Where the answers sound, by the settings or by a command's --out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from assistant.config.schema import Settings
from audio.player import NullPlayer, Player, WavPlayer
from audio.speaker import DevicePlayer


@asynccontextmanager
async def open_player(
    settings: Settings, out: Path | None = None, paced: bool = False
) -> AsyncIterator[Player]:
    """The player that `out` or `audio.output` names, closed in the end.

    `paced`: a file or nothing takes as long as a speaker would. Raises InputUnusable.
    """
    player = _player(settings.audio.output, out, paced)
    try:
        yield player
    finally:
        await player.close()


@asynccontextmanager
async def open_file_player(out: Path | None, paced: bool) -> AsyncIterator[Player]:
    """A player that opens no device: into `out`, or nowhere."""
    player: Player = WavPlayer(out, paced) if out else NullPlayer(paced)
    try:
        yield player
    finally:
        await player.close()


def _player(output: str, out: Path | None, paced: bool) -> Player:
    if out is not None:
        return WavPlayer(out, paced)
    if output == "null":
        return NullPlayer(paced)
    if output.startswith("file:"):
        return WavPlayer(Path(output.removeprefix("file:")), paced)
    return DevicePlayer(output)
