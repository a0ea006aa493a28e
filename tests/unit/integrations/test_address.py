"""The visible form of a URL, and the host that it names."""

import pytest

from integrations.address import host_of, shown


@pytest.mark.parametrize(
    ("url", "seen", "host"),
    [
        ("http://home.local:8123", "http://home.local:8123", "home.local"),
        ("https://user:secret@[::1]:1/path?key=secret#secret", "https://[::1]:1/path", "::1"),
        ("user:secret@home.local", "home.local", None),
        ("ftp://home.local", "ftp://home.local", None),
        ("http://[secret@x?secret", "x", None),
        ("http://home:port", "http://home:port", None),
        ("http://", "http:", None),
        ("", "", None),
    ],
)
def test_no_secret_is_shown(url: str, seen: str, host: str | None) -> None:
    assert "secret" not in shown(url)
    assert host_of(url) == host
    assert shown(url).rstrip("/") == seen
