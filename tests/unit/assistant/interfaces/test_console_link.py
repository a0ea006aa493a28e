"""One-time links: they hold once, for a while, and name where the console is."""

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.sections import Http
from assistant.interfaces.http import LINKS_FILE, MOST_MINUTES, Links, console_address, console_link

NOW = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)


@pytest.fixture
def links(tmp_path: Path) -> Links:
    return Links(tmp_path)


def test_it_holds_once(links: Links, tmp_path: Path) -> None:
    first, second = links.make(NOW, 10), links.make(NOW, 10)
    text = (tmp_path / LINKS_FILE).read_text()
    assert first not in text
    assert [row.keys() for row in json.loads(text)] == [{"sha256", "expires"}] * 2
    assert stat.S_IMODE((tmp_path / LINKS_FILE).stat().st_mode) == 0o600
    assert links.redeem(first, NOW)
    assert not links.redeem(first, NOW)
    for wrong in ("", second[:-1], "é", "\udcff"):
        assert not links.redeem(wrong, NOW)
    assert Links(tmp_path).redeem(second, NOW)
    assert json.loads((tmp_path / LINKS_FILE).read_text()) == []


def test_it_holds_for_a_while(links: Links) -> None:
    code = links.make(NOW, 10)
    assert not links.redeem(code, NOW + timedelta(minutes=10))
    assert links.redeem(code, NOW + timedelta(minutes=9, seconds=59))


def test_a_clock_that_was_wrong_makes_no_link_that_holds_for_years(links: Links) -> None:
    code = links.make(NOW, 10)
    before = NOW - timedelta(days=300)  # the clock is set back meanwhile
    assert not links.redeem(code, before)


def test_only_some_wait_at_once(links: Links) -> None:
    codes = [links.make(NOW, 10) for _ in range(9)]
    assert [links.redeem(code, NOW) for code in codes] == [False] + [True] * 8


@pytest.mark.parametrize("text", ["", "[", "[1]", '[{"sha256": "0", "expires": "x"}]'])
def test_a_damaged_file_holds_no_link(links: Links, tmp_path: Path, text: str) -> None:
    code = links.make(NOW, 10)
    (tmp_path / LINKS_FILE).write_text(text)
    assert not links.redeem(code, NOW)
    assert links.redeem(links.make(NOW, 10), NOW)


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / LINKS_FILE).mkdir()
    with pytest.raises(ConfigError, match="one-time links"):
        Links(tmp_path).make(NOW, 10)


def test_the_link_has_its_code_where_no_server_sees_it(tmp_path: Path) -> None:
    settings = Settings.model_validate({"assistant": {"data": str(tmp_path)}})
    link = urlsplit(console_link(settings, NOW))
    assert (link.scheme, link.netloc, link.path, link.query) == ("http", "127.0.0.1:8765", "/", "")
    assert Links(tmp_path).redeem(link.fragment.removeprefix("code="), NOW)


@pytest.mark.parametrize("minutes", [0, -1, MOST_MINUTES + 1])
def test_minutes_that_make_no_sense_are_told(tmp_path: Path, minutes: int) -> None:
    settings = Settings.model_validate({"assistant": {"data": str(tmp_path)}})
    with pytest.raises(ConfigError, match="1 to 1440 minutes"):
        console_link(settings, NOW, minutes)
    assert not (tmp_path / LINKS_FILE).exists()


@pytest.mark.parametrize(
    ("http", "address"),
    [
        ({}, "http://127.0.0.1:8765/"),
        ({"host": "192.168.1.5", "port": 80}, "http://192.168.1.5:80/"),
        ({"host": "::1"}, "http://[::1]:8765/"),
        ({"host": "hearth.local", "tls_cert": "x.pem"}, "https://hearth.local:8765/"),
    ],
)
def test_where_the_console_is(http: dict[str, object], address: str) -> None:
    assert console_address(Http.model_validate(http)) == address


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_of_all_addresses_one_is_named_that_others_reach(host: str) -> None:
    found = urlsplit(console_address(Http(host=host))).hostname
    assert found
    assert found not in ("0.0.0.0", "::")
