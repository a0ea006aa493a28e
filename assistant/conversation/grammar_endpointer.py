"""Detect the end of a turn with a recogniser that knows the house's commands."""

import logging
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from assistant.brains.offline.grammar import WAKE, is_talk, sayable
from assistant.brains.offline.names import Names, house_names, naming
from assistant.brains.offline.parse import Parser
from assistant.conversation.endpointing import (
    GOES_ON,
    LAST_WORDS,
    Endings,
    PauseVerdict,
    hang_over,
    judge_path,
)
from assistant.tools.house.targets import find_area
from audio.errors import AudioError
from audio.frames import SAMPLES_PER_MS
from audio.recognize.sphinx import SphinxLive
from audio.recognize.steady_noise import LEAST_SAMPLES, SteadyNoise
from integrations.home_assistant.house import House

_log = logging.getLogger(__name__)

_PIECE_MS = 100  # audio decoded at a time
_BEFORE_MS = 300  # audio before the first voiced chunk that the decoder receives
_LEVEL_MS = 1300  # audio that the decoder needs to start; a pause also starts it
_LOOK_BACK_MS = 3000  # audio from which the room's noise is estimated
_LOOK_MS = (120, 210, 300, 500)  # silence after which the recognised words are examined
# The last word begins at least this long before the last voiced sample. Words that begin later were
# recognised in the noise of the pause, often "on", "off" or "eight", and would complete half a
# command.
_WORD_MS = 60
# A spoken "and" is longer: it usually begins 200 to 500 ms before the last voiced sample.
_MORE_MS = 200
_BEHIND_MS = 2000  # backlog at which the decoder is too slow to be used for this turn


@dataclass(slots=True)
class _Sentence:
    """The sentence of one turn. The audio thread and the decoder's thread share it, but each field
    is written by only one of them."""

    # Audio thread: the pause (its last voiced sample) and how often it was examined.
    looked: tuple[int, int] = (-1, -1)
    sent: int = 0  # audio thread: samples passed to the decoder
    started: bool = False  # audio thread: the decoder has been started
    lost: bool = False  # audio thread: the decoder is no longer used for this turn
    first: int = 0  # decoder thread: first sample of its audio
    decoded: int = 0  # decoder thread: samples decoded
    # Decoder thread: the latest pause and its verdict.
    judged: tuple[int, PauseVerdict] = (-1, PauseVerdict.UNKNOWN)

    def look(self, pause: int, due: int) -> bool:
        new, self.looked = self.looked != (pause, due), (pause, due)
        return new

    def start(self, samples: int, *, enough: bool) -> None:
        """Record that the decoder starts with this many earlier samples, or that it isn't used for
        this turn because there is not `enough` audio."""
        self.started, self.sent, self.lost = True, samples, not enough

    def send(self, samples: int) -> bool:
        """Count another block of samples. Return False if the decoder has fallen too far behind to
        be used for this turn."""
        self.sent += samples
        self.lost = self.sent - self.decoded > (_BEHIND_MS + _LEVEL_MS) * SAMPLES_PER_MS
        return not self.lost

    def open(self, first: int, samples: int) -> None:
        self.first, self.decoded = first, samples

    def decode(self, samples: int) -> None:
        self.decoded += samples

    def judge(self, pause: int, verdict: PauseVerdict) -> None:
        # Within one pause, an unfinished command cannot become complete, because any word that
        # seems to complete it is noise.
        at, earlier = self.judged
        unfinished = at == pause and earlier is PauseVerdict.UNFINISHED
        if not (unfinished and verdict is PauseVerdict.COMPLETE):
            self.judged = (pause, verdict)


