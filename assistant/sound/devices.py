"""Devices, voices and wake words, by the settings."""

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
    """The microphone that `audio.input` names, None where that is a file or nothing.

    The device itself is opened when somebody takes its frames.

    `outputs` let go of the loudspeaker, where they rest, so that new devices can be looked for, and
    the microphone does where the loudspeaker is looked for; `outputs` and `echo` are told of what
    changes among the devices.
    """
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
            # A canceller must have each frame when it comes, beside what is played.
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
    """Open what `out` or `audio.output` names, closed in the end.

    `paced`: a file or nothing takes as long as a speaker would. `reference` is told of all that a
    speaker plays. Raises InputUnusable.
    """
    outputs = _outputs(settings, out, paced, reference)
    try:
        yield outputs
    finally:
        await outputs.close()


@asynccontextmanager
async def open_file_player(out: Path | None, paced: bool) -> AsyncIterator[Player]:
    """A player that opens no device: into `out`, or nowhere."""
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
    """A function from a language code to its voice. Blocking when called: a model may load.

    It raises AudioError where there is no usable voice. The voices are equally loud and keep short
    phrases; they belong to one thread. `speed`: in the place of `voice.speed`. `ahead`: the process
    stays, and what the next clause needs may be started before it is asked for.
    """
    # The model's own voice speaks only what the model says; our own lines need a local one.
    engine = "piper" if settings.voice.engine == "gemini" else settings.voice.engine
    return _tuned(engine, settings, speed, ahead=ahead)


def spare_voices_of(settings: Settings, speed: Speed | None = None) -> Callable[[str], TunedVoice]:
    """The same with espeak-ng, for languages whose own voice fails."""
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
                f"The voice {choice.model} is not here; run: hearth models download "
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
    """A path as it is; a voice's name in the data folder's `models`, if it was downloaded."""
    if name.endswith(".onnx") or "/" in name:
        return Path(name).expanduser()
    downloaded = data / "models" / f"{name}.onnx"
    return downloaded if downloaded.is_file() else None


class _SilentVoice:
    """Makes no sound: for turns whose answer is read, not heard."""

    name = "silent"
    rate = 16_000  # Hz

    def speak(self, text: str) -> Iterator[Chunk]:
        return iter(())


def silent_voice(language: str) -> Voice:
    """A voice that says nothing, in every language."""
    return _SilentVoice()


def models_folder(settings: Settings) -> Path:
    """Folder in which a person puts models; it may not exist."""
    return settings.data_folder / "models"


def wake_engine(
    settings: Settings,
    words: Sequence[str] = (),
    sensitivity: Sensitivity | None = None,
) -> WakeEngine:
    """For the words of `wake.words`, and for a model named `stop` where there is one. Blocking.

    `words`: instead of those. `sensitivity`: of every word, whatever the settings say of it.
    Raises InputUnusable for an unknown word or an unusable model.
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
    """Every word that this engine could listen for: those of `wake.words`, its own, and the models
    that lie in the folder."""
    engine = settings.wake.engine
    configured = [word.model for word in settings.wake.words]
    added = [word for word in added_words(engine, models_folder(settings)) if word != STOP_WORD]
    return tuple(dict.fromkeys([*configured, *built_in_words(engine), *added]))


NONE = "none"  # a file or nothing, where a device could be
_DEAF = f"The microphone has given no sound for more than {DEAF_S:g} s."


def _none() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class SoundState:
    """State of the sound devices, asked whenever somebody looks; nothing of it waits."""

    microphone: SteadyMicrophone | None  # None: a file, or nothing
    outputs: Outputs
    echo: EchoPlan | EchoWatch | None = None  # None: there are no devices to plan for
    near_misses: Callable[[], int] = _none  # of wake words since the start

    @property
    def presence(self) -> Presence | None:
        """Of the loudspeaker; None: a file, or nothing."""
        return self.outputs.presence if isinstance(self.outputs, Speaker) else None

    @property
    def health(self) -> Health:
        """One word for all of it."""
        return health_of(self.microphone, self.presence)

    @property
    def loudspeaker(self) -> str:
        """Status of the loudspeaker: "ready", "missing" or NONE."""
        return NONE if self.presence is None else self.presence.status.name.lower()

    @property
    def troubles(self) -> Mapping[str, str]:
        """Faults by device, "microphone" or "loudspeaker", and a sentence in English on it."""
        found = {}
        if self.microphone is not None and is_deaf(self.microphone):
            found["microphone"] = self.microphone.sentence or _DEAF
        if self.presence is not None and self.presence.sentence:
            found["loudspeaker"] = self.presence.sentence
        return found

    @property
    def problems(self) -> list[str]:
        """The sentences alone."""
        return list(self.troubles.values())

    def report(self) -> Mapping[str, Any]:
        """All of it with what was counted since the start, as JSON."""
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
            # Blocks that the ear, and so the wake word, took too late.
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
