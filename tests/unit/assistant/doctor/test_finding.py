"""Tests of how checks are run."""

import asyncio

from assistant.doctor.finding import Check, Finding, Found, bad, examine, good, odd


async def _well(scene: str) -> Found:
    return good(scene)


async def _oddly(scene: str) -> Found:
    return odd("so so", "do this")


async def _badly(scene: str) -> Found:
    return bad("broken", "do that")


async def _never(scene: str) -> Found:
    await asyncio.Event().wait()
    return good("")


async def test_each_check_has_a_line_in_order() -> None:
    checks = [Check("a", _well), Check("b", _oddly), Check("c", _badly)]
    assert await examine(checks, "fine") == [
        Finding("a", "ok", "fine", ""),
        Finding("b", "warn", "so so", "do this"),
        Finding("c", "fail", "broken", "do that"),
    ]


async def test_one_that_hangs_fails_and_the_next_is_made() -> None:
    hung, fine = await examine([Check("a", _never, limit_s=0.01), Check("b", _well)], "fine")
    assert hung.status == "fail"
    assert "0.01 s" in hung.detail
    assert fine.status == "ok"
