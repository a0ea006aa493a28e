"""The end of turn by ear: a recogniser follows the sentence and knows the commands of the house."""

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

_PIECE_MS = 100  # of sound that is decoded at a time
_BEFORE_MS = 300  # of sound before the first voiced chunk that the decoder is given
_LEVEL_MS = 1300  # of sound that it must have before it starts; a pause starts it too
_LOOK_BACK_MS = 3000  # of sound that the room's noise is known from
_LOOK_MS = (120, 210, 300, 500)  # of silence at which the words are looked at
# The last word begins at least so long before the last voiced sample. What begins later is heard in
# the noise of the pause: "on", "off" and "eight" are, and make half a command a whole one.
_WORD_MS = 60
# "And" is longer where it is said: mostly it begins 200 to 500 ms before the last voiced sample.
_MORE_MS = 200
_BEHIND_MS = 2000  # of sound not yet decoded: this machine is too slow, the turn goes without


@dataclass(slots=True)
class _Sentence:
    """The sentence of one turn, shared with the decoder's thread.

    Each field is written by one side only.
    """

    looked: tuple[int, int] = (-1, -1)  # the ear's: a pause (its last voiced sample), looks at it
    sent: int = 0  # the ear's: samples given to the decoder
    started: bool = False  # the ear's
    lost: bool = False  # the ear's: the turn goes on without the decoder
    first: int = 0  # the decoder's: sample at which the sound it was given begins
    decoded: int = 0  # the decoder's: samples
    judged: tuple[int, PauseVerdict] = (-1, PauseVerdict.UNKNOWN)  # the decoder's: of which pause

    def look(self, pause: int, due: int) -> bool:
        """Note the look that is due at a pause. False: it was noted before."""
        new, self.looked = self.looked != (pause, due), (pause, due)
        return new

    def start(self, samples: int, *, enough: bool) -> None:
        """Begin with so much of the sound before; without enough of it the decoder is left out."""
        self.started, self.sent, self.lost = True, samples, not enough

    def send(self, samples: int) -> bool:
        """Note a further piece. False: the decoder is too far behind, and is left out."""
        self.sent += samples
        self.lost = self.sent - self.decoded > (_BEHIND_MS + _LEVEL_MS) * SAMPLES_PER_MS
        return not self.lost

    def open(self, first: int, samples: int) -> None:
        """Note where the decoder's sound begins, and that so much of it is decoded."""
        self.first, self.decoded = first, samples

    def decode(self, samples: int) -> None:
        """Note that a further piece is decoded."""
        self.decoded += samples

    def judge(self, pause: int, verdict: PauseVerdict) -> None:
        """Keep what a pause is. While nobody speaks, half a command does not become a whole one:
        the word that makes it whole is noise."""
        at, earlier = self.judged
        unfinished = at == pause and earlier is PauseVerdict.UNFINISHED
        if not (unfinished and verdict is PauseVerdict.COMPLETE):
            self.judged = (pause, verdict)


class GrammarEndpointer(Endings):
    """Endings by the house's grammar.

    A cloud's transcript comes too late: about 0.3 s after the end that it would have to tell.
    """

    def __init__(
        self, recognizer: SphinxLive, worker: Executor, language: str, area: str = ""
    ) -> None:
        """`worker`: one thread, the recogniser's. `language`: that of its words; `area`: the
        room of this box."""
        self._recognizer = recognizer
        self._worker = worker
        self._language = language
        self._area = area
        self._known: object = None  # what the house is called
        self._parser = Parser(Names((), (), ()))
        self._sentence: _Sentence | None = None
        self._noise: SteadyNoise | None = None  # the decoder's
        self._kept = bytearray()  # sound since `begin`, until the decoder is started
        self._kept_end = 0
        self._piece = bytearray()
        self._speech_at = -1  # end of the first chunk that was told of as speech

    def use(self, house: House) -> None:
        """Know this house's names, soon; from the loop's thread, cheap where none has changed."""
        known = naming(house)
        if known != self._known:
            self._known = known
            self._worker.submit(self._prepare, house)

    def begin(self, after: int) -> None:
        """A new sentence; the sound that follows may begin before `after`."""
        self.end()
        self._sentence = _Sentence()

    def hear(self, pcm: bytes, end: int) -> None:
        """Keep the frame, or give it to the decoder with its piece."""
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
        """By the newest verdict on the pause that began at `last_voiced`."""
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
        """Forget the sentence."""
        if self._sentence is not None and self._sentence.started:
            self._worker.submit(self._recognizer.stop)
        self._sentence = None
        self._kept.clear()
        self._piece.clear()
        self._speech_at = -1

    # --- the ear's thread ---

    def _follow(self, sentence: _Sentence, now: int, last_voiced: int, silence: int) -> None:
        """Start the decoder when it can know the voice's level; look at each pause in time."""
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
            _log.info("The recogniser is too slow to tell the end of this turn")
        elif piece:
            self._worker.submit(self._feed, sentence, piece)

    # --- the decoder's thread ---

    def _prepare(self, house: House) -> None:
        recognizer, here = self._recognizer, find_area(house, self._area) if self._area else None
        names = house_names(house)
        area_id = here.area_id if here is not None else ""
        grammar = sayable(names, house, area_id, recognizer.unknown)
        try:
            recognizer.prepare(replace(grammar, jsgf=_with_more(grammar.jsgf)))
        except AudioError as error:
            _log.warning("The end of a command cannot be told by its words: %s", error)
        self._parser = Parser(names)
        self._is_command("hello")  # loads the templates

    def _is_command(self, text: str) -> bool:
        return self._parser.parse(text, self._language) is not None

    def _open(self, sentence: _Sentence, heard: bytes, end: int, samples: int) -> None:
        self._noise = SteadyNoise(heard)
        cleaned = self._noise.clean(heard)
        late = (len(heard) - len(cleaned)) // 2  # what the filter has not given yet
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
        # Also where it was complete: more silence turns "light blue" into "light to".
        words = self._said(last_voiced - sentence.first)
        if is_talk(" ".join(words)):  # "why did you": much other speech is taken for that
            words = []
        sentence.judge(last_voiced, judge_path(words, self._is_command))

    def _said(self, last_voiced: int) -> list[str]:
        """The command's words; `last_voiced` as a sample of the decoder's sound."""
        words = self._recognizer.words(last_voiced - _WORD_MS * SAMPLES_PER_MS)
        if words and words[-1] in LAST_WORDS:
            early = self._recognizer.words(last_voiced - _MORE_MS * SAMPLES_PER_MS)
            words = words if len(early) == len(words) else words[:-1]
        return [word for word in words if word != WAKE]


def _with_more(grammar: str) -> str:
    """The same sentences, and each with a word behind it that says that more is to come."""
    more = f"public <unended> = <said> [{' | '.join(GOES_ON)}];"
    return grammar.replace("public <said> =", f"{more}\n<said> =", 1)
