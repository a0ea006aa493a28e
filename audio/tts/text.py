"""Text that no engine can take as an instruction."""

import re
import unicodedata

_PHONEME_BRACKETS = re.compile(r"\[\[|\]\]")  # espeak-ng and Piper read phonemes between them


def plain(text: str) -> str:
    """One line without control characters and phoneme brackets."""
    printable = "".join(" " if unicodedata.category(char)[0] == "C" else char for char in text)
    return " ".join(_PHONEME_BRACKETS.sub(" ", printable).split())
