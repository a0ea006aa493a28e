"""A player that writes each answer of the demonstration into a file of its own."""

from pathlib import Path
from typing import Self

from audio.player import WavPlayer


class Gramophone:
    """Plays into the file of the present scene; `begin` starts the next one."""

    def __init__(self) -> None:
        self._player: WavPlayer | None = None
        self._before_ms = 0.0  # played into earlier files

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def begin(self, path: Path) -> None:
        """Finish the file under way, then write into `path`. Raises InputUnusable."""
        await self.close()
        self._player = WavPlayer(path, paced=False)

    async def play(self, pcm: bytes, rate: int) -> None:
        """See Player; before the first `begin` nothing is kept."""
        if self._player is not None:
            await self._player.play(pcm, rate)

    async def drain(self) -> None:
        """See Player."""
        if self._player is not None:
            await self._player.drain()

    def stop(self) -> None:
        """See Player."""
        if self._player is not None:
            self._player.stop()

    @property
    def played_ms(self) -> float:
        """See Player; counted over all files."""
        return self._before_ms + (self._player.played_ms if self._player else 0.0)

    async def close(self) -> None:
        """Finish the file under way."""
        if self._player is not None:
            player, self._player = self._player, None
            self._before_ms += player.played_ms
            await player.close()
