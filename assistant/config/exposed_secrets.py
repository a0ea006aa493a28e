"""Finds files with secrets that other users of this machine can read."""

import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.load import read_toml
from assistant.config.schema import Settings, all_keys, is_secret, secret_files

# Files in the data folder besides the journal. Their names are repeated here, because the modules
# that write them are slow to import.
KEPT = ("http_token", "http_tokens.json", "http_sessions.json", "console_links.json", "device.json")
_TABLES = ("headers", "env")  # secrets of an MCP server


@dataclass(frozen=True, slots=True)
class Exposed:
    """A file or folder that other users can read."""

    path: Path
    by: str  # "everyone on this machine", "its group"
    command: str  # shell command that fixes it

    @property
    def sentence(self) -> str:
        return f"{self.path} contains secrets, and {self.by} can read it; run: {self.command}"


def exposed_secrets(settings: Settings, config: Path | None) -> list[Exposed]:
    """Check the configuration file, the files with secrets that it names, and the data folder.
    `config` is None if there is no configuration file. Files that can't be examined are left out.
    Blocking."""
    found = dict[Path, Exposed]()
    for path in (*_named(settings, config), *_kept(settings)):
        by = _readers(path)
        if by and path not in found:
            mode = "700" if path.is_dir() else "600"
            found[path] = Exposed(path, by, f"chmod {mode} {shlex.quote(str(path))}")
    return list(found.values())


def _named(settings: Settings, config: Path | None) -> Iterator[Path]:
    if config is not None and _holds_secrets(config):
        yield config
    http = settings.http
    alone = Path(http.tls_cert) if http.tls_cert and not http.tls_key else None
    for path in secret_files(settings):
        if path != alone or _holds_key(path):
            yield path


def _kept(settings: Settings) -> Iterator[Path]:
    yield settings.data_folder
    yield from (settings.data_folder / name for name in KEPT)
    database = settings.database
    yield from (database.with_name(f"{database.name}{end}") for end in ("", "-wal", "-shm"))


def _holds_secrets(config: Path) -> bool:
    try:
        raw = read_toml(config)
    except ConfigError:
        return False
    for section, key, field in all_keys():
        table = raw.get(section)
        if is_secret(field) and isinstance(table, dict) and table.get(key):
            return True
    mcp = raw.get("mcp")
    servers = mcp.get("servers") if isinstance(mcp, dict) else None
    return isinstance(servers, list) and any(map(_server_holds_secrets, servers))


def _server_holds_secrets(server: Any) -> bool:
    return isinstance(server, dict) and any(server.get(table) for table in _TABLES)


def _holds_key(pem: Path) -> bool:
    try:
        return b"PRIVATE KEY-----" in pem.read_bytes()
    except OSError:
        return False


def _readers(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    if found.st_mode & (stat.S_IROTH | stat.S_IWOTH):
        return "everyone on this machine"
    # `hearth setup` run as root makes files readable for the service's group on purpose.
    of_the_service = found.st_uid == 0 and found.st_gid != 0
    if found.st_mode & (stat.S_IRGRP | stat.S_IWGRP) and not of_the_service:
        return "its group"
    return ""
