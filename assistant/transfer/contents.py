"""What is carried beside the settings, as JSON and back. Everything is checked on the way in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from assistant.config.errors import ConfigError
from assistant.domain.outcome import Tier
from assistant.domain.records import MemoryRecord, TimerRecord
from assistant.interfaces.device.record import DeviceRecord
from assistant.interfaces.http_tokens import TokenRow
from assistant.memory.desk import checked_rows
from assistant.timers.recurrence import next_after, rule_from
from assistant.transfer import package
from assistant.transfer.package import Package

# The small values of the store that a household has chosen, each with its form. What was measured
# on one box, or holds for an evening, stays.
_FORMS: Mapping[str, TypeAdapter[Any]] = {
    "ratings": TypeAdapter(dict[str, Tier]),
    "approvals": TypeAdapter(dict[str, dict[str, dict[str, str]]]),
    "live": TypeAdapter(dict[str, dict[str, Any]]),
    "voice": TypeAdapter(dict[str, Any]),
}
KEPT_NAMES = tuple(_FORMS)
_TIMERS = TypeAdapter(tuple[TimerRecord, ...])
_TOKENS = TypeAdapter(tuple[TokenRow, ...])
_SECRETS = TypeAdapter(dict[str, str])
_OPENINGS = TypeAdapter(dict[str, frozenset[str]])


@dataclass(frozen=True, slots=True)
class Contents:
    """All of it, as values."""

    settings: str | None = None  # TOML without secrets; None: there was no file
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    memory: Sequence[MemoryRecord] = ()
    timers: Sequence[TimerRecord] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    openings: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by entity id
    tokens: Sequence[TokenRow] = ()
    device: DeviceRecord | None = None


def parts_of(contents: Contents, memory_rows: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """As the parts of a package. `memory_rows`: as `assistant.memory.desk` gives them."""
    parts = {
        package.MEMORY: _json(list(memory_rows)),
        package.TIMERS: _TIMERS.dump_json(tuple(contents.timers), indent=1),
        package.KEPT: _json(dict(contents.kept)),
        package.TOKENS: _TOKENS.dump_json(tuple(contents.tokens), indent=1),
    }
    if contents.settings is not None:
        parts[package.SETTINGS] = contents.settings.encode()
    if contents.openings:  # an earlier Hearth refuses a file with them
        rows = {name: sorted(ids) for name, ids in contents.openings.items()}
        parts[package.OPENINGS] = _json(rows)
    if contents.secrets:
        parts[package.SECRETS] = _json(dict(contents.secrets))
    if contents.device is not None:
        parts[package.DEVICE] = _json(asdict(contents.device))
    return parts


def contents_of(package_: Package, name: str) -> Contents:
    """The values of a package. `name` of the file, for messages. Raises ConfigError."""
    parts = package_.parts
    part = ""
    try:
        part = package.SETTINGS
        settings = parts[part].decode() if part in parts else None
        part = package.SECRETS
        secrets = _SECRETS.validate_json(parts.get(part, b"{}"))
        part = package.MEMORY
        memory = checked_rows(json.loads(parts.get(part, b"[]")))
        part = package.TIMERS
        timers = _timers(parts.get(part, b"[]"))
        part = package.KEPT
        kept = _kept(json.loads(parts.get(part, b"{}")))
        part = package.OPENINGS
        openings = _OPENINGS.validate_json(parts.get(part, b"{}"))
        part = package.TOKENS
        tokens = _TOKENS.validate_json(parts.get(part, b"[]"))
        part = package.DEVICE
        device = DeviceRecord(**json.loads(parts[part])) if part in parts else None
    except ValidationError:
        raise ConfigError(f"{name} holds a {part} that this Hearth cannot read") from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{name} holds a {part} that this Hearth cannot read: {error}") from None
    return Contents(settings, secrets, memory, timers, kept, openings, tokens, device)


def still_to_come(timers: Sequence[TimerRecord], now: datetime) -> list[TimerRecord]:
    """Those that are not over at `now`, which has the zone of the house with its changes to
    daylight saving; what comes again goes on with its next time."""
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
            raise ValueError("a time without its zone")
        if timer.rule is not None:
            rule_from(timer.rule)
    return timers


def _kept(values: Any) -> dict[str, Any]:
    if not isinstance(values, dict) or not set(values) <= set(_FORMS):
        raise ValueError("something unknown is kept")
    for name, value in values.items():
        _FORMS[name].validate_python(value)
    return values


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()