class GrammarEndpointer(Endings):
    """Detects the end of a turn with the house's grammar, because a cloud transcript would arrive
    about 0.3 s too late."""

    def __init__(
        self, recognizer: SphinxLive, worker: Executor, language: str, area: str = ""
    ) -> None:
        """`worker` is the recogniser's only thread, `language` is the recogniser's language, and
        `area` is this device's area."""
        self._recognizer = recognizer
        self._worker = worker
        self._language = language
        self._area = area
        self._known: object = None  # the house's names that were prepared last
        self._parser = Parser(Names((), (), ()))
        self._sentence: _Sentence | None = None
        self._noise: SteadyNoise | None = None  # used on the decoder's thread
        self._kept = bytearray()  # audio since `begin`, until the decoder starts
        self._kept_end = 0
        self._piece = bytearray()
        self._speech_at = -1  # end of the first chunk reported as speech

    def use(self, house: House) -> None:
        """Prepare the grammar for this house's names in the background, if a name has changed. Must
        be called on the event loop's thread."""
        known = naming(house)
        if known != self._known:
            self._known = known
            self._worker.submit(self._prepare, house)

    def begin(self, after: int) -> None:
        self.end()
        self._sentence = _Sentence()

    def hear(self, pcm: bytes, end: int) -> None:
        self._kept_end = end
        sentence = self._sentence
        if sentence is None or sentence.lost:
            return
        if not sentence.started:
            self._kept += pcm
            most = 2 * _LOOK_BACK_MS * SAMPLES_PER_MS
            if self._speech_at < 0 and len(self._kept) > most:
                del self._kept[:-most]
            return
        self._piece += pcm
        if len(self._piece) >= 2 * _PIECE_MS * SAMPLES_PER_MS:
            self._send(sentence)

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        sentence = self._sentence
        if sentence is None or last_voiced is None:
            return hang_over(PauseVerdict.UNKNOWN, 0)
        if self._speech_at < 0:
            self._speech_at = now
        silence = (now - last_voiced) // SAMPLES_PER_MS
        if not sentence.lost:
            self._follow(sentence, now, last_voiced, silence)
        at, verdict = sentence.judged
        if at != last_voiced:
            verdict = PauseVerdict.UNKNOWN
        return hang_over(verdict, (last_voiced - self._speech_at) / SAMPLES_PER_MS)

    def end(self) -> None:
        if self._sentence is not None and self._sentence.started:
            self._worker.submit(self._recognizer.stop)
        self._sentence = None
        self._kept.clear()
        self._piece.clear()
        self._speech_at = -1

    # --- on the audio front end's thread ---

    def _follow(self, sentence: _Sentence, now: int, last_voiced: int, silence: int) -> None:
        due = sum(silence >= look for look in _LOOK_MS)
        since = now - self._speech_at
        if not sentence.started and (due or since >= (_LEVEL_MS - _BEFORE_MS) * SAMPLES_PER_MS):
            self._start(sentence)
        if due and sentence.started and not sentence.lost and sentence.look(last_voiced, due):
            self._send(sentence)
            self._worker.submit(self._look, sentence, last_voiced)

    def _start(self, sentence: _Sentence) -> None:
        heard = bytes(self._kept)
        self._kept.clear()
        before = self._kept_end - self._speech_at + _BEFORE_MS * SAMPLES_PER_MS
        samples = min(before, len(heard) // 2)
        enough = len(heard) >= 2 * LEAST_SAMPLES
        sentence.start(samples, enough=enough)
        if enough:
            self._worker.submit(self._open, sentence, heard, self._kept_end, samples)

    def _send(self, sentence: _Sentence) -> None:
        piece = bytes(self._piece)
        self._piece.clear()
        if not sentence.send(len(piece) // 2):
            _log.info("The recogniser is too slow to find the end of this turn")
        elif piece:
            self._worker.submit(self._feed, sentence, piece)

    # --- on the decoder's thread ---

    def _prepare(self, house: House) -> None:
        recognizer, here = self._recognizer, find_area(house, self._area) if self._area else None
        names = house_names(house)
        area_id = here.area_id if here is not None else ""
        grammar = sayable(names, house, area_id, recognizer.unknown)
        try:
            recognizer.prepare(replace(grammar, jsgf=_with_more(grammar.jsgf)))
        except AudioError as error:
            _log.warning("The end of a command cannot be recognised by its words: %s", error)
        self._parser = Parser(names)
        self._is_command("hello")  # loads the templates

    def _is_command(self, text: str) -> bool:
        return self._parser.parse(text, self._language) is not None

    def _open(self, sentence: _Sentence, heard: bytes, end: int, samples: int) -> None:
        self._noise = SteadyNoise(heard)
        cleaned = self._noise.clean(heard)
        late = (len(heard) - len(cleaned)) // 2  # samples still in the filter
        given = cleaned[-2 * samples :]
        self._recognizer.start(given)
        sentence.open(end - late - len(given) // 2, samples)

    def _feed(self, sentence: _Sentence, piece: bytes) -> None:
        if self._noise is not None and not sentence.lost:
            self._recognizer.hear(self._noise.clean(piece))
            sentence.decode(len(piece) // 2)

    def _look(self, sentence: _Sentence, last_voiced: int) -> None:
        if sentence.lost:
            return
        # Examine the pause even if it was judged complete: with more silence, "light blue" becomes
        # "light to".
        words = self._said(last_voiced - sentence.first)
        if is_talk(" ".join(words)):  # such as "why did you", which the recogniser often hears
            words = []
        sentence.judge(last_voiced, judge_path(words, self._is_command))

    def _said(self, last_voiced: int) -> list[str]:
        words = self._recognizer.words(last_voiced - _WORD_MS * SAMPLES_PER_MS)
        if words and words[-1] in LAST_WORDS:
            early = self._recognizer.words(last_voiced - _MORE_MS * SAMPLES_PER_MS)
            words = words if len(early) == len(words) else words[:-1]
        return [word for word in words if word != WAKE]


def _with_more(grammar: str) -> str:
    more = f"public <unended> = <said> [{' | '.join(GOES_ON)}];"
    return grammar.replace("public <said> =", f"{more}\n<said> =", 1)
