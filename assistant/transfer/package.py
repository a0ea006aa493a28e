"""The file itself: a zip with a manifest and JSON inside. Pure: bytes in, parts out."""

import hashlib
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from assistant.config.errors import ConfigError

VERSION = 1
_FORMAT = "hearth-export"
_MANIFEST = "manifest.json"
MOST_BYTES = 16 * 1024 * 1024  # of the file, and of each part unpacked; a household has far less

SETTINGS = "settings.toml"
SECRETS = "secrets.json"
MEMORY = "memory.json"
TIMERS = "timers.json"
KEPT = "kept.json"
OPENINGS = "openings.json"
TOKENS = "tokens.json"
DEVICE = "device.json"
PARTS = (SETTINGS, SECRETS, MEMORY, TIMERS, KEPT, OPENINGS, TOKENS, DEVICE)


# What a zip raises that is none, has lost something, or means harm.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    KeyError,
    NotImplementedError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    format: Literal["hearth-export"]
    version: Annotated[int, Field(ge=1)]
    hearth: str  # the release that made it
    made: AwareDatetime
    parts: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]  # name -> SHA-256


@dataclass(frozen=True, slots=True)
class Package:
    """What a file holds."""

    hearth: str
    made: datetime
    parts: Mapping[str, bytes] = field(repr=False)


def pack(parts: Mapping[str, bytes], hearth: str, made: datetime) -> bytes:
    """A file of these parts, whose names are of PARTS."""
    manifest = {
        "format": _FORMAT,
        "version": VERSION,
        "hearth": hearth,
        "made": made.isoformat(),
        "parts": {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()},
    }
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_MANIFEST, json.dumps(manifest, indent=1))
        for name, part in parts.items():
            file.writestr(name, part)
    return whole.getvalue()


def unpack(data: bytes, name: str) -> Package:
    """The parts, each as the manifest says it is. `name` of the file, for messages.

    Raises ConfigError where it is no such file, is damaged, or is of a later version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            manifest = _manifest(_part(file, _MANIFEST), name)
            unknown = [part for part in manifest.parts if part not in PARTS]
            if unknown:
                raise ConfigError(f"{name} holds {unknown[0]}, which this Hearth does not know")
            parts = {part: _part(file, part) for part in manifest.parts}
    except _BROKEN:
        raise ConfigError(
            f"{name} is no export of Hearth or is damaged; make it with hearth setup --export"
        ) from None
    for part, digest in manifest.parts.items():
        if hashlib.sha256(parts[part]).hexdigest() != digest:
            raise ConfigError(
                f"{name} is damaged ({part}); make it anew with hearth setup --export"
            )
    return Package(manifest.hearth, manifest.made, parts)


def _manifest(text: bytes, name: str) -> _Manifest:
    try:
        manifest = _Manifest.model_validate_json(text)
    except ValidationError:
        raise ConfigError(
            f"{name} is no export of Hearth; make one with hearth setup --export"
        ) from None
    if manifest.version > VERSION:
        raise ConfigError(
            f"{name} was made by a later Hearth ({manifest.hearth}); update this one first"
        )
    return manifest


def _part(file: zipfile.ZipFile, part: str) -> bytes:
    """Read no more than a part may have, whatever the file says of its size."""
    with file.open(part) as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise zipfile.BadZipFile
    return data
