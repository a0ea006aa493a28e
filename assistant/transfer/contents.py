"""Backup file format: a zip with a manifest and JSON parts, all validated on import."""

import asyncio
import hashlib
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.records import MemoryRecord, TimerRecord
from assistant.domain.tool_call import Tier
from assistant.domain.version import own_version
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord
from assistant.interfaces.http_tokens import TokenFile, TokenRow
from assistant.journal.store import Store
from assistant.memory.own_sentences import FORM, OWN_SENTENCES
from assistant.memory.service import checked_rows, export_rows
from assistant.timers.recurrence import next_after, rule_from
from assistant.transfer.settings import secrets_in, without_secrets

VERSION = 1
_FORMAT = "hearth-export"
_MANIFEST = "manifest.json"
# Limit for the file and for each unpacked part. Real backups are far smaller.
MOST_BYTES = 16 * 1024 * 1024
SETTINGS = "settings.toml"
SECRETS = "secrets.json"
MEMORY = "memory.json"
TIMERS = "timers.json"
KEPT = "kept.json"
OPENINGS = "openings.json"
TOKENS = "tokens.json"
DEVICE = "device.json"
PARTS = (SETTINGS, SECRETS, MEMORY, TIMERS, KEPT, OPENINGS, TOKENS, DEVICE)
# Errors raised by damaged or malicious files and by files that aren't a zip.
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
    hearth: str  # the release that wrote the file
    made: AwareDatetime
    parts: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]  # name -> SHA-256


@dataclass(frozen=True, slots=True)
class Package:
    """An unpacked backup file."""

    hearth: str
    made: datetime
    parts: Mapping[str, bytes] = field(repr=False)


def pack(parts: Mapping[str, bytes], hearth: str, made: datetime) -> bytes:
    """Return a backup file that contains `parts`. Their names must be in PARTS."""
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
    """Return a backup file's parts, verified against the manifest. `name` is the file name for
    error messages. Raises ConfigError if the file isn't a backup, is damaged, or was made by a
    later version."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            manifest = _manifest(_part(file, _MANIFEST), name)
            unknown = [part for part in manifest.parts if part not in PARTS]
            if unknown:
                raise ConfigError(
                    f"{name} contains {unknown[0]}, which this version does not know: update Hearth"
                )
            parts = {part: _part(file, part) for part in manifest.parts}
    except _BROKEN:
        raise ConfigError(
            f"{name} is damaged, or not a Hearth backup: create one with hearth backup create"
        ) from None
    for part, digest in manifest.parts.items():
        if hashlib.sha256(parts[part]).hexdigest() != digest:
            raise ConfigError(
                f"{name} is damaged ({part}): create it again with hearth backup create"
            )
    return Package(manifest.hearth, manifest.made, parts)


def _manifest(text: bytes, name: str) -> _Manifest:
    try:
        manifest = _Manifest.model_validate_json(text)
    except ValidationError:
        raise ConfigError(
            f"{name} is not a Hearth backup: create one with hearth backup create"
        ) from None
    if manifest.version > VERSION:
        raise ConfigError(
            f"{name} was made by a newer Hearth ({manifest.hearth}): update Hearth here first"
        )
    return manifest


def _part(file: zipfile.ZipFile, part: str) -> bytes:
    with file.open(part) as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise zipfile.BadZipFile
    return data


# Schemas of the named values to export, all of which people have chosen. Measured and short-lived
# values are not exported.
_FORMS: Mapping[str, TypeAdapter[Any]] = {
    "ratings": TypeAdapter(dict[str, Tier]),
    "approvals": TypeAdapter(dict[str, dict[str, dict[str, str]]]),
    "live": TypeAdapter(dict[str, dict[str, Any]]),
    "voice": TypeAdapter(dict[str, Any]),
    OWN_SENTENCES: FORM,
}
KEPT_NAMES = tuple(_FORMS)
_TIMERS = TypeAdapter(tuple[TimerRecord, ...])
_TOKENS = TypeAdapter(tuple[TokenRow, ...])
_SECRETS = TypeAdapter(dict[str, str])
_OPENINGS = TypeAdapter(dict[str, frozenset[str]])


@dataclass(frozen=True, slots=True)
class Contents:
    """A backup's parsed data."""

    settings: str | None = None  # TOML without secrets; None if there was no file
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    memory: Sequence[MemoryRecord] = ()
    timers: Sequence[TimerRecord] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    openings: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by entity id
    tokens: Sequence[TokenRow] = ()
    device: DeviceRecord | None = None


