"""Sound devices, voices and wake words, as chosen in the settings."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.config.schema import Settings
from assistant.config.sound import Sensitivity, VoiceModel
from assistant.conversation.rules.events import STOP_WORD
from assistant.domain.health import DEAF_S, health_of, is_deaf
from assistant.sound.echo_plan import EchoPlan, is_device
from assistant.sound.echo_watch import EchoWatch
from audio.device_status import Presence
from audio.devices.watch import DeviceWatch
from audio.errors import InputUnusable
from audio.microphone import Cleaner, DeviceInput
from audio.playback import Reference
from audio.player import NullPlayer, OneOutput, Outputs, Player, WavPlayer
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from audio.tts import Chunk, Speed, Voice, make_voice, speed_now
from audio.tts.tuned import Leveller, PhraseCache, TunedVoice
from audio.wake import WakeEngine, added_words, built_in_words, make_wake_engine
from integrations.web.box import Health


@asynccontextmanager
async def open_microphone(
    settings: Settings,
    outputs: Outputs,
    cleaner: Cleaner | None = None,
    echo: EchoWatch | None = None,
) -> AsyncIterator[SteadyMicrophone | None]:
    """Set up the microphone named by `audio.input`, which is opened when frames are first
    requested. Yields None if that is a file or `null`. `outputs` and `echo` are notified of device
    changes."""
    audio = settings.audio
    speaker = outputs if isinstance(outputs, Speaker) else None
    hears = is_device(audio.input)
    if not hears and speaker is None:
        yield None
        return
    async with DeviceWatch() as watch:
        if echo is not None:
            echo.follow(watch)
        if not hears:
            if speaker is not None:
                speaker.presence.follow(watch)
            yield None
            return
        microphone = SteadyMicrophone(
            # A canceller needs each frame as soon as it arrives, to match it with the audio played.
            DeviceInput(audio.input, audio.channel, patient=cleaner is None),
            watch=watch,
            cleaner=cleaner,
            before_refresh=speaker.release if speaker is not None else None,
        )
        if speaker is not None:
            speaker.presence.follow(watch, microphone.make_way)
        yield microphone


@asynccontextmanager
async def open_outputs(
    settings: Settings,
    out: Path | None = None,
    paced: bool = False,
    reference: Reference | None = None,
) -> AsyncIterator[Outputs]:
    """Open the output named by `out` or `audio.output`, and close it on exit. Raises InputUnusable.

    With `paced`, playing to a file or to `null` takes as long as on a loudspeaker. `reference`
    receives everything that a loudspeaker plays.
    """
    outputs = _outputs(settings, out, paced, reference)
    try:
        yield outputs
    finally:
        await outputs.close()


@asynccontextmanager
async def open_file_player(out: Path | None, paced: bool) -> AsyncIterator[Player]:
    """Open a player that writes to the file `out`, or discards the audio if `out` is None."""
    player: Player = WavPlayer(out, paced) if out else NullPlayer(paced)
    try:
        yield player
    finally:
        await player.close()


def _outputs(
    settings: Settings, out: Path | None, paced: bool, reference: Reference | None
) -> Outputs:
    output = settings.audio.output
    if out is None and output.startswith("file:"):
        out = Path(output.removeprefix("file:"))
    if out is not None:
        return OneOutput(WavPlayer(out, paced))
    if output == "null":
        return OneOutput(NullPlayer(paced))
    return Speaker(output, settings.audio.lead_in_ms, reference)


def voices_of(
    settings: Settings, speed: Speed | None = None, *, ahead: bool = False
) -> Callable[[str], TunedVoice]:
    """Return a function that takes a language code and returns the voice for it. The function may
    load a model, so it blocks, and it raises AudioError if no voice is usable.

    The voices are levelled to one loudness and must be used on one thread. `speed` replaces
    `voice.speed`. With `ahead`, a voice may prepare for the next clause in advance.
    """
    # Gemini's voice speaks only Gemini's answers; Hearth's own sentences need a local voice.
    engine = "piper" if settings.voice.engine == "gemini" else settings.voice.engine
    return _tuned(engine, settings, speed, ahead=ahead)


def spare_voices_of(settings: Settings, speed: Speed | None = None) -> Callable[[str], TunedVoice]:
    """Return a function like that of `voices_of`, but with espeak-ng voices, for languages whose
    own voice fails."""
    return _tuned("espeak", settings, speed)


def _tuned(
    engine: str, settings: Settings, speed: Speed | None, *, ahead: bool = False
) -> Callable[[str], TunedVoice]:
    common: Speed = settings.voice.speed if speed is None else speed
    leveller, cache = Leveller(), PhraseCache()

    def voice(language: str) -> TunedVoice:
        choice = _choice(settings, language)
        model = _model_file(choice.model, settings.data_folder) if choice.model else None
        if engine == "piper" and choice.model and model is None:
            raise InputUnusable(
                f"The voice {choice.model} is not installed; run: hearth models download "
                f'{choice.model}, or name another in voice.models, or set voice.engine = "espeak".'
            )

        def pace() -> float:
            return speed_now(common) * choice.speed

        return TunedVoice(
            make_voice(engine, language, model, pace, choice.speaker, ahead=ahead),
            leveller,
            cache,
            identity=f"{engine} {language} {model}",
            speaker=choice.speaker,
            speed=pace,
            volume=choice.volume,
        )

    return voice


def _choice(settings: Settings, language: str) -> VoiceModel:
    models = settings.voice.models
    return models.get(language) or models.get(language.split("-")[0]) or VoiceModel()


def _model_file(name: str, data: Path) -> Path | None:
    if name.endswith(".onnx") or "/" in name:
        return Path(name).expanduser()
    downloaded = data / "models" / f"{name}.onnx"
    return downloaded if downloaded.is_file() else None


class _SilentVoice:
    name = "silent"
    rate = 16_000  # Hz

    def speak(self, text: str) -> Iterator[Chunk]:
        return iter(())


def silent_voice(language: str) -> Voice:
    return _SilentVoice()


def models_folder(settings: Settings) -> Path:
    """Return the folder for models that users add. It may not exist."""
    return settings.data_folder / "models"


def wake_engine(
    settings: Settings,
    words: Sequence[str] = (),
    sensitivity: Sensitivity | None = None,
) -> WakeEngine:
    """Return an engine that detects `wake.words`, and "stop" if the models folder contains a model
    of that name. Blocks while models load. Raises InputUnusable if a word is unknown or a model is
    unusable.

    `words` replaces the configured words. `sensitivity` overrides the settings for every word.
    """
    wake, folder = settings.wake, models_folder(settings)
    chosen = list(words) or [word.model for word in wake.words]
    if STOP_WORD in added_words(wake.engine, folder):
        chosen.append(STOP_WORD)
    own = {word.model: word.sensitivity for word in wake.words if word.sensitivity}
    return make_wake_engine(
        wake.engine,
        chosen,
        sensitivity or wake.sensitivity,
        {} if sensitivity else own,
        folder,
        wake.verify,
    )


def known_words(settings: Settings) -> tuple[str, ...]:
    """Return the wake words that can be used: configured, built in, or in the models folder."""
    engine = settings.wake.engine
    configured = [word.model for word in settings.wake.words]
    added = [word for word in added_words(engine, models_folder(settings)) if word != STOP_WORD]
    return tuple(dict.fromkeys([*configured, *built_in_words(engine), *added]))


NONE = "none"  # the output is a file or `null` instead of a device
_DEAF = f"The microphone has given no sound for more than {DEAF_S:g} s."


def _none() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class SoundState:
    """Current state of the sound devices. Reading it never blocks."""

    microphone: SteadyMicrophone | None  # None if the input is a file or `null`
    outputs: Outputs
    echo: EchoPlan | EchoWatch | None = None  # None if there are no devices
    near_misses: Callable[[], int] = _none  # near misses of wake words since the start

    @property
    def presence(self) -> Presence | None:
        """Presence of the loudspeaker, or None if the output is a file or `null`."""
        return self.outputs.presence if isinstance(self.outputs, Speaker) else None

    @property
    def health(self) -> Health:
        return health_of(self.microphone, self.presence)

    @property
    def loudspeaker(self) -> str:
        return NONE if self.presence is None else self.presence.status.name.lower()

    @property
    def troubles(self) -> Mapping[str, str]:
        """Fault descriptions in English, by device ("microphone" or "loudspeaker")."""
        found = {}
        if self.microphone is not None and is_deaf(self.microphone):
            found["microphone"] = self.microphone.sentence or _DEAF
        if self.presence is not None and self.presence.sentence:
            found["loudspeaker"] = self.presence.sentence
        return found

    @property
    def problems(self) -> list[str]:
        return list(self.troubles.values())

    def report(self) -> Mapping[str, Any]:
        """Return the devices' state and their counters since the start, as JSON-compatible data."""
        return {
            "microphone": self._microphone(),
            "loudspeaker": self._loudspeaker(),
            "wake": {"near_misses": self.near_misses()},
            "echo": None if self.echo is None else self.echo.as_json(),
        }

    def _microphone(self) -> dict[str, Any] | None:
        microphone = self.microphone
        if microphone is None:
            return None
        return {
            "status": microphone.status.name.lower(),
            "last_frame_age_s": round(microphone.last_frame_age_s, 2),
            # Blocks dropped because the audio front end, which detects wake words, was too slow.
            "dropped_blocks": microphone.dropped,
            "reopened": microphone.reopened,
            "abandoned_calls": microphone.abandoned,
        }

    def _loudspeaker(self) -> dict[str, Any] | None:
        if not isinstance(self.outputs, Speaker):
            return None
        speaker = self.outputs
        return {
            "status": speaker.presence.status.name.lower(),
            "since_s": round(speaker.presence.since_s, 1),
            "lost": speaker.lost,
            "dropped": speaker.drops,
            "underruns": speaker.underruns,
            "gaps": speaker.gaps,
        }
