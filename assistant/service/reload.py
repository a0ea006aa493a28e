"""Reload of the settings while Hearth runs. Invalid settings change nothing. If valid settings
can't be applied, for example because a port is in use, Hearth returns to the previous settings."""

import logging
from collections.abc import Callable
from pathlib import Path

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.service.notify import News, State, read_news, write_news

_log = logging.getLogger(__name__)


class Reloading:
    """Keeps track of the current and the requested settings. Use it on the event loop's thread. It
    reads and writes files, which blocks."""

    def __init__(
        self, settings: Settings, load: Callable[[], Settings], folder: Path | None = None
    ) -> None:
        """`load` reads the settings again and raises ConfigError if they are invalid. The result of
        each request is written to `folder`, where `ask_reload` reads it."""
        self.serving = settings
        self._load = load
        self._folder = folder
        self._next: Settings | None = None  # valid settings that were requested
        # Previous settings to return to, until the new ones have been applied.
        self._before: Settings | None = None
        # Numbers of the latest request and of the requests that loaded `_next` and `serving`.
        self._number = self._number_of_next = self._number_of_serving = self._begin_at()
        self.trouble = ""  # sentence that says why the latest request was refused, or ""

    def wish(self) -> bool:
        """Handle a reload request. Returns True if valid new settings are waiting to be applied."""
        self._number += 1
        try:
            found = self._load()
            self._check(found)
        except ConfigError as error:
            why = f"The new settings were rejected, so the previous ones stay in use: {error}"
            self._refuse(self._number, why)
            return self._next is not None
        self.trouble = ""
        if found != self.serving:
            self._next, self._number_of_next = found, self._number
            self._tell(
                self._number, "waits", "The new settings apply as soon as the conversation is over."
            )
            return True
        self._next, self._number_of_serving = None, self._number
        if self._before is None:
            self._tell(self._number, "done", "The settings have not changed.")
        else:
            self._tell(self._number, "waits", "The new settings are already being applied.")
        return False

    def take_up(self) -> Settings:
        """Switch to the requested settings, if there are any, and return the settings to use."""
        if self._next is not None:
            # If set, `serving` was never applied, so it can't be returned to.
            if self._before is None:
                self._before = self.serving
            self.serving, self._next = self._next, None
            self._number_of_serving = self._number_of_next
        return self.serving

    def opened(self) -> None:
        """Record that Hearth is running with the current settings."""
        if self._before is None:
            return
        self._before = None
        self._tell(self._number_of_serving, "done", "The new settings are in use.")
        if self._number_of_serving == self._number:  # unless a later request was refused
            self.trouble = ""

    def cannot_open(self, error: BaseException) -> bool:
        """Return to the previous settings because the current ones can't be applied. Returns False
        if there are no previous settings."""
        if self._before is None:
            return False
        self.serving, self._before = self._before, None
        why = f"The new settings could not be applied, so the previous ones stay in use: {error}"
        self._refuse(self._number_of_serving, why)
        return True

    def _check(self, found: Settings) -> None:
        if found.data_folder != self.serving.data_folder:
            raise ConfigError(
                f"assistant.data is now {found.data_folder}, which needs a restart of Hearth"
            )

    def _refuse(self, number: int, sentence: str) -> None:
        self.trouble = sentence
        _log.error("%s", sentence)
        self._tell(number, "refused", sentence)

    def _tell(self, number: int, state: State, sentence: str) -> None:
        if state != "refused":
            _log.warning("%s", sentence)  # a warning, so that the default log level shows it
        if self._folder is None:
            return
        try:
            write_news(self._folder, News(number, state, sentence))
        except OSError as error:
            _log.debug("cannot save the result of the reload: %s", error)

    def _begin_at(self) -> int:
        before = read_news(self._folder) if self._folder is not None else None
        return before.number if before is not None else 0
