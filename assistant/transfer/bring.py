"""Import of a backup: plan the changes, then make all of them or none."""

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from assistant.domain.records import MemoryRecord, TimerRecord
from assistant.domain.tool_call import Tier
from assistant.interfaces.device.registration import NAME as DEVICE_FILE
from assistant.interfaces.http_tokens import NAME as TOKEN_FILE
from assistant.interfaces.http_tokens import TokenRow
from assistant.journal.database import Database
from assistant.journal.tables import MemoryRows, add_openings, keep_value, put_timer, write_memories
from assistant.memory.facts import MAX_FACTS
from assistant.setup.document import PLAIN_MODE, Before, NewFile, put_back, write_all
from assistant.tools.policy.ratings import RATINGS, read_ratings, strictest
from assistant.tools.policy.risk import height
from assistant.transfer.contents import Contents, still_to_come
from assistant.transfer.settings import (
    SecretFile,
    address,
    changed_keys,
    restored,
    same_place,
    secrets_in,
    secrets_named,
    settings_in,
    weighty_changes,
)


@dataclass(frozen=True, slots=True)
class Here:
    """This device's state before an import."""

    target: Path  # path of the configuration file, which may not exist
    text: str  # contents of the configuration file, or ""
    settings: Settings
    memory: Sequence[MemoryRecord]
    timer_ids: frozenset[str]  # ids of all timers, including finished ones
    kept: dict[str, Any]
    openings: Mapping[str, frozenset[str]]
    tokens: Sequence[TokenRow]
    registered: bool  # this device is registered with Home Assistant


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The changes that an import would make, with a description of each."""

    files: tuple[NewFile, ...]
    memory: tuple[MemoryRecord, ...]
    timers: tuple[TimerRecord, ...]
    kept: dict[str, Any]
    openings: Mapping[str, frozenset[str]]
    lines: tuple[str, ...]
    accepted: Settings | None  # the new settings if they allow Gemini for the first time
    lost: tuple[str, ...] = ()  # this device's secrets that are dropped (`settings.Restored`)


def change_of(contents: Contents, here: Here, now: datetime) -> ImportPlan:
    """Plan an import. Pure. Raises ConfigError if the backup can't be imported here."""
    files, lines, accepted, lost = _settings(contents, here)
    known = {fact.id for fact in here.memory}
    if len(known | {fact.id for fact in contents.memory}) > MAX_FACTS:
        raise ConfigError(f"The memory would hold more than {MAX_FACTS} facts: forget some first")
    new = sum(fact.id not in known for fact in contents.memory)
    facts = len(contents.memory)
    lines.append(f"memory: {facts} {'fact' if facts == 1 else 'facts'}, {new} of them new")
    coming = still_to_come(contents.timers, now)
    timers = [timer for timer in coming if timer.id not in here.timer_ids]
    over = len(contents.timers) - len(coming)
    told = f"; {over} expired and left out" if over else ""
    lines.append(f"timers, alarms and reminders: {len(timers)} new{told}")
    merged = {name: _merged(here.kept.get(name), value) for name, value in contents.kept.items()}
    for name, value in contents.kept.items():
        lines.append(f"{name}: {len(value)}")
    lines += told_openings(here.openings, contents.openings)
    rated, brought = (read_ratings(side.kept.get(RATINGS)) for side in (here, contents))
    was, then = ({name: one.tier for name, one in side.items()} for side in (rated, brought))
    tiers = merged_tiers(was, then, here.openings, contents.openings)
    ratings = {**tiers, **strictest(rated, brought)}
    if ratings != rated or RATINGS in merged:
        merged[RATINGS] = {name: str(rating) for name, rating in ratings.items()}
    lines += told_tiers(was, tiers)
    tokens = {row.name for row in here.tokens}
    added = [row for row in contents.tokens if row.name not in tokens]
    if added:
        files.append(_tokens(here, added))
        let_in = (f"{row.name} (may {', '.join(row.scopes)})" for row in added)
        lines.append(f"tokens: {', '.join(let_in)}")
    if contents.device is not None and not here.registered:
        record = json.dumps(asdict(contents.device), indent=1).encode()
        files.append(NewFile(here.settings.data_folder / DEVICE_FILE, record))
        lines.append("the registration in Home Assistant: stop Hearth on the other box first")
    return ImportPlan(
        tuple(files),
        tuple(contents.memory),
        tuple(timers),
        merged,
        contents.openings,
        tuple(lines),
        accepted,
        lost,
    )


async def bring(change: ImportPlan, here: Here, clock: Clock) -> None:
    """Carry out the plan. If anything fails, all changes are undone. Raises ConfigError and
    StoreError.

    The caller must hold the data folder's lock, because a running daemon would miss the changes and
    overwrite them.
    """
    now = clock.now()
    before: list[Before] = []

    def work(db: sqlite3.Connection) -> None:
        write_memories(db, change.memory)
        for timer in change.timers:
            put_timer(db, timer)
        for name, value in change.kept.items():
            keep_value(db, name, json.dumps(value, ensure_ascii=False), now)
        add_openings(db, change.openings, now)
        if change.files:  # last, so that a failure rolls back the rows
            before.append(write_all(change.files))

    database = Database(here.settings.database, clock.now)
    await database.open()
    try:
        await database.run(work, durable=True)
    except Exception:  # not CancelledError: the work then still finishes
        with suppress(OSError):
            for one in reversed(before):
                await asyncio.to_thread(put_back, one)
        raise
    finally:
        await database.close()


