"""Transfer of the configuration to another device. Pure: text in, text out."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel, SecretStr, ValidationError
from tomlkit.exceptions import TOMLKitError

from assistant.config.errors import ConfigError, Origins, complaints, one_sentence
from assistant.config.schema import Settings, all_keys, is_secret
from assistant.config.tools import McpServer

Secrets = dict[str, str]  # "section.key", or "mcp.SERVER.headers.NAME" -> the secret
# Machine-specific settings.
_OF_THE_MACHINE = (("assistant", "data"), ("journal", "path"))
_TABLES = ("headers", "env")  # tables of an MCP server whose values are secrets
_WEIGHTY = frozenset(
    {
        *("policy", "mcp", "http", "wyoming", "privacy", "tools"),
        *("home_assistant.url", "home_assistant.verify_tls", "mqtt.host", "gemini.base_url"),
    }
)
_LONGEST_SHOWN = 2_000  # characters per value


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A file with one secret, stored beside the configuration."""

    name: str  # file name
    text: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The restored configuration and the files with its secrets."""

    text: str
    files: tuple[SecretFile, ...]
    # This device's secrets that are dropped because they would be sent to a different address:
    # "section.key" or "mcp.SERVER.headers".
    lost: tuple[str, ...]


def without_secrets(text: str) -> str:
    """Return the configuration without secrets, paths to secret files, and machine-specific
    settings."""
    document = tomlkit.parse(text)
    for section, key in _secret_keys():
        _take(document, section, key)
        _take(document, section, f"{key}_file")
    for section, key in _OF_THE_MACHINE:
        _take(document, section, key)
    for server in _servers(document):
        for table in _TABLES:
            server.pop(table, None)
            server.pop(f"{table}_file", None)
    return tomlkit.dumps(document)


def secrets_in(settings: Settings) -> Secrets:
    """Return all secrets in use, from the configuration, files and the environment."""
    found: Secrets = {}
    for section, key in _secret_keys():
        value = getattr(getattr(settings, section), key)
        if isinstance(value, SecretStr) and value.get_secret_value():
            found[f"{section}.{key}"] = value.get_secret_value()
    for server in settings.mcp.servers:
        for table in _TABLES:
            for name, secret in getattr(server, table).items():
                found[f"mcp.{server.name}.{table}.{name}"] = secret.get_secret_value()
    return found


def secrets_named(text: str) -> frozenset[str]:
    """Return the names ("section.key") of secrets that the configuration sets, directly or by file.
    MCP servers' secrets are not included."""
    document = tomlkit.parse(text)
    return frozenset(
        f"{section}.{key}"
        for section, key in _secret_keys()
        if _stands(document.get(section, {}), key)
    )


def restored(text: str, secrets: Mapping[str, str], present: str, target: Path) -> Restored:
    """Return the configuration to store at `target`, and the files with its secrets. Raises
    ConfigError if the result isn't valid.

    `present` is the device's current configuration, or "". It provides machine-specific settings,
    and secrets that the backup lacks, unless they would be sent to a different address.
    """
    try:
        document, before = tomlkit.parse(text), tomlkit.parse(present)
    except TOMLKitError as error:
        raise ConfigError(f"The settings in the backup are not valid TOML ({error})") from None
    after = settings_in(text)  # validate first, because server names become file names below
    was = settings_in(present)
    files: list[SecretFile] = []
    lost: list[str] = []
    for section, key in _secret_keys():
        secret = secrets.get(f"{section}.{key}")
        _take(document, section, key)
        _take(document, section, f"{key}_file")
        if secret is None and same_place(section, was, after):
            _keep(document, before, section, key)
            _keep(document, before, section, f"{key}_file")
        elif secret is None:
            lost += [f"{section}.{key}"] if _stands(before.get(section, {}), key) else []
        else:
            _valid({section: {key: secret}})  # an invalid secret would make the next start fail
            files.append(SecretFile(f"{section}.{key}", f"{secret}\n"))
            _put(document, section, f"{key}_file", str(target.with_name(f"{section}.{key}")))
    for section, key in _OF_THE_MACHINE:
        _take(document, section, key)
        _keep(document, before, section, key)
    of_servers, left = _restore_servers(document, before, secrets, target, same_servers(was, after))
    whole = tomlkit.dumps(document)
    settings_in(whole)
    return Restored(whole, (*files, *of_servers), (*lost, *left))


def changed_keys(before: str, after: str) -> list[str]:
    """Return the settings whose values differ, as "section.key". Secrets and machine-specific
    settings are left out."""
    old, new = settings_in(before), settings_in(after)
    hidden = {
        *_OF_THE_MACHINE,
        *_secret_keys(),
        *((section, f"{key}_file") for section, key in _secret_keys()),
    }
    names = []
    for section in Settings.model_fields:
        was, now = getattr(old, section), getattr(new, section)
        keys = type(now).model_fields if isinstance(now, BaseModel) else None
        if keys is None:
            names += [section] if was != now else []
            continue
        names += [
            f"{section}.{key}"
            for key in keys
            if (section, key) not in hidden and getattr(was, key) != getattr(now, key)
        ]
    return names


