"""A process with its own host names, and a name server that has fallen silent."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_DNS = 53
_IN_PLACE = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/resolv.conf && shift 2'


@dataclass(frozen=True, slots=True)
class Names:
    """Host names of the processes whose command begins with `before`."""

    before: tuple[str, ...]
    _hosts: Path
    _server: socket.socket

    def know(self, *names: str) -> None:
        """Make these names point to this machine, and no others resolve."""
        self._hosts.write_text(f"127.0.0.1 localhost {' '.join(names)}\n", encoding="ascii")

    @property
    def asked(self) -> int:
        """Return how many questions have reached the name server since the last call."""
        count = 0
        with suppress(BlockingIOError):
            while True:
                self._server.recv(4096)
                count += 1
        return count


def with_names(hosts: Path, servers: Path) -> tuple[str, ...]:
    """Return a command's beginning that replaces /etc/hosts and /etc/resolv.conf by these files."""
    shell = ("sh", "-c", f'{_IN_PLACE} && exec "$@"', "sh", str(hosts), str(servers))
    return ("unshare", "--mount", *shell)


@contextmanager
def own_names(folder: Path) -> Iterator[Names]:
    """Yield separate host names. Needs root."""
    address = f"127.53.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 1}"
    hosts, servers = folder / "hosts", folder / "resolv.conf"
    servers.write_text(f"nameserver {address}\n", encoding="ascii")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, _DNS))
        server.setblocking(False)
        names = Names(with_names(hosts, servers), hosts, server)
        names.know()
        yield names
