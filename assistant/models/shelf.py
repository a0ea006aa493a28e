"""Models in the manifest and in the models folder, their states, and whether they are used."""

import re
import tomllib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

import httpx
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.sound.devices import models_folder
from audio.errors import AudioError
from audio.wake import built_in_words, make_wake_engine
from integrations.downloads import (
    Download,
    Progress,
    downloading_into,
    fetch_together,
    is_right,
    web_client,
)
from integrations.errors import Refused
from integrations.tls import address_allowed

Kind = Literal["voice", "micro", "open"]  # Piper, microWakeWord, openWakeWord
# A model counts as present if its first file exists.
SUFFIXES: dict[Kind, tuple[str, ...]] = {
    "voice": (".onnx", ".onnx.json"),
    "micro": (".tflite", ".json"),
    "open": (".tflite",),
}
_NAME = re.compile(r"[^\W_][\w.+-]*")  # safe as a file name: no separator or leading dot


def _address(url: str) -> str:
    try:
        address_allowed(url, url)
    except (Refused, httpx.InvalidURL):
        raise ValueError("must begin with https://") from None
    return url


def _file_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("must be letters, digits, dots, hyphens and underscores")
    return name


Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Md5 = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelFile(_Strict):
    """A model's file. Its name is the model's name with a suffix from SUFFIXES."""

    url: Annotated[str, AfterValidator(_address)]
    size: Annotated[int, Field(gt=0)]  # bytes
    sha256: Sha256 | None = None
    md5: Md5 | None = None  # only if no sha256 is published; it detects damage, not tampering

    @model_validator(mode="after")
    def _one_hash(self) -> Self:
        if (self.sha256 is None) == (self.md5 is None):
            raise ValueError("must have either sha256 or md5")
        return self

    @property
    def digest(self) -> str:
        return self.sha256 or self.md5 or ""

    @property
    def algorithm(self) -> Literal["sha256", "md5"]:
        return "sha256" if self.sha256 else "md5"


class ModelEntry(_Strict):
    """A voice or wake word model in the manifest."""

    name: Annotated[str, AfterValidator(_file_name)]
    kind: Kind
    language: str  # as named by its source
    quality: str = ""
    licence: str  # the model's licence and its training data's terms
    noncommercial: bool = False  # the licence forbids commercial use
    source: Annotated[str, AfterValidator(_address)]  # a web page about the model
    read: str  # where the hashes were published
    files: tuple[ModelFile, ...]

    @model_validator(mode="after")
    def _all_files(self) -> Self:
        if len(self.files) != len(SUFFIXES[self.kind]):
            raise ValueError(f"must have {len(SUFFIXES[self.kind])} files, as its kind requires")
        return self

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def file_names(self) -> tuple[str, ...]:
        return tuple(self.name + suffix for suffix in SUFFIXES[self.kind])


class _Manifest(_Strict):
    version: Literal[1]
    model: tuple[ModelEntry, ...]


def parse_manifest(text: str, where: str) -> dict[str, ModelEntry]:
    """Return the models by name, in the manifest's order. `where` names the manifest in error
    messages. Raises ConfigError."""
    try:
        entries = _Manifest.model_validate(tomllib.loads(text)).model
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not valid TOML ({error}); correct it") from None
    except ValidationError as error:
        raise ConfigError(f"{where}: {_complaint(error, text)}") from None
    known: dict[str, ModelEntry] = {}
    for entry in entries:
        if entry.name in known:
            raise ConfigError(f"{where} lists {entry.name} twice; remove one of them")
        known[entry.name] = entry
    return known


def read_manifest(path: Path | None = None) -> dict[str, ModelEntry]:
    """Read the manifest at `path`, or Hearth's own if that is None, and return its models by name.
    Raises ConfigError."""
    file = path or _own()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise ConfigError(f"The manifest {file} cannot be read ({reason})") from None
    return parse_manifest(text, str(file))


def _own() -> Path:
    """Return the manifest's path, which is next to this module in a wheel and in `models/` in a
    checkout."""
    beside = Path(__file__).with_name("manifest.toml")
    return beside if beside.is_file() else Path(__file__).parents[2] / "models" / "manifest.toml"


