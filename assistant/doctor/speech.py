"""Checks of speech: wake words, the voice detector, stop words and voices. Wake words and the voice
detector are tested on clips that espeak-ng speaks."""

import asyncio
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.conversation.rules.events import STOP_WORD
from assistant.conversation.stop_words import languages_with
from assistant.doctor.daemon import Scene
from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.sound.devices import models_folder, spare_voices_of, voices_of, wake_engine
from assistant.speech.synthesis import WARM_PHRASE
from audio.errors import AudioError, InputUnusable
from audio.frames import FRAME_BYTES, FRAME_SAMPLES, SAMPLE_RATE
from audio.resampling import resample
from audio.tts.espeak import HEADER_BYTES, RATE
from audio.tts.tuned import TunedVoice
from audio.vad import VoiceDetector, make_voice_detector
from audio.wake import WakeEngine, added_words, built_in_words


@dataclass(frozen=True, slots=True)
class _Tried:
    detail: str
    complaint: str = ""  # the problem and the fix
    mute: bool = False  # True if no voice speaks this language


async def voice(scene: Scene) -> Found:
    """Let each language's voice synthesise a phrase, without playing it."""
    settings = scene.settings
    own, spare = voices_of(settings), spare_voices_of(settings)
    tried = [
        await asyncio.to_thread(_try, language, own, spare)
        for language in settings.assistant.languages
    ]
    told = "; ".join(one.detail for one in tried)
    complaints = " ".join(dict.fromkeys(one.complaint for one in tried if one.complaint))
    if any(one.mute for one in tried):
        return bad(told, complaints)
    return odd(told, complaints) if complaints else good(told)


Voices = Callable[[str], TunedVoice]


def _try(language: str, own: Voices, spare: Voices) -> _Tried:
    try:
        voice, factor = _pace(own, language)
        return _Tried(f"{language}: {voice.name}, {factor}", voice.complaint)
    except AudioError as error:
        complaint = str(error)
    try:
        voice, factor = _pace(spare, language)
    except AudioError as error:
        return _Tried(f"{language}: no voice", f"{complaint} {error}", mute=True)
    return _Tried(f"{language}: {voice.name} instead of the configured voice, {factor}", complaint)


def _pace(voices: Voices, language: str) -> tuple[TunedVoice, str]:
    voice = voices(language)
    for _ in voice.speak(WARM_PHRASE):
        pass
    return voice, "" if voice.factor is None else f"{voice.factor:.2f} of real time"


_CAME_NEAR = 0.5  # score on a clip, 0 to 1, that proves that the model works
_SPEECH = 0.5  # probability from which the pipeline detects speech


@dataclass(frozen=True, slots=True)
class Tried:
    """The test result of a wake word's model."""

    word: str  # as people say it
    heard: bool
    best: float  # its highest score, 0 to 1
    known: bool  # the word comes with the engine, so its clips are known to work

    @property
    def told(self) -> str:
        if self.heard:
            return f"{self.word} heard, {self.best:.2f}"
        if self.known:
            return f"{self.word} not heard, {self.best:.2f} at most"
        return (
            f"{self.word}: the model runs ({self.best:.2f}), but there is no good clip to test it"
        )


def judge_wake(tried: Sequence[Tried], fooled: Sequence[str], engine: str) -> Found:
    """Check the wake words. `fooled` contains the wake words that other speech triggered."""
    told = f"{engine}, clips by espeak-ng: {'; '.join(one.told for one in tried)}"
    if fooled:
        return odd(
            f"{told}; other speech triggered {', '.join(fooled)}",
            "set wake.sensitivity to a lower value",
        )
    told += "; ignored other speech"
    missed = [one for one in tried if one.known and not one.heard]
    if any(one.best < _CAME_NEAR for one in missed):
        return bad(told, "reinstall Hearth: the wake-word model does not recognise its word")
    if missed:
        return odd(told, "say it yourself: `hearth setup` shows how well it hears you")
    return good(told)


async def _wake_word(scene: Scene) -> Found:
    return await asyncio.to_thread(_try_words, scene)


def _try_words(scene: Scene) -> Found:
    settings = scene.settings
    models = [word.model for word in settings.wake.words]
    try:
        engine = wake_engine(settings)
    except AudioError as error:
        return bad("cannot listen for the wake word", str(error))
    try:
        known = built_in_words(settings.wake.engine)
        tried = [_try_word(engine, model, model in known) for model in models]
        fired, _ = _hear(engine, speak(OTHER_SPEECH, TAKES[0]), models)
        fooled = [called(model) for model in models if model in fired]
        return judge_wake(tried, fooled, settings.wake.engine)
    except AudioError as error:
        names = ", ".join(models)
        return odd(f"{names} ({settings.wake.engine}): it loads, but was not tested", str(error))
    finally:
        engine.close()


def _try_word(engine: WakeEngine, model: str, known: bool) -> Tried:
    best = 0.0
    for take in TAKES:
        fired, scores = _hear(engine, speak(spelled(model), take), [model])
        best = max(best, scores[model])
        if model in fired:
            return Tried(called(model), True, best, known)
    return Tried(called(model), False, best, known)


def _hear(
    engine: WakeEngine, sound: bytes, words: Sequence[str]
) -> tuple[Collection[str], Mapping[str, float]]:
    engine.restart()
    fired, best = set[str](), dict.fromkeys(words, 0.0)
    for frame, end in _frames(sound):
        if detection := engine.hear(frame, end):
            fired.add(detection.word)
        best = {word: max(score, engine.scores[word]) for word, score in best.items()}
    return fired, best


