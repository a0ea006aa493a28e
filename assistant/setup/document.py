"""The configuration file as `hearth setup` writes it: comments and what it knows nothing of stay.

Pure: text in, text out.
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
# Writes the configuration and its secrets: all of it, or nothing.
#
# A secret has a file of its own (0600). What root writes belongs to whom the folder belongs to; in
# one that is root's and a service's group's that group may read it (0640), or the service could
# not.


SECRET_MODE = 0o600
PLAIN_MODE = 0o644


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it is to be."""

    path: Path
    data: bytes = field(repr=False)
    mode: int = SECRET_MODE


Before = Mapping[Path, tuple[bytes, int] | None]  # bytes and mode of each; None: no such file


def write_all(files: Sequence[NewFile]) -> Before:
    """Put these in place, the last one last; gives what was there, for `put_back`.

    Raises ConfigError; then every file is as before. Blocking.
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
    """The files as they were. Blocking; raises OSError."""
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

# The secrets that setup takes, by (section, key), and the answer that holds each.
SECRETS: Mapping[tuple[str, str], str] = {
    ("home_assistant", "token"): "token",
    ("gemini", "api_key"): "gemini_key",
}


def begun(text: str = "") -> str:
    """A file with the defaults, before anything is answered, behind what stands in `text`.

    A `text` with a table or a key is a configuration already, and stays as it is.
    Raises ConfigError where it is none.
    """
    if _parsed(text):
        return text
    return f"{text.rstrip()}\n\n{_FRESH}" if text.strip() else _FRESH


def secret_file(target: Path, section: str, key: str) -> Path:
    """Return a secret's file: beside the configuration, under its credential's name."""
    return target.with_name(f"{section}.{key}")


def secrets_of(answers: Answers) -> dict[tuple[str, str], str]:
    """The secrets that were answered, by section and key."""
    found = {place: getattr(answers, name) for place, name in SECRETS.items()}
    return {place: secret for place, secret in found.items() if secret is not None}


def applied(text: str, answers: Answers, target: Path, present: Settings) -> str:
    """`text` with the answers in it. `present`: the settings before; `target`: where it will lie.

    Raises ConfigError for an answer that no configuration may have.
    """
    document = _parsed(text)
    for (section, key), value in _changes(answers, present).items():
        _set(document, section, key, value)
    if answers.voices:
        _add_voices(document, answers.voices, present)
    for section, key in secrets_of(answers):
        _set(document, section, f"{key}_file", str(secret_file(target, section, key)))
        _take(document, section, key)  # a plain one would be an old one
    _check(document, target)
    return tomlkit.dumps(document)


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(f"The configuration is not valid TOML ({error}); mend it") from None


def _changes(answers: Answers, present: Settings) -> dict[tuple[str, str], Any]:
    """The plain values by section and key."""
    told = answers.values()
    if answers.wake_word == present.wake.words[0].model:
        told.pop(("wake", "words"), None)  # what else stands there of it, and beside it, stays
    return told


def _set(document: tomlkit.TOMLDocument, section: str, key: str, value: Any) -> None:
    """Put the value in; a comment behind the one that was there stays."""
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
    """Into the table that is there; where none is, the defaults stand in it as well."""
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
    """A table within a section stands on one line."""
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    for key, one in value.items():
        table[key] = _inline(one)
    return table


def _check(document: tomlkit.TOMLDocument, target: Path) -> None:
    """Raise ConfigError where the schema refuses what would be written."""
    try:
        Settings.model_validate(document.unwrap())
    except ValidationError as error:
        raise one_sentence(complaints(error, Origins(str(target)))) from None


def draft(present: Settings, answers: Answers) -> Settings:
    """`present` with the answers over it. Raises ConfigError for what the schema refuses."""
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
