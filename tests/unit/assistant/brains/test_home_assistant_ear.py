"""Tests of whose recogniser hears a turn, and which part of its sound."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from assistant.brains import home_assistant as module
from assistant.brains.home_assistant import Ear, Said
from assistant.brains.offline.listen import Listener
from assistant.domain.turn_audio import TurnAudio
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.assist import Pipeline
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.websocket import Connection
from tests.fakes.home_assistant import FakeHomeAssistant

MS = 32  # bytes


class Home(FakeHomeAssistant):
    """Lists pipelines; the test's `transcribe` sets the result of a run."""

    def __init__(self, *pipelines: tuple[str, str]) -> None:
        super().__init__()
        self.rows = [
            {"id": name, "language": language, "stt_engine": "stt.one", "stt_language": None}
            for name, language in pipelines
        ]
        self.away = False

    async def command(self, kind: str, **fields: Any) -> Any:
        assert kind == "assist_pipeline/pipeline/list"
        if self.away:
            raise Unavailable("The home is away.")
        return {"pipelines": self.rows, "preferred_pipeline": "first"}


class Own(Listener):
    """The device's own recogniser."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",)

    async def transcribe(self, pcm: bytes) -> str:
        self.heard.append(pcm)
        return "by itself"


class Runs:
    """A stand-in for `transcribe` that reads all sound and then does what the test sets."""

    def __init__(self) -> None:
        self.texts: dict[str, str | Exception] = {}
        self.ran: list[tuple[str, bytes]] = []

    async def __call__(
        self,
        home: Connection | HomeAssistant,
        pipeline: Pipeline,
        sound: AsyncIterator[bytes],
        device_id: str | None = None,
    ) -> str:
        pcm = b"".join([piece async for piece in sound])
        self.ran.append((pipeline.pipeline_id, pcm))
        result = self.texts[pipeline.pipeline_id]
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    runs = Runs()
    monkeypatch.setattr(module, "transcribe", runs)
    return runs


def sound(detection_ms: int = 0) -> TurnAudio:
    audio = TurnAudio(detection_ms * 16)
    for ms in range(1000):
        audio.append(ms.to_bytes(2, "little") * 16)
    audio.finish()
    return audio


def ear(home: Home, own: Own, *languages: str) -> Ear:
    async def make() -> Listener:
        return own

    return Ear(home, make, languages or ("en",))


async def test_the_home_hears_from_200_ms_before_the_detection_on(runs: Runs) -> None:
    runs.texts = {"first": "lamp on"}
    audio = sound(detection_ms=500)
    assert await ear(Home(("first", "en")), Own()).hear(audio, "en") == Said("lamp on", "en")
    assert runs.ran == [("first", audio.pcm[300 * MS :])]


async def test_one_that_cannot_be_run_is_passed_over(runs: Runs) -> None:
    runs.texts = {"first": Refused("It cannot."), "second": "lamp on"}
    home = Home(("first", "en"), ("second", "en"))
    assert await ear(home, Own()).hear(sound(), "en") == Said("lamp on", "en")


@pytest.mark.parametrize("why", ["none", "refused", "lost", "away"])
async def test_then_the_device_hears_the_same_sound(runs: Runs, why: str) -> None:
    error = Refused("It cannot.") if why == "refused" else Unavailable("It is gone.")
    runs.texts = {"first": error}
    home = Home() if why == "none" else Home(("first", "en"))
    home.away = why == "away"
    own, audio = Own(), sound(detection_ms=500)
    assert await ear(home, own).hear(audio, "en") == Said("by itself", "en", own_ear=True)
    assert own.heard == [audio.pcm[300 * MS :]]


async def test_a_language_that_nobody_hears(runs: Runs) -> None:
    assert await ear(Home(("first", "de")), Own(), "es").hear(sound(), "es") is None


async def test_the_preferred_one_hears_another_of_the_persons_languages(runs: Runs) -> None:
    runs.texts = {"first": "lamp on"}
    home = Home(("first", "en"))
    assert await ear(home, Own(), "es", "en").hear(sound(), "es") == Said("lamp on", "en")


async def test_two_brains_share_one_recognition(runs: Runs) -> None:
    runs.texts = {"first": "lamp on"}
    shared, audio = ear(Home(("first", "en")), Own()), sound()
    heard = [await shared.hear(audio, "en") for _ in range(2)]
    assert heard == [Said("lamp on", "en")] * 2
    assert len(runs.ran) == 1
    await shared.hear(sound(), "en")
    assert len(runs.ran) == 2
