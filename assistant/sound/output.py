"""Where the answers sound, by the settings or by a command's --out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from assistant.config.schema import Settings
from audio.echo.choose import Reference
from audio.player import NullPlayer, OneOutput, Outputs, Player, WavPlayer
from audio.speaker import Speaker


@asynccontextmanager
async def open_outputs(
    settings: Settings,
    out: Path | None = None,
    paced: bool = False,
    reference: Reference | None = None,
) -> AsyncIterator[Outputs]:
    """What `out` or `audio.output` names, closed in the end.

    `paced`: a file or nothing takes as long as a speaker would. `reference` is told of all that a
    speaker plays. Raises InputUnusable.
    """
    outputs = _outputs(settings, out, paced, reference)
    try:
        yield outputs
    finally:
        await outputs.close()


@asynccontextmanager
async def open_file_player(out: Path | None, paced: bool) -> AsyncIterator[Player]:
    """A player that opens no device: into `out`, or nowhere."""
    player: Player = WavPlayer(out, paced) if out else NullPlayer(paced)
    try:
        yield player
    finally:
        await player.close()


def _outputs(
    settings: Settings, out: Path | None, paced: bool, reference: Reference | None
) -> Outputs:
    output = settings.audio.output
    if out is None and output.startswith("file:"):
        out = Path(output.removeprefix("file:"))
    if out is not None:
        return OneOutput(WavPlayer(out, paced))
    if output == "null":
        return OneOutput(NullPlayer(paced))
    return Speaker(output, settings.audio.lead_in_ms, reference)
