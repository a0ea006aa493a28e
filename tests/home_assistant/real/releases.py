"""Python versions of Home Assistant's releases, and where this machine finds them. Pure.

Oldest Python per release from the package's own metadata; the suites' Pythons: trixie 3.13.5, forky
3.14.8.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.home_assistant.real.places import Refused

NEWEST = "2026.11.0"
OLDER = "2026.2.3"  # bare tool names, one address for all tools
OLDEST = "2025.4.4"  # bare tool names, SSE only; the last one for Python 3.13.0

Version = tuple[int, int, int]

# from this release on: the oldest Python it takes, and the Debian suite that brings one
_NEEDS: tuple[tuple[tuple[int, int], Version, str], ...] = (
    ((2026, 3), (3, 14, 2), "forky"),
    ((2025, 5), (3, 13, 2), "trixie"),
    ((2025, 2), (3, 13, 0), "trixie"),  # the first with an MCP server
)

# What a house of ours sets up; what these stand on follows from their manifests. Installed
# beforehand, Home Assistant fetches nothing while it runs.
INTEGRATIONS = (
    "analytics api application_credentials assist_pipeline automation backup camera config "
    "conversation demo file_upload frontend group hardware history image_upload local_calendar "
    "local_todo logbook logger mcp_server media_source mobile_app mqtt network person recorder "
    "scene script search shopping_list stream stt sun system_health tag template todo tts usb "
    "wake_word webhook wyoming zone"
).split()


class NotHere(Refused):
    """This machine cannot run that release; the message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release and its requirements."""

    version: str
    python: Version  # the oldest it takes; of that minor version only, as it is tested
    suite: str  # Debian with such a Python


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an installation: a Debian root, or a Python of the machine."""

    suite: str = ""
    python: str = ""


def release(version: str) -> Release:
    """Return that release's requirements. Raises NotHere for one that no house of ours can be."""
    try:
        year, month, *_ = (int(part) for part in version.split("."))
    except ValueError:
        raise NotHere(f"{version} is no release of Home Assistant; try {NEWEST}") from None
    for since, python, suite in _NEEDS:
        if (year, month) >= since:
            return Release(version, python, suite)
    raise NotHere(f"Home Assistant {version} has no MCP server; it came with 2025.2")


def place(
    wanted: Release,
    pythons: Sequence[str],
    version_of: Callable[[str], Version | None],
    *,
    root: bool,
    debian: bool,
) -> Place:
    """Return a Debian root if one can be made, for the newest; else a fitting Python of the
    machine.

    The older releases take the machine's Python first, since that saves a root. `version_of` gives
    a Python's version, None if it does not start.
    """
    own_root = root and debian
    if own_root and wanted.suite == release(NEWEST).suite:
        return Place(suite=wanted.suite)
    for path in pythons:
        found = version_of(path)
        if found is not None and found[:2] == wanted.python[:2] and found >= wanted.python:
            return Place(python=path)
    if own_root:
        return Place(suite=wanted.suite)
    needed = ".".join(str(part) for part in wanted.python)
    raise NotHere(
        f"Home Assistant {wanted.version} needs Python {needed} or a Debian machine with root; "
        f"there is neither"
    )
