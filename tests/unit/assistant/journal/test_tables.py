"""Tests that remembered facts stay until forgotten, are found by their words, and are then gone."""

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord, StoreError
from assistant.journal.migrations import MIGRATIONS
from assistant.journal.store import Store

TEXTS = [
    "The bins go out on Thursday.",
    "La llave está bajo la maceta.",
    "Ana's birthday is on May 4",
    "The cat is called Miércoles",
]


def facts(clock: VirtualClock) -> list[MemoryRecord]:
    return [
        MemoryRecord(f"m{number}", text, clock.now() + timedelta(hours=number))
        for number, text in enumerate(TEXTS, start=1)
    ]


def bytes_hold(path: Path, word: bytes) -> bool:
    """Return whether any file of the store contains it, in any case."""
    return any(word in part.read_bytes().lower() for part in path.parent.iterdir())


async def found(store: Store, query: str) -> list[str]:
    return [memory.id for memory, _ in await store.memory.found(query, 10)]


async def test_they_come_oldest_first_with_all_that_is_known(
    path: Path, clock: VirtualClock
) -> None:
    first, second, *_ = facts(clock)
    whole = MemoryRecord(
        "m9",
        "Soy alérgica a las nueces",
        clock.now() + timedelta(days=1),
        "Ana",
        "Ana",
        "es",
        True,
        "allergy nuts food",
        "alergia nueces comida",
    )
    async with Store(path, clock) as store:
        await store.memory.keep(whole, second, first)
    async with Store(path, clock) as store:
        assert await store.memory.all() == [first, second, whole]
        assert await found(store, '"allergy"') == ["m9"]
        assert await found(store, '"alergia"') == ["m9"]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ('"bin"', ["m1"]),
        ('"birthdays"', ["m3"]),
        ('"miercoles"', ["m4"]),
        ('"ESTÁ"', ["m2"]),
        ('"mac"*', ["m2"]),
        ('"ana" OR "cat"', ["m4", "m3"]),
        ('"zebra"', []),
    ],
)
async def test_words_are_found_without_case_accents_and_plurals(
    store: Store, clock: VirtualClock, query: str, ids: list[str]
) -> None:
    await store.memory.keep(*facts(clock))
    assert sorted(await found(store, query)) == sorted(ids)
    assert all(likeness > 0 for _, likeness in await store.memory.found(query, 10))


async def test_what_is_forgotten_or_replaced_is_in_no_file(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        await store.memory.keep(*facts(clock))
        assert bytes_hold(path, b"maceta")
        assert await store.memory.forget("m2") is True
        assert await store.memory.forget("m2") is False
        assert not bytes_hold(path, b"maceta")
        assert not bytes_hold(path, b"llave")
        await store.memory.keep(MemoryRecord("m1", "On Friday.", clock.now()))
        assert next(memory.text for memory in await store.memory.all()) == "On Friday."
        assert not bytes_hold(path, b"thursday")
        assert (await found(store, '"thursday"'), await found(store, '"friday"')) == ([], ["m1"])
        assert await store.memory.forget_all() == 3
        assert await store.memory.forget_all() == 0
        assert await store.memory.all() == []
        for word in (b"birthday", b"birthdai", b"friday", "miércoles".encode(), b"miercol"):
            assert not bytes_hold(path, word)


async def test_all_or_none_are_kept(store: Store, clock: VirtualClock) -> None:
    broken = MemoryRecord("m5", "Half of it", clock.now(), who=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        await store.memory.keep(*facts(clock), broken)
    assert await store.memory.all() == []
    assert await found(store, '"cat"') == []


async def test_they_outlive_the_journal_and_a_vacuum(
    path: Path, store: Store, clock: VirtualClock
) -> None:
    await store.memory.keep(*facts(clock))
    await store.memory.forget("m1")
    clock.advance(400 * 86400)
    await store.erase_old(keep_days=1, transcript_hours=1)
    other = sqlite3.connect(path)
    other.execute("VACUUM")
    other.close()
    assert len(await store.memory.all()) == 3
    assert await found(store, '"cat"') == ["m4"]


async def test_what_an_older_version_kept_is_found_as_well(
    path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = next(at for at, step in enumerate(MIGRATIONS) if "memory_words" in step)
    with monkeypatch.context() as patch:
        patch.setattr("assistant.journal.migrations.MIGRATIONS", MIGRATIONS[:before])
        async with Store(path, clock):
            pass
    first, second, *_ = facts(clock)
    db = sqlite3.connect(path)
    for one in (second, first):
        row = (one.id, one.text, one.created_at.isoformat(timespec="microseconds"))
        db.execute("INSERT INTO memories (id, text, created_at) VALUES (?, ?, ?)", row)
    db.commit()
    db.close()
    async with Store(path, clock) as store:
        assert await store.memory.all() == [first, second]
        assert await found(store, '"bins"') == ["m1"]
        await store.memory.forget("m1")
        assert await found(store, '"bins"') == []


async def test_two_processes_share_the_index(path: Path, store: Store, clock: VirtualClock) -> None:
    async with Store(path, clock) as other:
        await store.memory.keep(*facts(clock))
        assert await found(other, '"cat"') == ["m4"]
        await other.memory.forget("m4")
    assert await found(store, '"cat"') == []


@pytest.mark.parametrize(
    "value", [{"mode": "guest", "until": None}, [1, "dos", 3.5], "ñandú", 0, False, "", {}]
)
async def test_a_value_is_kept_over_a_restart(path: Path, clock: VirtualClock, value: Any) -> None:
    async with Store(path, clock) as store:
        await store.keep("policy", value)
    async with Store(path, clock) as store:
        assert await store.kept("policy") == value


async def test_the_last_value_counts_and_names_are_apart(store: Store) -> None:
    assert await store.kept("policy") is None
    await store.keep("policy", {"mode": "ask"})
    await store.keep("policy", {"mode": "normal"})
    await store.keep("other", 1)
    assert await store.kept("policy") == {"mode": "normal"}
    await store.drop_kept("policy")
    await store.drop_kept("policy")  # deleting a missing value is no error
    assert await store.kept("policy") is None
    assert await store.kept("other") == 1


async def test_what_is_no_json_is_refused_at_once(store: Store) -> None:
    await store.keep("policy", 1)
    with pytest.raises(TypeError):
        await store.keep("policy", {1, 2})
    assert await store.kept("policy") == 1


async def test_values_outlive_the_journal(store: Store, clock: VirtualClock) -> None:
    await store.keep("policy", 1)
    clock.advance(400 * 86400)
    await store.erase_old(keep_days=1, transcript_hours=1)
    assert await store.kept("policy") == 1


async def test_what_switches_opened_is_added_to_and_outlives_the_journal(
    path: Path, clock: VirtualClock
) -> None:
    lock, gate = frozenset({"lock.front"}), frozenset({"cover.gate"})
    async with Store(path, clock) as store:
        assert await store.openings() == {}
        await store.add_openings({"switch.hall": lock, "light.lamp": gate})
        await store.add_openings({"switch.hall": lock | gate})
        clock.advance(400 * 86400)
        await store.erase_old(keep_days=1, transcript_hours=1)
    async with Store(path, clock) as store:
        assert await store.openings() == {"switch.hall": lock | gate, "light.lamp": gate}
