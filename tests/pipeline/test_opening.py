"""Tests of speech while Hearth is still opening: it waits for the house, and nothing is lost."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from assistant.app.build import open_around
from assistant.app.conversation import open_conversation
from assistant.conversation.endpointing import Endings, open_endings
from assistant.conversation.rules.state import State
from assistant.domain.tool_call import Status
from audio.player import NullPlayer
from audio.sound_files import WavSource
from integrations.home_assistant.house import House
from tests.pipeline.rig import offline_settings, states


async def test_a_command_from_before_the_house_is_there_is_carried_out(
    command: Path, tmp_path: Path
) -> None:
    settings, player = offline_settings(tmp_path), NullPlayer(paced=False)
    source = WavSource(command, realtime=False)
    async with open_conversation(settings, player, hears=True, resident=False) as conversation:
        runner = conversation.runner
        listening = asyncio.ensure_future(runner.listen(source, turns=1))
        await runner.until(lambda: runner.state is State.THINKING)  # the sentence is over
        assert conversation.log.count == 0
        async with open_around(conversation, hears=True, resident=False) as app:
            before = states(app)["light.office"]
            assert await listening == 1
            turn = app.log.turns[-1]
            assert (before, states(app)["light.office"]) == ("off", "on")
    assert turn.record.heard == "turn on the office lights"
    assert turn.record.brain == "offline"
    assert [outcome.status for outcome in turn.outcomes] == [Status.DONE]
    assert turn.record.error is None


async def test_what_ends_before_it_stood_ends_at_once(command: Path, tmp_path: Path) -> None:
    settings, player = offline_settings(tmp_path), NullPlayer(paced=False)
    async with asyncio.timeout(60):
        async with open_conversation(settings, player, hears=True, resident=False) as conversation:
            runner = conversation.runner
            listening = asyncio.ensure_future(
                runner.listen(WavSource(command, realtime=False), turns=1)
            )
            await runner.until(lambda: runner.state is State.THINKING)
            listening.cancel()
            await asyncio.wait([listening])
        assert conversation.log.count == 1  # it is written down as what it was
    assert conversation.log.turns[-1].outcomes == ()


@pytest.mark.parametrize(
    ("resident", "paced", "judged"),
    [(False, False, ()), (False, True, ("en", "es")), (True, False, ("en", "es"))],
    ids=["as fast as it goes", "as fast as it is spoken", "a microphone"],
)
async def test_words_end_what_comes_as_fast_as_it_is_spoken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resident: bool,
    paced: bool,
    judged: Sequence[str],
) -> None:
    given: list[tuple[tuple[str, ...], str]] = []

    def note(
        languages: Sequence[str], house: Callable[[], House], area: str
    ) -> AbstractAsyncContextManager[Endings]:
        given.append((tuple(languages), area))
        return open_endings(languages, house, area)

    monkeypatch.setattr("assistant.app.conversation.open_endings", note)
    own = {"data": str(tmp_path / "data"), "languages": ["en", "es"], "area": "Kitchen"}
    settings = offline_settings(tmp_path, assistant=own)
    async with open_conversation(settings, None, hears=True, resident=resident, paced=paced):
        pass
    assert given == [(judged, "Kitchen")]
