"""Real ends of espeak-ng's words in its sound, from its library, which reports each word.

The program `espeak-ng`, by which Hearth speaks, makes the same sound and tells nothing.
"""

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

RATE = 22_050  # Hz
_LIBRARY = "libespeak-ng.so.1"
# Of espeak-ng's speak_lib.h.
_RETRIEVAL = 1  # the sound is given to the callback
_UTF8, _END_PAUSE = 0x0001, 0x1000  # the program always asks for the pause at the end
_WORD = 1  # event
_QUIET = 200  # int16; below is no sound of a word


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),  # of the word's first character, from 1
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),  # ms
        ("sample", ctypes.c_int),  # where the word begins
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@dataclass(frozen=True, slots=True)
class WordTimes:
    """A clause's sound, and where each whitespace-separated word of it ends."""

    text: str
    pcm: bytes  # mono int16 at RATE
    ends: tuple[int, ...]  # samples: behind a word's last sample that is not silent


@cache
def _library() -> Any:
    """None where there is none."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    assert library.espeak_Initialize(_RETRIEVAL, 0, None, 0) == RATE
    return library


def espeak_words(text: str, voice: str) -> WordTimes | None:
    """The text as espeak-ng's `voice` says it, at its own speed; None without the library."""
    library = _library()
    if library is None:
        return None
    sound: list[bytes] = []
    begins: dict[int, int] = {}  # a character of the text -> the sample at which it begins

    def take(wave: Any, samples: int, events: Any) -> int:
        if samples:
            sound.append(ctypes.string_at(wave, 2 * samples))
        number = 0
        while events[number].type:
            if events[number].type == _WORD:
                begins.setdefault(events[number].text_position - 1, events[number].sample)
            number += 1
        return 0

    callback = _Callback(take)
    library.espeak_SetSynthCallback(callback)
    assert library.espeak_SetVoiceByName(voice.encode()) == 0
    given = text.encode() + b"\0"
    library.espeak_Synth(given, len(given), 0, 1, 0, _UTF8 | _END_PAUSE, None, None)
    library.espeak_Synchronize()
    pcm = b"".join(sound)
    return WordTimes(text, pcm, _ends(text, pcm, begins))


def _ends(text: str, pcm: bytes, begins: dict[int, int]) -> tuple[int, ...]:
    """A word ends before the next one begins; one that is read together with the word before it
    ends with that word."""
    loud = np.flatnonzero(np.abs(np.frombuffer(pcm, np.int16).astype(np.int32)) > _QUIET)
    ends: list[int] = []
    behind = len(pcm) // 2
    for word in reversed(list(re.finditer(r"\S+", text))):
        before = int(np.searchsorted(loud, behind))
        ends.append(int(loud[before - 1]) + 1 if before else 0)
        inside = [at for place, at in begins.items() if word.start() <= place < word.end()]
        behind = min(inside, default=behind)
    return tuple(reversed(ends))
