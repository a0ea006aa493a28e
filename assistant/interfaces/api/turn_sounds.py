"""Which turns' sound is kept, where recordings are."""

import time
from collections.abc import Mapping
from pathlib import Path

from assistant.sound.recordings import FOLDER, listed, path_of

# A folder that changed this lately may hold a recording that is still being written.
_SETTLES_S = 2.0


class TurnSounds:
    """Looks into the folder of recordings, and again only where it has changed. Blocking."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the data folder."""
        self._folder = folder
        self._seen = -1  # when the folder had last changed, ns
        self._paths: Mapping[str, Path] = {}

    def paths(self) -> Mapping[str, Path]:
        """The WAV file of each turn that has one, by the turn's id."""
        try:
            changed = (self._folder / FOLDER).stat().st_mtime_ns
        except OSError:
            return {}
        if changed != self._seen:
            self._paths = {
                one.turn_id: path_of(self._folder, one)
                for one in listed(self._folder)
                if one.kind == "turn" and one.turn_id
            }
            lately = time.time_ns() - changed < _SETTLES_S * 1e9
            self._seen = -1 if lately else changed
        return self._paths
