"""Hearth as a Wyoming satellite for announcements, and as a Wyoming text-to-speech service."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing

from assistant.announcements.service import AnnouncementService
from assistant.config.schema import Settings
from assistant.domain.version import own_version
from assistant.speech.catalogue import Catalogue
from assistant.speech.clauses import ClauseCutter
from assistant.speech.speakable import speakable
from audio.errors import AudioError
from audio.resampling import resample
from audio.tts import Chunk
from integrations.owner import Opened, OwnedTasks
from integrations.web.box import Caller
from integrations.web.pages import is_loopback
from integrations.web.requests import AnnounceRequest
from integrations.wyoming_face.server import (
    Advertised,
    WyomingServer,
    advertise,
    satellite_info,
    speech_info,
)
from integrations.wyoming_face.session import NotSpoken, SatelliteSession, Send, SpeechSession

CALLER = Caller("wyoming", frozenset({"speak"}))
_SOUND = "Home Assistant"  # name in the journal for announcements sent as audio
_VOICE = "hearth-"  # prefix of voice names, followed by the language code
_log = logging.getLogger(__name__)

Synthesize = Callable[[str, str], AsyncGenerator[tuple[Chunk, int]]]


class SatelliteRoom:
    """Announcements that Home Assistant sends to the satellite, which join Hearth's announcement
    queue."""

    def __init__(self, desk: AnnouncementService, catalogue: Catalogue, language: str) -> None:
        """`language` is the language in which finished timers are announced."""
        self._desk = desk
        self._catalogue = catalogue
        self._language = language

    async def play(self, pcm: bytes, rate: int) -> None:
        """Play mono int16 audio at `rate` Hz after a tone, and wait until it has ended."""
        name = await self._desk.play(pcm, rate, CALLER, name=_SOUND, preannounce=True)
        await self._desk.over(name)

    async def timer_rang(self, name: str) -> None:
        key = "timers.over_named" if name else "wyoming.timer"
        line = self._catalogue.line(key, self._language, name=name)
        wanted = AnnounceRequest(text=line.text, language=line.language, priority="high")
        await self._desk.announce(wanted, CALLER)


class HouseVoice:
    """Hearth's voice as a text-to-speech service for other programs."""

    def __init__(
        self,
        synthesize: Synthesize,
        languages: Sequence[str],
        language_of: Callable[[str], str],
    ) -> None:
        """`synthesize` takes a clause and its language (`SpeechOutput.synthesize`). `language_of`
        returns a text's language, for a program that doesn't name one of Hearth's voices."""
        self._synthesize = synthesize
        self._language_of = language_of
        self.voices: Mapping[str, Sequence[str]] = {
            f"{_VOICE}{code}": (code,) for code in languages
        }

    async def speak(self, text: str, voice: str) -> AsyncGenerator[tuple[bytes, int]]:
        """Yield chunks of mono int16 audio with their sample rate, which is the same for all
        chunks. Raises NotSpoken."""
        (language,) = self.voices.get(voice) or (self._language_of(text),)
        cutter, rate = ClauseCutter(), 0
        try:
            for clause in [*cutter.push(text), *cutter.flush()]:
                async with aclosing(self._clause(clause, language)) as sound:
                    async for pcm, given in sound:
                        rate = rate or given
                        yield resample(pcm, given, rate), rate
        except AudioError as error:
            raise NotSpoken(str(error)) from error

    async def _clause(self, clause: str, language: str) -> AsyncGenerator[tuple[bytes, int]]:
        words = speakable(clause, language)
        if not words.strip():
            return
        async with aclosing(self._synthesize(words, language)) as sound:
            async for chunk, rate in sound:
                yield chunk.pcm, rate


class WyomingInterface(Opened):
    """Runs the Wyoming satellite and the text-to-speech service while the context is open."""

    def __init__(self, settings: Settings, room: SatelliteRoom, voice: HouseVoice) -> None:
        wyoming, assistant = settings.wyoming, settings.assistant
        name, version = assistant.name, own_version()
        self._host, self._zeroconf = wyoming.host, wyoming.zeroconf
        self._name = f"{name} {assistant.area}".strip()
        # Home Assistant puts the area before the names of its devices.
        satellite = satellite_info(name, assistant.area, version)
        speech = speech_info(self._name, voice.voices, version)

        def listen(send: Send) -> SatelliteSession:
            return SatelliteSession(send, satellite, room.play, room.timer_rang)

        def speak(send: Send) -> SpeechSession:
            return SpeechSession(send, speech, voice.speak)

        self._satellite = WyomingServer(self._host, wyoming.port, listen, "wyoming.port")
        self._speech = WyomingServer(self._host, wyoming.tts_port, speak, "wyoming.tts_port")

    async def _enter(self, stack: AsyncExitStack) -> None:
        """Start both servers. Raises Misconfigured if an address can't be used."""
        await stack.enter_async_context(self._satellite)
        await stack.enter_async_context(self._speech)
        tasks = await stack.enter_async_context(OwnedTasks())
        if not is_loopback(self._host):
            _log.warning(
                "The Wyoming satellite listens on %s: anyone on that network can play audio on it.",
                self._host or "every address",
            )
            if self._zeroconf:
                tasks.start(self._advertise(), "zeroconf")

    @property
    def ports(self) -> tuple[int, int]:
        return self._satellite.port, self._speech.port

    async def _advertise(self) -> None:
        plain = "-".join(self._name.lower().replace(".", " ").split())
        satellite, speech = self.ports
        services = (Advertised(plain, satellite), Advertised(f"{plain}-voice", speech))
        await advertise(services, self._host)