def parts_of(contents: Contents, memory_rows: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Serialise the data as the parts of a backup file. `memory_rows` are the memories as returned
    by `assistant.memory.service`."""
    parts = {
        MEMORY: _json(list(memory_rows)),
        TIMERS: _TIMERS.dump_json(tuple(contents.timers), indent=1),
        KEPT: _json(dict(contents.kept)),
        TOKENS: _TOKENS.dump_json(tuple(contents.tokens), indent=1),
    }
    if contents.settings is not None:
        parts[SETTINGS] = contents.settings.encode()
    if contents.openings:  # left out if empty, because earlier versions refuse this part
        rows = {name: sorted(ids) for name, ids in contents.openings.items()}
        parts[OPENINGS] = _json(rows)
    if contents.secrets:
        parts[SECRETS] = _json(dict(contents.secrets))
    if contents.device is not None:
        parts[DEVICE] = _json(asdict(contents.device))
    return parts


def contents_of(package_: Package, name: str) -> Contents:
    """Parse and validate the parts of a backup file. `name` is the file name for error messages.
    Raises ConfigError."""
    parts = package_.parts
    part = ""
    try:
        part = SETTINGS
        settings = parts[part].decode() if part in parts else None
        part = SECRETS
        secrets = _SECRETS.validate_json(parts.get(part, b"{}"))
        part = MEMORY
        memory = checked_rows(json.loads(parts.get(part, b"[]")))
        part = TIMERS
        timers = _timers(parts.get(part, b"[]"))
        part = KEPT
        kept = _kept(json.loads(parts.get(part, b"{}")))
        part = OPENINGS
        openings = _OPENINGS.validate_json(parts.get(part, b"{}"))
        part = TOKENS
        tokens = _TOKENS.validate_json(parts.get(part, b"[]"))
        part = DEVICE
        device = DeviceRecord(**json.loads(parts[part])) if part in parts else None
    except ValidationError:
        raise ConfigError(
            f"{name} contains {part}, which this version of Hearth cannot read"
        ) from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(
            f"{name} contains {part}, which this version of Hearth cannot read: {error}"
        ) from None
    return Contents(settings, secrets, memory, timers, kept, openings, tokens, device)


@dataclass(frozen=True, slots=True)
class Backup:
    """A new backup file, and what it contains."""

    data: bytes = field(repr=False)
    contents: Contents
    facts: int


async def backup_of(
    store: Store, settings: Settings, text: str, clock: Clock, *, with_secrets: bool
) -> Backup:
    """Make a backup of this device. `text` is its configuration file, or "". Raises ConfigError and
    StoreError."""
    rows = await export_rows(store.memory)
    kept = {name: await store.kept(name) for name in KEPT_NAMES}
    contents = Contents(
        settings=without_secrets(text) if text else None,
        secrets=secrets_in(settings) if with_secrets else {},
        timers=await store.timers(),
        kept={name: value for name, value in kept.items() if value is not None},
        openings=await store.openings(),
        tokens=await asyncio.to_thread(TokenFile(settings.data_folder).rows),
        device=await asyncio.to_thread(device_of, settings) if with_secrets else None,
    )
    data = pack(parts_of(contents, rows), own_version(), clock.now())
    return Backup(data, contents, len(rows))


def device_of(settings: Settings) -> DeviceRecord | None:
    try:
        return DeviceFile(settings.data_folder, SystemClock()).read()
    except ConfigError:  # the file is damaged, so there is nothing to back up
        return None


def still_to_come(timers: Sequence[TimerRecord], now: datetime) -> list[TimerRecord]:
    """Return the timers that are paused or not yet due, and repeating timers with their next
    occurrence. `now` must have the house's time zone, including daylight saving."""
    coming = []
    for timer in timers:
        rule = rule_from(timer.rule) if timer.rule is not None else None
        if timer.paused_s is not None or timer.due > now:
            coming.append(timer)
        elif rule is not None and rule.repeats and now.tzinfo is not None:
            due = next_after(rule, now, now.tzinfo)
            if due is not None:
                coming.append(replace(timer, due=due))
    return coming


def _timers(data: bytes) -> tuple[TimerRecord, ...]:
    timers = _TIMERS.validate_json(data)
    for timer in timers:
        if timer.due.tzinfo is None or timer.created_at.tzinfo is None:
            raise ValueError("a time has no time zone")
        if timer.rule is not None:
            rule_from(timer.rule)
    return timers


def _kept(values: Any) -> dict[str, Any]:
    if not isinstance(values, dict) or not set(values) <= set(_FORMS):
        raise ValueError("it has unknown entries")
    for name, value in values.items():
        _FORMS[name].validate_python(value)
    return values


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()
