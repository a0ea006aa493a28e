"""Small values stay until they are dropped, and then they are gone."""

from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.journal.store import Store


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
    await store.drop_kept("policy")  # again: nothing there, nothing wrong
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
