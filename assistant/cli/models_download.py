"""`hearth models download`: fetches what is named, or what the settings lack."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from assistant.cli.command import Failed
from assistant.cli.paper import Terminal
from assistant.cli.terminal import say, say_json
from assistant.config.schema import Settings
from assistant.config.suggest import nearest, one_of
from assistant.models.manifest import ModelEntry
from assistant.models.shelf import (
    State,
    downloads_of,
    how_to_get,
    languages_without,
    shelve,
    wanted_names,
)
from assistant.sound.devices import models_folder
from integrations.download_files import downloading_into, megabytes
from integrations.downloads import fetch_together, web_client
from integrations.errors import IntegrationError

_MD5_ONLY = "it is checked by md5 only, which shows damage but no malice"
_SUGGESTED = 3  # voices for a language that has none


async def download(
    names: Sequence[str], settings: Settings, known: Mapping[str, ModelEntry], as_json: bool
) -> int:
    """Fetch those models, or without names what the settings lack. Returns the exit code.

    Raises IntegrationError (network, disk, a wrong file) after telling what came before, and
    Failed for a name that is not in the manifest.
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
    """One after the other; `fetched` gets whether something of each had to come."""
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


def _entry(name: str, known: Mapping[str, ModelEntry]) -> ModelEntry:
    if name in known:
        return known[name]
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else "see hearth models list"
    raise Failed(f"There is no model {name} to download; {hint}", 2)


def _told(
    entries: Iterable[ModelEntry], fetched: Mapping[str, bool], folder: Path, problem: str
) -> list[dict[str, object]]:
    """`fetched` is null for the model that failed, which has the problem, and those after it."""
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
    """What the settings want and nobody can fetch. Raises Failed where a model is missing."""
    for language, names in languages_without(settings, known):
        some = f", such as {one_of(names[:_SUGGESTED])}" if names else ""
        said = f"voice.models has no voice for {language}; hearth models list shows what there is"
        console.print(f"{said}{some}")
    wanted = wanted_names(settings)
    for one in shelve(settings, known):
        if one.state is State.MISSING and one.entry is None and one.name in wanted:
            near = nearest(one.name, known)
            hint = f"did you mean {near}?" if near else how_to_get(one, models_folder(settings))
            raise Failed(f"The settings name {one.name}, which cannot be downloaded; {hint}")
    if not busy:
        say("Nothing is to be fetched for these settings; see hearth models list")


def _tell(entry: ModelEntry, console: Terminal) -> None:
    """What a person should know before it is fetched."""
    said = [f"{entry.name}: {megabytes(entry.size)}, licence: {entry.licence}"]
    if entry.noncommercial:
        said.append("not for commercial use")
    if any(file.algorithm == "md5" for file in entry.files):
        said.append(_MD5_ONLY)
    console.print("; ".join(said))


def _bar(console: Terminal) -> Progress:
    """Bars on a terminal, nothing elsewhere."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
