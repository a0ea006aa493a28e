"""Reads the configuration from a TOML file, environment variables and separate files
for secrets."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from assistant.config.errors import ConfigError, Origins, complaints, one_sentence
from assistant.config.kinds import nearest
from assistant.config.schema import (
    Settings,
    all_keys,
    candidate_files,
    data_folder,
    is_secret,
    is_text,
)


def load_settings(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """Load the settings from the configuration file (see `find_file`), the environment and the
    files that contain secrets. `assistant.data` and every `*_file` become absolute paths. Raises
    ConfigError."""
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
    """Return the configuration file to use, or None if there is none. `path` takes precedence,
    followed by $HEARTH_CONFIG, the user's file and the system's file."""
    named = path or (Path(environ["HEARTH_CONFIG"]) if environ.get("HEARTH_CONFIG") else None)
    if named:
        return named.absolute()
    return next((place for place in candidate_files() if place.is_file()), None)


def read_toml(file: Path) -> dict[str, Any]:
    """Return the file's tables without validating them. Raises ConfigError."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax(file, str(error))) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text; save it as UTF-8") from None
    except FileNotFoundError:
        raise ConfigError(
            f"The configuration file {file} does not exist; create it with `hearth setup`"
        ) from None
    except IsADirectoryError:
        raise ConfigError(f"{file} is a folder; name the configuration file in it") from None
    except PermissionError:
        raise ConfigError(f"{file} is not readable; give Hearth's user read access to it") from None
    except OSError as error:
        raise ConfigError(f"Cannot read {file}: {error.strerror}") from error


def _syntax(file: Path, message: str) -> str:
    """Move the position in tomllib's message, "(at line 3, column 5)", to the start."""
    found = re.fullmatch(r"(.*) \(at (line \d+, column \d+|end of document)\)", message, re.DOTALL)
    what, where = found.groups() if found else (message, "one place")
    return f"{file} is not valid TOML at {where}: {what[:1].lower()}{what[1:]}"


def _make_absolute(raw: Mapping[str, Any], base: Path) -> None:
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
        raise ConfigError(f"{key} is {value}, but there is no such home folder") from None


def _with_data_folder(settings: Settings, environ: Mapping[str, str]) -> Settings:
    if settings.assistant.data:
        return settings
    place = settings.assistant.model_copy(update={"data": str(data_folder(environ))})
    return settings.model_copy(update={"assistant": place})


PREFIX = "HEARTH_"


def variable(section: str, key: str) -> str:
    return f"{PREFIX}{section}__{key}".upper()


_VARIABLES = {variable(section, key): (section, key, field) for section, key, field in all_keys()}


def overlay(
    raw: dict[str, Any], environ: Mapping[str, str], origins: Origins
) -> tuple[dict[str, Any], list[str]]:
    """Override the file's values with environment variables. Returns the merged tables, and an
    error message for each unknown variable. Empty secrets are ignored, because service files often
    pass on variables that are not set."""
    merged = {
        name: dict(table) if isinstance(table, dict) else table for name, table in raw.items()
    }
    unknown: list[str] = []
    for name, text in sorted(environ.items()):
        if not name.startswith(PREFIX) or "__" not in name:
            continue
        if name not in _VARIABLES:
            unknown.append(_unknown(name))
            continue
        section, key, field = _VARIABLES[name]
        table = merged.setdefault(section, {})
        if (text or not is_secret(field)) and isinstance(table, dict):
            table[key] = parse(text, field)
            origins.others[section, key] = name
    return merged, unknown


