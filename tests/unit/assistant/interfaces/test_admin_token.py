"""The administrator's token: there always is one, and the data folder keeps its hash alone."""

import logging
import stat
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.interfaces.http_tokens import (
    ADMIN,
    AdminToken,
    HttpTokens,
    TokenFile,
    admin_of,
    hash_of,
)


def settings(folder: Path, token: str = "") -> Settings:
    return load_settings(
        None, {"HEARTH_ASSISTANT__DATA": str(folder), "HEARTH_HTTP__TOKEN": token, "HOME": "/none"}
    )


def tokens(folder: Path, token: str = "") -> HttpTokens:
    return HttpTokens(admin_of(settings(folder, token)), TokenFile(folder))


@pytest.mark.parametrize("given", ["a configured token", f"sha256:{hash_of('a configured token')}"])
def test_the_configured_one_counts(given: str, tmp_path: Path) -> None:
    found = tokens(tmp_path, given)
    assert found.caller("a configured token") == ADMIN
    assert found.caller(f"sha256:{hash_of('a configured token')}") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["sha256:abcdefghi", f"sha256:{'a' * 63}", f"sha256:{'g' * 64}"])
def test_half_a_hash_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="64 hexadecimal digits"):
        tokens(tmp_path, given)


@pytest.mark.parametrize("token", ["hunter2", "fifteen-letters", "  fifteen-letters "])
def test_a_short_one_is_refused_with_the_mend_and_without_it(token: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="16 characters; leave it out") as caught:
        settings(tmp_path, token)
    assert token.strip() not in str(caught.value)
    (tmp_path / "http_token").write_text(f"{token}\n")
    with pytest.raises(ConfigError, match="16 characters: remove the file") as caught:
        tokens(tmp_path)
    assert token.strip() not in str(caught.value)


def test_one_is_made_that_nobody_knows_and_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = tokens(folder).known()[0]
    file = folder / "http_token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tokens(folder).known()[0] == before  # sessions of the console belong to it
    assert tokens(tmp_path / "another").known()[0] != before
    assert tokens(folder).caller(file.read_text().strip()) is None


def test_a_plain_one_of_an_older_version_becomes_a_hash(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "http_token").write_text("one of an older version\n")
    with caplog.at_level(logging.WARNING):
        assert tokens(tmp_path).caller("one of an older version") == ADMIN
    text = (tmp_path / "http_token").read_text()
    assert text == f"sha256:{hash_of('one of an older version')}\n"
    assert "hearth setup --token NAME" in caplog.text
    assert "older version" not in caplog.text
    assert tokens(tmp_path).caller("one of an older version") == ADMIN


def test_a_new_one_takes_the_place_of_the_old_at_once(tmp_path: Path) -> None:
    running = tokens(tmp_path)
    first = AdminToken(tmp_path).replace()
    assert running.caller(first) == ADMIN
    second = AdminToken(tmp_path).replace()
    assert running.caller(first) is None
    assert running.caller(second) == ADMIN


def test_an_empty_file_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "http_token").write_text("\n")
    assert tokens(tmp_path).caller("") is None


def test_a_file_that_is_lost_while_it_runs_lets_nobody_in(tmp_path: Path) -> None:
    running = tokens(tmp_path)
    token = AdminToken(tmp_path).replace()
    assert running.caller(token) == ADMIN
    (tmp_path / "http_token").unlink()
    (tmp_path / "http_token").mkdir()
    assert running.caller(token) is None


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "http_token").mkdir()
    with pytest.raises(ConfigError, match="the token of the HTTP interface, cannot be used"):
        tokens(tmp_path)
