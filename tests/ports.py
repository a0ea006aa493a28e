"""Ports for servers that a test starts itself, often a moment later in a process of their own."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from random import SystemRandom

# Below those that Linux gives to clients by itself (32768 and up): one of these could be taken by
# anything that connects to somewhere before the server listens.
_PORTS = range(20_000, 30_000)
_TRIES = 100
_chance = SystemRandom()  # two workers of one run must not draw the same
_given: set[int] = set()


def free_port() -> int:
    """Return a port of loopback that is not in use, and that no process of tests was given before.

    Others, of this run and of those beside it, may be about to listen on theirs: each is claimed
    for as long as the process lives. Abstract names are of one network namespace, as ports are.
    """
    for _ in range(_TRIES):
        port = _chance.choice(_PORTS)
        if port not in _given and _is_claimed(port) and _is_free(port):
            _given.add(port)
            return port
    raise OSError(f"no free port found in {_TRIES} tries")


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port of loopback that refuses, and that nobody else can take meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        yield held.getsockname()[1]


def _is_claimed(port: int) -> bool:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0hearth-test-port-{port}")
    except OSError:
        claim.close()
        return False
    claim.detach()  # it stays open until the process ends
    return True


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
