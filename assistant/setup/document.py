"""The configuration file that `hearth setup` writes. Comments and unknown keys are kept.

Editing it is pure: text in, text out.
"""

import os
from collections.abc import Mapping, Sequence
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

#
# Writes the configuration and its secrets: all of it or nothing.
#
# Each secret has its own file (0600). Files written by root belong to the owner of the folder; in a
# folder of root with a service's group, that group may read them (0640), as the service could not
# otherwise.


SECRET_MODE = 0o600
PLAIN_MODE = 0o644


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to write."""

    path: Path
    data: bytes = field(repr=False)
    mode: int = SECRET_MODE


# Bytes and mode of each; None if there was no file.
Before = Mapping[Path, tuple[bytes, int] | None]


def write_all(files: Sequence[NewFile]) -> Before:
    """Write the files, the last one last, and return the previous contents for `put_back`.

    Raises ConfigError, after which every file is as before. Blocking.
    """
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
            _aside(one.path).unlink(missing_ok=True)
        put_back(before)
        where = error.filename or files[-1].path
        raise ConfigError(
            f"{where} cannot be written ({error.strerror}); nothing was changed: make that folder "
            "yours to write, or name another file with --config"
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
# `hearth setup` changes only what it is answered; everything else here is yours.

[assistant]
languages = ["en"]        # the first one counts where nothing else tells
area = ""                 # the room this box stands in, as Home Assistant calls it

[home_assistant]
url = "http://homeassistant.local:8123"

[privacy]
# Gemini understands far more than this box does by itself. What then leaves the house, to whom and
# at what price: `hearth setup --accept-cloud` tells it. Without true here nothing goes to Google.
accept_cloud = false

[gemini]
# A key: https://aistudio.google.com/apikey

[audio]
input = "default"         # microphone and speaker, as `hearth devices` names them
output = "default"

[wake]
words = ["okay_nabu"]     # `hearth models list` has others

[voice]
engine = "piper"          # or "espeak", the plainest and lightest

[http]
host = "127.0.0.1"        # "0.0.0.0" lets the home network in; everybody needs a token there
"""

# The secrets that setup asks for, by (section, key), and the answer that holds each.
SECRETS: Mapping[tuple[str, str], str] = {
    ("home_assistant", "token"): "token",
    ("gemini", "api_key"): "gemini_key",
}


def begun(text: str = "") -> str:
    """Return a file with the defaults, after what is in `text`.

    A `text` with a table or a key already is a configuration and is returned unchanged. Raises
    ConfigError if it is invalid.
    """
    if _parsed(text):
        return text
    return f"{text.rstrip()}\n\n{_FRESH}" if text.strip() else _FRESH


def secret_file(target: Path, section: str, key: str) -> Path:
    """Return the file of a secret: beside the configuration, named like its credential."""
    return target.with_name(f"{section}.{key}")


def secrets_of(answers: Answers) -> dict[tuple[str, str], str]:
    """Return the secrets that were answered, by section and key."""
    found = {place: getattr(answers, name) for place, name in SECRETS.items()}
    return {place: secret for place, secret in found.items() if secret is not None}


def applied(text: str, answers: Answers, target: Path, present: Settings) -> str:
    """Return `text` with the answers in it, to be stored at `target`. `present` are the settings
    before.

    Raises ConfigError for an invalid answer.
    """
    document = _parsed(text)
    for (section, key), value in _changes(answers, present).items():
        _set(document, section, key, value)
    if answers.voices:
        _add_voices(document, answers.voices, present)
    for section, key in secrets_of(answers):
        _set(document, section, f"{key}_file", str(secret_file(target, section, key)))
        _take(document, section, key)  # a secret in plain text would be outdated
    _check(document, target)
    return tomlkit.dumps(document)


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(f"The configuration is not valid TOML ({error}); mend it") from None


def _changes(answers: Answers, present: Settings) -> dict[tuple[str, str], Any]:
    told = answers.values()
    if answers.wake_word == present.wake.words[0].model:
        told.pop(("wake", "words"), None)  # keep further settings of the word, and further words
    return told


def _set(document: tomlkit.TOMLDocument, section: str, key: str, value: Any) -> None:
    """Set the value, keeping a comment after the previous one."""
    if section not in document:
        document[section] = tomlkit.table()
    table: Any = document[section]
    if (key == "ca_file" and not value) or (key == "verify_tls" and value):
        _take(document, section, key)  # the default, so the key would only confuse
    elif key not in table or table[key] != value:
        table[key] = _inline(value)


def _add_voices(
    document: tomlkit.TOMLDocument, voices: Mapping[str, str], present: Settings
) -> None:
    """Add the voices to the table; a new table also gets the defaults."""
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
    """Return a nested table in the form of one line."""
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    for key, one in value.items():
        table[key] = _inline(one)
    return table


def _check(document: tomlkit.TOMLDocument, target: Path) -> None:
    """Raise ConfigError if the schema rejects what would be written."""
    try:
        Settings.model_validate(document.unwrap())
    except ValidationError as error:
        raise one_sentence(complaints(error, Origins(str(target)))) from None


def draft(present: Settings, answers: Answers) -> Settings:
    """Return `present` with the answers applied. Raises ConfigError for what the schema rejects."""
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
