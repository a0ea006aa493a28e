"""Tests of further tokens: created once, kept as hashes, accepted and revoked without a restart."""

import json
import logging
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.interfaces.http_tokens import (
    ADMIN,
    NAME,
    AdminToken,
    HttpTokens,
    TokenFile,
    admin_of,
    hash_of,
)
from integrations.web.box import Caller

NOW = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)
KITCHEN = Caller("http:kitchen", frozenset({"speak", "read"}))


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "data")


@pytest.fixture
def tokens(file: TokenFile) -> HttpTokens:
    return HttpTokens("the admin's", file)


def test_the_administrators_token_may_all(tokens: HttpTokens) -> None:
    assert tokens.caller("the admin's") == ADMIN
    assert ADMIN.may("ask")
    for wrong in ("", "the admin", "the admin's ", "THE ADMIN'S", "é", "\udcff"):
        assert tokens.caller(wrong) is None


def test_there_is_never_none(file: TokenFile) -> None:
    with pytest.raises(ValueError, match="empty"):
        HttpTokens("", file)


def test_a_new_one_is_taken_at_once_and_kept_as_a_hash(file: TokenFile, tokens: HttpTokens) -> None:
    assert tokens.caller("anything") is None  # the file is looked for, and is not there
    token = file.make("kitchen", ("speak", "read"), NOW)
    assert len(token) > 40
    assert tokens.caller(token) == KITCHEN
    assert tokens.holds(KITCHEN)
    assert tokens.caller("the admin's") == ADMIN
    text = file.path.read_text()
    assert token not in text
    assert json.loads(text)[0].keys() == {"name", "scopes", "sha256", "created"}
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert HttpTokens("the admin's", file).caller(token) == KITCHEN


def test_a_revoked_one_lets_nobody_in_any_more(file: TokenFile, tokens: HttpTokens) -> None:
    token = file.make("kitchen", ("speak", "read"), NOW)
    other = file.make("hall", ("ask",), NOW)
    assert tokens.caller(token) == KITCHEN
    file.revoke("kitchen")
    assert tokens.caller(token) is None
    assert not tokens.holds(KITCHEN)
    assert tokens.holds(ADMIN)
    assert tokens.caller(other) == Caller("http:hall", frozenset({"ask"}))
    assert file.make("kitchen", ("speak",), NOW) != token
    assert not tokens.holds(KITCHEN)  # of that name, but another


@pytest.mark.parametrize("name", ["", "admin", "Kitchen", "a b", "x" * 33, "-a", "küche", "a\n"])
def test_a_name_is_plain_and_not_the_administrators(file: TokenFile, name: str) -> None:
    with pytest.raises(ConfigError, match="is not a valid token name"):
        file.make(name, ("speak",), NOW)
    assert not file.path.exists()


def test_a_name_is_used_once_and_one_that_is_not_there_is_told(file: TokenFile) -> None:
    file.make("kitchen", ("speak",), NOW)
    with pytest.raises(ConfigError, match="There is already a token kitchen"):
        file.make("kitchen", ("read",), NOW)
    with pytest.raises(ConfigError, match="no token hall"):
        file.revoke("hall")
    assert [row.name for row in file.rows()] == ["kitchen"]


