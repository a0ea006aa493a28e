"""No secret of the settings is logged, by whatever library and in whatever text."""

import logging
import sys

import pytest

from assistant.cli.starred import StarredFormatter, secrets_in
from assistant.config.schema import Settings

TOKEN = "c4nary 'house' token"
SETTINGS = Settings.model_validate(
    {
        "home_assistant": {"token": TOKEN},
        "policy": {"pin": "2026"},
        "mcp": {
            "servers": [
                {
                    "name": "far",
                    "transport": "http",
                    "url": "http://127.0.0.1:9/mcp",
                    "headers": {"Authorization": "Bearer c4nary-far-away"},
                }
            ]
        },
    }
)


def _logged(message: str, *arguments: object, error: Exception | None = None) -> str:
    formatter = StarredFormatter("%(asctime)s %(message)s")
    formatter.hide(SETTINGS)
    info = None
    if error is not None:
        try:
            raise error
        except type(error):
            info = sys.exc_info()
    record = logging.LogRecord("x", logging.DEBUG, "", 1, message, arguments, info)
    return formatter.format(record)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (f"token {TOKEN}", ()),
        ("token %s", (TOKEN,)),
        ("sent %r", ({"token": TOKEN},)),
        ("headers %s", ({"authorization": "Bearer c4nary-far-away"},)),
        ("key c4nary-far-away.", ()),
    ],
)
def test_a_secret_is_starred(message: str, arguments: tuple[object, ...]) -> None:
    text = _logged(message, *arguments)
    assert "c4nary" not in text
    assert "***" in text


def test_a_traceback_is_starred_too() -> None:
    text = _logged("it failed", error=ValueError(f"with {TOKEN}"))
    assert "ValueError: with ***" in text


def test_the_rest_is_as_it_was() -> None:
    assert _logged("since %d of the house", 2026).endswith(" since 2026 of the house")


def test_all_secrets_are_found_wherever_they_are() -> None:
    assert {TOKEN, "2026", "Bearer c4nary-far-away", "c4nary-far-away"} <= set(secrets_in(SETTINGS))
