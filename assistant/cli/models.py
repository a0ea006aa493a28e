"""`hearth models`: voices and wake words: what there is, fetching it, and whether it is whole."""

import argparse
import asyncio
from argparse import SUPPRESS
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from assistant.cli import models_download
from assistant.cli.command import Command
from assistant.cli.paper import Terminal
from assistant.cli.terminal import say, say_json
from assistant.config.schema import Settings
from assistant.models.manifest import read_manifest
from assistant.models.shelf import Shelved, State, checked, load_own, shelve, wanted_names
from assistant.sound.devices import models_folder
from integrations.download_files import megabytes

_STATE_COLOURS = {
    State.THERE: "green",
    State.OWN: "green",
    State.BROKEN: "red",
    State.PARTIAL: "yellow",
}


def _arguments(parser: argparse.ArgumentParser) -> None:
    deeds = parser.add_subparsers(dest="deed", metavar="DEED", required=True)
    listed = deeds.add_parser("list", help="what there is, and what is here")
    fetched = deeds.add_parser("download", help="fetch models into the data folder")
    fetched.add_argument(
        "names", nargs="*", metavar="NAME", help="which; without: what the settings lack"
    )
    looked = deeds.add_parser("check", help="read every byte of what is here")
    for deed in (listed, fetched, looked):
        # Those of every command stand behind these words as well as in front of them.
        deed.add_argument("--config", type=Path, default=SUPPRESS, help=SUPPRESS)
        deed.add_argument("--debug", action="store_true", default=SUPPRESS, help=SUPPRESS)
        deed.add_argument("--json", action="store_true", help="print one JSON value")
        deed.add_argument(
            "--manifest",
            type=Path,
            metavar="FILE",
            help="another list than the one that comes along",
        )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    known = read_manifest(arguments.manifest)
    if arguments.deed == "download":
        return await models_download.download(arguments.names, settings, known, arguments.json)
    shelf = shelve(settings, known)
    if arguments.deed == "list":
        _show(shelf, arguments.json)
        return 0
    return await _check(shelf, settings, arguments.json)


async def _check(shelf: Sequence[Shelved], settings: Settings, as_json: bool) -> int:
    """Exit code 1 where something is broken, or missing though the settings need it."""
    needed = wanted_names(settings)
    lacking = (State.MISSING, State.PARTIAL)
    looked_at = [one for one in shelf if one.state not in lacking or one.name in needed]
    folder = models_folder(settings)
    results = [await asyncio.to_thread(checked, one, folder, load_own) for one in looked_at]
    bad = [one for one in results if one.problem]
    if as_json:
        say_json([_plain(one) for one in results])
    else:
        for one in results:
            line = Text(f"{one.name}: ").append(one.state, style=_STATE_COLOURS.get(one.state, ""))
            Terminal(soft_wrap=True).print(line)
            if one.problem:
                say(f"  {one.problem}")
        if not results:
            say(f"There is no model in {folder}; see hearth models list")
    return 1 if bad else 0


def _show(shelf: Sequence[Shelved], as_json: bool) -> None:
    """A line for each; licences are told below, since some are longer than a line has room."""
    if as_json:
        say_json([_plain(one) for one in shelf])
        return
    licences = list(dict.fromkeys(_licence(one) for one in shelf if one.entry))
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("name", overflow="fold")
    for heading in ("kind", "language", "quality", "size", "state", "used", "licence"):
        table.add_column(heading, no_wrap=True)
    for one in shelf:
        entry = one.entry
        table.add_row(
            Text(one.name),
            one.kind,
            entry.language if entry else "",
            entry.quality if entry else "",
            megabytes(one.size) if one.size else "",
            Text(one.state, style=_STATE_COLOURS.get(one.state, "")),
            "yes" if one.used else "",
            str(licences.index(_licence(one)) + 1) if entry else "",
        )
    console = Terminal()
    console.print(table)
    for number, licence in enumerate(licences, start=1):
        console.print(f"Licence {number}: {licence}")


def _licence(one: Shelved) -> str:
    entry = one.entry
    if entry is None:
        return ""
    return f"{entry.licence}; not for commercial use" if entry.noncommercial else entry.licence


def _plain(one: Shelved) -> dict[str, Any]:
    entry = one.entry
    return {
        "name": one.name,
        "kind": one.kind,
        "language": entry.language if entry else None,
        "quality": entry.quality if entry else None,
        "size": one.size or None,
        "licence": entry.licence if entry else None,
        "noncommercial": entry.noncommercial if entry else None,
        "source": entry.source if entry else None,
        "state": one.state,
        "used": one.used,
        "path": str(one.path) if one.path else None,
        "problem": one.problem or None,
    }


COMMAND = Command(
    name="models",
    summary="voices and wake words: list, download, check",
    example="hearth models download es_ES-davefx-medium",
    add_arguments=_arguments,
    run=_run,
)
