"""`hearth demo`: run spoken and typed commands in a simulated house."""

import argparse
import asyncio
import json
import os
import shlex
import shutil
import socket
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rich.progress import track
from rich.table import Table
from rich.text import Text

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.cli.ask import describe, show_turn
from assistant.cli.console import Terminal, worded
from assistant.cli.terminal import CliCommand, Failed, say
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn
from assistant.demo.scenes import SCENES, Gramophone, SpokenCommand, Typed, make_clip
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import console_link
from assistant.journal.trace import LEGEND, draw_bar
from assistant.sound.devices import open_microphone, open_outputs
from audio.player import NullPlayer
from audio.sound_files import WavSource
from integrations.demo_home.rest import DemoHome
from integrations.demo_home.scenes import in_words
from integrations.home_assistant.services import is_snapshot


def show_scene(
    console: Terminal,
    number: str,
    scene: SpokenCommand | Typed,
    turn: FinishedTurn | None,
    changes: Mapping[str, tuple[str, str]],
    answer: Path,
) -> None:
    """Print the result of one scene. `changes` maps each changed entity to its states before and
    after. `answer` is the file with the spoken answer."""
    manner = "typed" if isinstance(scene, Typed) else f"spoken by {scene.voice}"
    console.print()
    head = "[bold]{number}  “{words}”[/]  [dim]{manner}[/]"
    console.tell(head, number=number, words=scene.words, manner=manner, fold=True)
    if turn is None:
        console.print("   nothing was heard: the wake word was not detected", style="red")
        return
    record = turn.record
    _line(console, "heard", record.heard or "(no command)")
    for outcome in turn.outcomes[:2]:
        _line(console, "tool", describe(outcome))
    _line(console, "house", _changes(changes))
    told = worded("[cyan]{said}[/]  [dim]{file}[/]", said=record.answer or "", file=answer)
    _line(console, "answer", told)
    if record.timeline:
        _line(console, "time", draw_bar(record.timeline, width=60))


def show_house(console: Terminal, described: str) -> None:
    table = Table.grid(padding=(0, 2))
    for line in described.split("\n"):
        area, _, things = line.partition("  ")
        table.add_row(Text(area, style="dim"), things.strip())
    console.print(table)


def _changes(changes: Mapping[str, tuple[str, str]]) -> Text | str:
    if not changes:
        return Text("nothing changed", style="dim")
    return "; ".join(f"{name}: {old} → {new}" for name, (old, new) in changes.items())


def _line(console: Terminal, label: str, text: Text | str) -> None:
    console.tell("   [dim]{label}[/] {text}", label=f"{label:<7}", text=text)


_FOLDER = Path("out/demo")
_TRY = "turn on the kitchen light"
_PROGRAMS = ("flite", "espeak-ng")  # flite speaks the commands, espeak-ng the answers
_CONFIGURATION_NAME = "hearth.toml"
_CONFIGURATION = """\
# Written by `hearth demo`: a simulated house to try commands in.
[assistant]
data = {data}
languages = ["en", "es"]

[home_assistant]
url = "demo"

[brain]
order = ["offline"]

[voice]
engine = "espeak"
"""
_SETTLE_S = 2.0  # seconds; a blind or a lock can still be moving when Hearth answers


def _arguments(parser: argparse.ArgumentParser) -> None:
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--mic", action="store_true", help="speak to the simulated house yourself")
    way.add_argument(
        "--browser",
        action="store_true",
        help="speak to it from a browser on this computer: open the console and print its link",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=_FOLDER,
        metavar="FOLDER",
        help=f"write the recordings and settings to this folder (default: {_FOLDER})",
    )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    need_programs(_PROGRAMS[1:] if arguments.browser else _PROGRAMS)
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        _write_configuration(arguments.out)
    except OSError as error:
        raise Failed(
            f"Cannot write to {arguments.out} ({error.strerror}): choose another folder with --out"
        ) from error
    settings = _demo_settings(settings, arguments.out)
    if arguments.mic:
        return await _with_microphone(settings)
    if arguments.browser:
        return await _with_browser(settings)
    return await _with_scenes(settings, arguments.out)


