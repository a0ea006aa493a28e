"""Keeps out of the answer what the model writes into its transcript without saying it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_SILENCE = "[silence]"  # written by some models for a pause (reports on the 2.5 models)


class SilenceFilter:
    """Takes `[Silence]` out of a text that comes in pieces, wherever they are cut."""

    def __init__(self) -> None:
        self._held = ""  # may turn out to be the token's beginning

    def push(self, piece: str) -> str:
        """What of the text so far is certain and has not been given yet."""
        text = _without_silence(self._held + piece)
        start = _start_of_token(text)
        self._held = text[start:]
        return text[:start]

    def flush(self) -> str:
        """What was held back, once no more text comes."""
        held, self._held = self._held, ""
        return held


def _without_silence(text: str) -> str:
    return re.sub(re.escape(_SILENCE), "", text, flags=re.IGNORECASE)


def _start_of_token(text: str) -> int:
    """Where the longest end of `text` begins that is a beginning of the token."""
    for length in range(min(len(_SILENCE) - 1, len(text)), 0, -1):
        if _SILENCE.startswith(text[-length:].casefold()):
            return len(text) - length
    return len(text)


class EchoFilter:
    """Drops the phantom transcript that some models send after a function call.

    Reported of gemini-3.1-flash-live: right after a call comes an output transcription that is
    nothing but one of the call's string arguments, in a frame without sound. As long as the call
    is unanswered the model cannot be speaking, so such a text is dropped at once. After the answer
    a real sentence may begin with the same words ("Milk", " is on your list."): the text is held
    until the next piece tells whether it goes on, or until sound and the end show that it was said.
    """

    def __init__(self) -> None:
        self._echoes: frozenset[str] = frozenset()
        self._held = ""
        self._sounded = False  # since the text is held

    def called(self, arguments: Iterable[Mapping[str, Any]]) -> None:
        """Functions are called with `arguments`."""
        texts = (_plain(text) for each in arguments for text in _strings(each))
        self._echoes = frozenset(text for text in texts if text)
        self._held = ""

    def sound(self) -> None:
        """The model is heard."""
        if self._held:
            self._sounded = True

    def push(self, piece: str, with_sound: bool, answered: bool) -> str:
        """The text that is to be said, of a piece of transcript; `answered`: no call is open."""
        if not piece:
            return ""
        if not with_sound and not self._held and _plain(piece) in self._echoes:
            if answered:
                self._held, self._sounded = piece, False
            return ""
        held, self._held = self._held, ""
        if piece.strip():
            self._echoes = frozenset()
        return held + piece if _continues(piece) else piece

    def flush(self) -> str:
        """What was held back, if it was said after all."""
        held, self._held = self._held, ""
        return held if self._sounded else ""


def _continues(piece: str) -> bool:
    """Whether a piece goes on with the sentence before it: transcripts come with their spaces."""
    return not (piece[0].isupper() or piece[0] in "¿¡")


def _plain(text: str) -> str:
    """Words only, so that case, full stops and spaces make no difference."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _strings(value: Any) -> Iterator[str]:
    """Every text among the arguments, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _strings(inner)
