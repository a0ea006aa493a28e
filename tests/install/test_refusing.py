"""Tests of the cases in which the installer does nothing, and of the sentence that says why."""

from collections.abc import Iterator

import pytest

from tests.install.releases import RELEASES
from tests.install.stage import INSTALLER, Box, box

pytestmark = [pytest.mark.service, pytest.mark.timeout(300)]

_OS = "etc/os-release"


@pytest.fixture(scope="module")
def bare() -> Iterator[Box]:
    """Yield a machine on which nothing is installed."""
    with box(RELEASES[0]) as there:
        yield there
        assert there.machine.run(["ls", "/opt/hearth"], check=False).returncode != 0


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (
            'ID=debian\nVERSION_ID="11"\nPRETTY_NAME="Debian 11"\n',
            "this is Debian 11; the installer",
        ),
        ('ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04"\n', "this is Ubuntu 24.04;"),
        ('ID=raspbian\nVERSION_ID="12"\n', "this is a 32-bit Raspberry Pi OS"),
    ],
    ids=["old", "other", "32-bit"],
)
def test_another_system(bare: Box, system: str, sentence: str) -> None:
    file = bare.machine.root / _OS
    told = file.read_text()
    file.unlink()  # a link to the one in /usr/lib
    file.write_text(system.replace("\\\n", "\n"))
    try:
        assert bare.refuses("--yes").startswith(f"Not done: {sentence}")
    finally:
        file.write_text(told)


def test_a_32_bit_debian(bare: Box) -> None:
    bare.machine.write("/opt/shim/dpkg", "#!/bin/sh\necho armhf\n", 0o755)
    done = bare.machine.run(
        ["env", "PATH=/opt/shim:/usr/sbin:/usr/bin", INSTALLER, "--yes"], check=False
    )
    assert done.returncode == 1
    assert "this system is armhf; Hearth needs a 64-bit one" in done.stderr


def test_a_source_that_is_none(bare: Box) -> None:
    assert bare.refuses("--yes", "--source", "/etc") == "Not done: /etc is not a Hearth repository"
    assert bare.refuses("--yes", "--source", "/nowhere") == "Not done: /nowhere does not exist"


def test_a_python_that_is_none(bare: Box) -> None:
    assert bare.refuses("--yes", "--python", "/bin/true").startswith(
        "Not done: /bin/true is not a complete Python"
    )


@pytest.mark.parametrize("option", ["--what", "--purge"])
def test_an_option_that_it_does_not_have(bare: Box, option: str) -> None:
    done = bare.machine.run([INSTALLER, option], check=False)
    assert done.returncode == 1
    assert "deploy/install.sh --uninstall [--purge] [--yes]" in done.stderr
