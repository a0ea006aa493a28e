"""Tests of the lock: one daemon per data folder, and who may ask whether it runs."""

import fcntl
from pathlib import Path

import pytest

from assistant.app.process import is_held, locked
from assistant.config.errors import ConfigError


def test_held_while_a_daemon_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    assert not is_held(folder)
    with locked(folder):
        assert is_held(folder)
        with pytest.raises(ConfigError, match="Another hearth run"), locked(folder):
            pass
        assert is_held(folder)
    assert not is_held(folder)


def test_whoever_looks_does_not_keep_a_daemon_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with locked(tmp_path):
        pass
    looking = (tmp_path / "lock").open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr("assistant.app.process.time.sleep", lambda seconds: looking.close())
    with locked(tmp_path):
        assert is_held(tmp_path)