def need_programs(programs: Sequence[str] = _PROGRAMS) -> None:
    """Raise Failed if one of these speech synthesisers is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise Failed(
            f"The demo speaks with {' and '.join(programs)}. Install the missing programs: sudo "
            f"apt install {' '.join(missing)}"
        )


def _write_configuration(folder: Path) -> None:
    text = _CONFIGURATION.format(data=json.dumps(str((folder / "data").absolute())))
    (folder / _CONFIGURATION_NAME).write_text(text, encoding="utf-8")


def own_command(started: str) -> str:
    """Return the shell command that runs this installation. `started` is `sys.argv[0]`."""
    if Path(started).name != "hearth":
        return f"{shlex.quote(sys.executable)} -m assistant"
    found = shutil.which("hearth")
    if found is not None and Path(found).samefile(started):
        return "hearth"
    return shlex.quote(started)


def _demo_settings(settings: Settings, folder: Path) -> Settings:
    return Settings.model_validate(
        {
            "assistant": {"data": str(folder / "data"), "languages": ["en", "es"]},
            "home_assistant": {"url": "demo"},
            "brain": {"order": ["offline"]},
            "voice": {"engine": "espeak"},
            "audio": settings.audio.model_dump(),
        }
    )


async def _with_scenes(settings: Settings, folder: Path) -> int:
    console = Terminal()
    spoken = [scene for scene in SCENES if isinstance(scene, SpokenCommand)]
    clips = {
        scene.name: await asyncio.to_thread(make_clip, scene, folder)
        for scene in track(spoken, "Generating the speech", console=console, transient=True)
    }
    console.print(
        "The voices are synthetic (flite asks, espeak-ng answers) and the house is simulated. "
        "Recognition, tool calls and audio are real.",
        style="dim",
    )
    failed: list[str] = []
    async with Gramophone() as player, open_app(settings, player, hears=True) as app:
        assert app.home.demo is not None
        console.print()
        console.tell("[bold]The house before[/]")
        show_house(console, app.home.demo.describe())
        console.print()
        console.print(f"The bars: {LEGEND}", style="dim")
        for number, scene in enumerate(SCENES, 1):
            answer = folder / f"{scene.name}.answer.wav"
            await player.begin(answer)
            before = _states(app.home.demo)
            turn = await _play(app, scene, clips.get(scene.name))
            changes = _changed_states(before, _states(app.home.demo))
            show_scene(console, f"{number}/{len(SCENES)}", scene, turn, changes, answer)
            if (trouble := _trouble(scene, turn, changes)) is not None:
                console.tell("   [red]wrong   {trouble}[/]", trouble=trouble, fold=True)
                failed.append(scene.name)
        console.print()
        console.tell("[bold]The house after[/]")
        show_house(console, app.home.demo.describe())
    return _verdict(console, failed, folder)


async def _play(app: App, scene: SpokenCommand | Typed, clip: Path | None) -> FinishedTurn | None:
    count = app.log.count
    if clip is not None:
        await app.runner.listen(WavSource(clip, realtime=False), turns=1)
    else:
        await app.runner.ask(scene.words)
    demo = app.home.demo
    assert demo is not None
    # Returns early once all states are as expected; `_trouble` reports any that are not.
    await app.home.client.wait_for(
        scene.expects,
        lambda _: all(_states(demo)[key] == want for key, want in scene.expects.items()),
        _SETTLE_S,
    )
    return app.log.turns[-1] if app.log.count > count else None


def _states(demo: DemoHome) -> dict[str, str]:
    return {
        snapshot.entity_id: in_words(snapshot)
        for snapshot in demo.house.all()
        if not is_snapshot(snapshot.entity_id)
    }


def _changed_states(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {key: (before[key], now) for key, now in after.items() if before[key] != now}


def _trouble(
    scene: SpokenCommand | Typed, turn: FinishedTurn | None, changes: dict[str, tuple[str, str]]
) -> str | None:
    if turn is None:
        return "the sentence was not heard"
    if {key: now for key, (_, now) in changes.items()} != scene.expects:
        return f"expected in the house: {scene.expects or 'no change'}"
    return None


def _verdict(console: Terminal, failed: list[str], folder: Path) -> int:
    console.print()
    if failed:
        told = "[red]Failed: {failed}.[/] The recordings are in {folder}."
        console.tell(told, failed=", ".join(failed), folder=folder, fold=True)
        return 1
    console.tell(
        "[green]All {count} commands worked.[/] The recordings and the spoken answers are in "
        "{folder}.",
        count=len(SCENES),
        folder=folder,
        fold=True,
    )
    program = own_command(sys.argv[0])
    configuration = shlex.quote(str(folder / _CONFIGURATION_NAME))
    console.print()
    for what, command in (
        ("Type a command of your own:", f'ask --config {configuration} "{_TRY}"'),
        ("Speak one yourself, in a browser:", "demo --browser"),
        ("Speak one yourself, with this computer's microphone:", "demo --mic"),
        ("Connect your own Home Assistant:", "setup"),
    ):
        console.print(what)
        console.tell("  [bold]{program} {command}[/]", program=program, command=command)
    return 0


async def _with_microphone(settings: Settings) -> int:
    console = Terminal()
    async with (
        open_outputs(settings, paced=True) as outputs,
        open_app(settings, outputs, hears=True, paced=True) as app,
        open_microphone(settings, outputs) as microphone,
    ):
        assert app.home.demo is not None
        if microphone is None:
            raise Failed(
                "audio.input is not a microphone: set it to one that `hearth devices` lists"
            )
        app.log.on_turn(lambda turn: show_turn(turn.record, turn.outcomes))
        show_house(console, app.home.demo.describe())
        console.print()
        console.print('Say "okay nabu, turn on the kitchen light". Press Ctrl-C to stop.')
        await app.runner.listen_for_ever(microphone)
    return 0


async def _with_browser(settings: Settings) -> int:
    console = Terminal()
    http = {"port": _free_port(settings.http.port)}
    settings = settings.model_copy(update={"http": settings.http.model_copy(update=http)})
    player = NullPlayer(paced=True)
    async with (
        open_app(settings, player, hears=False, resident=True) as app,
        open_interfaces(app),
    ):
        assert app.home.demo is not None
        link = await asyncio.to_thread(console_link, settings, SystemClock().now())
        app.log.on_turn(lambda turn: show_turn(turn.record, turn.outcomes))
        show_house(console, app.home.demo.describe())
        console.print()
        console.print(
            "This house is simulated. Open the link in a browser on this computer, choose Speak, "
            f'and say "{_TRY}". Press Ctrl-C to stop.'
        )
        say(link)
        if has_display(os.environ):
            await asyncio.to_thread(webbrowser.open, link)
        await asyncio.get_running_loop().create_future()
    return 0


def has_display(environment: Mapping[str, str]) -> bool:
    """Return True if a browser window can be opened here."""
    return sys.platform == "darwin" or any(
        environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


def _free_port(wanted: int) -> int:
    """Return the wanted port, or another one if it is in use, for example by `hearth run`."""
    for port in (wanted, 0):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)) as found:
            return int(found.getsockname()[1])
    return wanted


COMMAND = CliCommand(
    name="demo",
    examples=("hearth demo", "hearth demo --browser", "hearth demo --mic"),
    add_arguments=_arguments,
    run=_run,
)