def _frames(sound: bytes) -> Iterator[tuple[bytes, int]]:
    for number, start in enumerate(range(0, len(sound) - FRAME_BYTES + 1, FRAME_BYTES), 1):
        yield sound[start : start + FRAME_BYTES], number * FRAME_SAMPLES


def judge_detector(kind: str, speech: float, silence: float) -> Found:
    """Check that the voice detector can distinguish speech from silence. `speech` and `silence` are
    the highest probabilities that it returned for each."""
    told = f"{kind}: speech {speech:.2f}, silence {silence:.2f}"
    if speech < _SPEECH or silence >= _SPEECH:
        return bad(told, "reinstall Hearth: the detector cannot tell speech from silence")
    if kind != "Silero":
        return odd(told, "Silero's better detector does not load here; run with --debug to see why")
    return good(told)


async def _detector(scene: Scene) -> Found:
    return await asyncio.to_thread(_try_detector)


def _try_detector() -> Found:
    try:
        sound = speak(OTHER_SPEECH, TAKES[-1])
    except AudioError as error:
        return odd("not tested", str(error))
    detector = make_voice_detector()
    kind = type(detector).__name__.removesuffix("Detector")
    silence = bytes(len(sound) // 2)
    return judge_detector(kind, _loudest(detector, sound), _loudest(detector, silence))


def _loudest(detector: VoiceDetector, sound: bytes) -> float:
    detector.reset()
    judged = (voicing for frame in _frames(sound) for voicing in detector.hear(*frame))
    return max((voicing.probability for voicing in judged), default=0.0)


async def _stop_words(scene: Scene) -> Found:
    settings = scene.settings
    typed = ", ".join(languages_with(settings.assistant.languages)) or "en"
    works = ["the wake word", f"typed or in a transcript: {typed}"]
    if not settings.offline.recognizer:
        works.append(
            "heard directly: the English stop words, while the echo is cancelled and between rings"
        )
    folder = models_folder(settings)
    found = STOP_WORD in await asyncio.to_thread(added_words, settings.wake.engine, folder)
    works.append(f"the model {STOP_WORD}" if found else f"no model {STOP_WORD} in {folder}")
    return good("; ".join(works))


# espeak-ng speaks the clips for the wake word check. The voices in TAKES were chosen by
# measurements with espeak-ng 1.51 and 1.52: each built-in word of either engine is detected in at
# least one of them, at normal and low sensitivity. With 1.51, `klatt2` at 150 words a minute
# triggers all words. `hey_jarvis` with the engine micro is the hardest: at low sensitivity only one
# voice triggers it.


OTHER_SPEECH = "What is the weather going to be like tomorrow afternoon?"

_LIMIT_S = 8.0  # seconds for espeak-ng, which takes about 0.1 s
_BEFORE_S, _AFTER_S = 0.5, 1.0  # seconds of silence before and after the speech
# Spellings with which espeak-ng pronounces the words as in the models' training data.
_SPELLED = {"okay_nabu": "okay nah boo", "hey_mycroft": "hey my croft", "hey_rhasspy": "hey raspy"}


@dataclass(frozen=True, slots=True)
class Take:
    voice: str  # an espeak-ng voice
    words_a_minute: int


TAKES = (
    Take("en-us+klatt2", 150),
    Take("en-us+klatt2", 175),
    Take("en-us+m7", 150),
    Take("en-us+klatt2", 160),
    Take("en-us+f4", 175),
    Take("en-us", 175),
)


def called(model: str) -> str:
    """Return the wake word of a model as people write it. `model` is a name such as "okay_nabu" or
    the path of a model file."""
    return model.rpartition("/")[2].partition(".")[0].replace("_", " ")


def spelled(model: str) -> str:
    """Return the model's wake word, spelled so that espeak-ng pronounces it correctly."""
    return _SPELLED.get(model, called(model))


def speak(text: str, take: Take) -> bytes:
    """Return the speech with silence around it, as mono int16 at SAMPLE_RATE. Blocking. Raises
    InputUnusable if espeak-ng is missing or fails."""
    command = ["espeak-ng", "--stdin", "--stdout", "-b", "1", "-v", take.voice]
    try:
        made = subprocess.run(
            [*command, "-s", str(take.words_a_minute)],
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LIMIT_S,
            check=True,
        ).stdout[HEADER_BYTES:]
    except FileNotFoundError as error:
        raise InputUnusable(
            "espeak-ng is not installed; run: sudo apt install espeak-ng"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise InputUnusable("espeak-ng failed; run `espeak-ng hello` to see why.") from error
    if len(made) < RATE // 4:
        raise InputUnusable("espeak-ng made no sound; run `espeak-ng hello` to see why.")
    sound = resample(made[: len(made) // 2 * 2], RATE, SAMPLE_RATE)
    return _silence(_BEFORE_S) + sound + _silence(_AFTER_S)


def _silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * SAMPLE_RATE))


CHECKS: tuple[Check[Scene], ...] = (
    Check("wake word", _wake_word, limit_s=20.0),  # runs up to seven clips per word
    Check("voice detector", _detector),
    Check("stop words", _stop_words),
    Check("voice", voice, limit_s=30.0),  # loading large models from a slow SD card takes long
)
