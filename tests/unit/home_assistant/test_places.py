"""What is kept of an instance, and which port it gets."""

import socket
from pathlib import Path

import pytest

from tests.home_assistant.real.places import HOST, Instance, Places, Refused, free_port, is_free


def test_an_instance_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    places = Places(tmp_path)
    instance = Instance("kitchen", "english", "2026.11.0", 18_201, "log", 0, "theirs", "ours")
    places.save(instance)
    assert places.load("kitchen") == instance
    assert places.names() == ["kitchen"]
    assert places.record("kitchen").stat().st_mode & 0o077 == 0


def test_tokens_are_not_shown() -> None:
    instance = Instance("kitchen", "english", "2026.11.0", 1, "", 0, "theirs", "ours")
    assert "theirs" not in repr(instance)
    assert "ours" not in repr(instance)


def test_nothing_is_kept_of_one_that_never_was(tmp_path: Path) -> None:
    assert Places(tmp_path).load("kitchen") is None


@pytest.mark.parametrize("name", ["", "../other", "A", ".hidden", "a b"])
def test_a_name_stays_within_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused):
        Places(tmp_path).folder(name)


def test_a_port_that_is_listened_on_or_taken_is_not_given(tmp_path: Path) -> None:
    first = free_port(set(), tmp_path)
    assert free_port({first}, tmp_path) != first
    with socket.create_server((HOST, first)):
        assert not is_free(first)
        assert free_port(set(), tmp_path) != first


def test_two_roots_do_not_begin_at_the_same_port() -> None:
    """They know nothing of each other, and houses may be started in both in the same second."""
    assert free_port(set(), Path("/srv/one")) != free_port(set(), Path("/srv/two"))
