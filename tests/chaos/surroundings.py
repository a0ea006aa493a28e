"""Surroundings of a fault's test: none, simulated sound devices, a real Home Assistant."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A way for tests to get what they need."""

    name: str  # for people
    mark: str  # of the tests that need it; "" for all others
    prefix: tuple[str, ...]  # a command that puts it there, runs what follows and takes it away
    missing: Callable[[], str]  # why it cannot be had here; "" where it can
    environment: Mapping[str, str]  # besides
    leaves_out: tuple[str, ...] = ()  # of the environment: what its command would take for its own
    side_by_side: bool = False  # its tests can run so


def _nothing() -> str:
    return ""


def _sound() -> str:
    found = shutil.which("pulseaudio") and shutil.which("paplay")
    return "" if found else "needs PulseAudio (apt install pulseaudio pulseaudio-utils)"


def _home() -> str:
    if os.environ.get("HA_URL"):
        return ""
    if os.geteuid() != 0:
        return "needs root, for a Home Assistant of its own"
    broker = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    return "" if broker else "needs mosquitto (apt install mosquitto)"


_SOUND_COMMAND = (sys.executable, "tests/devices/pulse.py", "--")
_HOME_COMMAND = (sys.executable, "-m", "tests.home_assistant.real", "test", "--")

ALL = (
    Surroundings("this machine", "", (), _nothing, {}, side_by_side=True),
    Surroundings("simulated sound devices", "devices", _SOUND_COMMAND, _sound, {}),
    Surroundings(
        "a real Home Assistant",
        "home_assistant",
        _HOME_COMMAND,
        _home,
        {"HA_MQTT": "1"},
        ("LONG",),  # it would start three of them
    ),
)


def needed_by(item: pytest.Item) -> str:
    """Return the name of the surroundings in which a test is to run."""
    for one in ALL:
        if one.mark and item.get_closest_marker(one.mark) is not None:
            return one.name
    return ALL[0].name


def marks_of(one: Surroundings) -> str:
    """Return the expression for pytest's -m that selects exactly its tests."""
    others = [other.mark for other in ALL if other.mark and other is not one]
    wanted = ["fault", *([one.mark] if one.mark else []), *(f"not {mark}" for mark in others)]
    return " and ".join(wanted)
