"""Tests of HttpSessions: kept as hashes, ended with their token, and usable while the disk is
full."""

import asyncio
import json
import logging
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.sections import Http
from assistant.domain.clock import VirtualClock
from assistant.interfaces.http import (
    LINKS_FILE,
    MOST_MINUTES,
    MOST_SESSIONS,
    SESSIONS_FILE,
    HttpSessions,
    Links,
    console_address,
    console_link,
    sign_everybody_out,
)
from assistant.interfaces.http_tokens import HttpTokens, TokenFile
from assistant.interfaces.private_file import PrivateFile
from integrations.web.box import ROLES, Caller, NotKept, Unknown
from integrations.web.guard import LASTS_S, SignedIn
from integrations.web.requests import LinkRequest

ADMIN = "the admin's"
NOW = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)


class Box:
    """A data folder with tokens and sessions, as one process has them."""

    def __init__(self, folder: Path, clock: VirtualClock, admin: str = ADMIN) -> None:
        self.folder = folder
        self.file = TokenFile(folder)
        self.sessions = HttpSessions(folder, HttpTokens(admin, self.file), clock)

    @property
    def text(self) -> str:
        return (self.folder / SESSIONS_FILE).read_text()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
def box(tmp_path: Path, clock: VirtualClock) -> Box:
    return Box(tmp_path / "data", clock)


async def begun(box: Box, token: str = ADMIN) -> SignedIn:
    signed = await box.sessions.begin(token)
    assert signed is not None
    return signed


async def test_a_session_outlives_a_restart_and_tells_no_secret(
    box: Box, clock: VirtualClock
) -> None:
    signed = await begun(box)
    assert (signed.caller.name, signed.caller.may("admin")) == ("http:admin", True)
    assert signed.id not in repr(signed)
    assert signed.caller.session not in repr(signed.caller)
    again = Box(box.folder, clock)
    assert again.sessions.caller(signed.id) == signed.caller
    assert again.sessions.holds(signed.caller)
    (row,) = json.loads(box.text)
    assert row.keys() == {"sha256", "token", "expires", "role", "name", "begun"}
    assert signed.id not in box.text
    assert ADMIN not in box.text
    assert stat.S_IMODE((box.folder / SESSIONS_FILE).stat().st_mode) == 0o600
    assert (await begun(box)).id != signed.id


async def test_of_what_is_no_token_or_no_session_there_is_none(box: Box) -> None:
    assert await box.sessions.begin("a guess") is None
    assert not (box.folder / SESSIONS_FILE).exists()
    signed = await begun(box)
    for wrong in ("", signed.id[:-1], f"{signed.id}x", signed.caller.session, "é", "\udcff"):
        assert box.sessions.caller(wrong) is None
    assert not box.sessions.holds(Caller("http:admin", frozenset({"admin"}), "0" * 64))
    assert not box.sessions.holds(Caller("http:admin", frozenset({"admin"})))


async def test_it_ends_with_the_token_that_it_was_made_with(box: Box) -> None:
    signed = await begun(box, box.file.make("panel", ("read",), NOW))
    assert box.sessions.caller(signed.id) == signed.caller
    assert (signed.caller.name, signed.caller.scopes) == ("http:panel", frozenset({"read"}))
    box.file.revoke("panel")
    assert box.sessions.caller(signed.id) is None
    assert not box.sessions.holds(signed.caller)
    # Another token of that name does not bring it back.
    box.file.make("panel", ("read",), NOW)
    assert box.sessions.caller(signed.id) is None


async def test_another_token_of_the_administrator_ends_the_sessions_of_the_old_one(
    box: Box, clock: VirtualClock
) -> None:
    signed = await begun(box)
    assert Box(box.folder, clock, "another").sessions.caller(signed.id) is None
    assert Box(box.folder, clock).sessions.caller(signed.id) is not None


async def test_it_lasts_thirty_days(box: Box, clock: VirtualClock) -> None:
    signed = await begun(box)
    clock.advance(LASTS_S - 1)
    assert box.sessions.caller(signed.id) is not None
    clock.advance(2)
    assert box.sessions.caller(signed.id) is None
    assert not box.sessions.holds(signed.caller)
    await begun(box)
    assert len(json.loads(box.text)) == 1  # ended sessions are not kept


async def test_a_link_for_the_family_gives_its_rights(box: Box) -> None:
    code = (await box.sessions.make_link(LinkRequest(role="family", name="Ana")))["code"]
    signed = await box.sessions.redeem(code)
    assert signed is not None
    assert (signed.caller.name, signed.caller.scopes) == ("http:family", ROLES["family"])
    assert signed.caller.is_person
    assert box.sessions.holds(signed.caller)
    own = await begun(box)
    rows = box.sessions.rows(own.caller)
    assert [(row["role"], row["name"], row["own"]) for row in rows] == [
        ("family", "Ana", False),
        ("token", "", True),
    ]
    await box.sessions.end_one(rows[0]["id"])
    assert box.sessions.caller(signed.id) is None
    assert not box.sessions.holds(signed.caller)
    with pytest.raises(Unknown):
        await box.sessions.end_one(rows[0]["id"])


