"""What one turn says: a stretch of speech, and after a question of ours a further one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from assistant.confirmation.wording import Words, wording, words_of
from assistant.conversation.reply import SpokenReply
from assistant.conversation.timeline import Timeline
from assistant.speech.answer import SpokenAnswer
from assistant.speech.clauses import ClauseCutter
from assistant.speech.identify import TurnLanguage
from assistant.speech.manner import PLAIN, Manner
from assistant.speech.output import SpeechOutput
from audio.errors import AudioError

_log = logging.getLogger(__name__)


class Speech:
    """The turn's words in order. `reply` is the stretch that is being made."""

    def __init__(
        self,
        language: TurnLanguage,
        mouth: SpeechOutput,
        timeline: Timeline,
        on_first_audio: Callable[[], None],
        announced: Manner | None = None,
    ) -> None:
        """`on_first_audio` is told of the first sample of each stretch. `announced`: nobody
        asked for it, and it is said like that."""
        self.reply = SpokenReply(language)
        self.problem: str | None = None  # why something could not be played
        self.tone_ms = 0.0  # how long the tone before an announcement is
        self._language = language
        self._mouth = mouth
        self._timeline = timeline
        self._on_first_audio = on_first_audio
        self._announced = announced
        self._said = SpokenAnswer((), 0.0)  # before the present stretch
        self._told = ""

    @property
    def text(self) -> str:
        """All that was answered so far."""
        return f"{self._told} {self.reply.text}".strip()

    @property
    def spoken(self) -> SpokenAnswer:
        """What was said of it."""
        return self._said + self.reply.spoken

    def announce(self, text: str) -> None:
        """All that is said: the tone, the clip and the words, as far as there are any."""
        manner = self._announced or PLAIN
        if manner.sound and self._mouth.has_sound(manner.sound):
            self.tone_ms = self.reply.tone(manner.sound)
        if manner.clip is not None:
            self.reply.play(manner.clip.pcm, manner.clip.rate)
        cutter = ClauseCutter()
        for clause in [*cutter.push(text), *cutter.flush()]:
            self.reply.say(clause, self._language.code)
        self.reply.finish()

    def begin(self, sentence: str, language: str) -> None:
        """A further stretch, which begins with a sentence of our own, "" for none."""
        self._said, self._told = self.spoken, self.text
        self.reply = SpokenReply(self._language)
        if sentence:
            self.reply.say(sentence, language)

    async def say(self) -> bool:
        """Say the stretch. Whether it has sounded to its end."""
        try:
            if not await self.reply.speak(self._mouth, self._first_audio, self._announced):
                return False
        except AudioError as error:
            _log.error("the answer could not be played: %s", error)
            self.problem = str(error)
            return False
        self._timeline.mark("answer_done")
        return True

    async def pass_over(self) -> None:
        """Wait for the end of the stretch, and say nothing of it."""
        await self.reply.pass_over()
        self._timeline.mark("answer_done")

    async def instead(
        self, sentence: str, language: str, speaking: asyncio.Task[None] | None
    ) -> bool:
        """Say this alone once `speaking`, the stretch before, has come to its end; what of it has
        not begun to sound is void."""
        self.reply.withdraw()
        self.reply.finish()
        if speaking is not None:
            await asyncio.wait([speaking])
        self.begin(sentence, language)
        self.reply.finish()
        return await self.say()

    async def further(self, sentence: str, language: str) -> bool:
        """Say this alone, behind a stretch that has come to its end."""
        self.begin(sentence, language)
        self.reply.finish()
        return await self.say()

    def _first_audio(self) -> None:
        self._timeline.mark("first_audio_out")
        self._on_first_audio()


# Stop words by ear: a short piece of sound, decoded freely on this machine.


class StopListener(Protocol):
    """Hears whether a short piece of speech is a stop word."""

    async def hears_stop(self, pcm: bytes) -> bool:
        """Judge 16 kHz mono int16. Never raises."""
        ...


class DecodedStop:
    """By a recogniser's free text."""

    def __init__(
        self,
        transcribe: Callable[[bytes], Awaitable[str]],
        languages: Sequence[str] = ("en",),
    ) -> None:
        """`transcribe` may raise AudioError. `languages`: of its text; pocketsphinx has English."""
        self._transcribe = transcribe
        self._languages = languages

    async def hears_stop(self, pcm: bytes) -> bool:
        try:
            text = await self._transcribe(pcm)
        except AudioError as error:
            _log.warning("a stop word could not be listened for: %s", error)
            return False
        return is_stop_word(text, self._languages)


# The stop words of each language: a whole sentence is one of them, or it is none.


FALLBACK = "en"  # where none of the configured languages has stop words

_FORMS: Mapping[str, tuple[str, ...]] = {
    "de": (
        "stopp",
        "stop",
        "halt",
        "genug",
        "ruhe",
        "sei still",
        "schluss",
        "hör auf",
        "abbrechen",
    ),
    "en": (
        *("stop", "stop it", "stop that", "stop talking", "stop now", "stop stop", "be quiet"),
        *("quiet", "silence", "shush", "hush", "shut up", "enough", "that's enough", "okay stop"),
        *("cancel", "cancel that", "never mind", "forget it"),
    ),
    "es": (
        *("para", "para ya", "párate", "detente", "alto", "stop", "basta", "basta ya", "silencio"),
        *("cállate", "calla", "ya está bien", "déjalo", "cancela", "cancelar", "olvídalo"),
    ),
    "fr": ("stop", "arrête", "arrête-toi", "arrêtez", "silence", "tais-toi", "ça suffit", "annule"),
    "pt": ("para", "pare", "parar", "stop", "chega", "basta", "silêncio", "cala-te", "cancela"),
    "vi": ("dừng", "dừng lại", "thôi", "im lặng", "đủ rồi", "hủy"),
}


def is_stop_word(text: str, languages: Sequence[str], wake_word: str = "") -> bool:
    """Whether the whole text asks for silence, in one of these languages.

    Polite words around it do not count, nor does the end of the `wake_word` (such as "okay_nabu")
    in front of it.
    """
    return any(_is_stop(text, code, wake_word) for code in _known(languages))


def languages_with(languages: Sequence[str]) -> tuple[str, ...]:
    """Those of the languages that have stop words, as bare codes."""
    return tuple(dict.fromkeys(base for code in languages if (base := _base(code)) in _FORMS))


def _known(languages: Sequence[str]) -> tuple[str, ...]:
    return languages_with(languages) or (FALLBACK,)


def _is_stop(text: str, code: str, wake_word: str) -> bool:
    forms = wording(code)
    marks_tell = forms is not None and forms.marks_tell
    words = words_of(text, marks_tell) or ()
    wake = set(wake_word.split("_"))
    while words and words[0] in wake:
        words = words[1:]
    polite = forms.polite if forms is not None else frozenset[Words]()
    for phrase in sorted(polite, key=len, reverse=True):
        words = _without(words, phrase)
    return words in {words_of(form, marks_tell) for form in _FORMS[code]}


def _without(words: Words, polite: Words) -> Words:
    """Without that phrase at either end."""
    size = len(polite)
    if words[:size] == polite:
        words = words[size:]
    return words[:-size] if words[-size:] == polite else words


def _base(code: str) -> str:
    return code.replace("_", "-").split("-")[0].lower()