def parse(text: str, field: FieldInfo) -> Any:
    """Parse an environment variable: as plain text for text settings, otherwise as a TOML value.
    Invalid TOML is returned as text, which the schema then rejects with a better message."""
    if is_text(field):
        return text
    try:
        table = tomllib.loads(f"value = {text.strip()}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if len(table) == 1 else text


def _unknown(name: str) -> str:
    bare = {known.removeprefix(PREFIX).lower(): known for known in _VARIABLES}
    near = nearest(name.removeprefix(PREFIX), bare)
    hint = f"; did you mean {bare[near]}?" if near else "; unset it"
    return f"The environment variable {name} is not a setting{hint}"


_LONGEST = 64 * 1024  # maximum characters read from a file, in case it is /dev/zero
_OTHER_VARIABLES = {("gemini", "api_key"): ("GEMINI_API_KEY", "GOOGLE_API_KEY")}


def fill_in(raw: dict[str, Any], environ: Mapping[str, str], origins: Origins) -> None:
    """Put each secret into `raw`, from the first source that has it. Raises ConfigError."""
    for section, key, field in all_keys():
        if is_secret(field):
            _fill_one(raw, section, key, environ, origins)
    servers = raw.get("mcp", {}).get("servers") if isinstance(raw.get("mcp"), dict) else None
    for number, server in enumerate(servers if isinstance(servers, list) else ()):
        if isinstance(server, dict):
            _fill_table(server, "headers", ":", number, origins)
            _fill_table(server, "env", "=", number, origins)


def _fill_one(
    raw: dict[str, Any], section: str, key: str, environ: Mapping[str, str], origins: Origins
) -> None:
    table = raw.setdefault(section, {})
    if not isinstance(table, dict) or environ.get(variable(section, key)):
        return
    found = (
        _from_other_variable(section, key, environ)
        or _from_credential(section, key, environ)
        or _from_file(table, section, key, origins)
    )
    if found:
        table[key], origins.others[section, key] = found


def _from_other_variable(
    section: str, key: str, environ: Mapping[str, str]
) -> tuple[str, str] | None:
    for name in _OTHER_VARIABLES.get((section, key), ()):
        if environ.get(name):
            return environ[name], name
    return None


def _from_credential(section: str, key: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    path = Path(folder) / f"{section}.{key}" if folder else None
    if path is None or not path.exists():
        return None
    title = f"The systemd credential {section}.{key}"
    return _one_line(_read(path, title, "it"), f"{title} ({path})"), title


def _from_file(
    table: dict[str, Any], section: str, key: str, origins: Origins
) -> tuple[str, str] | None:
    path = table.get(f"{key}_file")
    if not isinstance(path, str) or not path:
        return None
    title = origins.subject((section, f"{key}_file"))
    text = _read(Path(path), f"{title} names {path}, which", "the file")
    return _one_line(text, f"{title} names {path}, which"), f"{section}.{key}, read from {path},"


def _fill_table(server: dict[str, Any], key: str, sign: str, number: int, origins: Origins) -> None:
    path, table = server.get(f"{key}_file"), server.setdefault(key, {})
    if not isinstance(path, str) or not path or not isinstance(table, dict):
        return
    title = f"{origins.subject(('mcp', 'servers', number, f'{key}_file'))} names {path}, which"
    for line in filter(None, map(str.strip, _read(Path(path), title, "the file").splitlines())):
        name, found, value = line.partition(sign)
        if not found:
            raise ConfigError(f'{title} must contain lines such as "Name{sign} value"')
        table[name.strip()] = value.strip()


def _read(path: Path, title: str, thing: str) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LONGEST)
    except FileNotFoundError:
        raise ConfigError(f"{title} does not exist; create {thing} or correct the path") from None
    except IsADirectoryError:
        raise ConfigError(f"{title} is a folder; name a file") from None
    except PermissionError:
        raise ConfigError(
            f"{title} is not readable; give Hearth's user read access to {thing}"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{title} is not text; write the secret into it") from None
    except OSError as error:
        raise ConfigError(f"{title} cannot be read: {error.strerror}") from error


def _one_line(text: str, title: str) -> str:
    secret = text.strip()
    if not secret:
        raise ConfigError(f"{title} is empty; write the secret into it")
    if len(secret.splitlines()) > 1:
        raise ConfigError(f"{title} has several lines; leave only the secret")
    return secret
