"""Real Home Assistants for tests.

house start NAME [--house english|spanish] [--version V] [--port N] [--mqtt]
house stop NAME | reset NAME     ends it; reset forgets its configuration too
house env NAME                   prints what a shell sets so that tests find it
house list                       what there is
house test [--long] -- COMMAND   runs COMMAND with a fresh house, which ends with it
"""

import argparse
import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType

from tests.home_assistant.real import instances, process
from tests.home_assistant.real.households import households
from tests.home_assistant.real.places import Instance, Places, Refused
from tests.home_assistant.real.releases import NEWEST, OLDER, OLDEST, NotHere

_STARTED = time.monotonic()
# what tells tests of a house; none of it is handed down from one house to the next
_TOLD = ("HA_URL", "HA_TOKEN", "HA_ADMIN_TOKEN", "HA_HOUSE", "HA_INSTANCE", "HA_MQTT_PORT")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tests: the house and its release."""

    name: str
    house: str
    version: str = NEWEST


SHORT = (Run("test-english", "english"),)
LONG = (
    *SHORT,
    Run("test-spanish", "spanish"),
    Run("test-older", "english", OLDER),
    Run("test-oldest", "english", OLDEST),
)


def say(words: str) -> None:
    """Print a line of progress."""
    print(f"[{time.monotonic() - _STARTED:4.0f} s] {words}", file=sys.stderr, flush=True)


def wanted(name: str, house: str, version: str, port: int = 0) -> Instance:
    """Return an instance as requested, before anything is known of it."""
    return Instance(name=name, house=house, version=version, port=port, log="")


def test(places: Places, command: list[str], *, long: bool) -> int:
    """Run the command once per house, or once with a house that the environment names."""
    plain = {key: value for key, value in os.environ.items() if key not in _TOLD}
    if os.environ.get("HA_URL") and os.environ.get("HA_TOKEN"):
        if not os.environ.get("HA_ADMIN_TOKEN"):
            say("the house at HA_URL: tests that change something are left out")
        return subprocess.run(command).returncode
    results = {}
    for run in LONG if long else SHORT:
        try:
            results[run.name] = _test_in(places, run, command, plain)
        except NotHere as reason:
            if run.version == NEWEST:
                raise
            say(f"{run.name} is left out: {reason}")
    for name, code in results.items():
        say(f"{name}: {'passed' if code == 0 else f'failed with exit code {code}'}")
    return next((code for code in results.values() if code), 0)


def _test_in(places: Places, run: Run, command: list[str], plain: Mapping[str, str]) -> int:
    instances.reset(places, run.name, say)
    asked = wanted(run.name, run.house, run.version)
    try:
        instance = asyncio.run(instances.start(places, asked, say, mqtt=_mqtt()))
        told = instances.surroundings(places, instance)
        return subprocess.run(command, env={**plain, **told}).returncode
    finally:
        instances.stop(places, run.name, say)


def _mqtt() -> bool:
    return os.environ.get("HA_MQTT") == "1"


def _ended(number: int, frame: FrameType | None) -> None:
    """End the command at a signal through its `finally`, which stops the house."""
    raise SystemExit(128 + number)


def show(places: Places) -> None:
    """Print a line for each instance."""
    for name in places.names():
        instance = places.load(name)
        assert instance is not None
        state = "runs" if process.running(places.folder(name) / "pid") else "is stopped"
        print(f"{name}: {instance.house}, {instance.version}, {instance.url}, {state}")


def print_environment(places: Places, name: str) -> None:
    """Print lines for a shell's eval."""
    instance = places.load(name)
    if instance is None:
        raise Refused(f"there is no house {name}; start it first")
    for key, value in instances.surroundings(places, instance).items():
        print(f"export {key}={shlex.quote(value)}")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the commands and their options."""
    made = argparse.ArgumentParser(
        prog="house", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="do", required=True)
    starting = commands.add_parser("start")
    starting.add_argument("name")
    starting.add_argument("--house", default="english", choices=households())
    starting.add_argument("--version", default=NEWEST)
    starting.add_argument("--port", type=int, default=0)
    starting.add_argument("--mqtt", action="store_true", default=_mqtt())
    for do in ("stop", "reset", "env"):
        commands.add_parser(do).add_argument("name")
    commands.add_parser("list")
    testing = commands.add_parser("test")
    testing.add_argument("--long", action="store_true", default=os.environ.get("LONG") == "1")
    testing.add_argument("command", nargs="+")
    return made


def main() -> int:
    """Carry out the command line and return the exit code."""
    said = parser().parse_args()
    places = Places.of_environment()
    signal.signal(signal.SIGTERM, _ended)
    try:
        match said.do:
            case "start":
                asked = wanted(said.name, said.house, said.version, said.port)
                asyncio.run(instances.start(places, asked, say, mqtt=said.mqtt))
                say(f"ready; its tokens are in {places.record(said.name)}")
            case "stop":
                instances.stop(places, said.name, say)
            case "reset":
                instances.reset(places, said.name, say)
            case "env":
                print_environment(places, said.name)
            case "list":
                show(places)
            case "test":
                return test(places, said.command, long=said.long)
    except Refused as reason:
        print(reason, file=sys.stderr)
        return 2
    return 0


sys.exit(main())
