"""The settings that are served, and others once they are wished for and good.

A file with a mistake changes nothing. Settings that are good in themselves but cannot be opened
(a port that is taken, a device that is none) give way to those before.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.service.notify import News, State, read_news, write_news

_log = logging.getLogger(__name__)


class Reloading:
    """Pure but for `load` and the news. On one event loop; a step blocks for a file's reading."""

    def __init__(
        self, settings: Settings, load: Callable[[], Settings], folder: Path | None = None
    ) -> None:
        """`load`: reads the settings as at the start; raises ConfigError. `folder`: where whoever
        asks for a reload finds what came of it."""
        self.serving = settings
        self._load = load
        self._folder = folder
        self._next: Settings | None = None  # good, and wished for
        self._before: Settings | None = None  # to go back to, until the new ones are open
        # Of the newest wish, and of those that brought `_next` and `serving`.
        self._number = self._number_of_next = self._number_of_serving = self._begin_at()
        self.trouble = ""  # why the newest wish was refused, in a sentence

    def wish(self) -> bool:
        """Somebody wants the settings read anew. True: there are others to be taken up, of this
        wish or of one before."""
        self._number += 1
        try:
            found = self._load()
            self._check(found)
        except ConfigError as error:
            why = f"The new settings are refused, those before hold: {error}"
            self._refuse(self._number, why)
            return self._next is not None
        self.trouble = ""
        if found != self.serving:
            self._next, self._number_of_next = found, self._number
            self._tell(self._number, "waits", "The new settings hold as soon as nobody talks.")
            return True
        self._next, self._number_of_serving = None, self._number
        if self._before is None:
            self._tell(self._number, "done", "The settings are as they were.")
        else:
            self._tell(self._number, "waits", "The new settings are being opened already.")
        return False

    def take_up(self) -> Settings:
        """Return what is to be served now: what was wished for, if anything was."""
        if self._next is not None:
            if self._before is None:  # else what was served last has not stood: it is no way back
                self._before = self.serving
            self.serving, self._next = self._next, None
            self._number_of_serving = self._number_of_next
        return self.serving

    def opened(self) -> None:
        """Note that what is served stands."""
        if self._before is None:
            return
        self._before = None
        self._tell(self._number_of_serving, "done", "The new settings hold.")
        if self._number_of_serving == self._number:  # what was refused since then still is
            self.trouble = ""

    def cannot_open(self, error: BaseException) -> bool:
        """It does not stand. True: those before are to be served again; False: there are none."""
        if self._before is None:
            return False
        self.serving, self._before = self._before, None
        why = f"The new settings cannot be used, those before hold: {error}"
        self._refuse(self._number_of_serving, why)
        return True

    def _check(self, found: Settings) -> None:
        if found.data_folder != self.serving.data_folder:
            raise ConfigError(
                f"assistant.data has become {found.data_folder}, which needs a restart of Hearth"
            )

    def _refuse(self, number: int, sentence: str) -> None:
        self.trouble = sentence
        _log.error("%s", sentence)
        self._tell(number, "refused", sentence)

    def _tell(self, number: int, state: State, sentence: str) -> None:
        if state != "refused":
            _log.warning("%s", sentence)  # what somebody asked for is answered in the log
        if self._folder is None:
            return
        try:
            write_news(self._folder, News(number, state, sentence))
        except OSError as error:
            _log.debug("what came of a reload cannot be written down: %s", error)

    def _begin_at(self) -> int:
        """Above the number that an earlier process has left."""
        before = read_news(self._folder) if self._folder is not None else None
        return before.number if before is not None else 0