def _complaint(error: ValidationError, text: str) -> str:
    detail = error.errors(include_url=False)[0]
    place = list(detail["loc"])
    subject = "the manifest"
    if place[:1] == ["model"] and len(place) > 1 and isinstance(place[1], int):
        entry = tomllib.loads(text)["model"][place[1]]
        name = entry.get("name") if isinstance(entry, dict) else None
        subject = str(name or f"model {place[1] + 1}")
        place = place[2:]
    key = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in place)
    about = f"{key} of {subject}" if key else subject
    message = detail["msg"].removeprefix("Value error, ")
    return f"{about}: {message[:1].lower()}{message[1:]}; mend it"


class State(StrEnum):
    THERE = "there"
    MISSING = "missing"
    PARTIAL = "partial"  # partly downloaded; a download resumes
    BROKEN = "broken"  # a file is missing or differs from the manifest
    OWN = "own file"  # not in the manifest, so it can't be verified


@dataclass(frozen=True, slots=True)
class Shelved:
    """A model from the manifest, or one that a person added."""

    name: str  # name, or path if the settings give one
    kind: Kind
    state: State
    used: bool  # the settings use this model
    entry: ModelEntry | None = None
    path: Path | None = None  # first file of a model that is not in the manifest
    size: int = 0  # bytes
    problem: str = ""  # sentence that says what is wrong and how to fix it, or ""


def wanted_names(settings: Settings) -> list[str]:
    """Return the models that the settings need, by name or path, except built-in wake words."""
    names = []
    if settings.voice.engine != "espeak":
        voices = (_voice_of(settings, language) for language in settings.assistant.languages)
        names += [voice for voice in voices if voice]
    built_in = built_in_words(settings.wake.engine)
    names += [word.model for word in settings.wake.words if word.model not in built_in]
    return list(dict.fromkeys(names))


def shelve(settings: Settings, known: Mapping[str, ModelEntry]) -> list[Shelved]:
    """Return all models in the manifest, in the models folder and in the settings. Their states are
    determined from file sizes only."""
    folder = models_folder(settings)
    used = {*wanted_names(settings), *(one.model for one in settings.voice.models.values())}
    shelf = [
        Shelved(
            entry.name,
            entry.kind,
            _state(entry, folder),
            entry.name in used,
            entry,
            size=entry.size,
        )
        for entry in known.values()
    ]
    by_path = (name for name in sorted(used) if _is_path(name))
    shelf += [_shelf_own(str(path), path, True) for path in map(Path, by_path)]
    files = {name for entry in known.values() for name in entry.file_names}
    shelf += [
        _shelf_own(path.stem, path, path.stem in used)
        for path in _models_in(folder)
        if path.name not in files and str(path) not in used
    ]
    there = {one.name for one in shelf}
    missing = [name for name in wanted_names(settings) if name not in there]
    voices = {one.model for one in settings.voice.models.values()}
    engine: Kind = settings.wake.engine
    shelf += [
        Shelved(name, "voice" if name in voices else engine, State.MISSING, True)
        for name in missing
    ]
    return shelf


def languages_without(
    settings: Settings, known: Mapping[str, ModelEntry]
) -> list[tuple[str, list[str]]]:
    """Return the configured languages that have no Piper voice, with the manifest's voices for
    each."""
    if settings.voice.engine == "espeak":
        return []
    return [
        (language, _voices_for(language, known))
        for language in settings.assistant.languages
        if not _voice_of(settings, language)
    ]


def how_to_get(one: Shelved, folder: Path) -> str:
    """Return how to get a missing model that isn't in the manifest, as a phrase without a full
    stop."""
    if one.path is not None:
        return "put it there, or change the path in the settings"
    names = " and ".join(one.name + suffix for suffix in SUFFIXES[one.kind])
    return f"get {names} from its publisher and put it into {folder}"


def downloads_of(entry: ModelEntry, folder: Path) -> list[Download]:
    """Return a download for each of the model's files, in the order of SUFFIXES."""
    return [
        Download(file.url, folder / name, file.size, file.digest, file.algorithm)
        for file, name in zip(entry.files, entry.file_names, strict=True)
    ]


