"""The visible form of a URL, and the host that it names."""

import pytest

from integrations.address import host_of, is_at_home, shown


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


@pytest.mark.parametrize(
    ("host", "at_home"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("192.168.1.20", True),
        ("10.0.0.2", True),
        ("fd00::1", True),
        ("nas", True),
        ("nas.local", True),
        ("ollama.home.arpa", True),
        ("8.8.8.8", False),
        ("100.64.0.7", False),  # shared by a provider's customers, and by VPNs
        ("2606:4700::1", False),
        ("api.example.com", False),
        ("local.example.com", False),
        ("api。example。com", False),  # httpx connects to api.example.com
        ("134744072", False),  # another way to write 8.8.8.8
        ("0x08080808", False),
        ("", False),
    ],
)
def test_which_hosts_are_at_home(host: str, at_home: bool) -> None:
    assert is_at_home(host) is at_home