async def look(settings: Settings, clock: Clock) -> tuple[list[MemoryRecord], frozenset[str]]:
    """Return all memories, and the ids of all timers including ended ones. Raises ConfigError and
    StoreError."""
    database = Database(settings.database, clock.now)
    await database.open()
    try:
        facts = await MemoryRows(database).all()
        ids = await database.read(_timer_ids)
    finally:
        await database.close()
    return facts, ids


def _timer_ids(db: sqlite3.Connection) -> frozenset[str]:
    return frozenset(row["id"] for row in db.execute("SELECT id FROM timers"))


def _settings(
    contents: Contents, here: Here
) -> tuple[list[NewFile], list[str], Settings | None, tuple[str, ...]]:
    """Plan the change of the configuration. Returns the files to write, a line for each change, the
    new settings if they allow Gemini for the first time (otherwise None), and the secrets that are
    dropped. Raises ConfigError."""
    if contents.settings is None:
        return [], [], None, ()
    found = restored(contents.settings, contents.secrets, here.text, here.target)
    text, secrets = found.text, found.files
    _refuse_from_outside(here, text)
    keys = changed_keys(here.text, text)
    told = ", ".join(keys) if keys else "none"
    lines = [f"changed settings: {told}", *weighty_changes(here.text, text)]
    target = here.target.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else PLAIN_MODE
    files = [_secret(here.target, secret) for secret in secrets]
    if secrets:
        lines.append(f"secrets: {', '.join(secret.name for secret in secrets)}")
    if found.lost:
        lines.append(
            f"left out because their address has changed: {', '.join(found.lost)}; enter "
            f"them again for the new one, as {', '.join(f'{name}_file' for name in found.lost)}"
        )
    after = settings_in(text)
    accepts = after.privacy.accept_cloud and not here.settings.privacy.accept_cloud
    whole = NewFile(target, text.encode(), mode)
    return [*files, whole], lines, after if accepts else None, found.lost


def _refuse_from_outside(here: Here, text: str) -> None:
    """Raise ConfigError if a secret from the environment would be sent to a different address."""
    before, after = settings_in(here.text), settings_in(text)
    in_text = secrets_named(here.text)
    for name in secrets_in(here.settings):
        section = name.partition(".")[0]
        if section == "mcp" or name in in_text or same_place(section, before, after):
            continue
        if address(section, here.settings) != address(section, before):
            continue  # the environment also sets the address, which overrides the file
        raise ConfigError(
            f"The backup has a different address for {section}, and this box has {name} in its "
            "environment, which would be sent there: remove it from the environment first"
        )


def _secret(target: Path, secret: SecretFile) -> NewFile:
    return NewFile(target.with_name(secret.name), secret.text.encode())


def _merged(there: Any, value: Any) -> Any:
    return {**there, **value} if isinstance(there, dict) else value


def _tokens(here: Here, added: Sequence[TokenRow]) -> NewFile:
    rows = [row.model_dump(mode="json") for row in (*here.tokens, *added)]
    return NewFile(here.settings.data_folder / TOKEN_FILE, json.dumps(rows, indent=1).encode())


Tiers = Mapping[str, Tier]  # by entity id
Openings = Mapping[str, frozenset[str]]  # opened entities by the opener's id


def merged_tiers(here: Tiers, there: Tiers, seen_here: Openings, seen_there: Openings) -> Tiers:
    """Merge the ratings. The backup's ratings override this device's. A rating other than `secure`
    is dropped if its device hadn't seen the entity open anything, while the other device had."""
    ours = _informed(here, seen_here, seen_there)
    return {**ours, **_informed(there, seen_there, seen_here)}


def told_openings(seen_here: Openings, seen_there: Openings) -> list[str]:
    """Return a line about the entities that the backup's device has seen opening something, or no
    lines if there are none."""
    if not seen_there:
        return []
    new = sorted(name for name, opened in seen_there.items() if opened - _of(name, seen_here))
    told = f"entities seen opening something: {len(seen_there)}"
    return [f"{told}, new here: {', '.join(new)}" if new else told]


def told_tiers(before: Tiers, after: Tiers) -> list[str]:
    """Return a line about entities that will need fewer confirmations, and a line about dropped
    ratings. A line that would name no entities is left out."""
    freer = [
        f"{name} ({before.get(name, 'unrated')} -> {tier})"
        for name, tier in sorted(after.items())
        if height(tier) < height(before.get(name, Tier.SECURE))
    ]
    void = [name for name in sorted(before) if name not in after]
    lines = [f"confirmed less often than now: {', '.join(freer)}"] if freer else []
    if void:
        names = ", ".join(void)
        lines.append(f"ratings removed, because these were seen opening something: {names}")
    return lines


def _informed(tiers: Tiers, seen: Openings, seen_elsewhere: Openings) -> Tiers:
    unseen = {name for name in seen_elsewhere if name not in seen}
    return {name: tier for name, tier in tiers.items() if tier is Tier.SECURE or name not in unseen}


def _of(name: str, openings: Openings) -> frozenset[str]:
    return openings.get(name, frozenset())
