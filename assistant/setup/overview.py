"""The state of setup's steps as JSON for the page in the browser. It contains no secret."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from assistant.config.schema import Settings
from assistant.config.sound import Sensitivity
from assistant.models.shelf import ModelEntry, State, fetch_models, shelve
from assistant.setup.answers import DEMO, LOOPBACK
from assistant.setup.cloud import disclosure
from assistant.setup.services import HouseFacts
from assistant.setup.sound_check import spoken
from assistant.setup.steps import Finding, device_choices
from assistant.sound.devices import known_words
from audio.devices.portaudio import DeviceInfo
from integrations.gemini.access import KEY_PAGE
from integrations.home_assistant.discovery import FoundHome
from integrations.web.box import EventLog

STEPS = (
    *("home-assistant", "room", "languages", "sound", "voice", "wake", "gemini", "openers"),
    "finish",
)


class Downloads:
    """Downloads models, and tells the page how far they are."""

    def __init__(self) -> None:
        self.events = EventLog()
        self.now: Mapping[str, Any] | None = None  # the current download

    async def fetch(self, entries: Sequence[ModelEntry], folder: Path) -> None:
        """Download models into the folder. Raises IntegrationError."""

        def progress(name: str, done: int, total: int) -> None:
            percent = 100 * done // max(total, 1)
            if self.now is None or (self.now["file"], self.now["percent"]) != (name, percent):
                self._tell({"file": name, "percent": percent})

        try:
            async for _ in fetch_models(entries, folder, progress, lambda entry: None):
                pass
        finally:
            self._tell(None)

    def _tell(self, now: Mapping[str, Any] | None) -> None:
        self.now = now
        self.events.tell("download", now or {})


@dataclass(frozen=True, slots=True)
class Found:
    """Results of the steps, besides the answers."""

    done: Mapping[str, bool] = field(default_factory=dict)  # step -> False if it was skipped
    homes: Sequence[FoundHome] | None = None  # None: not searched yet
    reached: str = ""  # the address that answered and still needs a token
    house: HouseFacts | None = None
    devices: Sequence[DeviceInfo] | None = None
    sound: Sequence[Finding] = ()
    voice: str = ""  # why a voice is missing
    gemini: Sequence[Finding] = ()
    openers: Sequence[Mapping[str, str]] | None = None
    harmless: Sequence[str] = ()
    end: Sequence[Finding] = ()  # what was done at the end


class Overview:
    """The steps as the page sees them."""

    def __init__(self, known: Mapping[str, ModelEntry], downloads: Downloads) -> None:
        self._known = known
        self._downloads = downloads

    def of(self, settings: Settings, found: Found) -> dict[str, Any]:
        """Return all steps. `settings` are those that the answers so far would give."""
        return {
            "steps": [{"name": name, "state": _state_of(found, name)} for name in STEPS],
            "home": _home(settings, found),
            "room": {
                "value": settings.assistant.area,
                "rooms": list(found.house.rooms) if found.house else [],
                "unread": bool(found.house and found.house.unread),
            },
            "languages": list(settings.assistant.languages),
            "sound": _sound(settings, found),
            "voice": {**self._voice(settings), "problem": found.voice},
            "wake": {
                "word": settings.wake.words[0].model,
                "words": [{"name": word, "said": spoken(word)} for word in known_words(settings)],
                "sensitivity": settings.wake.sensitivity,
                "sensitivities": list(get_args(Sensitivity)),
            },
            "gemini": {
                **asdict(disclosure(settings)),
                "accepted": settings.privacy.accept_cloud,
                "has_key": bool(settings.gemini.api_key.get_secret_value()),
                "needs_key": not settings.gemini.vertex_project,
                "key_page": KEY_PAGE,
                "findings": [asdict(one) for one in found.gemini],
            },
            "openers": {
                "rows": None if found.openers is None else list(found.openers),
                "harmless": list(found.harmless),
            },
            "console": is_open(settings),
            "end": [asdict(one) for one in found.end],
        }

    def _voice(self, settings: Settings) -> dict[str, Any]:
        states = {one.name: one.state for one in shelve(settings, self._known)}
        languages = settings.assistant.languages
        chosen = {
            language: settings.voice.models.get(language)
            or settings.voice.models.get(language.split("-")[0])
            for language in languages
        }
        return {
            "engine": settings.voice.engine,
            "chosen": {language: one.model for language, one in chosen.items() if one},
            "voices": {
                language: [
                    {
                        "name": entry.name,
                        "quality": entry.quality,
                        "region": entry.language,
                        "mb": round(entry.size / 1e6),
                        "licence": entry.licence,
                        "there": states.get(entry.name) is State.THERE,
                    }
                    for entry in self._known.values()
                    if entry.kind == "voice"
                    and entry.language.split("_")[0] == language.split("-")[0]
                ]
                for language in languages
            },
            "download": self._downloads.now,
        }


def _state_of(found: Found, step: str) -> str:
    done = found.done.get(step)
    if done is None:
        return "open"
    return "done" if done else "skipped"


def _home(settings: Settings, found: Found) -> dict[str, Any]:
    home = settings.home_assistant
    return {
        "homes": None if found.homes is None else [asdict(one) for one in found.homes],
        "url": found.reached or home.url,
        "reached": bool(found.reached),
        "has_token": has_token(settings, found.reached or home.url),
        "name": found.house.name if found.house else "",
        "version": found.house.version if found.house else "",
        "demo": home.url == DEMO,
    }


def _sound(settings: Settings, found: Found) -> dict[str, Any]:
    devices, audio = found.devices, settings.audio
    told: dict[str, Any] = {
        "looked": devices is not None,
        "findings": [asdict(one) for one in found.sound],
    }
    for kind, used in (("input", audio.input), ("output", audio.output)):
        told[kind] = [asdict(one) for one in device_choices(devices or (), kind, used)]
    return told


def has_token(settings: Settings, url: str) -> bool:
    """Return True if there is a token for this very address."""
    home = settings.home_assistant
    return url == home.url and bool(home.token.get_secret_value())


def is_open(settings: Settings) -> bool:
    """Return True if the console can be reached from the network."""
    return settings.http.host not in (LOOPBACK, "::1", "localhost")
