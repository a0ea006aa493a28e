"""Real Home Assistants for tests.

house start NAME [--house american|english|spanish] [--version V] [--port N] [--mqtt]
house stop NAME | reset NAME     ends it; reset forgets its configuration too
house env NAME                   prints what a shell sets so that tests find it
house list                       what there is
house test [--long] -- COMMAND   runs COMMAND with fresh houses, which end with it
"""

import argparse
import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile
from types import FrameType

from tests.home_assistant.real import instances, process
from tests.home_assistant.real.households import households
from tests.home_assistant.real.places import Instance, Places, Refused
from tests.home_assistant.real.releases import NEWEST, OLDER, OLDEST, NotHere

_STARTED = time.monotonic()
# what tells tests of a house; none of it is handed down from one house to the next
_TOLD = (
    "HA_URL",
    "HA_TOKEN",
    "HA_ADMIN_TOKEN",
    "HA_HOUSE",
    "HA_INSTANCE",
    "HA_MQTT_PORT",
    "HA_PART",
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tests: the house and its release."""

    name: str
    house: str
    version: str = NEWEST
    part: str = ""  # "1/2": only the first half of the test files


# Tests wait most of their time, so two houses of one kind share them and run side by side.
SHORT = (
    (Run("test-english", "english", part="1/2"), Run("test-english-2", "english", part="2/2")),
)
LONG = (
    *SHORT,
    (Run("test-spanish", "spanish"),),
    (Run("test-older", "english", OLDER),),
    (Run("test-oldest", "english", OLDEST),),
)


def say(words: str) -> None:
    """Print a line of progress."""
    print(f"[{time.monotonic() - _STARTED:4.0f} s] {words}", file=sys.stderr, flush=True)


def wanted(name: str, house: str, version: str, port: int = 0) -> Instance:
    """Return an instance as requested, before anything is known of it."""
    return Instance(name=name, house=house, version=version, port=port, log="")


def test(places: Places, command: list[str], *, long: bool) -> int:
    """Run the command for each house, or once with a house that the environment names."""
    plain = {key: value for key, value in os.environ.items() if key not in _TOLD}
    if os.environ.get("HA_URL") and os.environ.get("HA_TOKEN"):
        if not os.environ.get("HA_ADMIN_TOKEN"):
            say("the house at HA_URL: tests that change something are left out")
        return subprocess.run(command).returncode
    results: dict[str, int] = {}
    for runs in LONG if long else SHORT:
        try:
            results |= _test_in(places, runs, command, plain)
        except NotHere as reason:
            if runs[0].version == NEWEST:
                raise
            say(f"{runs[0].name} is left out: {reason}")
    for name, code in results.items():
        say(f"{name}: {'passed' if code == 0 else f'failed with exit code {code}'}")
    return next((code for code in results.values() if code), 0)


def _test_in(
    places: Places, runs: Sequence[Run], command: list[str], plain: Mapping[str, str]
) -> dict[str, int]:
    """Run the command with these houses at the same time. Returns the exit codes by name.

    The first one's output is shown as it comes, the others' at the end.
    """
    for run in runs:
        instances.reset(places, run.name, say)
    with ExitStack() as stack:
        for run in runs:
            stack.callback(instances.stop, places, run.name, say)
        outputs = [None, *(stack.enter_context(TemporaryFile()) for _ in runs[1:])]
        started = asyncio.run(_start(places, runs))
        commands = []
        for run, instance, output in zip(runs, started, outputs, strict=True):
            told = {**instances.surroundings(places, instance), "HA_PART": run.part}
            one = subprocess.Popen(command, env={**plain, **told}, stdout=output, stderr=output)
            stack.callback(_end, one)
            commands.append(one)
        for one, output in zip(commands, outputs, strict=True):
            one.wait()
            if output is not None:
                output.seek(0)
                sys.stdout.flush()
                shutil.copyfileobj(output, sys.stdout.buffer)
        return {run.name: one.returncode for run, one in zip(runs, commands, strict=True)}


async def _start(places: Places, runs: Sequence[Run]) -> list[Instance]:
    asked = (wanted(run.name, run.house, run.version) for run in runs)
    starts = (instances.start(places, one, say, mqtt=_mqtt()) for one in asked)
    return await asyncio.gather(*starts)


def _end(command: subprocess.Popen[bytes]) -> None:
    """End a command that is still running, because this process is ending."""
    if command.poll() is None:
        command.terminate()
        command.wait()


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
