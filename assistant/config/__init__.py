"""Hearth's configuration: the available settings, and how they are read.

Each setting is a field of a class in `sections`, `sound` or `tools`. A new section must also be
added to `schema`. `load` reads the file and the environment, and `document` generates
docs/configuration.md.
"""

from assistant.config.errors import ConfigError
from assistant.config.load import find_file, load_settings
from assistant.config.schema import Settings

__all__ = ["ConfigError", "Settings", "find_file", "load_settings"]