async def test_a_guests_session_ends_by_itself(box: Box, clock: VirtualClock) -> None:
    code = (await box.sessions.make_link(LinkRequest(role="guest", hours=2)))["code"]
    signed = await box.sessions.redeem(code)
    assert signed is not None
    assert not signed.caller.is_person
    clock.advance(2 * 3600 - 1)
    assert box.sessions.holds(signed.caller)
    clock.advance(2)
    assert box.sessions.caller(signed.id) is None
    assert not box.sessions.holds(signed.caller)
    assert box.sessions.rows(signed.caller) == []


async def test_a_new_administrators_token_ends_the_sessions_of_all_roles(
    box: Box, clock: VirtualClock
) -> None:
    code = (await box.sessions.make_link(LinkRequest(role="family")))["code"]
    signed = await box.sessions.redeem(code)
    assert signed is not None
    assert Box(box.folder, clock, "another").sessions.caller(signed.id) is None


async def test_signing_out(box: Box, clock: VirtualClock) -> None:
    first, second = await begun(box), await begun(box)
    await box.sessions.end(first.id)
    await box.sessions.end(first.id)
    await box.sessions.end("never there")
    for one in (box, Box(box.folder, clock)):
        assert one.sessions.caller(first.id) is None
        assert one.sessions.caller(second.id) is not None
    # And all sessions, by another process.
    assert await asyncio.to_thread(sign_everybody_out, box.folder) == 1
    assert box.sessions.caller(second.id) is None
    assert await asyncio.to_thread(sign_everybody_out, box.folder) == 0


async def test_one_that_begins_in_the_place_of_another_ends_it(box: Box) -> None:
    first = await begun(box)
    second = await box.sessions.begin(ADMIN, first.id)
    assert second is not None
    third = await box.sessions.redeem(Links(box.folder).make(NOW, 10), second.id)
    assert third is not None
    alive = [box.sessions.caller(one.id) is not None for one in (first, second, third)]
    assert alive == [False, False, True]
    assert len(json.loads(box.text)) == 1
    assert await box.sessions.begin("a guess", third.id) is None
    assert box.sessions.caller(third.id) is not None  # a wrong one ends nothing


async def test_many_at_once_are_all_kept_up_to_a_number(box: Box, clock: VirtualClock) -> None:
    several = [one.id for one in await asyncio.gather(*(begun(box) for _ in range(8)))]
    again = Box(box.folder, clock).sessions
    assert all(again.caller(one) for one in several)
    for _ in range(MOST_SESSIONS - 8):
        await begun(box)
    assert box.sessions.caller(several[0]) is not None
    await begun(box)
    assert box.sessions.caller(several[0]) is None  # the oldest
    assert len(json.loads(box.text)) == MOST_SESSIONS


async def test_a_link_signs_in_once(box: Box) -> None:
    code = Links(box.folder).make(NOW, 10)
    signed, again = await asyncio.gather(box.sessions.redeem(code), box.sessions.redeem(code))
    (one,) = [signed for signed in (signed, again) if signed is not None]
    assert one.caller.name == "http:admin"
    assert box.sessions.caller(one.id) == one.caller
    assert await box.sessions.redeem("a guess") is None


async def test_while_the_disk_is_full_people_get_in_by_a_token(
    box: Box, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code = Links(box.folder).make(NOW, 10)
    earlier = await begun(box)

    def full(self: PrivateFile, data: bytes) -> None:
        raise self._unusable(OSError(28, "No space left on device"))

    monkeypatch.setattr(PrivateFile, "write", full)
    signed = await begun(box)
    for one in (earlier, signed):
        assert box.sessions.caller(one.id) == one.caller
    assert "after a restart" in caplog.text
    assert signed.id not in caplog.text
    # The link would stay valid forever, because it cannot be deleted.
    with pytest.raises(NotKept, match="No space left"):
        await box.sessions.redeem(code)
    with pytest.raises(NotKept, match=r"igned out, but only until Hearth restarts"):
        await box.sessions.end(signed.id)
    assert box.sessions.caller(signed.id) is None


@pytest.mark.parametrize("text", ["", "[", "{}", "[1]", '[{"sha256": "0"}]'])
async def test_a_damaged_file_lets_nobody_in(
    box: Box, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    signed = await begun(box)
    (box.folder / SESSIONS_FILE).write_text(text)
    assert box.sessions.caller(signed.id) is None
    assert box.sessions.caller(signed.id) is None
    told = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert len(told) == 1
    assert "sign in again" in told[0].getMessage()
    signed = await begun(box)  # which writes it again
    assert box.sessions.caller(signed.id) is not None


# One-time links: valid once and for a while, with the console's address.


@pytest.fixture
def links(tmp_path: Path) -> Links:
    return Links(tmp_path)


def test_it_holds_once(links: Links, tmp_path: Path) -> None:
    first, second = links.make(NOW, 10), links.make(NOW, 10)
    text = (tmp_path / LINKS_FILE).read_text()
    assert first not in text
    assert [row.keys() for row in json.loads(text)] == [
        {"sha256", "expires", "role", "name", "hours"}
    ] * 2
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
    assert [bool(links.redeem(code, NOW)) for code in codes] == [False] + [True] * 8


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