async def fetch_models(
    entries: Iterable[ModelEntry],
    folder: Path,
    progress: Progress,
    begun: Callable[[ModelEntry], None],
) -> AsyncIterator[tuple[str, bool]]:
    """Download models one after the other. Yields each name, and True if the model was downloaded
    or False if it was already complete. `begun` is called before each download. Raises
    IntegrationError."""
    with downloading_into(folder):
        async with web_client() as client:
            for entry in entries:
                begun(entry)
                files = downloads_of(entry, folder)
                yield entry.name, bool(await fetch_together(files, client, progress))


def checked(one: Shelved, folder: Path, load: Callable[[Kind, Path], None]) -> Shelved:
    """Verify a model's files and return the model with its new state. Blocking. A model that isn't
    in the manifest is verified with `load`, which raises AudioError if it can't load the file."""
    if one.state in (State.MISSING, State.PARTIAL):
        fetch = f"download it with hearth models download {one.name}"
        lacks = "is incomplete" if one.state is State.PARTIAL else "is missing"
        mend = fetch if one.entry else how_to_get(one, folder)
        return _with(one, one.state, f"{one.name} {lacks}: {mend}.")
    if one.entry is not None:
        wrong = [d.path.name for d in downloads_of(one.entry, folder) if not is_right(d, d.path)]
        if not wrong:
            return _with(one, State.THERE, "")
        names = " and ".join(wrong)
        lacks = (
            f"{names} {('is' if len(wrong) == 1 else 'are')} missing or differ from the manifest"
        )
        return _with(
            one,
            State.BROKEN,
            f"{lacks}: download it again with hearth models download {one.name}.",
        )
    assert one.path is not None
    try:
        load(one.kind, one.path)
    except AudioError as error:
        return _with(one, State.BROKEN, str(error))
    return _with(one, State.OWN, "")


def load_own(kind: Kind, path: Path) -> None:
    """Load a model file to verify it. Blocking. Raises AudioError if the file isn't a model of this
    kind."""
    if kind == "voice":
        # Import this late, because not every machine needs Piper.
        from audio.tts.piper import PiperVoice

        PiperVoice(path)
    else:
        make_wake_engine(kind, [str(path.with_suffix(".json") if kind == "micro" else path)])


def _with(one: Shelved, state: State, problem: str) -> Shelved:
    return Shelved(one.name, one.kind, state, one.used, one.entry, one.path, one.size, problem)


def _state(entry: ModelEntry, folder: Path) -> State:
    sizes = [_size(folder / name) for name in entry.file_names]
    if sizes[0] is None:
        parts = [_size(one.part) for one in downloads_of(entry, folder)]
        return State.PARTIAL if any(sizes) or any(parts) else State.MISSING
    right = all(size == file.size for size, file in zip(sizes, entry.files, strict=True))
    return State.THERE if right else State.BROKEN


def _voice_of(settings: Settings, language: str) -> str:
    voices = settings.voice.models
    choice = voices.get(language) or voices.get(language.split("-")[0])
    return choice.model if choice else ""


def _voices_for(language: str, known: Mapping[str, ModelEntry]) -> list[str]:
    spoken = language.split("-")[0]
    return [
        entry.name
        for entry in known.values()
        if entry.kind == "voice" and entry.language.split("_")[0] == spoken
    ]


def _shelf_own(name: str, path: Path, used: bool) -> Shelved:
    kind = _kind(path)
    size = _size(path)
    if size is None:
        return Shelved(name, kind, State.MISSING, used, path=path)
    return Shelved(name, kind, State.OWN, used, path=path, size=size)


def _kind(path: Path) -> Kind:
    if path.suffix == ".onnx":
        return "voice"
    micro = path.suffix == ".json" or path.with_suffix(".json").is_file()
    return "micro" if micro else "open"


def _models_in(folder: Path) -> Iterable[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.suffix in {s[0] for s in SUFFIXES.values()})


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith((".onnx", ".tflite", ".json"))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None
