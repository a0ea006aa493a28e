"""Reads the configuration: one TOML file, the environment over it, secrets from their places."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assistant.config.environment import overlay
from assistant.config.errors import ConfigError, Origins, complaints, one_sentence
from assistant.config.places import candidate_files, data_folder
from assistant.config.schema import Settings
from assistant.config.secrets import fill_in


def load_settings(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings from `path`, else from the first of the usual places, else the defaults.

    Afterwards `assistant.data` and every `*_file` is an absolute path. Raises ConfigError with one
    sentence.
    """
    file = find_file(path, environ)
    origins = Origins(str(file) if file else "the configuration")
    raw, unknown = overlay(read_toml(file) if file else {}, environ, origins)
    _make_absolute(raw, file.parent if file else Path.cwd())
    fill_in(raw, environ, origins)
    sentences = unknown
    try:
        settings = Settings.model_validate(raw)
    except ValidationError as error:
        sentences = unknown + complaints(error, origins)
    if sentences:
        raise one_sentence(sentences) from None
    return _with_data_folder(settings, environ).read_from(file)


def find_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that counts: `path`, $HEARTH_CONFIG, the user's, the system's, or None."""
    named = path or (Path(environ["HEARTH_CONFIG"]) if environ.get("HEARTH_CONFIG") else None)
    if named:
        return named.absolute()
    return next((place for place in candidate_files() if place.is_file()), None)


def read_toml(file: Path) -> dict[str, Any]:
    """The file's tables as they stand there. Raises ConfigError."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax(file, str(error))) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text; save it as UTF-8") from None
    except FileNotFoundError:
        raise ConfigError(
            f"The configuration file {file} does not exist; write it with hearth setup"
        ) from None
    except IsADirectoryError:
        raise ConfigError(f"{file} is a folder; name the configuration file in it") from None
    except PermissionError:
        raise ConfigError(f"{file} may not be read; let Hearth's user read it") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error


def _syntax(file: Path, message: str) -> str:
    """Bring the line to the front: tomllib ends its messages with "(at line 3, column 5)"."""
    found = re.fullmatch(r"(.*) \(at (line \d+, column \d+|end of document)\)", message, re.DOTALL)
    what, where = found.groups() if found else (message, "one place")
    return f"{file} is not valid TOML at {where}: {what[:1].lower()}{what[1:]}"


def _make_absolute(raw: Mapping[str, Any], base: Path) -> None:
    """Paths in the file are meant from the file's own folder; ~ is the user's home."""
    for section, table in raw.items():
        if not isinstance(table, dict):
            continue
        for key, value in table.items():
            for entry in value if isinstance(value, list) else ():  # [[mcp.servers]]
                _make_absolute({section: entry}, base)
            is_path = key.endswith("_file") or (section, key) == ("assistant", "data")
            if is_path and isinstance(value, str) and value:
                table[key] = str(base / _from_home(value, f"{section}.{key}"))


def _from_home(value: str, key: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ConfigError(f"{key} names {value}, but there is no such home folder") from None


def _with_data_folder(settings: Settings, environ: Mapping[str, str]) -> Settings:
    if settings.assistant.data:
        return settings
    place = settings.assistant.model_copy(update={"data": str(data_folder(environ))})
    return settings.model_copy(update={"assistant": place})
