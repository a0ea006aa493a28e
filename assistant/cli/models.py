"""`hearth models`: list, download and check voices and wake words."""

import argparse
import asyncio
from argparse import SUPPRESS
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from assistant.cli.console import Terminal
from assistant.cli.terminal import CliCommand, Failed, say, say_json
from assistant.config.kinds import nearest, one_of
from assistant.config.schema import Settings
from assistant.models.shelf import (
    ModelEntry,
    Shelved,
    State,
    checked,
    fetch_models,
    how_to_get,
    languages_without,
    load_own,
    read_manifest,
    shelve,
    wanted_names,
)
from assistant.sound.devices import models_folder
from integrations.downloads import megabytes
from integrations.errors import IntegrationError

_MD5_ONLY = "it is checked by MD5 only, which detects damage but not tampering"
_SUGGESTED = 3  # voices suggested for a language without a voice


async def download(
    names: Sequence[str], settings: Settings, known: Mapping[str, ModelEntry], as_json: bool
) -> int:
    """Download the named models, or all missing models that the settings need. Returns the exit
    code.

    Raises IntegrationError for network and disk errors and damaged files, and Failed if a name is
    not in the manifest, or if a model that the settings need can't be downloaded.
    """
    folder = models_folder(settings)
    entries = [_entry(name, known) for name in dict.fromkeys(names)]
    if not names:
        entries = [known[name] for name in wanted_names(settings) if name in known]
    console = Terminal(stderr=True, soft_wrap=True)
    fetched: dict[str, bool] = {}
    problem = ""
    try:
        if entries:
            await fetch_entries(entries, folder, fetched, console)
    except IntegrationError as error:
        problem = str(error)
        raise
    finally:
        if as_json:
            say_json(_told(entries, fetched, folder, problem))
    if not as_json:
        for name, new in fetched.items():
            say(f"{name}: {'is in' if new else 'was already in'} {folder}")
    if not names:
        _tell_of_the_rest(settings, known, bool(entries) or as_json, console)
    return 0


async def fetch_entries(
    entries: Iterable[ModelEntry], folder: Path, fetched: dict[str, bool], console: Terminal
) -> None:
    """Download models one after the other into `folder`. Raises IntegrationError. `fetched` is
    updated after each model: True if it was downloaded, False if it was already complete."""
    with _bar(console) as bar:
        shown: dict[str, TaskID] = {}

        def progress(name: str, done: int, total: int) -> None:
            if name not in shown:
                shown[name] = bar.add_task(name, total=total)
            bar.update(shown[name], completed=done)

        async for name, new in fetch_models(
            entries, folder, progress, lambda entry: _tell(entry, console)
        ):
            fetched[name] = new


def _entry(name: str, known: Mapping[str, ModelEntry]) -> ModelEntry:
    if name in known:
        return known[name]
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else "run hearth models list"
    raise Failed(f"There is no model {name} to download; {hint}", 2)


def _told(
    entries: Iterable[ModelEntry], fetched: Mapping[str, bool], folder: Path, problem: str
) -> list[dict[str, object]]:
    told: list[dict[str, object]] = []
    for entry in entries:
        came = fetched.get(entry.name)
        told.append(
            {
                "name": entry.name,
                "fetched": came,
                "folder": str(folder),
                "size": entry.size,
                "licence": entry.licence,
                "noncommercial": entry.noncommercial,
                "problem": problem or None if came is None else None,
            }
        )
        if came is None:
            problem = ""
    return told


def _tell_of_the_rest(
    settings: Settings, known: Mapping[str, ModelEntry], busy: bool, console: Terminal
) -> None:
    for language, names in languages_without(settings, known):
        some = f", such as {one_of(names[:_SUGGESTED])}" if names else ""
        said = f"voice.models has no voice for {language}; run hearth models list for all voices"
        console.print(f"{said}{some}")
    wanted = wanted_names(settings)
    for one in shelve(settings, known):
        if one.state is State.MISSING and one.entry is None and one.name in wanted:
            near = nearest(one.name, known)
            hint = f"did you mean {near}?" if near else how_to_get(one, models_folder(settings))
            raise Failed(f"The settings name {one.name}, which cannot be downloaded; {hint}")
    if not busy:
        say("These settings need no downloads. Run `hearth models list` for all models.")


def _tell(entry: ModelEntry, console: Terminal) -> None:
    said = [f"{entry.name}: {megabytes(entry.size)}, licence: {entry.licence}"]
    if entry.noncommercial:
        said.append("not for commercial use")
    if any(file.algorithm == "md5" for file in entry.files):
        said.append(_MD5_ONLY)
    console.print("; ".join(said))


def _bar(console: Terminal) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


_STATE_COLOURS = {
    State.THERE: "green",
    State.OWN: "green",
    State.BROKEN: "red",
    State.PARTIAL: "yellow",
}


def _arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="list all models and show which are installed")
    fetched = actions.add_parser("download", help="download models into the data folder")
    fetched.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="the models to download (default: those that the settings need)",
    )
    looked = actions.add_parser("check", help="verify every installed file")
    for action in (listed, fetched, looked):
        # Accept the common options after the subcommand too.
        action.add_argument("--config", type=Path, default=SUPPRESS, help=SUPPRESS)
        action.add_argument("--debug", action="store_true", default=SUPPRESS, help=SUPPRESS)
        action.add_argument("--json", action="store_true", help="print the result as JSON")
        action.add_argument(
            "--manifest",
            type=Path,
            metavar="FILE",
            help="use this list of models instead of the included one",
        )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    known = read_manifest(arguments.manifest)
    if arguments.action == "download":
        return await download(arguments.names, settings, known, arguments.json)
    shelf = shelve(settings, known)
    if arguments.action == "list":
        _show(shelf, arguments.json)
        return 0
    return await _check(shelf, settings, arguments.json)


async def _check(shelf: Sequence[Shelved], settings: Settings, as_json: bool) -> int:
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
            say(f"No models in {folder}. Run `hearth models list` to see what you can download.")
    return 1 if bad else 0


def _show(shelf: Sequence[Shelved], as_json: bool) -> None:
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


COMMAND = CliCommand(
    name="models",
    examples=(
        "hearth models list",
        "hearth models download es_ES-davefx-medium",
    ),
    add_arguments=_arguments,
    run=_run,
)