@pytest.mark.parametrize(
    "text",
    ["", "[", "{}", "[1]", '[{"name": "a"}]']
    + [
        json.dumps(
            [{"name": name, "scopes": [scope], "sha256": hashed, "created": NOW.isoformat()}]
        )
        for name, scope, hashed in (
            ("A b", "read", "0" * 64),
            ("a", "all", "0" * 64),
            ("a", "read", "0" * 63),
        )
    ],
)
def test_a_damaged_file_lets_nobody_in_but_the_administrator(
    file: TokenFile, tokens: HttpTokens, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    token = file.make("kitchen", ("speak",), NOW)
    assert tokens.caller(token) is not None
    file.path.write_text(text)
    for _ in range(2):
        assert tokens.caller(token) is None
        assert tokens.caller("the admin's") == ADMIN
    (told,) = (record for record in caplog.records if record.levelno == logging.ERROR)
    assert "is damaged" in told.getMessage()
    with pytest.raises(ConfigError, match="is damaged"):
        file.make("hall", ("speak",), NOW)
    assert file.path.read_text() == text


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be used"):
        TokenFile(tmp_path / "data").make("kitchen", ("speak",), NOW)
    (tmp_path / NAME).mkdir()
    with pytest.raises(ConfigError, match="cannot be used"):
        TokenFile(tmp_path).rows()


def test_two_that_are_made_at_once_are_both_there(file: TokenFile) -> None:
    names = [f"n{number}" for number in range(8)]
    threads = [threading.Thread(target=file.make, args=(name, ("read",), NOW)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row.name for row in file.rows()} == set(names)


def test_a_token_is_told_from_an_earlier_one_of_its_name(
    file: TokenFile, tokens: HttpTokens
) -> None:
    marks = []
    for _ in range(2):
        token = file.make("kitchen", ("speak",), NOW)
        caller = tokens.caller(token)
        assert caller is not None
        assert caller.token not in ("", token)
        assert caller.token not in repr(caller)
        marks.append(caller.token)
        file.revoke("kitchen")
    assert marks[0] != marks[1]


# The administrator's token: there always is one, and the data folder has only its hash.


def settings(folder: Path, token: str = "") -> Settings:
    return load_settings(
        None, {"HEARTH_ASSISTANT__DATA": str(folder), "HEARTH_HTTP__TOKEN": token, "HOME": "/none"}
    )


def tokens_of(folder: Path, token: str = "") -> HttpTokens:
    return HttpTokens(admin_of(settings(folder, token)), TokenFile(folder))


@pytest.mark.parametrize("given", ["a configured token", f"sha256:{hash_of('a configured token')}"])
def test_the_configured_one_counts(given: str, tmp_path: Path) -> None:
    found = tokens_of(tmp_path, given)
    assert found.caller("a configured token") == ADMIN
    assert found.caller(f"sha256:{hash_of('a configured token')}") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["sha256:abcdefghi", f"sha256:{'a' * 63}", f"sha256:{'g' * 64}"])
def test_half_a_hash_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="64 hexadecimal digits"):
        tokens_of(tmp_path, given)


@pytest.mark.parametrize("token", ["hunter2", "fifteen-letters", "  fifteen-letters "])
def test_a_short_one_is_refused_with_the_mend_and_without_it(token: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="16 characters; leave it out") as caught:
        settings(tmp_path, token)
    assert token.strip() not in str(caught.value)
    (tmp_path / "http_token").write_text(f"{token}\n")
    with pytest.raises(ConfigError, match="16 characters: delete the file") as caught:
        tokens_of(tmp_path)
    assert token.strip() not in str(caught.value)


def test_one_is_made_that_nobody_knows_and_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = tokens_of(folder).known()[0]
    file = folder / "http_token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tokens_of(folder).known()[0] == before  # sessions of the console belong to it
    assert tokens_of(tmp_path / "another").known()[0] != before
    assert tokens_of(folder).caller(file.read_text().strip()) is None


def test_a_plain_one_of_an_older_version_becomes_a_hash(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "http_token").write_text("one of an older version\n")
    with caplog.at_level(logging.WARNING):
        assert tokens_of(tmp_path).caller("one of an older version") == ADMIN
    text = (tmp_path / "http_token").read_text()
    assert text == f"sha256:{hash_of('one of an older version')}\n"
    assert "hearth token create NAME" in caplog.text
    assert "older version" not in caplog.text
    assert tokens_of(tmp_path).caller("one of an older version") == ADMIN


def test_a_new_one_takes_the_place_of_the_old_at_once(tmp_path: Path) -> None:
    running = tokens_of(tmp_path)
    first = AdminToken(tmp_path).replace()
    assert running.caller(first) == ADMIN
    second = AdminToken(tmp_path).replace()
    assert running.caller(first) is None
    assert running.caller(second) == ADMIN


def test_an_empty_file_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "http_token").write_text("\n")
    assert tokens_of(tmp_path).caller("") is None


def test_a_file_that_is_lost_while_it_runs_lets_nobody_in(tmp_path: Path) -> None:
    running = tokens_of(tmp_path)
    token = AdminToken(tmp_path).replace()
    assert running.caller(token) == ADMIN
    (tmp_path / "http_token").unlink()
    (tmp_path / "http_token").mkdir()
    assert running.caller(token) is None


def test_a_folder_in_place_of_the_admins_token_is_told(tmp_path: Path) -> None:
    (tmp_path / "http_token").mkdir()
    with pytest.raises(ConfigError, match="the HTTP interface's token, cannot be used"):
        tokens_of(tmp_path)
