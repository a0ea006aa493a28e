"""Fixtures: the machine that all tests of the service share, with the service running."""

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.service.installed import Installed, installed
from tests.service.machine import RELEASES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Use one Debian, by default the older; DEBIAN names another, LONG=1 uses both."""
    if "release" in metafunc.fixturenames:
        both = os.environ.get("LONG") == "1"
        releases = RELEASES if both else (os.environ.get("DEBIAN") or RELEASES[0],)
        metafunc.parametrize("release", releases, scope="session")


@pytest.fixture(scope="session")
def machine_of(release: str) -> Iterator[Installed]:
    """Yield the installed machine with sound devices, which is never stopped between the tests."""
    if os.geteuid() != 0 or shutil.which("systemd-nspawn") is None:
        pytest.skip("needs root and systemd-nspawn: make test-service")
    with installed(release, sound=True) as hearth:
        yield hearth


@pytest.fixture
def hearth(machine_of: Installed) -> Iterator[Installed]:
    """Yield it with the settings and the unit as installed, running and settled."""
    hearth = machine_of
    hearth.configure(microphone="default")
    hearth.machine.run(["systemctl", "reset-failed", "hearth.service"], check=False)
    hearth.start()
    hearth.machine.until(hearth.answers, "a turn")
    yield hearth
    hearth.machine.run(["systemctl", "stop", "hearth.service"])
