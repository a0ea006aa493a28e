"""English speech recognition with pocketsphinx, using a grammar or its language model."""

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pocketsphinx

from audio.errors import InputUnusable, TookTooLong
from audio.frames import SAMPLE_RATE
from audio.recognize.network import Network, network_of, readings
from audio.recognize.protocol import Decoding, Grammar, HeardWord


def add_network(
    decoder: Any, search: str, jsgf: str, pronunciations: Mapping[str, Sequence[str]]
) -> None:
    """Add a grammar to the decoder as the search named `search`, without activating it. Raises
    InputUnusable if the grammar can't be parsed or contains a word without a pronunciation."""
    try:
        network = network_of(jsgf)
    except ValueError as error:
        raise InputUnusable(f"The speech grammar cannot be built: {error}.") from error
    _add_words(decoder, network, pronunciations)
    decoder.add_fsg(search, decoder.create_fsg(search, *_steps(network)))


def _add_words(decoder: Any, network: Network, pronunciations: Mapping[str, Sequence[str]]) -> None:
    missing = [word for word in network.words() if decoder.lookup_word(word) is None]
    known = {**pronunciations, **readings(missing)}
    for word in missing:
        if word not in known:
            raise InputUnusable(
                f"The speech grammar cannot be built: the pronunciation of {word!r} is unknown."
            )
        for number, phones in enumerate(known[word], start=1):
            decoder.add_word(word if number == 1 else f"{word}({number})", phones, False)


def _steps(network: Network) -> tuple[int, int, list[tuple[int, int, float] | tuple[object, ...]]]:
    return (
        network.start,
        network.final,
        [
            (arc.source, arc.target, arc.weight, *([arc.word] if arc.word else ()))
            for arc in network.arcs
        ],
    )


_PIECE_BYTES = SAMPLE_RATE // 10 * 2  # 100 ms, because decoding holds the interpreter's lock
_FRAME_SAMPLES = SAMPLE_RATE // 100  # pocketsphinx counts in 10 ms
_FILLERS = ("<", "[", "++", "(NULL)")  # silence and noise, as pocketsphinx writes them

_UNDERFLOW = -745.0  # natural log of the smallest double

# Names of the searches that one decoder holds.
_GRAMMAR = "grammar"
_FREE = "free"
_PHONES = "phones"
_LEVEL = "level"  # recognises almost nothing; used only to measure the audio's level
_DIGITS = "digits"

_LEVEL_JSGF = "#JSGF V1.0; grammar level; public <level> = oh;"
_DIGITS_JSGF = """#JSGF V1.0; grammar digits;
public <digits> = (zero | oh | one | two | three | four | five | six | seven | eight | nine)+;"""
# People pause between digits. With pocketsphinx's defaults (0.005, 0.65), a pause became a short
# word: of 80 PINs by four flite voices, 9 were recognised; with these values, 73.
_DIGITS_WEIGHTS = {"silprob": 0.5, "wip": 1e-3}
# Mean fit over the words. Other speech fits worse: 139 of 180 sentences gave four digits or more,
# but none reached this fit, while all the PINs did.
_DIGITS_FIT = -5.1


@dataclass(frozen=True, slots=True)
class _Segment:
    word: str
    start: int  # frames of 10 ms
    end: int  # frames, exclusive
    score: float  # natural log of the acoustic likelihood


