"""`models/manifest.toml`: voices and wake words with their source, licence, sizes and hashes."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

import httpx
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.config.errors import ConfigError
from integrations.errors import Refused
from integrations.tls import address_allowed

Kind = Literal["voice", "micro", "open"]  # Piper, microWakeWord, openWakeWord
SUFFIXES: dict[Kind, tuple[str, ...]] = {  # the one that makes it count as there comes first
    "voice": (".onnx", ".onnx.json"),
    "micro": (".tflite", ".json"),
    "open": (".tflite",),
}
_NAME = re.compile(r"[^\W_][\w.+-]*")  # also a file's name: no separator, no leading dot


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
    """One file of a model. Its name is the model's with the suffix that its kind wants."""

    url: Annotated[str, AfterValidator(_address)]
    size: Annotated[int, Field(gt=0)]  # bytes
    sha256: Sha256 | None = None
    md5: Md5 | None = None  # only where no sha256 is published: it shows damage, not malice

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
    """A voice or a wake word."""

    name: Annotated[str, AfterValidator(_file_name)]
    kind: Kind
    language: str  # as its source names it: "en_US", "en"
    quality: str = ""
    licence: str  # of the voice or model, with what its data asks for
    noncommercial: bool = False  # whether the licence keeps it from business use
    source: Annotated[str, AfterValidator(_address)]  # a page for people
    read: str  # where the hashes were read
    files: tuple[ModelFile, ...]

    @model_validator(mode="after")
    def _all_files(self) -> Self:
        if len(self.files) != len(SUFFIXES[self.kind]):
            raise ValueError(f"must have {len(SUFFIXES[self.kind])} files, as its kind wants")
        return self

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)

    @property
    def file_names(self) -> tuple[str, ...]:
        """In the order of `files`."""
        return tuple(self.name + suffix for suffix in SUFFIXES[self.kind])


class _Manifest(_Strict):
    version: Literal[1]
    model: tuple[ModelEntry, ...]


def parse_manifest(text: str, where: str) -> dict[str, ModelEntry]:
    """The models by name, in the manifest's order. Raises ConfigError; `where` names the file."""
    try:
        entries = _Manifest.model_validate(tomllib.loads(text)).model
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not TOML ({error}); mend it") from None
    except ValidationError as error:
        raise ConfigError(f"{where}: {_complaint(error, text)}") from None
    known: dict[str, ModelEntry] = {}
    for entry in entries:
        if entry.name in known:
            raise ConfigError(f"{where} names {entry.name} twice; take one of them out")
        known[entry.name] = entry
    return known


def read_manifest(path: Path | None = None) -> dict[str, ModelEntry]:
    """The manifest that comes with Hearth, or that file. Raises ConfigError."""
    file = path or _own()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ConfigError(f"The manifest {file} cannot be read ({reason})") from None
    return parse_manifest(text, str(file))


def _own() -> Path:
    """In an installed wheel beside this module, in a checkout in the folder `models`."""
    beside = Path(__file__).with_name("manifest.toml")
    return beside if beside.is_file() else Path(__file__).parents[2] / "models" / "manifest.toml"


def _complaint(error: ValidationError, text: str) -> str:
    """The first thing that is wrong, with the model that has it."""
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
