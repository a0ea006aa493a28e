"""Paths and records of instances: everything is in one folder, HA_ROOT."""

import fcntl
import json
import os
import re
import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

DEFAULT_ROOT = "/var/tmp/hearth-home-assistant"
HOST = "127.0.0.1"

_FIRST_PORT, _LAST_PORT = 18_200, 18_299
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,30}")


class Refused(Exception):
    """The request cannot be fulfilled; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One Home Assistant: a house of the tests with its own folder, port and process."""

    name: str
    house: str  # american | english | spanish
    version: str
    port: int
    log: str  # file
    mqtt_port: int = 0  # of its broker; 0: none
    token: str = field(default="", repr=False)  # of a person who is no admin: Hearth's
    admin_token: str = field(default="", repr=False)  # only to prepare and to check

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://{HOST}:{self.port}"


@dataclass(frozen=True, slots=True)
class Places:
    """The folders under HA_ROOT."""

    root: Path

    @classmethod
    def of_environment(cls) -> "Places":
        """Return those that HA_ROOT names."""
        return cls(Path(os.environ.get("HA_ROOT") or DEFAULT_ROOT))

    def debian(self, suite: str) -> Path:
        """Return the root of that Debian."""
        return self.root / f"debian-{suite}"

    def folder(self, name: str) -> Path:
        """Return the instance's folder."""
        if not _NAME.fullmatch(name):
            raise Refused(f"{name!r} is no name for a house: small letters, digits, dots, hyphens")
        return self.root / "instances" / name

    def record(self, name: str) -> Path:
        """Return the path of the instance's record."""
        return self.folder(name) / "instance.json"

    def names(self) -> list[str]:
        """Return the names of all instances."""
        return sorted(path.parent.name for path in self.root.glob("instances/*/instance.json"))

    def load(self, name: str) -> Instance | None:
        """Return the record of that instance, or None."""
        record = self.record(name)
        return read_instance(record) if record.exists() else None

    def save(self, instance: Instance) -> None:
        """Store it, readable only by its owner."""
        record = self.record(instance.name)
        record.parent.mkdir(parents=True, exist_ok=True)
        new = record.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps({**asdict(instance), "url": instance.url}, indent=2) + "\n")
        new.rename(record)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let one process at a time install, and choose a port. Raises Refused."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = (self.root / "lock").open("w")
        except PermissionError:
            raise Refused(f"{self.root} is not yours; set HA_ROOT to a folder of yours") from None
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def read_instance(record: Path) -> Instance:
    """Read an instance's record."""
    told = json.loads(record.read_text())
    del told["url"]  # follows from the port
    return Instance(**told)


def free_port(taken: set[int], root: Path) -> int:
    """Return a port that nothing listens on and no instance of ours has. Raises Refused.

    The search begins at a port that depends on HA_ROOT: two roots in which houses are started at
    the same moment do not know of each other, and would choose the same one.
    """
    ports = range(_FIRST_PORT, _LAST_PORT + 1)
    begin = zlib.crc32(os.fsencode(root))
    for step in range(len(ports)):
        port = ports[(begin + step) % len(ports)]
        if port not in taken and is_free(port):
            return port
    raise Refused(f"no port from {_FIRST_PORT} to {_LAST_PORT} is free; give one with --port")


def is_free(port: int) -> bool:
    """Return whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