def weighty_changes(before: str, after: str) -> list[str]:
    """Return a line for each change that affects safety or privacy. A person must see these changes
    before confirming the import."""
    old, new = (settings_in(text).model_dump(mode="json") for text in (before, after))
    lines = []
    for name in changed_keys(before, after):
        section, _, key = name.partition(".")
        if section in _WEIGHTY or name in _WEIGHTY:
            was, will = (_shown(told[section], key) for told in (old, new))
            lines.append(f"{name}: {was} -> {will}")
    return lines


def _shown(table: Any, key: str) -> str:
    """Return a value as a line of JSON. Secrets in it must already be masked."""
    value = table[key] if key else table
    return json.dumps(value, ensure_ascii=False)[:_LONGEST_SHOWN]


def settings_in(text: str) -> Settings:
    """Parse a configuration without applying the environment or other files. Raises ConfigError."""
    try:
        raw = tomlkit.parse(text).unwrap()
    except TOMLKitError as error:
        raise ConfigError(f"The settings in the backup are not valid TOML ({error})") from None
    return _valid(raw)


def _valid(raw: Mapping[str, Any]) -> Settings:
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        raise one_sentence(complaints(error, Origins("the backup"))) from None


def _restore_servers(
    document: tomlkit.TOMLDocument,
    before: tomlkit.TOMLDocument,
    secrets: Mapping[str, str],
    target: Path,
    same: Collection[str],
) -> tuple[list[SecretFile], list[str]]:
    """Restore MCP servers' secrets in `document`. Servers named in `same` keep their current
    secrets. Returns the files to write, and the names of secrets that are dropped."""
    there = {str(server.get("name")): server for server in _servers(before)}
    files, lost = [], []
    for server in _servers(document):
        name = str(server.get("name"))
        for table in _TABLES:
            sign = ": " if table == "headers" else "="
            start = f"mcp.{name}.{table}."
            lines = [
                f"{key.removeprefix(start)}{sign}{secret}\n"
                for key, secret in secrets.items()
                if key.startswith(start)
            ]
            server.pop(table, None)
            server.pop(f"{table}_file", None)
            if lines:
                files.append(SecretFile(f"mcp.{name}.{table}", "".join(lines)))
                server[f"{table}_file"] = str(target.with_name(f"mcp.{name}.{table}"))
                continue
            if name not in same:
                lost += [f"mcp.{name}.{table}"] if _stands(there.get(name, {}), table) else []
                continue
            for key in (table, f"{table}_file"):
                if key in there[name]:
                    server[key] = there[name][key]
    return files, lost


def _stands(table: Any, key: str) -> bool:
    return bool(table.get(key) or table.get(f"{key}_file"))


def _secret_keys() -> Iterator[tuple[str, str]]:
    for section, key, field in all_keys():
        if is_secret(field):
            yield section, key


def _servers(document: tomlkit.TOMLDocument) -> list[Any]:
    section: Any = document.get("mcp", {})
    servers = section.get("servers", []) if hasattr(section, "get") else []
    return [server for server in servers if hasattr(server, "pop")]


def _take(document: tomlkit.TOMLDocument, section: str, key: str) -> None:
    table: Any = document.get(section, {})
    if hasattr(table, "pop"):
        table.pop(key, None)


def _keep(
    document: tomlkit.TOMLDocument, before: tomlkit.TOMLDocument, section: str, key: str
) -> None:
    table: Any = before.get(section, {})
    if key in table:
        _put(document, section, key, table[key])


def _put(document: tomlkit.TOMLDocument, section: str, key: str, value: Any) -> None:
    if section not in document:
        document[section] = tomlkit.table()
    table: Any = document[section]
    table[key] = value


# A secret is kept only while its address stays the same. Otherwise, somebody could obtain this
# device's token with a backup that contains a different address and no secret.
#
# The settings below determine and authenticate the address. Other sections' secrets aren't sent.
_OF_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "home_assistant": ("url", "verify_tls", "ca_file"),
    "gemini": ("base_url", "ca_file"),
    "mqtt": ("host", "port", "tls", "ca_file"),
}
_OF_SERVERS = ("transport", "command", "args", "cwd", "url", "verify_tls", "ca_file")


def same_place(section: str, before: Settings, after: Settings) -> bool:
    """Return True if the section's secrets would be sent to the same address as before."""
    keys = _OF_SECTIONS.get(section, ())
    return _values(getattr(before, section), keys) == _values(getattr(after, section), keys)


def address(section: str, settings: Settings) -> Any:
    """Return the address that the section's secrets are sent to, or None if there is none."""
    keys = _OF_SECTIONS.get(section, ())
    return getattr(getattr(settings, section), keys[0]) if keys else None


def same_servers(before: Settings, after: Settings) -> frozenset[str]:
    """Return the names of MCP servers whose program or address hasn't changed."""
    there = {server.name: _of(server) for server in before.mcp.servers}
    return frozenset(
        server.name for server in after.mcp.servers if there.get(server.name) == _of(server)
    )


def _of(server: McpServer) -> list[Any]:
    return _values(server, _OF_SERVERS)


def _values(table: object, keys: tuple[str, ...]) -> list[Any]:
    return [getattr(table, key) for key in keys]
