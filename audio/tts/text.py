"""Text that no engine can take as an instruction."""

import re
import unicodedata

_PHONEME_BRACKETS = re.compile(r"\[\[|\]\]")  # espeak-ng and Piper read phonemes between them

_LETTER_A = re.compile(r"(?<=\b[A-Z] )A\b|\bA(?= [A-Z]\b)")


def plain(text: str) -> str:
    """One line without control characters and phoneme brackets."""
    printable = "".join(" " if unicodedata.category(char)[0] == "C" else char for char in text)
    return " ".join(_PHONEME_BRACKETS.sub(" ", printable).split())


def spelled(text: str, language: str) -> str:
    """ "H V A C" so that its "A" is no article: espeak-ng's English, which Piper's phonemes are
    too, reads "A" among letters as in "a house", and "eigh" as the letter."""
    return _LETTER_A.sub("eigh", text) if language.startswith("en") else text
