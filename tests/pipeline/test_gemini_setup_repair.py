"""Tests of a service that does not take some optional part of the set-up. Simulated service.

Public logs of 2026 show such refusals, with the field's name and without it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assistant.brains.gemini.repair import HOPELESS_S, KEPT, KEPT_UNNAMED, NAME
from tests.pipeline.gemini_rig import ASKED, LIVE, ONCE, SAID, SERVED, Scene, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import OnceTurn, Opening, Turn

REPAIRED = (
    "By the way, Google rejected one of my settings for Gemini, so I'm leaving it out for now. "
)
PARTS = {
    "custom vocabulary": "inputAudioTranscription.customVocabulary",
    "language codes": "inputAudioTranscription.languageCodes",
    "context compression": "contextWindowCompression",
    "turn coverage": "realtimeInputConfig.turnCoverage",
    "behaviour of functions": "tools.functionDeclarations.behavior",
    "Google Search": "tools.googleSearch",
}
UNNAMED = "Request contains an invalid argument."


def named(path: str) -> str:
    where, _, name = path.rpartition(".")
    where = {"inputAudioTranscription": "input_audio_transcription"}.get(where, where)
    return f"Invalid JSON payload received. Unknown name \"{name}\" at 'setup.{where}'."


def refusing(*paths: str, reason: str = UNNAMED) -> Opening:
    return Opening(refuses=paths, refusal=(1007, reason))


async def left_out(on: Scene) -> set[str]:
    """Return the parts that are remembered as refused."""
    stored = await on.app.home.store.kept(NAME)
    assert isinstance(stored, dict)
    return {row["part"] for row in stored["gemini-3.8-live v1beta"]}


@pytest.mark.parametrize("reason", ["named", "unnamed"])
@pytest.mark.parametrize("part", PARTS)
async def test_the_turn_is_served_without_the_part(
    tmp_path: Path, part: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = PARTS[part]
    told = named(path) if reason == "named" else UNNAMED
    service = GeminiSimulator([Turn("text", SERVED)] * 2, opening=refusing(path, reason=told))
    async with scene(tmp_path, service, gemini={"google_search": True}) as on:
        on.repeats = True
        faults: list[Mapping[str, Any]] = []
        on.app.home.bus.follow(lambda event: faults.append(event.data))
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), REPAIRED + SAID)
        assert f"is used without it: {part}." in caplog.text
        begun, over = [each for each in faults if each.get("what") == "gemini_set_up"]
        assert part in begun["problem"]
        assert not over["on"]
        assert await left_out(on) == {part}
        refused = sum(one.refused is not None for one in service.connections)
        assert refused == (1 if reason == "named" else 1 + list(PARTS).index(part))

        # The next conversation begins without it at once.
        on.app.brains.forget()
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID), "it is told once"
        assert sum(one.refused is not None for one in service.connections) == refused


async def test_two_refused_parts_are_found_one_after_the_other(tmp_path: Path) -> None:
    vocabulary, codes = PARTS["custom vocabulary"], PARTS["language codes"]
    openings = [
        refusing(vocabulary, codes, reason=named(vocabulary)),
        refusing(codes, reason=named(codes)),
    ]
    service = GeminiSimulator([Turn("text", SERVED)], openings=openings)
    async with scene(tmp_path, service) as on:
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        assert await left_out(on) == {"custom vocabulary", "language codes"}


@pytest.mark.parametrize(("reason", "kept"), [("named", KEPT), ("unnamed", KEPT_UNNAMED)])
async def test_a_restart_remembers_and_time_forgets(
    tmp_path: Path, reason: str, kept: object
) -> None:
    path = PARTS["language codes"]
    told = named(path) if reason == "named" else UNNAMED
    first = GeminiSimulator([Turn("text", SERVED)], opening=refusing(path, reason=told))
    async with scene(tmp_path, first) as on:
        await on.ask(ASKED)
    second = GeminiSimulator([Turn("text", SERVED)] * 2, opening=refusing(path, reason=told))
    async with scene(tmp_path, second) as on:
        on.repeats = True
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        assert len(second.connections) == 1
        on.clock.leap((KEPT if reason == "named" else KEPT_UNNAMED).total_seconds() + 1)
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        assert any(one.refused for one in second.connections)


async def test_a_set_up_that_nothing_helps_is_given_up_and_the_next_brain_answers(
    tmp_path: Path,
) -> None:
    once = [OnceTurn(SERVED)] * 2
    service = GeminiSimulator(opening=Opening(refuse=(1007, UNNAMED)), once=once)
    async with scene(tmp_path, service) as on:
        on.repeats = True
        assert ended(await on.ask(ASKED)) == (ONCE, None)
        attempts = len(service.connections)
        assert attempts <= len(PARTS) + 2
        assert ended(await on.ask(ASKED)) == (ONCE, None)
        assert len(service.connections) == attempts + 1, "it is not searched again soon"
        assert await on.app.home.store.kept(NAME) is None
        assert HOPELESS_S > 60
