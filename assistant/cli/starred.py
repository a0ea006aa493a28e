"""Logging that stars secrets, wherever a library or a server may have put them."""

import json
import logging
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, SecretStr

from assistant.config.schema import Settings

STARS = "***"
_SHORTEST = 8  # characters; stars for a PIN in times and ports would tell it


class StarredFormatter(logging.Formatter):
    """A formatter that puts stars for secrets into the whole text, with its traceback."""

    def __init__(self, layout: str) -> None:
        super().__init__(layout)
        self._hidden: tuple[str, ...] = ()

    def hide(self, settings: Settings) -> None:
        """From now on the secrets of these settings are starred too."""
        plain = {secret for secret in secrets_in(settings) if len(secret) >= _SHORTEST}
        forms = {form for one in plain for form in (one, repr(one)[1:-1], json.dumps(one)[1:-1])}
        self._hidden = tuple(sorted(forms.union(self._hidden), key=len, reverse=True))

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        text = super().format(record)
        for secret in self._hidden:
            text = text.replace(secret, STARS)
        return text


def hide_in_logs(settings: Settings) -> None:
    """From now on what this process logs has stars for the secrets of these settings."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, StarredFormatter):
            handler.formatter.hide(settings)


def secrets_in(value: object) -> Iterator[str]:
    """Every secret in settings or in a part of them; of a header's value the credential too."""
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        yield from {secret, secret.rpartition(" ")[2]}
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from secrets_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from secrets_in(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from secrets_in(one)
