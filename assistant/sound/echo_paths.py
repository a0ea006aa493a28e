"""What was measured of the echo, kept for each pair of microphone and loudspeaker.

A pair is measured once, by a chirp, when it is first used. What tells nothing is not kept, so
the next start tries again.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from assistant.config.schema import Audio
from assistant.sound.mute import NAME as MUTED
from assistant.tools.modes import Kept
from audio.echo.measure import EchoPath
from audio.echo.pair import Pair, find_pair, measure_pair
from audio.errors import DeviceLost, InputUnusable

_LOUDER = 1.25  # times the volume at which no echo was found: 6 dB at a sound server

_log = logging.getLogger(__name__)

Measure = Callable[[Pair, int], Awaitable[EchoPath]]


class EchoPaths:
    """Knows the pairs that were measured, and measures others."""

    def __init__(self, kept: Kept, measure: Measure = measure_pair) -> None:
        """`kept`: the store. `measure` opens both devices; `int` is the lead-in in ms."""
        self._kept = kept
        self._measure = measure

    async def known(self, pair: Pair) -> EchoPath | None:
        """What was kept of this pair; None: nothing that still counts. Raises StoreError."""
        row = await self._kept.kept(_name(pair))
        if not isinstance(row, dict) or not isinstance(row.get("path"), dict):
            return None
        path = EchoPath.from_dict(row["path"])
        if path is not None and path.kind == "apart" and _louder(pair, row.get("volume")):
            return None
        return path

    async def measured(self, pair: Pair, audio: Audio) -> EchoPath:
        """Measure this pair, the devices of `audio`, and keep the result.

        Raises InputUnusable and DeviceLost where nothing was learnt, and StoreError.
        """
        # Where this cannot be read, it may be muted: the error ends the attempt.
        muted = await self._kept.kept(MUTED)
        if muted is not None and muted is not False:
            raise InputUnusable("The microphone is muted, by a person: nothing may be heard.")
        path = await self._measure(pair, audio.lead_in_ms)
        await _still_there(pair, audio)
        row = {"path": path.to_dict(), "volume": pair.output.volume}
        await self._kept.keep(_name(pair), row)
        _log.info("the echo of %s in %s was measured: %s", pair.output.name, pair.input.name, path)
        return path


async def _still_there(pair: Pair, audio: Audio) -> None:
    """Raises DeviceLost where the devices are others by now, or closed."""
    now = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
    if now.obstacle or now.names != pair.names:
        raise DeviceLost(now.obstacle or "The sound devices changed while they were measured.")


def _name(pair: Pair) -> str:
    """Under which it is kept: another device or another channel is another pair."""
    return f"echo {json.dumps(pair.names)}"


def _louder(pair: Pair, then: Any) -> bool:
    """Whether the loudspeaker is set so much louder that an echo may be heard now."""
    now = pair.output.volume
    return isinstance(then, int | float) and now is not None and now > then * _LOUDER