class SphinxRecognizer:
    """A recogniser with pocketsphinx 5 and the en-us model from its wheel. Use it on one thread at
    a time.

    The model (25 MB, 0.15 s) is loaded with the first audio or word.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._late_at = math.inf
        self._level = ""  # level (cepstral mean) of the model's training data
        self._measured: tuple[bytes, str] = (b"", "")
        self._grammar_ready = False
        self._free_ready = False
        self._digits_ready = False

    @cached_property
    def _decoder(self) -> Any:
        # Free decoding recognises as much without its second pass and with a bounded search, at
        # half the cost.
        decoder = pocketsphinx.Decoder(lm=None, fwdflat=False, maxhmmpf=5000, loglevel="FATAL")
        self._level = decoder.get_cmn()
        self._measured = (b"", self._level)
        decoder.add_allphone_file(_PHONES, None)
        decoder.add_jsgf_string(_LEVEL, _LEVEL_JSGF)
        decoder.activate_search(_LEVEL)
        return decoder

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",)

    def finish_within(self, seconds: float) -> None:
        self._late_at = self._now() + seconds

    def unknown(self, words: Sequence[str]) -> list[str]:
        return [word for word in dict.fromkeys(words) if self._decoder.lookup_word(word) is None]

    def phones(self, word: str) -> tuple[str, ...]:
        return tuple((self._decoder.lookup_word(word) or "").split())

    def prepare(self, grammar: Grammar) -> None:
        self._decoder.activate_search(_LEVEL)
        if self._grammar_ready:
            self._decoder.remove_search(_GRAMMAR)
            self._grammar_ready = False
        add_network(self._decoder, _GRAMMAR, grammar.jsgf, grammar.pronunciations)
        self._grammar_ready = True

    def decode(self, pcm: bytes) -> Decoding:
        if not self._grammar_ready:
            return Decoding(())
        words = [part for part in self._run(_GRAMMAR, pcm) if not part.word.startswith(_FILLERS)]
        loop = self._phone_loop(pcm) if words else []
        return Decoding(tuple(_judged(part, loop) for part in words))

    def transcribe(self, pcm: bytes) -> str:
        return self.decode_freely(pcm).text

    def decode_freely(self, pcm: bytes) -> Decoding:
        if not self._free_ready:
            self._decoder.add_lm_file(_FREE, pocketsphinx.get_model_path("en-us/en-us.lm.bin"))
            self._free_ready = True
        words = [part for part in self._run(_FREE, pcm) if not part.word.startswith(_FILLERS)]
        return Decoding(tuple(_judged(part, ()) for part in words))

    def spell(self, pcm: bytes) -> str:
        try:
            judged = self._digits(pcm)
        finally:
            self._measured = (b"", self._level)  # a secret must not be kept
        if not judged or sum(word.fit for word in judged) / len(judged) < _DIGITS_FIT:
            return ""
        return Decoding(tuple(judged)).text

    def _digits(self, pcm: bytes) -> list[HeardWord]:
        config = self._decoder.config
        usual = {name: config[name] for name in _DIGITS_WEIGHTS}
        try:
            # pocketsphinx reads these when a search begins.
            for name, weight in _DIGITS_WEIGHTS.items():
                config[name] = weight
            if not self._digits_ready:
                self._decoder.add_jsgf_string(_DIGITS, _DIGITS_JSGF)
                self._digits_ready = True
            words = [part for part in self._run(_DIGITS, pcm) if not part.word.startswith(_FILLERS)]
        finally:
            for name, weight in usual.items():
                config[name] = weight
        loop = self._phone_loop(pcm) if words else []
        return [_judged(part, loop) for part in words]

    def _phone_loop(self, pcm: bytes) -> list[float]:
        """Return the score of each 10 ms frame in the best phone sequence, without a grammar."""
        scores: list[float] = []
        for part in self._run(_PHONES, pcm):
            frames = part.end - part.start
            scores.extend([part.score / frames] * frames)
        return scores

    def _run(self, search: str, pcm: bytes) -> list[_Segment]:
        """Decode the audio after measuring its level. Without the measurement, a tenth fewer words
        are recognised."""
        decoder = self._decoder  # first, because it sets the level
        if self._measured[0] != pcm:
            self._feed(_LEVEL, pcm, self._level)
            self._measured = (pcm, decoder.get_cmn(True))
        self._feed(search, pcm, self._measured[1])
        return [
            _Segment(part.word, part.start_frame, part.end_frame + 1, _log(part.ascore))
            for part in self._decoder.seg() or ()
            if part.end_frame >= part.start_frame
        ]

    def _feed(self, search: str, pcm: bytes, level: str) -> None:
        self._decoder.activate_search(search)
        self._decoder.set_cmn(level)
        self._decoder.start_utt()
        try:
            for at in range(0, len(pcm), _PIECE_BYTES):
                if self._now() >= self._late_at:
                    raise TookTooLong("This machine is too slow to recognise the sentence.")
                self._decoder.process_raw(pcm[at : at + _PIECE_BYTES], False, False)
        finally:
            self._decoder.end_utt()


def _log(likelihood: float) -> float:
    return math.log(likelihood) if likelihood > 0.0 else _UNDERFLOW


def _plain(word: str) -> str:
    return word.partition("(")[0] or word


def _judged(part: _Segment, loop: Sequence[float]) -> HeardWord:
    fit = (part.score - sum(loop[part.start : part.end])) / (part.end - part.start) if loop else 0.0
    return HeardWord(_plain(part.word), part.start * _FRAME_SAMPLES, part.end * _FRAME_SAMPLES, fit)


_OTHER = "other_"  # prefix of one-phone words, which stand for all other speech
_LIVE_PHONES = (
    "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W"
    " Y Z ZH"
).split()
# Half the cost of pocketsphinx's defaults, with as many commands recognised.
_FAST = {"topn": 2, "beam": 1e-40, "pbeam": 1e-40, "wbeam": 1e-25}
# People pause. With pocketsphinx's defaults (0.005, 0.65), a pause becomes a short word, like the
# "to" in "to eight". The cost per word limits the loop, in which every phone is a word: if it is
# lower, noise alone turns commands into other speech; if it is higher, other speech becomes
# commands.
_WEIGHTS = {"silprob": 0.5, "wip": 0.01}
_PUBLIC = re.compile(r"^public <(\w+)> =", re.MULTILINE)


class SphinxLive:
    """A recogniser for streaming audio with pocketsphinx 5. Use it on one thread at a time.

    A loop of all phones competes with the grammar, so that other speech yields no words.
    """

    def __init__(self) -> None:
        self._decoder = pocketsphinx.Decoder(
            lm=None, dict=None, fwdflat=False, loglevel="FATAL", **_FAST, **_WEIGHTS
        )
        self._usual = self._decoder.get_cmn()
        self._decoder.add_word("oh", "OW", False)
        self._decoder.add_jsgf_string(_LEVEL, _LEVEL_JSGF)
        self._decoder.activate_search(_LEVEL)
        self._ready = self._open = False

    def unknown(self, words: Sequence[str]) -> list[str]:
        """Return the words that are not in the dictionary, without duplicates."""
        known = readings(words)
        return [word for word in dict.fromkeys(words) if word not in known]

    def prepare(self, grammar: Grammar) -> None:
        """Set the grammar for all further calls. Raises InputUnusable if it can't be built."""
        self.stop()
        self._decoder.activate_search(_LEVEL)
        if self._ready:
            self._decoder.remove_search(_GRAMMAR)
            self._ready = False
        others = {f"{_OTHER}{phone.lower()}": (phone,) for phone in _LIVE_PHONES}
        loop = " | ".join(others)
        jsgf = _PUBLIC.sub(
            rf"public <heard> = <\1> | <other>+;\n<other> = {loop};\n<\1> =",
            grammar.jsgf,
        )
        add_network(self._decoder, _GRAMMAR, jsgf, {**grammar.pronunciations, **others})
        self._ready = True

    def start(self, pcm: bytes) -> None:
        """Start a sentence with about 1 s of 16 kHz mono int16, from which the level is
        measured."""
        self.stop()
        self._decoder.activate_search(_LEVEL)
        self._decoder.set_cmn(self._usual)
        self._decoder.start_utt()
        self._push(pcm)
        self._decoder.end_utt()
        level = self._decoder.get_cmn(True)
        if not self._ready:
            return
        self._decoder.activate_search(_GRAMMAR)
        self._decoder.set_cmn(level)
        self._decoder.start_utt()
        self._open = True
        self._push(pcm)

    def hear(self, pcm: bytes) -> None:
        """Continue the sentence with 16 kHz mono int16 of any length."""
        if self._open:
            self._push(pcm)

    def words(self, before: int) -> tuple[str, ...]:
        """Return the words that began before sample `before` of the sentence, or () if it contains
        anything outside the grammar."""
        if not self._open or self._decoder.hyp() is None:
            return ()
        # Word ends are unknown, because the last word extends over the silence after it.
        segments = (one for one in self._decoder.seg() if one.start_frame * _FRAME_SAMPLES < before)
        said = [one.word.partition("(")[0] for one in segments]
        if any(word.startswith(_OTHER) for word in said):
            return ()
        return tuple(word for word in said if word and not word.startswith(_FILLERS))

    def stop(self) -> None:
        if self._open:
            self._decoder.end_utt()
            self._open = False

    def _push(self, pcm: bytes) -> None:
        for at in range(0, len(pcm), _PIECE_BYTES):
            self._decoder.process_raw(pcm[at : at + _PIECE_BYTES], False, False)
