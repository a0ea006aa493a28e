"""Sound files that programs name: in a folder of the owner's, or in Home Assistant."""

import asyncio
from pathlib import Path

from audio.errors import AudioError
from audio.sound_files import Clip, decoded
from integrations.cleaning import one_line
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.media import MAX_SOUND_BYTES, SCHEME, HomeSounds, SoundFile
from integrations.web.box import NotAnnounced, NotPossible

FOLDER = "media"  # in the data folder; it may be a link to another one
_FROM_HOME = ("http:", "https:", f"{SCHEME}:", "/local/", "/media/", "/api/")
_WHERE = (
    "Put the file into /config/www of Home Assistant and name it /local/NAME, or into the folder "
    f"{FOLDER} of Hearth's data folder and name it NAME."
)


class SoundFiles:
    """A name without a scheme is a file of the folder; all else is Home Assistant's."""

    def __init__(self, folder: Path, home: HomeSounds) -> None:
        """`folder`: it need not be there."""
        self._folder = folder
        self._home = home

    async def fetch(self, media: str) -> Clip:
        """The sound, as loud as our voice.

        Raises NotPossible where it may not be had or cannot be played, NotAnnounced where Home
        Assistant is away.
        """
        if media.startswith(_FROM_HOME):
            file = await self._fetch(media)
        else:
            file = await asyncio.to_thread(_read, self._folder, media)
        try:
            return await asyncio.to_thread(decoded, file.data, file.name)
        except AudioError as error:
            raise NotPossible(str(error)) from error

    async def _fetch(self, media: str) -> SoundFile:
        try:
            return await self._home.fetch(media)
        except Unavailable as error:
            raise NotAnnounced(f"It is not announced: {error}") from error
        except IntegrationError as error:
            raise NotPossible(f"{error} {_WHERE}") from error


def _read(folder: Path, media: str) -> SoundFile:
    """A file in the folder, wherever that leads; nothing that lies beyond it."""
    try:
        root = folder.resolve()
        file = (root / media).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            raise NotPossible(f"There is no such sound. {_WHERE}")
        with file.open("rb") as opened:
            data = opened.read(MAX_SOUND_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:  # also a null byte, or links in a ring
        raise NotPossible(f"The sound cannot be read. {_WHERE}") from error
    if len(data) > MAX_SOUND_BYTES:
        raise NotPossible(f"The sound is larger than {MAX_SOUND_BYTES // 1_000_000} MB.")
    return SoundFile(one_line(file.name, 100) or "sound", data)
