"""Secrets come from the environment, a systemd credential, KEY_file or the plain key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assistant.config.environment import variable
from assistant.config.errors import ConfigError, Origins
from assistant.config.fields import all_keys, is_secret

_LONGEST = 64 * 1024  # characters; a secret file is never longer, /dev/zero is
_OTHER_VARIABLES = {("gemini", "api_key"): ("GEMINI_API_KEY", "GOOGLE_API_KEY")}


def fill_in(raw: dict[str, Any], environ: Mapping[str, str], origins: Origins) -> None:
    """Put each secret into `raw` from the first source that has it. Raises ConfigError."""
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
    """systemd puts each credential into a file of its name in $CREDENTIALS_DIRECTORY."""
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
    """Add the lines `Name: value` (headers) or `NAME=value` (environment) of KEY_file."""
    path, table = server.get(f"{key}_file"), server.setdefault(key, {})
    if not isinstance(path, str) or not path or not isinstance(table, dict):
        return
    title = f"{origins.subject(('mcp', 'servers', number, f'{key}_file'))} names {path}, which"
    for line in filter(None, map(str.strip, _read(Path(path), title, "the file").splitlines())):
        name, found, value = line.partition(sign)
        if not found:
            raise ConfigError(f'{title} must hold lines such as "Name{sign} value"')
        table[name.strip()] = value.strip()


def _read(path: Path, title: str, thing: str) -> str:
    """The file's text; if it cannot be read, the sentence begins with `title` and mends `thing`."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LONGEST)
    except FileNotFoundError:
        raise ConfigError(f"{title} does not exist; create {thing} or correct the path") from None
    except IsADirectoryError:
        raise ConfigError(f"{title} is a folder; name a file") from None
    except PermissionError:
        raise ConfigError(f"{title} may not be read; let Hearth's user read {thing}") from None
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
