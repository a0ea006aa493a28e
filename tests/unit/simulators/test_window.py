"""Tests of simulated context windows with the real google-genai client: they are counted, trimmed
and ended."""

import pytest
from google.genai import errors
from google.genai.live import AsyncSession

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Done, Say
from tests.simulators.window import WindowRules
from tests.unit.simulators.client import ask, real_session, reply

ANSWER = (Say("It is five.", audio_s=40.0), Done())  # 1,000 tokens of sound
COMPRESSED = {"trigger_tokens": 3_000, "sliding_window": {"target_tokens": 1_500}}


def service(**window: object) -> GeminiSimulator:
    rules = WindowRules(**window)  # type: ignore[arg-type]
    return GeminiSimulator(respond=lambda turn: ANSWER, window=rules)


async def prompts(session: AsyncSession, times: int) -> list[int]:
    found = []
    for _ in range(times):
        await ask(session, "What time is it?")
        usage = [one.usage_metadata for one in await reply(session) if one.usage_metadata]
        found += [one.prompt_token_count or 0 for one in usage]
    return found


async def test_a_turn_tells_its_whole_context() -> None:
    async with service() as on, real_session(on) as session:
        first, second = await prompts(session, 2)
        assert second - first == pytest.approx(1_004, abs=1)


async def test_it_can_be_silent_about_it() -> None:
    async with service(tells=False) as on, real_session(on) as session:
        assert await prompts(session, 2) == []


async def test_above_the_trigger_the_oldest_turns_go() -> None:
    async with (
        service() as on,
        real_session(on, context_window_compression=COMPRESSED) as session,
    ):
        *_, before, after = await prompts(session, 4)
        assert (before > 2_000, after < 1_500) == (True, True)
        (one,) = on.sessions.values()
        assert one.window.trimmed == 1


async def test_a_full_window_ends_the_session() -> None:
    async with service(most_tokens=2_500) as on, real_session(on) as session:
        with pytest.raises(errors.APIError) as raised:
            await prompts(session, 4)
        assert raised.value.code == 1007
