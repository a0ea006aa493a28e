"""Check by phones whether a recognised command was really spoken, and pronounce unknown words.

Grammar-based recognition always finds a sentence, so `weigh` compares it with free decoding of the
same audio. Phones are compared instead of spellings, because free decoding turns made-up names into
similar-sounding words. The thresholds were measured on synthetic speech (60 commands and 200 other
sentences in three flite voices) and checked on recordings of people.
"""

import logging
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from audio.frames import SAMPLES_PER_MS
from audio.recognize.protocol import Decoding, HeardWord

Phones = Callable[[str], Sequence[str]]

_LIMIT = 0.95  # limit of `doubt`: most commands are below 0.9, other sentences above 1.0
# Limit of the phone distance. Free decoding must always have found something similar.
_FARTHEST = 0.65
_USUAL_FIT = -2.0  # natural log per 10 ms; the fit of clear speech
_WORST_WORD = 200.0  # deficit of one word that counts as 1
_MEAN_FIT = 4.0  # mean deficit that counts as 1
_OUTSIDE_FREE = 3  # phones outside the command that are tolerated, such as breath
_OUTSIDE_BASE, _OUTSIDE_PHONES = 0.3, 20.0
_FRAME = 10 * SAMPLES_PER_MS
_EDGE = 50 * SAMPLES_PER_MS  # tolerance for word boundaries in two decodings

