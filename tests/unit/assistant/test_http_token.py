"""The token of the HTTP interface is never none, and is made only once."""

import stat
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.http_token import http_token

GIVEN = "sixteen-letters!"


def settings(folder: Path, token: str = "") -> Settings:
    return load_settings(
        None, {"HEARTH_ASSISTANT__DATA": str(folder), "HEARTH_HTTP__TOKEN": token, "HOME": "/none"}
    )


def test_the_configured_one_counts(tmp_path: Path) -> None:
    assert http_token(settings(tmp_path, GIVEN)) == GIVEN
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("token", ["hunter2", GIVEN[:-1], f"  {GIVEN[:-1]} "])
def test_a_short_one_is_refused_with_the_mend_and_without_it(tmp_path: Path, token: str) -> None:
    with pytest.raises(ConfigError, match="16 characters; leave it out and Hearth makes") as caught:
        settings(tmp_path, token)
    assert token.strip() not in str(caught.value)
    (tmp_path / "http_token").write_text(f"{token}\n")
    with pytest.raises(ConfigError, match="16 characters: remove the file, and Hearth") as caught:
        http_token(settings(tmp_path))
    assert token.strip() not in str(caught.value)


def test_one_is_made_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    made = http_token(settings(folder))
    assert len(made) > 30
    assert http_token(settings(folder)) == made
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert http_token(settings(tmp_path / "another")) != made


def test_an_empty_file_is_no_token(tmp_path: Path) -> None:
    (tmp_path / "http_token").write_text("\n")
    assert http_token(settings(tmp_path))


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "http_token").mkdir()
    with pytest.raises(ConfigError, match=r"http\.token"):
        http_token(settings(tmp_path))
