"""What every check of the box looks at, and what it may do there beside looking."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from assistant.app.lock import is_held
from assistant.config.schema import Settings
from assistant.doctor.daemon import Daemon, visit


@dataclass(frozen=True, slots=True)
class May:
    """What the doctor may do that others notice. Nothing, unless somebody sits there."""

    listen: bool = False  # open the microphone
    play: bool = False  # play a short tone
    try_cloud: bool = False  # have Gemini say a word, which costs a part of a cent
    # Sign in at a Hearth that runs, and have it look where a secret is its alone.
    ask_daemon: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """The box as it is now."""

    settings: Settings
    may: May
    daemon: Daemon | None  # the Hearth that runs, as it tells of itself; None: none runs
    config: Path | None = None  # the file that was named; None: the usual one

    @property
    def free(self) -> bool:
        """Whether no other Hearth holds the sound devices."""
        return self.daemon is None


async def open_scene(settings: Settings, may: May, config: Path | None = None) -> Scene:
    """Find out whether a Hearth runs, and ask it how it stands."""
    held = await asyncio.to_thread(is_held, settings.data_folder)
    daemon = await visit(settings, held=held, links=may.ask_daemon)
    return Scene(settings, may, daemon, config)
