"""Recognise utterances that need no answer: stop words and the echo of Hearth's own voice."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache

from assistant.confirmation.forms import Words, wording, words_of
from assistant.conversation.rules.effects import OpenTurn
from assistant.conversation.rules.events import AsideFor
from audio.errors import AudioError

_log = logging.getLogger(__name__)

# Stop words in audio: short utterances, recognised on this device without a grammar.


HearsStop = Callable[[bytes], Awaitable[bool]]  # takes 16 kHz mono int16; never raises


# Stop words by language. They count only if they are the whole sentence.


FALLBACK = "en"  # used if none of the configured languages has stop words

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
    """Return True if the whole text asks for silence in one of these languages. Polite words around
    it, and the words of `wake_word` (such as "okay_nabu") before it, are ignored."""
    return any(_is_stop(text, code, wake_word) for code in _known(languages))


def languages_with(languages: Sequence[str]) -> tuple[str, ...]:
    """Return the base codes (such as "en" for "en-GB") of those languages that have stop words."""
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
    size = len(polite)
    if words[:size] == polite:
        words = words[size:]
    return words[:-size] if words[-size:] == polite else words


def _base(code: str) -> str:
    return code.replace("_", "-").split("-")[0].lower()


async def hears_stop(
    pcm: bytes, transcribe: Callable[[bytes], Awaitable[str]], languages: Sequence[str] = ("en",)
) -> bool:
    """Return True if a short utterance is recognised as a stop word. `languages` are the languages
    that `transcribe` recognises.

    If `transcribe` raises AudioError, the error is logged and False is returned.
    """
    try:
        text = await transcribe(pcm)
    except AudioError as error:
        _log.warning("listening for a stop word failed: %s", error)
        return False
    return is_stop_word(text, languages)


#
# Echo detection: compare the transcript with Hearth's own latest text.
#
# Used only for speech that began while Hearth spoke: later speech comes from a person.


LEAST_WORDS = 4  # shorter sentences count as a person's

OURS_SHARE = 0.8  # share of Hearth's words that makes a sentence an echo

LAST_WORDS = 50  # Hearth's latest words that are compared, about 20 s of speech


def is_echo(heard: str, ours: Iterable[str], languages: Sequence[str]) -> bool:
    """Return True if `heard` repeats what Hearth last said. Text that is very short, or contains a
    yes or no in one of `languages`, never counts.

    `ours` contains the clauses that Hearth has played, in order.
    """
    words = words_of(heard)
    if words is None or len(words) < LEAST_WORDS:
        return False
    said = [word for clause in ours for word in words_of(clause) or ()][-LAST_WORDS:]
    known = set(said)
    if not _answers(tuple(languages)).isdisjoint(words):
        return False
    return sum(word in known for word in words) >= OURS_SHARE * len(words)


@cache
def _answers(languages: tuple[str, ...]) -> frozenset[str]:
    codes = {code.replace("_", "-").split("-")[0].lower() for code in languages}
    forms = [found for code in codes if (found := wording(code)) is not None]
    single = [one[0] for form in forms for one in form.yes | form.no if len(one) == 1]
    # `words_of` removes accents.
    return frozenset(word for one in single for word in words_of(one) or ())


# Decides whether a turn needs an answer. An echo or a stop word does not.


class Judge:
    """Decides whether a turn's transcript needs an answer, depending on how the turn started."""

    def __init__(
        self, opening: OpenTurn, languages: Sequence[str], ours: Callable[[], Sequence[str]]
    ) -> None:
        """`languages` are the configured languages. `ours` returns the clauses that Hearth has just
        played."""
        self._languages = languages
        self._ours = ours
        self._wake_word = opening.wake.word if opening.wake is not None else ""
        # Only speech that began while Hearth spoke can be its echo.
        self.may_be_echo = opening.source == "barge_in"
        self._may_be_stop = opening.over_ours or opening.source in ("follow_up", "barge_in")

    def judge(self, heard: str | None) -> AsideFor | None:
        """Return the reason why this transcript needs no answer, or None if it needs one or is
        empty."""
        if not heard:
            return None
        if self._may_be_stop and is_stop_word(heard, self._languages, self._wake_word):
            return "stop_word"
        if self.may_be_echo and is_echo(heard, self._ours(), self._languages):
            return "echo"
        return None

    def forget(self) -> None:
        """Release the previous turn's clauses."""
        self._ours = tuple
