"""Was it really a command? The grammar always finds something; this judges whether it was said.

Three pieces of evidence, all measured on made speech (60 commands and 200 other sentences in three
flite voices) and checked on recordings of people:

- how far the phones of free decoding are from those of the command (made-up names come out of free
  decoding as other words that sound alike, so phones are compared, not spellings);
- how badly the worst word fits the sound, against a loop of all phones;
- what free decoding heard outside the command.

A command never counts when a sentence of another meaning that differs in one word is nearer to what
free decoding heard: "unlock" behind "lock", "eighty" behind "eight".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from audio.frames import SAMPLES_PER_MS
from audio.recognize.protocol import Decoding, HeardWord

Phones = Callable[[str], Sequence[str]]

_LIMIT = 0.95  # of the sum below: commands mostly lie below 0.9, other sentences above 1.0
_FARTHEST = 0.65  # of the phones; whatever the rest says, free decoding must have heard the like
_USUAL_FIT = -2.0  # natural log per 10 ms; clear speech fits as well as this
_WORST_WORD = 200.0  # deficit of one word that counts as 1
_MEAN_FIT = 4.0  # mean deficit that counts as 1
_OUTSIDE_FREE = 3  # phones outside the command that count nothing: breath, a clipped tail
_OUTSIDE_BASE, _OUTSIDE_PHONES = 0.3, 20.0
_FRAME = 10 * SAMPLES_PER_MS
_EDGE = 50 * SAMPLES_PER_MS  # word boundaries of two decodings differ by this much

_RIVAL_PAIRS = (
    *(("on", "off"), ("up", "down"), ("open", "close"), ("open", "shut"), ("open", "closed")),
    *(("lock", "unlock"), ("locked", "unlocked"), ("locked", "closed"), ("raise", "lower")),
    ("mute", "unmute"),
    *(("can", "did"), ("could", "did"), ("would", "did")),  # a request, a question about the past
    *(("thirteen", "thirty"), ("fourteen", "forty"), ("fifteen", "fifty"), ("sixteen", "sixty")),
    *(("seventeen", "seventy"), ("eighteen", "eighty"), ("nineteen", "ninety")),
    *(("six", "sixty"), ("seven", "seventy"), ("eight", "eighty"), ("nine", "ninety")),
)
_RIVALS: Mapping[str, tuple[str, ...]] = {
    word: tuple(b if word == a else a for a, b in _RIVAL_PAIRS if word in (a, b))
    for word in dict.fromkeys(word for pair in _RIVAL_PAIRS for word in pair)
}

_VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
_KINDS = ("P B T D K G", "CH JH SH ZH S Z", "F V TH DH HH", "M N NG", "L R W Y")
_KIND = {phone: number for number, kind in enumerate(_KINDS) for phone in kind.split()}


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well a command agrees with the sound. Lower is better."""

    distance: float  # 0 to 1: phones of the command against those of free decoding
    misfit: float  # natural log: what the worst word lacks to a usual fit
    mean_misfit: float  # natural log per 10 ms over all words
    outside: int  # phones that free decoding heard beside the command
    opposed: bool = False  # free decoding is nearer to the command with a rival word

    @property
    def doubt(self) -> float:
        """One figure of all."""
        doubt = self.distance + self.misfit / _WORST_WORD + self.mean_misfit / _MEAN_FIT
        if self.outside > _OUTSIDE_FREE:
            doubt += _OUTSIDE_BASE + self.outside / _OUTSIDE_PHONES
        return doubt

    @property
    def accepted(self) -> bool:
        """Is it a command?"""
        return not self.opposed and self.doubt <= _LIMIT and self.distance <= _FARTHEST


def hopeless(command: Sequence[HeardWord]) -> bool:
    """Does the sound alone refute it, so that free decoding can be spared?"""
    return _misfit(command) / _WORST_WORD + _mean_misfit(command) / _MEAN_FIT > _LIMIT


def weigh(
    command: Sequence[HeardWord], free: Decoding, wake_until: int, phones: Phones
) -> Evidence:
    """Compare the grammar's words (without the wake word) with free decoding of the same sound.

    `wake_until`: samples up to which free words may be the wake word's tail.
    """
    start, end = command[0].start - _EDGE, command[-1].end + _EDGE
    heard = [word for word in free.words if _middle(word) > start or word.end > wake_until]
    # A word that stands for the command's last one may stretch over the silence behind it.
    last = _middle(command[-1])
    outside = [
        word
        for word in heard
        if (_middle(word) > end and word.start > last)
        or (word.end < start + 2 * _EDGE and _middle(word) > wake_until)
    ]
    return Evidence(
        distance=_distance(_spell(_texts(command), phones), _spell(_texts(heard), phones)),
        misfit=max(0.0, _misfit(command)),
        mean_misfit=_mean_misfit(command),
        outside=len(_spell(_texts(outside), phones)),
        opposed=_opposed(_texts(command), _spell(_texts(heard), phones), phones),
    )


def _opposed(command: Sequence[str], heard: Sequence[str], phones: Phones) -> bool:
    """Is the sentence with a rival in the place of one word nearer to what was heard?"""
    edits = _edits(_spell(command, phones), heard)
    rivals = (
        [*command[:at], other, *command[at + 1 :]]
        for at, word in enumerate(command)
        for other in _RIVALS.get(word, ())
    )
    return any(_edits(_spell(words, phones), heard) < edits for words in rivals)


def _misfit(words: Sequence[HeardWord]) -> float:
    return max((_USUAL_FIT - word.fit) * (word.end - word.start) / _FRAME for word in words)


def _mean_misfit(words: Sequence[HeardWord]) -> float:
    length = sum(word.end - word.start for word in words)
    mean = sum(word.fit * (word.end - word.start) for word in words) / length
    return max(0.0, _USUAL_FIT - mean)


def _middle(word: HeardWord) -> float:
    return (word.start + word.end) / 2


def _texts(words: Sequence[HeardWord]) -> list[str]:
    return [word.text for word in words]


def _spell(words: Sequence[str], phones: Phones) -> list[str]:
    return [phone for word in words for phone in phones(word)]


def _distance(said: Sequence[str], heard: Sequence[str]) -> float:
    """Edit distance of two phone sequences over the longer one's length."""
    return _edits(said, heard) / max(len(said), len(heard)) if said and heard else 1.0


def _edits(said: Sequence[str], heard: Sequence[str]) -> float:
    """Edit distance of two phone sequences; kin sounds cost half."""
    row: list[float] = [float(column) for column in range(len(heard) + 1)]
    for count, phone in enumerate(said, start=1):
        above, row = row, [float(count)]
        for column, other in enumerate(heard):
            row.append(
                min(above[column + 1] + 1, row[column] + 1, above[column] + _swap(phone, other))
            )
    return row[-1]


def _swap(phone: str, other: str) -> float:
    if phone == other:
        return 0.0
    if phone in _VOWELS and other in _VOWELS:
        return 0.4
    same_kind = phone in _KIND and _KIND.get(phone) == _KIND.get(other)
    return 0.5 if same_kind else 1.0
