"""Which Python a release takes, and where it is installed."""

import pytest

from tests.home_assistant.real.releases import NEWEST, OLDER, OLDEST, NotHere, Place, place, release

PYTHONS = {"python3.11": (3, 11, 2), "python3.13": (3, 13, 0), "python3.14": (3, 14, 2)}


def where(version: str, *pythons: str, root: bool = True, debian: bool = True) -> Place:
    """The decision on a machine with those Pythons."""
    return place(release(version), pythons, PYTHONS.get, root=root, debian=debian)


@pytest.mark.parametrize(
    ("version", "python", "suite"),
    [
        (NEWEST, (3, 14, 2), "forky"),
        ("2026.3.0", (3, 14, 2), "forky"),
        (OLDER, (3, 13, 2), "trixie"),
        (OLDEST, (3, 13, 0), "trixie"),
    ],
)
def test_what_a_release_asks_for(version: str, python: tuple[int, int, int], suite: str) -> None:
    assert (release(version).python, release(version).suite) == (python, suite)


@pytest.mark.parametrize("version", ["newest", "2026", "2024.12.1"])
def test_what_is_no_release_of_ours_is_said(version: str) -> None:
    with pytest.raises(NotHere, match=version):
        release(version)


def test_the_newest_is_installed_in_a_debian_root_whatever_the_machine_has() -> None:
    assert where(NEWEST, *PYTHONS) == Place(suite="forky")


def test_without_root_a_fitting_python_of_the_machine_serves() -> None:
    assert where(NEWEST, *PYTHONS, root=False) == Place(python="python3.14")


def test_an_older_release_takes_the_machines_python_first() -> None:
    assert where(OLDEST, *PYTHONS) == Place(python="python3.13")


def test_a_python_that_is_too_old_or_too_new_does_not_fit() -> None:
    assert where(OLDER, *PYTHONS) == Place(suite="trixie")


def test_a_python_that_does_not_start_does_not_fit() -> None:
    assert where(OLDEST, "a stand-in") == Place(suite="trixie")


@pytest.mark.parametrize(("root", "debian"), [(False, True), (True, False)])
def test_a_machine_that_can_do_neither_says_what_it_lacks(root: bool, debian: bool) -> None:
    with pytest.raises(NotHere, match=r"needs Python 3\.14\.2 or a Debian machine with root"):
        where(NEWEST, "python3.11", root=root, debian=debian)
