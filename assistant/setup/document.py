"""Writes the configuration file for `hearth setup`, keeping comments and unknown parts."""

import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from assistant.config.errors import ConfigError, Origins, complaints, one_sentence
from assistant.config.schema import Settings
from assistant.setup.answers import Answers
from assistant.setup.sound_check import all_voices

# Each secret has its own file with mode 0600. Files written by root get the folder's owner and
# group. If root owns the folder, the group can read them (0640), because the service needs to.


SECRET_MODE = 0o600
PLAIN_MODE = 0o644
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class NewFile:
    path: Path
    data: bytes = field(repr=False)
    mode: int = SECRET_MODE


# Previous content and mode by path; None if there was no file.
Before = Mapping[Path, tuple[bytes, int] | None]


def write_all(files: Sequence[NewFile]) -> Before:
    """Write the files in order, and return the previous contents for `put_back`. If a file can't be
    written, all files are restored and ConfigError is raised. Blocking."""
    before: dict[Path, tuple[bytes, int] | None] = {}
    try:
        for one in files:
            one.path.parent.mkdir(parents=True, exist_ok=True)
            _write(_aside(one.path), one.data, one.mode)
        for one in files:
            before[one.path] = _read(one.path)
            _aside(one.path).replace(one.path)
    except OSError as error:
        for one in files:
            with suppress(OSError):  # the folder that can't be written, or no folder at all
                _aside(one.path).unlink(missing_ok=True)
        put_back(before)
        where = error.filename or files[-1].path
        fix = "free some space" if error.errno in _FULL else "make that folder writable"
        raise ConfigError(
            f"Cannot write {where} ({error.strerror}). Nothing was changed: {fix}, or choose "
            "another file with --config"
        ) from error
    return before


def put_back(before: Before) -> None:
    """Restore the previous files. Blocking. Raises OSError."""
    for path, was in before.items():
        if was is None:
            path.unlink(missing_ok=True)
        else:
            _write(_aside(path), *was)
            _aside(path).replace(path)


def _write(path: Path, data: bytes, mode: int) -> None:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, SECRET_MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    folder = path.parent.stat()
    if os.geteuid() == 0 and (folder.st_uid, folder.st_gid) != (0, 0):
        os.chown(path, folder.st_uid, folder.st_gid)
        if folder.st_uid == 0:
            mode |= 0o040
    path.chmod(mode)


def _read(path: Path) -> tuple[bytes, int] | None:
    try:
        return path.read_bytes(), path.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


_FRESH = """\
# Hearth's configuration. Every key is explained in docs/configuration.md.
# `hearth setup` changes only what you answer; everything else is up to you.

[assistant]
languages = ["en"]        # the first is used when nothing else decides
area = ""                 # the room this box is in, as Home Assistant calls it

[home_assistant]
url = "http://homeassistant.local:8123"

[privacy]
# Gemini understands far more than this box does by itself. `hearth setup --accept-cloud` explains
# what leaves your home and what it costs. Unless this is true, nothing goes to Google.
accept_cloud = false

[gemini]
# Create a key at https://aistudio.google.com/apikey

[audio]
input = "default"         # microphone and speaker, as `hearth devices` names them
output = "default"

[wake]
words = ["okay_nabu"]     # `hearth models list` shows others

[voice]
engine = "piper"          # or "espeak", which is plainer and lighter

[http]
host = "127.0.0.1"        # "0.0.0.0" opens it to your home network, with sign-in
"""

# The name in Answers of each secret that setup can write, by section and key.
SECRETS: Mapping[tuple[str, str], str] = {
    ("home_assistant", "token"): "token",
    ("gemini", "api_key"): "gemini_key",
}


def begun(text: str = "") -> str:
    """Return the text of a configuration to edit: `text`, followed by the default if it sets
    nothing. Raises ConfigError if `text` isn't valid TOML."""
    if _parsed(text):
        return text
    return f"{text.rstrip()}\n\n{_FRESH}" if text.strip() else _FRESH


def secret_file(target: Path, section: str, key: str) -> Path:
    """Return the path of a secret's file: next to the configuration, named "SECTION.KEY"."""
    return target.with_name(f"{section}.{key}")


def secrets_of(answers: Answers) -> dict[tuple[str, str], str]:
    found = {place: getattr(answers, name) for place, name in SECRETS.items()}
    return {place: secret for place, secret in found.items() if secret is not None}


def applied(text: str, answers: Answers, target: Path, present: Settings) -> str:
    """Return `text` with the answers filled in. `target` is the configuration's path; `present`
    contains the current settings. Raises ConfigError if the result is invalid."""
    document = _parsed(text)
    for (section, key), value in _changes(answers, present).items():
        _set(document, section, key, value)
    if answers.voices:
        _add_voices(document, answers.voices, present)
    for section, key in secrets_of(answers):
        _set(document, section, f"{key}_file", str(secret_file(target, section, key)))
        _take(document, section, key)  # a secret in the configuration itself is outdated
    _check(document, target)
    return tomlkit.dumps(document)


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(f"The configuration is not valid TOML: {error}") from None


def _changes(answers: Answers, present: Settings) -> dict[tuple[str, str], Any]:
    told = answers.values()
    if answers.wake_word == present.wake.words[0].model:
        told.pop(("wake", "words"), None)  # keep the word's options and the other words
    return told


def _set(document: tomlkit.TOMLDocument, section: str, key: str, value: Any) -> None:
    if section not in document:
        document[section] = tomlkit.table()
    table: Any = document[section]
    if (key == "ca_file" and not value) or (key == "verify_tls" and value):
        _take(document, section, key)  # remove the key, because the value is the default
    elif key not in table or table[key] != value:
        table[key] = _inline(value)


def _add_voices(
    document: tomlkit.TOMLDocument, voices: Mapping[str, str], present: Settings
) -> None:
    table: Any = document.get("voice", {})
    if "models" not in table:
        _set(document, "voice", "models", all_voices(present, voices))
        return
    for language, name in voices.items():
        table["models"][language] = name


def _take(document: tomlkit.TOMLDocument, section: str, key: str) -> None:
    table: Any = document.get(section, {})
    if key in table:
        del table[key]


def _inline(value: Any) -> Item | Any:
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    for key, one in value.items():
        table[key] = _inline(one)
    return table


def _check(document: tomlkit.TOMLDocument, target: Path) -> None:
    try:
        Settings.model_validate(document.unwrap())
    except ValidationError as error:
        raise one_sentence(complaints(error, Origins(str(target)))) from None


def draft(present: Settings, answers: Answers) -> Settings:
    """Return the settings with the answers filled in. Raises ConfigError if they are invalid."""
    raw = present.model_dump(by_alias=True)
    told: dict[tuple[str, str], Any] = {**answers.values(), **secrets_of(answers)}
    if answers.voices:
        told["voice", "models"] = all_voices(present, answers.voices)
    for (section, key), value in told.items():
        raw[section][key] = value
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        raise one_sentence(complaints(error, Origins("the answers"))) from None
