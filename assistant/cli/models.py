"""`hearth models`: voices and wake words: what there is, fetching it, and whether it is whole."""

import argparse
import asyncio
import json
from argparse import SUPPRESS
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
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

from assistant.cli.command import Command, Failed
from assistant.config.schema import Settings
from assistant.config.suggest import nearest
from assistant.models.manifest import ModelEntry, read_manifest
from assistant.models.shelf import (
    Shelved,
    State,
    checked,
    downloads_of,
    load_own,
    shelve,
    wanted_names,
)
from assistant.wake_words import models_folder
from integrations.download_files import downloading_into, megabytes
from integrations.downloads import fetch_together, web_client

_STATE_COLOURS = {State.THERE: "green", State.OWN: "green", State.BROKEN: "red"}
_MD5_ONLY = "it is checked by md5 only, which shows damage but no malice"


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
        return await _download(arguments.names, settings, known, arguments.json)
    shelf = shelve(settings, known)
    if arguments.deed == "list":
        _show(shelf, arguments.json)
        return 0
    return await _check(shelf, settings, arguments.json)


async def _check(shelf: Sequence[Shelved], settings: Settings, as_json: bool) -> int:
    """Exit code 1 where something is broken, or missing though the settings need it."""
    needed = wanted_names(settings)
    looked_at = [one for one in shelf if one.state is not State.MISSING or one.name in needed]
    folder = models_folder(settings)
    results = [await asyncio.to_thread(checked, one, folder, load_own) for one in looked_at]
    bad = [one for one in results if one.problem]
    if as_json:
        print(json.dumps([_plain(one) for one in results], ensure_ascii=False))
    else:
        for one in results:
            line = Text(f"{one.name}: ").append(one.state, style=_STATE_COLOURS.get(one.state, ""))
            Console(highlight=False, soft_wrap=True).print(line)
            if one.problem:
                print(f"  {one.problem}")
        if not results:
            print(f"There is no model in {folder}; see hearth models list")
    return 1 if bad else 0


async def _download(
    names: Sequence[str], settings: Settings, known: Mapping[str, ModelEntry], as_json: bool
) -> int:
    folder = models_folder(settings)
    entries = [_entry(name, known) for name in dict.fromkeys(names)]
    unknown: list[Shelved] = []
    if not names:
        entries = [known[name] for name in wanted_names(settings) if name in known]
        shelf = shelve(settings, known)
        unknown = [
            one for one in shelf if one.state is State.MISSING and one.used and not one.entry
        ]
    fetched: dict[str, bool] = {}
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if entries:
        with downloading_into(folder):
            async with web_client() as client:
                with _bar(console) as bar:
                    shown: dict[str, TaskID] = {}

                    def progress(name: str, done: int, total: int) -> None:
                        if name not in shown:
                            shown[name] = bar.add_task(name, total=total)
                        bar.update(shown[name], completed=done)

                    for entry in entries:
                        _tell(entry, console)
                        files = downloads_of(entry, folder)
                        fetched[entry.name] = bool(await fetch_together(files, client, progress))
    if as_json:
        told = [
            {"name": e.name, "fetched": fetched[e.name], "folder": str(folder), "size": e.size}
            | {"licence": e.licence, "noncommercial": e.noncommercial}
            for e in entries
        ]
        print(json.dumps(told, ensure_ascii=False))
    for entry in () if as_json else entries:
        print(f"{entry.name}: {'is in' if fetched[entry.name] else 'was already in'} {folder}")
    if not entries and not as_json:
        print("Nothing is to be fetched for these settings; see hearth models list")
    if unknown:
        near = nearest(unknown[0].name, known)
        hint = f"did you mean {near}?" if near else "put its files there, or see hearth models list"
        raise Failed(f"The settings name {unknown[0].name}, which cannot be downloaded; {hint}")
    return 0


def _entry(name: str, known: Mapping[str, ModelEntry]) -> ModelEntry:
    if name in known:
        return known[name]
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else "see hearth models list"
    raise Failed(f"There is no model {name} to download; {hint}", 2)


def _tell(entry: ModelEntry, console: Console) -> None:
    """What a person should know before it is fetched."""
    said = [f"{entry.name}: {megabytes(entry.size)}, licence: {entry.licence}"]
    if entry.noncommercial:
        said.append("not for commercial use")
    if any(file.algorithm == "md5" for file in entry.files):
        said.append(_MD5_ONLY)
    console.print(Text("; ".join(said)))


def _bar(console: Console) -> Progress:
    """Bars on a terminal, nothing elsewhere."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def _show(shelf: Sequence[Shelved], as_json: bool) -> None:
    if as_json:
        print(json.dumps([_plain(one) for one in shelf], ensure_ascii=False))
        return
    headings = ("name", "kind", "language", "quality", "size", "state", "used", "licence")
    table = Table(*headings, box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in table.columns[:-1]:
        column.no_wrap = True
    table.columns[0].overflow = "fold"
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
            Text(entry.licence if entry else ""),
        )
    Console(highlight=False).print(table)


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
