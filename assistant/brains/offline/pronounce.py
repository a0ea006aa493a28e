"""Pronunciations for words outside the dictionary: espeak-ng's phonemes as ARPAbet."""

import logging
import shutil
import subprocess
from collections.abc import Sequence

_log = logging.getLogger(__name__)

_ACCENTS = ("en-us", "en-gb")  # two readings are better than one where nobody knows how it is said
_TIMEOUT_S = 20.0  # for all words together

# International Phonetic Alphabet as espeak-ng 1.51 writes English -> the 39 phones of CMUdict.
# Longest key wins; what is not here (stress, length, ties) is silent.
_ARPABET = {
    "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "əʊ": "OW", "ɔɪ": "OY",
    "aɪɚ": "AY ER", "aɪə": "AY AH", "iə": "IY AH", "eə": "EH R", "ʊə": "UH R", "ɪə": "IH R",
    "tʃ": "CH", "dʒ": "JH", "əl": "AH L", "ɜː": "ER", "ɔː": "AO", "ɑː": "AA", "oː": "AO",
    "uː": "UW", "iː": "IY", "eː": "EY", "aː": "AA",
    "a": "AE", "æ": "AE", "ɑ": "AA", "ɒ": "AA", "ɐ": "AH", "ʌ": "AH", "ə": "AH", "ɚ": "ER",
    "ɝ": "ER", "ɜ": "ER", "ɛ": "EH", "e": "EH", "ɪ": "IH", "ᵻ": "IH", "i": "IY", "ɔ": "AO",
    "o": "OW", "ʊ": "UH", "u": "UW", "y": "UW",
    "b": "B", "d": "D", "ð": "DH", "f": "F", "ɡ": "G", "g": "G", "h": "HH", "j": "Y", "k": "K",
    "l": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P", "ɹ": "R", "r": "R", "ɾ": "T", "s": "S",
    "ʃ": "SH", "t": "T", "θ": "TH", "v": "V", "w": "W", "x": "K", "z": "Z", "ʒ": "ZH", "ʔ": "T",
    "ɬ": "L", "ɲ": "N Y", "β": "V", "ɣ": "G", "ç": "HH",
}  # fmt: skip
# People read a made-up name with another vowel than espeak-ng, mostly in its first syllable.
_OTHER_VOWELS = {
    "IY": ("EH",), "EH": ("IY",), "AA": ("AE", "OW"), "AE": ("AA", "EY"), "AY": ("IH",),
    "IH": ("AY",), "OW": ("AA",), "AO": ("AA",), "UW": ("AH",), "AH": ("UW",), "EY": ("AE",),
}  # fmt: skip
_LATER_VOWELS = {"AY": ("IY", "IH")}  # "Zephyra"
_VOWELS = frozenset((*_OTHER_VOWELS, "AW", "ER", "OY", "UH"))
_LONGEST = max(len(symbol) for symbol in _ARPABET)


def arpabet(ipa: str) -> str:
    """One word's phones, separated by spaces, "" when nothing of it can be said."""
    phones: list[str] = []
    at = 0
    while at < len(ipa):
        for length in range(_LONGEST, 0, -1):
            phone = _ARPABET.get(ipa[at : at + length])
            if phone is not None:
                phones.append(phone)
                break
        at += length
    return " ".join(phones)


def pronounce(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """ARPAbet readings of each word, by one espeak-ng process per accent.

    A word that espeak-ng cannot say is absent. Without espeak-ng the result is empty.
    """
    program = shutil.which("espeak-ng")
    if program is None or not words:
        return {}
    readings: dict[str, dict[str, None]] = {word: {} for word in words}
    for accent in _ACCENTS:
        for word, ipa in zip(words, _phonemes(program, accent, words), strict=False):
            phones = arpabet(ipa)
            if phones:
                readings[word] |= dict.fromkeys((phones, *_other_readings(phones)))
    return {word: tuple(found) for word, found in readings.items() if found}


def _other_readings(phones: str) -> list[str]:
    """The same with other vowels: in the first syllable, and for a long i in a later one."""
    said = phones.split()
    first = next((at for at, phone in enumerate(said) if phone in _VOWELS), len(said))
    found = [said]
    for at, phone in enumerate(said):
        others = _OTHER_VOWELS.get(phone, ()) if at == first else _LATER_VOWELS.get(phone, ())
        found += [[*one[:at], other, *one[at + 1 :]] for one in found for other in others]
    return [" ".join(one) for one in found[1:]]


def _phonemes(program: str, accent: str, words: Sequence[str]) -> list[str]:
    """One line of phonemes a word; empty when the program does not answer line by line."""
    run = subprocess.run(
        [program, "-q", "--ipa", "-v", accent],
        input="".join(f"{word}.\n\n" for word in words),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    lines = [line.strip() for line in run.stdout.splitlines() if line.strip()]
    if run.returncode != 0 or len(lines) != len(words):
        _log.warning("espeak-ng did not pronounce %d words", len(words))
        return []
    return lines
