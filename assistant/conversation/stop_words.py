"""The stop words of each language: a whole sentence is one of them, or it is none."""

from collections.abc import Mapping, Sequence

from assistant.confirmation.wording import Words, wording, words_of

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
