"""Hearth's configuration: what can be set, and how it is read."""

from assistant.config.errors import ConfigError
from assistant.config.load import find_file, load_settings
from assistant.config.schema import Settings

__all__ = ["ConfigError", "Settings", "find_file", "load_settings"]
