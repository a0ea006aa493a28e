"""Settings of a text, without environment and files."""

import tomllib

from assistant.config.schema import Settings


def settings_of(text: str) -> Settings:
    """As it stands there."""
    return Settings.model_validate(tomllib.loads(text))
