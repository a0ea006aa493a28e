"""Tests of the box as a Wyoming satellite of the real Home Assistant, which uses our voice."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from assistant.announcements.service import AnnouncementService
from assistant.config.schema import Settings
from assistant.interfaces.wyoming import HouseVoice, SatelliteRoom, WyomingInterface
from assistant.speech.catalogue import Catalogue
from assistant.speech.synthesis import Synthesis
from audio.tts import Chunk
from audio.tts.espeak import EspeakVoice
from integrations.web.box import Caller
from integrations.web.requests import AnnounceRequest
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import real_only
from tests.home_assistant.line import Failed
from tests.home_assistant.talk import Talk
from tests.ports import free_port

pytestmark = [real_only, pytest.mark.since(2026, 11)]

LIMIT_S = 20.0


@dataclass
class Desk:
    """Records announcements."""

    played: asyncio.Queue[tuple[bytes, int]] = field(default_factory=asyncio.Queue)

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        raise AssertionError

    async def play(
        self, pcm: bytes, rate: int, caller: Caller, *, name: str, preannounce: bool
    ) -> str:
        self.played.put_nowait((pcm, rate))
        return "a1"

    async def over(self, announcement_id: str) -> bool:
        return True

    async def next(self) -> tuple[bytes, int]:
        async with asyncio.timeout(LIMIT_S):
            return await self.played.get()


@dataclass
class Voice:
    """espeak-ng, with a record of what it spoke."""

    synthesis: Synthesis
    spoken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    async def __call__(self, text: str, language: str) -> AsyncGenerator[tuple[Chunk, int]]:
        self.spoken.append(text)
        async with aclosing(self.synthesis.sound(text, language)) as sound:
            async for chunk, rate in sound:
                self.seconds += len(chunk.pcm) / 2 / rate
                yield chunk, rate


@dataclass
class Satellite:
    """Home Assistant's view of us."""

    entity: str  # assist_satellite.…
    desk: Desk
    voice: Voice


@pytest.fixture
async def satellite(admin: Admin) -> AsyncIterator[Satellite]:
    """Yield a satellite added as a person does, with a pipeline that speaks with our voice."""
    desk, voice = Desk(), Voice(Synthesis(EspeakVoice, EspeakVoice))
    port, tts_port = free_port(), free_port()
    settings = Settings.model_validate(
        {
            "assistant": {"name": "Voice", "area": "Kitchen"},
            "wyoming": {"enabled": True, "port": port, "tts_port": tts_port},
        }
    )
    room = SatelliteRoom(cast(AnnouncementService, desk), Catalogue(), "en")
    before = set(await admin.states())
    ours = HouseVoice(voice, ("en", "es"), lambda text: "en")
    async with WyomingInterface(settings, room, ours), added(admin, port), added(admin, tts_port):
        new = await _new(admin, before, "assist_satellite.", "tts.")
        entity = next(one for one in new if one.startswith("assist_satellite."))
        engine = next(one for one in new if one.startswith("tts."))
        async with pipeline(admin, entity, engine):
            yield Satellite(entity, desk, voice)
    voice.synthesis.close()


@pytest.fixture
def text() -> str:
    """Return a text that was never said before: Home Assistant caches the sound of others."""
    return f"Load {secrets.randbelow(10**6)} of the washing is done."


@asynccontextmanager
async def added(admin: Admin, port: int) -> AsyncIterator[None]:
    """Add it at Settings > Devices & services > Add integration > Wyoming Protocol."""
    entry = await admin.add_entry("wyoming", {"host": "127.0.0.1", "port": port})
    try:
        yield
    finally:
        await admin.delete(f"/api/config/config_entries/entry/{entry}")


@asynccontextmanager
async def pipeline(admin: Admin, entity: str, engine: str) -> AsyncIterator[None]:
    """Keep an assistant that speaks with our voice, chosen for the satellite."""
    made = await admin.ask(
        "assist_pipeline/pipeline/create",
        name="Hearth's voice",
        language="en",
        conversation_engine="conversation.home_assistant",
        conversation_language="en",
        stt_engine=None,
        stt_language=None,
        tts_engine=engine,
        tts_language="en",
        tts_voice=None,
        wake_word_entity=None,
        wake_word_id=None,
    )
    choice = entity.replace("assist_satellite.", "select.") + "_assistant"
    try:
        await admin.call("select.select_option", entity_id=choice, option=made["name"])
        yield
    finally:
        await admin.ask("assist_pipeline/pipeline/delete", pipeline_id=made["id"])


async def test_it_is_a_satellite_in_its_room(satellite: Satellite, admin: Admin) -> None:
    assert satellite.entity == "assist_satellite.kitchen_voice"
    assert await admin.settles(satellite.entity, "idle") == "idle"
    assert await admin.attribute(satellite.entity, "supported_features") == 1  # announce alone
    states = await admin.states()
    assert states["tts.voice_kitchen"]["attributes"]["friendly_name"] == "Voice Kitchen"


async def test_announce_is_heard_in_our_own_voice(
    satellite: Satellite, admin: Admin, text: str
) -> None:
    await admin.call("assist_satellite.announce", entity_id=satellite.entity, message=text)
    pcm, rate = await satellite.desk.next()
    assert satellite.voice.spoken == [text]
    assert len(pcm) / 2 / rate == pytest.approx(satellite.voice.seconds, rel=0.1)
    assert await admin.settles(satellite.entity, "idle") == "idle"


async def test_a_broadcast_reaches_it(satellite: Satellite, person: Talk, text: str) -> None:
    told = await person.call("HassBroadcast", message=text)
    assert not told.is_error, told.text
    pcm, _ = await satellite.desk.next()
    assert pcm
    assert satellite.voice.spoken == [text]


@pytest.mark.parametrize("action", ["start_conversation", "ask_question"])
async def test_what_only_hearth_itself_can(satellite: Satellite, admin: Admin, action: str) -> None:
    told: dict[str, Any] = {
        "start_conversation": {"start_message": "Hello"},
        "ask_question": {"question": "Close the blinds?"},
    }[action]
    with pytest.raises(Failed):
        await admin.ask(
            "call_service",
            domain="assist_satellite",
            service=action,
            service_data={"entity_id": satellite.entity, **told},
            return_response=action == "ask_question",
        )
    assert satellite.desk.played.empty()


async def _new(admin: Admin, before: set[str], *kinds: str) -> set[str]:
    """Return the new entities, once there is one of each kind."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            new = set(await admin.states()) - before
            if all(any(one.startswith(kind) for one in new) for kind in kinds):
                return new
            await asyncio.sleep(0.05)
