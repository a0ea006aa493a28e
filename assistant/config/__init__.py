"""Hearth's configuration: what can be set, and how it is read.

A setting is a field in `sections`, `sound` or `tools`; a new section is also named in `schema`.
`load` reads the file and the environment, `errors` turns complaints into one sentence, `document`
writes the page of all settings.
"""

from assistant.config.errors import ConfigError
from assistant.config.load import find_file, load_settings
from assistant.config.schema import Settings

__all__ = ["ConfigError", "Settings", "find_file", "load_settings"]
