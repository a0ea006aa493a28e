"""Text of any recogniser in one form: lower case, single spaces, no sentence marks."""

import re

_MARKS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[;!?¿¡…\"“”«»()\[\]]")  # 21.5 and 7:30 keep theirs


def plain_words(text: str) -> str:
    """The words alone: "Turn on the light!" becomes "turn on the light"."""
    return " ".join(_MARKS.sub(" ", text).lower().split())
