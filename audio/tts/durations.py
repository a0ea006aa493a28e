"""Has a Piper model tell how long each phoneme lasts, without the package `onnx`.

Piper's models compute it and keep it to themselves: it is what their one Ceil node gives (piper's
own `patch_voice_with_alignment` looks for the same node). Here the name of that node's output is
read from the file, and an output of that name is appended to the file's bytes: a field of a
protobuf message that is there twice is merged when it is read, and lists are joined
(https://protobuf.dev/programming-guides/encoding/#last-one-wins).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

# Text that no engine can take as an instruction.


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


# Where words end in a neural voice's sound: from its phonemes and how long each of them is.


# Phonemes that are none, only how Piper tells a voice of pauses and of the melody.
_MARKS = frozenset(".,;:!?¡¿…\"'()- ")

Sentences = Sequence[Sequence[str]]  # the phonemes of each


def word_positions(
    words: Sequence[str], sentences: Sentences, spoken: Callable[[str], Sentences]
) -> list[int]:
    """How many of the clause's phonemes have sounded when each of its words has.

    A space parts two words, and so does the end of a sentence. A voice reads some words together
    ("of the") and one word as several ("1234"); then each word takes the part of the clause that it
    takes of all words spoken alone, which `spoken` tells: right within a word. Empty where nothing
    is spoken.
    """
    ends = _ends_of_groups(sentences)
    if len(ends) == len(words):
        return ends
    lengths = [len(_sounding(spoken(word))) for word in words]
    sounding = _sounding(sentences)
    whole = sum(lengths)
    if not whole or not sounding:
        return []
    parts = (done * len(sounding) / whole for done in accumulate(lengths))
    return [sounding[max(0, round(part) - 1)] for part in parts]


def _sounding(sentences: Sentences) -> list[int]:
    """How many phonemes there are up to each that is heard, itself included."""
    phonemes = (phoneme for sentence in sentences for phoneme in sentence)
    return [count for count, phoneme in enumerate(phonemes, 1) if phoneme not in _MARKS]


def _ends_of_groups(sentences: Sentences) -> list[int]:
    ends: list[int] = []
    count = 0
    for sentence in sentences:
        within = False
        for phoneme in sentence:
            count += 1
            if phoneme == " ":
                within = False
            elif phoneme not in _MARKS:
                ends[len(ends) - within :] = [count]
                within = True
    return ends


def word_ends(positions: Sequence[int], before: int, samples: Sequence[int]) -> tuple[int, ...]:
    """The ends, in samples from the chunk's begin, of the words that end in a chunk.

    `positions`: of all the clause's words. `before`: phonemes of the clause before this chunk.
    `samples`: how many each phoneme of the chunk lasts, its begin and end marks included.
    """
    until = list(accumulate(samples))
    count = len(samples) - 2  # without those marks
    inside = (position - before for position in positions)
    return tuple(int(until[place]) for place in inside if 0 < place <= count)


# Numbers of fields, from onnx.proto3.
_MODEL_GRAPH = 7
_GRAPH_NODE = 1
_GRAPH_OUTPUT = 12
_NODE_OUTPUT = 2
_NODE_TYPE = 4
_VALUE_NAME = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types


def durations_output(model: bytes) -> bytes:
    """What to append to a model's bytes, so that the durations are one more output.

    Empty where they are not found, are an output already, or the file is not understood.
    """
    try:
        graphs = [value for number, value in _fields(memoryview(model)) if number == _MODEL_GRAPH]
        names, outputs = set(), set()
        for number, value in (field for graph in graphs for field in _fields(graph)):
            if number == _GRAPH_OUTPUT:
                outputs.update(_texts(value, _VALUE_NAME))
            elif number == _GRAPH_NODE and _texts(value, _NODE_TYPE) == ["Ceil"]:
                names.update(_texts(value, _NODE_OUTPUT))
    except (IndexError, ValueError):
        return b""
    if len(names) != 1 or names & outputs:
        return b""
    name = _field(_VALUE_NAME, names.pop().encode())
    return _field(_MODEL_GRAPH, _field(_GRAPH_OUTPUT, name))


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and content of each field; the content of a plain number is empty."""
    here = 0
    while here < len(message):
        tag, here = _number(message, here)
        kind = tag & 7
        size = 0
        if kind == _BYTES:
            size, here = _number(message, here)
        elif kind == _VARINT:
            _, here = _number(message, here)
        elif kind in (_FIXED32, _FIXED64):
            here += 4 if kind == _FIXED32 else 8
        else:
            raise ValueError("no protobuf")
        if here + size > len(message):
            raise ValueError("cut off")
        yield tag >> 3, message[here : here + size]
        here += size


def _texts(message: memoryview, wanted: int) -> list[str]:
    return [bytes(value).decode() for number, value in _fields(message) if number == wanted]


def _number(message: memoryview, here: int) -> tuple[int, int]:
    """A variable-length number and where it ends."""
    number = shift = 0
    while True:
        byte = message[here]
        here += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, here
        shift += 7


def _field(number: int, content: bytes) -> bytes:
    return _written(number << 3 | _BYTES) + _written(len(content)) + content


def _written(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)
