"""Several files are written, or none."""

import os
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.setup.document import NewFile, put_back, write_all


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_all_are_written_each_with_its_mode(tmp_path: Path) -> None:
    secret, plain = tmp_path / "new" / "secret", tmp_path / "new" / "hearth.toml"
    write_all([NewFile(secret, b"s"), NewFile(plain, b"p", 0o644)])
    assert (secret.read_bytes(), mode(secret)) == (b"s", 0o600)
    assert (plain.read_bytes(), mode(plain)) == (b"p", 0o644)
    assert sorted(path.name for path in plain.parent.iterdir()) == ["hearth.toml", "secret"]


def test_where_the_last_cannot_be_written_the_first_is_as_before(tmp_path: Path) -> None:
    there, fresh, folder = tmp_path / "there", tmp_path / "fresh", tmp_path / "folder"
    there.write_bytes(b"old")
    there.chmod(0o640)
    (folder / "in it").mkdir(parents=True)  # a folder is never replaced by a file
    with pytest.raises(ConfigError, match="nothing was changed"):
        write_all([NewFile(there, b"new"), NewFile(fresh, b"new"), NewFile(folder, b"new")])
    assert (there.read_bytes(), mode(there)) == (b"old", 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "there"]


def test_what_was_there_can_be_put_back(tmp_path: Path) -> None:
    there, fresh = tmp_path / "there", tmp_path / "fresh"
    there.write_bytes(b"old")
    put_back(write_all([NewFile(there, b"new"), NewFile(fresh, b"new")]))
    assert there.read_bytes() == b"old"
    assert not fresh.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize(("owner", "expected"), [(1234, 0o600), (0, 0o640)])
def test_root_gives_what_it_writes_to_whose_folder_it_is(
    owner: int, expected: int, tmp_path: Path
) -> None:
    os.chown(tmp_path, owner, 1235)
    write_all([NewFile(tmp_path / "secret", b"s")])
    found = (tmp_path / "secret").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (owner, 1235, expected)
