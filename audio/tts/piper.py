"""Piper voices: natural speech, with a neural model for each voice.

piper-tts is GPL-3.0-or-later. It is imported only when a Piper voice is created; Hearth works
without it.

A model computes each phoneme's duration, in its only Ceil node, but doesn't return it. To get the
durations without the package `onnx`, this module appends an output with that node's name to the
file's bytes. This works because protobuf merges a field that occurs twice and concatenates lists
(https://protobuf.dev/programming-guides/encoding/#last-one-wins).
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

from audio.errors import InputUnusable
from audio.tts import Chunk, Speed, plain, speed_now, spelled

_log = logging.getLogger(__name__)
THREADS = 2  # with more, wake-word detection stutters on a four-core Pi
_NOT_INSTALLED = (
    "Piper is not installed: run `pip install piper-tts` in Hearth's environment, or set "
    'voice.engine = "espeak".'
)
NAMES_TOLD = 8  # speakers listed in the error for an unknown one


class PiperVoice:
    """A Piper voice file (`X.onnx` beside `X.onnx.json`), loaded on creation. It yields one chunk
    per sentence.

    `speaker` is the name or number of one of the voice's speakers; "" is the first. Raises
    InputUnusable if Piper or the file is missing, the file isn't a voice, or there is no such
    speaker.
    """

    def __init__(self, model_path: Path, speed: Speed = 1.0, speaker: str = "") -> None:
        self._path = model_path
        self._voice = _load(model_path)
        self._speed = speed
        self._speaker = _speaker(self._voice.config, speaker, self) if speaker else None
        self._tells_words = len(self._voice.session.get_outputs()) > 1

    @property
    def name(self) -> str:
        return f"piper:{self._path.stem}"

    @property
    def rate(self) -> int:
        return int(self._voice.config.sample_rate)

    def speak(self, text: str) -> Iterator[Chunk]:
        line = spelled(plain(text), str(self._voice.config.espeak_voice))
        if not line:
            return
        from piper import SynthesisConfig

        settings = SynthesisConfig(
            speaker_id=self._speaker,
            length_scale=float(self._voice.config.length_scale) / speed_now(self._speed),
            # Normalising each sentence would make a soft one as loud as a shout.
            normalize_audio=False,
        )
        try:
            positions = self._positions(text.split(), line)
            before = 0
            for chunk in self._voice.synthesize(line, settings, bool(positions)):
                lasting = [part.num_samples for part in chunk.phoneme_alignments or ()]
                ends = word_ends(positions, before, lasting) if lasting else ()
                before += len(chunk.phonemes)
                yield Chunk(bytes(chunk.audio_int16_bytes), ends)
        # Errors of onnxruntime and piper have no common base class; any of them means that this
        # voice cannot speak this clause.
        except Exception as error:
            raise InputUnusable(
                f"The voice {self._path.name} failed ({type(error).__name__}); "
                "check the file named in voice.models."
            ) from error

    def _positions(self, words: list[str], line: str) -> list[int]:
        if not self._tells_words or words != line.split():
            return []
        phonemes = self._voice.phonemize
        return word_positions(words, phonemes(line), phonemes)


def _speaker(config: Any, wanted: str, voice: PiperVoice) -> int:
    named: dict[str, int] = dict(config.speaker_id_map)
    if wanted in named:
        return named[wanted]
    number = int(wanted) if wanted.isdecimal() else -1
    if 0 <= number < config.num_speakers:
        return number
    told = voice.name.partition(":")[2]
    if config.num_speakers <= 1:
        raise InputUnusable(
            f"The voice {told} has only one speaker; remove speaker from voice.models."
        )
    some = ", ".join(list(named)[:NAMES_TOLD])
    names = f" or a name such as {some}" if some else ""
    raise InputUnusable(
        f'The voice {told} has no speaker "{wanted}"; set speaker in voice.models '
        f"to a number from 0 to {config.num_speakers - 1}{names}."
    )


@contextmanager
def _telling_durations(path: Path) -> Iterator[str]:
    """Yield the path of a model that also returns phoneme durations, if they can be found.

    The changed model is an in-memory file, because an onnxruntime session that is created from
    bytes would keep them in memory (60 MB for each voice).
    """
    model = path.read_bytes()
    told = durations_output(model)
    if not told:
        del model
        yield str(path)
        return
    with os.fdopen(os.memfd_create(path.stem), "wb") as file:
        file.writelines((model, told))
        del model
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


def _session(path: Path, options: Any) -> Any:
    import onnxruntime

    def load(model: str) -> Any:
        return onnxruntime.InferenceSession(
            model, sess_options=options, providers=["CPUExecutionProvider"]
        )

    try:
        with _telling_durations(path) as model:
            return load(model)
    # Durations are optional, so an error here must not make the voice unusable. A broken file fails
    # again below.
    except Exception as error:
        _log.info("%s does not report where its words end: %s", path.name, type(error).__name__)
        return load(str(path))


def need_piper() -> None:
    """Raise InputUnusable if Piper isn't installed. Doesn't import it."""
    if find_spec("piper") is None or find_spec("onnxruntime") is None:
        raise InputUnusable(_NOT_INSTALLED)


def _load(path: Path) -> Any:
    try:
        import onnxruntime
        import piper
    except ImportError as error:
        raise InputUnusable(_NOT_INSTALLED) from error
    description = path.with_name(path.name + ".json")
    for file in (path, description):
        if not file.is_file():
            raise InputUnusable(f"The voice file {file} is missing; name another in voice.models.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    # Spinning threads would keep two cores busy between sentences.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena keeps the memory of the longest clause so far: 200 MB for a medium-quality voice,
    # which is no slower without it (measured with tests/benchmarks/piper_medium.py).
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3  # errors only; they are also raised as exceptions
    try:
        config = piper.PiperConfig.from_dict(json.loads(description.read_text("utf-8")))
        session = _session(path, options)
    # A broken file causes one of many errors in json, piper and onnxruntime, which have no common
    # base class.
    except Exception as error:
        raise InputUnusable(
            f"{path} is not a Piper voice ({type(error).__name__}); download it again (hearth "
            "models check names it), or name another one in voice.models."
        ) from error
    return piper.PiperVoice(config=config, session=session)


# Piper's marks for pauses and intonation, which are not phonemes.
_MARKS = frozenset(".,;:!?¡¿…\"'()- ")
Sentences = Sequence[Sequence[str]]  # the phonemes of each sentence


def word_positions(
    words: Sequence[str], sentences: Sentences, spoken: Callable[[str], Sentences]
) -> list[int]:
    """Return, for each word, how many of the clause's phonemes have been spoken when it ends.

    `sentences` are the clause's phonemes, and `spoken` returns those of a single word.
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
    """Return where words end in a chunk, in samples from the chunk's start.

    `positions` covers all words of the clause. `before` is the number of the clause's phonemes
    before this chunk. `samples` contains the length of each of the chunk's phonemes, including its
    start and end marks.
    """
    until = list(accumulate(samples))
    count = len(samples) - 2  # without the begin and end marks
    inside = (position - before for position in positions)
    return tuple(int(until[place]) for place in inside if 0 < place <= count)


# Field numbers from onnx.proto3.
_MODEL_GRAPH = 7
_GRAPH_NODE = 1
_GRAPH_OUTPUT = 12
_NODE_OUTPUT = 2
_NODE_TYPE = 4
_VALUE_NAME = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types


def durations_output(model: bytes) -> bytes:
    """Return the bytes to append to a model so that it also returns phoneme durations, or b"" if
    that isn't possible or not necessary."""
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
    """Yield each field's number and content. A numeric field's content is empty.

    Raises ValueError or IndexError if the bytes are not protobuf.
    """
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
