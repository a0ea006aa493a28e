"""Tests of the satellite on the box: it announces what comes, and offers our voice."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from wyoming.client import AsyncTcpClient
from wyoming.event import Event
from wyoming.tts import Synthesize, SynthesizeVoice

from assistant.announcements.service import AnnouncementService
from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.interfaces.wyoming import HouseVoice, SatelliteRoom, WyomingInterface
from assistant.speech.catalogue import Catalogue
from audio.errors import InputUnusable
from audio.tts import Chunk
from integrations.errors import Misconfigured
from integrations.web.box import Caller
from integrations.web.requests import AnnounceRequest
from tests.ports import free_port


class Desk(AnnouncementService):
    """Records what is to be said."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, str]] = []
        self.played: list[tuple[bytes, int, str, bool]] = []
        self.over_asked: list[str] = []

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        self.said.append((wanted.text or "", wanted.language or "", caller.name))
        return "a1"

    async def play(
        self,
        pcm: bytes,
        rate: int,
        caller: Caller,
        *,
        name: str = "sound",
        preannounce: bool = False,
        volume: float | None = None,
    ) -> str:
        self.played.append((pcm, rate, caller.name, preannounce))
        return "a2"

    async def over(self, announcement_id: str) -> bool:
        self.over_asked.append(announcement_id)
        return True


class Voices:
    """Voices of two languages; each clause is two pieces, and the second voice has another rate."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, text: str, language: str) -> AsyncGenerator[tuple[Chunk, int]]:
        self.asked.append((text, language))
        if "broken" in text:
            raise InputUnusable("There is no voice.")
        rate = 8_000 if "spare" in text else 16_000
        for _ in range(2):
            yield Chunk(b"\1\0" * 800), rate


def language_of(text: str) -> str:
    return "es" if "puerta" in text else "en"


def house_voice(voices: Voices) -> HouseVoice:
    return HouseVoice(voices, ("en", "es"), language_of)


async def spoken(voice: HouseVoice, text: str, name: str = "") -> list[tuple[int, int]]:
    return [(len(pcm), rate) async for pcm, rate in voice.speak(text, name)]


class TestHouseVoice:
    async def test_it_speaks_clause_by_clause_as_answers_are_spoken(self) -> None:
        voices = Voices()
        await spoken(house_voice(voices), "The **kitchen** light is on. It is 21 °C.")
        assert voices.asked == [
            ("The kitchen light is on.", "en"),
            ("It is twenty-one degrees Celsius.", "en"),
        ]

    @pytest.mark.parametrize(
        ("name", "text", "language"),
        [
            ("", "La puerta está abierta.", "es"),
            ("", "Hello.", "en"),
            ("hearth-es", "Hello.", "es"),
            ("piper", "Hello.", "en"),
        ],
    )
    async def test_the_language(self, name: str, text: str, language: str) -> None:
        voices = Voices()
        await spoken(house_voice(voices), text, name)
        assert [asked for _, asked in voices.asked] == [language]

    async def test_all_of_it_is_at_one_rate(self) -> None:
        made = await spoken(house_voice(Voices()), "It is on. The spare one is off.")
        assert {rate for _, rate in made} == {16_000}
        assert made[2][0] == pytest.approx(2 * made[0][0], rel=0.1)

    async def test_what_the_voice_cannot_say_is_told(self) -> None:
        from integrations.wyoming_face.session import NotSpoken

        with pytest.raises(NotSpoken, match="There is no voice"):
            await spoken(house_voice(Voices()), "It is broken.")

    async def test_signs_are_no_words(self) -> None:
        assert await spoken(house_voice(Voices()), "***") == []


class TestRoom:
    async def test_sound_is_announced_to_its_end_with_a_tone_before(self) -> None:
        desk = Desk()
        await SatelliteRoom(desk, Catalogue(), "en").play(b"\1\0", 22_050)
        assert desk.played == [(b"\1\0", 22_050, "wyoming", True)]
        assert desk.over_asked == ["a2"]

    @pytest.mark.parametrize(
        ("name", "said"),
        [("tea", "Your tea timer is done."), ("", "A Home Assistant timer is done.")],
    )
    async def test_a_timer(self, name: str, said: str) -> None:
        desk = Desk()
        await SatelliteRoom(desk, Catalogue(), "en").timer_rang(name)
        assert desk.said == [(said, "en", "wyoming")]


@asynccontextmanager
async def face(desk: Desk, voices: Voices, **wyoming: Any) -> AsyncIterator[WyomingInterface]:
    settings = Settings.model_validate(
        {"assistant": {"area": "Kitchen"}, "wyoming": {"enabled": True, **wyoming}}
    )
    room = SatelliteRoom(desk, Catalogue(), "en")
    async with WyomingInterface(settings, room, house_voice(voices)) as served:
        yield served


async def test_both_services_are_served() -> None:
    desk, voices = Desk(), Voices()
    satellite, speech = free_port(), free_port()
    async with face(desk, voices, port=satellite, tts_port=speech) as served:
        assert served.ports == (satellite, speech)
        async with AsyncTcpClient("127.0.0.1", satellite) as client:
            await client.write_event(Event("describe"))
            told = await client.read_event()
            assert told is not None
            satellite_told = told.data["satellite"]
            assert (satellite_told["name"], satellite_told["area"]) == ("Hearth", "Kitchen")
            form = {"rate": 22_050, "width": 2, "channels": 1}
            await client.write_event(Event("audio-start", form))
            await client.write_event(Event("audio-chunk", dict(form), b"\1\0"))
            await client.write_event(Event("audio-stop"))
            over = await client.read_event()
            assert over is not None
            assert over.type == "played"
        async with AsyncTcpClient("127.0.0.1", speech) as client:
            wanted = Synthesize("Hola.", SynthesizeVoice(name="hearth-es"))
            await client.write_event(wanted.event())
            begin = await client.read_event()
            assert begin is not None
            assert begin.data["rate"] == 16_000
    assert voices.asked == [("Hola.", "es")]
    assert desk.played


async def test_a_port_that_is_taken_leaves_nothing_open() -> None:
    satellite, speech, free = free_port(), free_port(), free_port()
    async with face(Desk(), Voices(), port=satellite, tts_port=speech):
        other = face(Desk(), Voices(), port=free, tts_port=speech)
        with pytest.raises(Misconfigured, match=r"another wyoming\.tts_port"):
            await other.__aenter__()
    async with face(Desk(), Voices(), port=satellite, tts_port=speech):
        pass


def test_two_services_need_two_ports(tmp_path: Path) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text("[wyoming]\nport = 10701\n")
    with pytest.raises(ConfigError, match="port and tts_port are the same"):
        load_settings(file, {})