_RIVAL_PAIRS = (
    *(("on", "off"), ("up", "down"), ("open", "close"), ("open", "shut"), ("open", "closed")),
    *(("lock", "unlock"), ("locked", "unlocked"), ("locked", "closed"), ("raise", "lower")),
    ("mute", "unmute"),
    # Requests and questions about the past.
    *(("can", "did"), ("could", "did"), ("would", "did")),
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
    """The match between a command and the audio. Lower values are better."""

    distance: float  # 0 to 1: distance of the command's phones from those of free decoding
    misfit: float  # natural log: deficit of the worst word against the usual fit
    mean_misfit: float  # natural log per 10 ms, mean over all words
    outside: int  # phones that free decoding heard outside the command
    opposed: bool = False  # free decoding is closer to the command with a rival word

    @property
    def doubt(self) -> float:
        doubt = self.distance + self.misfit / _WORST_WORD + self.mean_misfit / _MEAN_FIT
        if self.outside > _OUTSIDE_FREE:
            doubt += _OUTSIDE_BASE + self.outside / _OUTSIDE_PHONES
        return doubt

    @property
    def accepted(self) -> bool:
        return not self.opposed and self.doubt <= _LIMIT and self.distance <= _FARTHEST


def hopeless(command: Sequence[HeardWord]) -> bool:
    """Return True if the audio alone rules out the command, so that free decoding isn't needed."""
    return _misfit(command) / _WORST_WORD + _mean_misfit(command) / _MEAN_FIT > _LIMIT


def weigh(
    command: Sequence[HeardWord], free: Decoding, wake_until: int, phones: Phones
) -> Evidence:
    """Compare a command, without the wake word, with free decoding of the same audio.

    Before `wake_until`, a position in samples, words of free decoding can belong to the wake word.
    """
    start, end = command[0].start - _EDGE, command[-1].end + _EDGE
    heard = [word for word in free.words if _middle(word) > start or word.end > wake_until]
    # A word that matches the command's last word can extend into the silence after it.
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
    return _edits(said, heard) / max(len(said), len(heard)) if said and heard else 1.0


def _edits(said: Sequence[str], heard: Sequence[str]) -> float:
    # Replacing a sound with a similar one costs about half.
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


# Phones of the wake words included with the engines.
_PHONES = {
    "okay_nabu": "OW K EY N AA B UW",
    "hey_jarvis": "HH EY JH AA R V IH S",
    "hey_mycroft": "HH EY M AY K R AO F T",
    "hey_rhasspy": "HH EY R AE S P IY",
    "alexa": "AH L EH K S AH",
}


def wake_tails(words: Iterable[str] = tuple(_PHONES)) -> tuple[str, ...]:
    """Return the phones of every ending of the wake words, including the whole words.

    Unknown wake words are ignored.
    """
    tails: dict[str, None] = {}
    for word in words:
        phones = _PHONES.get(word, "").split()
        for start in range(len(phones)):
            tails[" ".join(phones[start:])] = None
    return tuple(tails)


# Pronunciations of words that the dictionary lacks, generated by espeak-ng.

_log = logging.getLogger(__name__)

_ACCENTS = ("en-us", "en-gb")  # two accents, because the speaker's is unknown
_TIMEOUT_S = 20.0  # for all words together

# Maps the IPA symbols that espeak-ng 1.51 uses for English to the 39 phones of CMUdict. The longest
# key wins. Symbols that aren't listed (stress, length, ties) are ignored.
_ARPABET = {
    "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "əʊ": "OW", "ɔɪ": "OY",
    "aɪɚ": "AY ER", "aɪə": "AY AH", "iə": "IY AH", "eə": "EH R", "ʊə": "UH R", "ɪə": "IH R",
    "tʃ": "CH", "dʒ": "JH", "əl": "AH L", "ɜː": "ER", "ɔː": "AO", "ɑː": "AA", "oː": "AO",
    "uː": "UW", "iː": "IY", "eː": "EY", "aː": "AA",
    "a": "AE", "æ": "AE", "ɑ": "AA", "ɒ": "AA", "ɐ": "AH", "ʌ": "AH", "ə": "AH", "ɚ": "ER",
    "ɝ": "ER", "ɜ": "ER", "ɛ": "EH", "e": "EH", "ɪ": "IH", "ᵻ": "IH", "i": "IY", "ɔ": "AO",
    "o": "OW", "ʊ": "UH", "u": "UW", "y": "UW",
    "b": "B", "d": "D", "ð": "DH", "f": "F", "ɡ": "G", "g": "G", "h": "HH", "j": "Y", "k": "K",
    "l": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P", "ɹ": "R", "r": "R", "ɾ": "T", "s": "S",
    "ʃ": "SH", "t": "T", "θ": "TH", "v": "V", "w": "W", "x": "K", "z": "Z", "ʒ": "ZH", "ʔ": "T",
    "ɬ": "L", "ɲ": "N Y", "β": "V", "ɣ": "G", "ç": "HH",
}  # fmt: skip
# People often pronounce made-up names with other vowels, mostly in the first syllable.
_OTHER_VOWELS = {
    "IY": ("EH",), "EH": ("IY",), "AA": ("AE", "OW"), "AE": ("AA", "EY"), "AY": ("IH",),
    "IH": ("AY",), "OW": ("AA",), "AO": ("AA",), "UW": ("AH",), "AH": ("UW",), "EY": ("AE",),
}  # fmt: skip
_LATER_VOWELS = {"AY": ("IY", "IH")}  # "Zephyra"
_LONGEST = max(len(symbol) for symbol in _ARPABET)


def arpabet(ipa: str) -> str:
    """Convert a word from IPA to ARPAbet phones, separated by spaces. Unknown symbols
    are left out."""
    phones: list[str] = []
    at = 0
    while at < len(ipa):
        for length in range(_LONGEST, 0, -1):
            phone = _ARPABET.get(ipa[at : at + length])
            if phone is not None:
                phones.append(phone)
                break
        at += length
    return " ".join(phones)


def pronounce(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return ARPAbet pronunciations of each word, generated by espeak-ng in two accents.

    Words that can't be pronounced are left out. The result is empty if espeak-ng isn't installed.
    """
    program = shutil.which("espeak-ng")
    if program is None or not words:
        return {}
    readings: dict[str, dict[str, None]] = {word: {} for word in words}
    for accent in _ACCENTS:
        for word, ipa in zip(words, _phonemes(program, accent, words), strict=False):
            phones = arpabet(ipa)
            if phones:
                readings[word] |= dict.fromkeys((phones, *_other_readings(phones)))
    return {word: tuple(found) for word, found in readings.items() if found}


def _other_readings(phones: str) -> list[str]:
    """Return other pronunciations, mainly with other vowels in the first syllable."""
    said = phones.split()
    first = next((at for at, phone in enumerate(said) if phone in _VOWELS), len(said))
    found = [said]
    for at, phone in enumerate(said):
        others = _OTHER_VOWELS.get(phone, ()) if at == first else _LATER_VOWELS.get(phone, ())
        found += [[*one[:at], other, *one[at + 1 :]] for one in found for other in others]
    return [" ".join(one) for one in found[1:]]


def _phonemes(program: str, accent: str, words: Sequence[str]) -> list[str]:
    run = subprocess.run(
        [program, "-q", "--ipa", "-v", accent],
        input="".join(f"{word}.\n\n" for word in words),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    lines = [line.strip() for line in run.stdout.splitlines() if line.strip()]
    if run.returncode != 0 or len(lines) != len(words):
        _log.warning("espeak-ng did not pronounce %d words", len(words))
        return []
    return lines
