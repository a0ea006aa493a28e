"""Settings from a text, without environment and files."""

import tomllib

from assistant.config.schema import Settings


def settings_of(text: str) -> Settings:
    return Settings.model_validate(tomllib.loads(text))
