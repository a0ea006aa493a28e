"""The confirmation PIN: read it, compare it in constant time, and lock after several wrong
attempts."""

import asyncio
import hmac
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import SecretStr

from assistant.confirmation.forms import Words, words_of
from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError

# Number words up to 99, for PINs. Accents are ignored.


Pair = tuple[str, str]  # words, digits


@dataclass(frozen=True, slots=True)
class Numerals:
    words: tuple[Pair, ...]  # 0 to 19 or more, including variants
    compounds: Callable[[], Iterable[Pair]]  # the other numbers up to 99
    aside: tuple[str, ...]  # words that may surround the digits


def _counted(text: str, start: int = 0) -> tuple[Pair, ...]:
    return tuple((word, str(number)) for number, word in enumerate(text.split(), start))


_EN_ONES = "zero one two three four five six seven eight nine".split()
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_EN = _counted(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_ES_ONES = "cero uno dos tres cuatro cinco seis siete ocho nueve".split()
_ES = _counted(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro "
    "veinticinco veintiséis veintisiete veintiocho veintinueve"
)
_PT_ONES = "zero um dois três quatro cinco seis sete oito nove".split()
_PT = _counted(
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze "
    "dezesseis dezessete dezoito dezenove"
)
_DE_ONES = "null eins zwei drei vier fünf sechs sieben acht neun".split()
_DE = _counted(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
)
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_FR = _counted(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
    "dix-sept dix-huit dix-neuf"
)
_FR_TENS = "vingt trente quarante cinquante soixante".split()
_VI = _counted("không một hai ba bốn năm sáu bảy tám chín")


def _joined(tens: Iterable[str], ones: list[str], first: int, link: str) -> Iterator[Pair]:
    """Yield number words with their digits: ("thirty", "30"), ("thirty four", "34") and so on.
    `first` is the digit of the first word in `tens`."""
    for number, ten in enumerate(tens, first):
        yield ten, f"{number}0"
        for one in range(1, 10):
            yield f"{ten}{link}{ones[one]}", f"{number}{one}"


def _english() -> Iterator[Pair]:
    return _joined(_EN_TENS, _EN_ONES, 2, " ")


def _spanish() -> Iterator[Pair]:
    tens = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
    return _joined(tens, _ES_ONES, 3, " y ")


def _portuguese() -> Iterator[Pair]:
    tens = "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa".split()
    return _joined(tens, _PT_ONES, 2, " e ")


def _german() -> Iterator[Pair]:
    for number, ten in enumerate(_DE_TENS, 2):
        yield ten, f"{number}0"
        for one in range(1, 10):
            word = "ein" if one == 1 else _DE_ONES[one]
            for form in (f"{word}und{ten}", f"{word} und {ten}"):
                yield form, f"{number}{one}"


def _french() -> Iterator[Pair]:
    words = [word.replace("-", " ") for word, _ in _FR]
    yield from _joined(_FR_TENS, words, 2, " ")
    for number, ten in enumerate(_FR_TENS, 2):
        yield f"{ten} et un", f"{number}1"
    for rest in range(10, 20):
        yield f"soixante {words[rest]}", f"{60 + rest}"
        yield f"quatre vingt {words[rest]}", f"{80 + rest}"
    yield "soixante et onze", "71"
    yield from (("quatre vingt", "80"), ("quatre vingts", "80"))
    for rest in range(1, 10):
        yield f"quatre vingt {words[rest]}", f"{80 + rest}"
    for number, ten in ((7, "septante"), (8, "huitante"), (9, "nonante")):
        yield from _joined((ten,), words, number, " ")
        yield f"{ten} et un", f"{number}1"


def _vietnamese() -> Iterator[Pair]:
    ones = [word for word, _ in _VI]
    other = {1: "mốt", 4: "tư", 5: "lăm"}  # for the last of two digits
    yield "mười", "10"
    for one in range(1, 10):
        yield f"mười {ones[one]}", f"1{one}"
        for ten in range(2, 10):
            yield f"{ones[ten]} mươi {ones[one]}", f"{ten}{one}"
    for one, word in other.items():
        yield f"mười {word}", f"1{one}"
        for ten in range(2, 10):
            yield f"{ones[ten]} mươi {word}", f"{ten}{one}"
    for ten in range(2, 10):
        yield f"{ones[ten]} mươi", f"{ten}0"


TABLES: dict[str, Numerals] = {
    "en": Numerals(
        (*_EN, ("oh", "0"), ("o", "0"), ("nought", "0"), ("for", "4"), ("to", "2"), ("too", "2")),
        _english,
        (
            *("please", "thanks", "thank you", "uh", "um", "er", "yes", "okay", "ok", "it's"),
            *("it is", "the pin is", "my pin is", "the code is", "my code is", "pin", "code"),
            *("the pin", "my pin", "the code", "the number is", "pin is", "pin code", "and"),
        ),
    ),
    "es": Numerals(
        (*_ES, ("un", "1"), ("diez y seis", "16")),
        _spanish,
        (
            *("por favor", "gracias", "eh", "pues", "sí", "vale", "es", "es el", "el pin es"),
            *("mi pin es", "el código es", "mi código es", "la clave es", "mi clave es", "pin"),
            *("el pin", "código", "el código", "clave", "la clave", "el número es"),
        ),
    ),
    "pt": Numerals(
        (
            *_PT,
            *(("uma", "1"), ("duas", "2"), ("meia", "6"), ("quatorze", "14")),
            *(("dezasseis", "16"), ("dezassete", "17"), ("dezanove", "19")),
        ),
        _portuguese,
        (
            *("por favor", "obrigado", "obrigada", "eh", "sim", "é", "é o", "o pin é", "pin"),
            *("o código é", "a senha é", "meu pin é", "o meu pin é", "o pin", "o código"),
        ),
    ),
    "de": Numerals(
        (*_DE, ("ein", "1"), ("zwo", "2")),
        _german,
        (
            *("bitte", "danke", "äh", "ähm", "ja", "okay", "die pin ist", "meine pin ist", "pin"),
            *("der code ist", "mein code ist", "die pin", "der code", "code", "sie ist", "es ist"),
        ),
    ),
    "fr": Numerals(
        (*_FR, ("une", "1")),
        _french,
        (
            *("s'il te plaît", "s'il vous plaît", "merci", "euh", "oui", "c'est", "c'est le"),
            *("le code est", "mon code est", "le pin est", "mon pin est", "pin", "code", "le code"),
            *("le code c'est", "le code pin est"),
        ),
    ),
    "vi": Numerals(
        (*_VI, ("bẩy", "7"), ("tư", "4")),
        _vietnamese,
        (
            *("làm ơn", "cảm ơn", "ạ", "vâng", "dạ", "mã pin là", "mã là", "mã pin", "mã", "pin"),
            *("mã số là", "là"),
        ),
    ),
}


# Spoken and typed PINs.


MAX_WORDS = 40
_TIMES = {"double": 2, "doble": 2, "duplo": 2, "doppel": 2, "triple": 3, "triplo": 3}


def read_digits(text: str, languages: Sequence[str], names: Sequence[str] = ()) -> str:
    """Return the PIN in a text as digits, such as "1234", or "" if the text is not a PIN or is
    ambiguous.

    Accepts "1 2 3 4", "one two three four", "twelve thirty-four" and "double five", optionally with
    "the PIN is" or "please". English is used if none of the configured `languages` is supported.
    """
    bases = dict.fromkeys(code.lower().replace("_", "-").split("-")[0] for code in languages)
    words = words_of(text)
    if not words or len(words) > MAX_WORDS:
        return ""
    known = [base for base in bases if base in TABLES] or ["en"]
    called = {name for one in names if (name := words_of(one))}
    read = {digits for base in known if (digits := _read(words, base, called))}
    return read.pop() if len(read) == 1 else ""


def _read(words: Words, language: str, called: Set[Words]) -> str:
    values, aside = _values(language), _aside(language) | called
    longest = max(map(len, (*values, *aside)))
    digits, at, times = "", 0, 1
    while at < len(words):
        if words[at] in _TIMES and times == 1:
            times, at = _TIMES[words[at]], at + 1
            continue
        end = next(
            (
                end
                for end in range(min(len(words), at + longest), at, -1)
                if words[at:end] in values or words[at:end] in aside
            ),
            0,
        )
        part = _figures(words[at]) or values.get(words[at:end], "")
        if not end and not part:
            return ""
        if times > 1 and len(part) != 1:  # "double thirty" is ambiguous
            return ""
        digits += part * times
        at, times = end or at + 1, 1
    return digits if times == 1 else ""


def _figures(word: str) -> str:
    return word if word.isascii() and word.isdigit() else ""


@cache
def _values(language: str) -> Mapping[Words, str]:
    return {words: digits for words, digits in _numbers(TABLES[language]) if words}


def _numbers(table: Numerals) -> Iterator[tuple[Words, str]]:
    for text, digits in (*table.words, *table.compounds()):
        yield words_of(text) or (), digits


@cache
def _aside(language: str) -> frozenset[Words]:
    return frozenset(words for text in TABLES[language].aside if (words := words_of(text)))


_log = logging.getLogger(__name__)

MAX_WRONG = 3  # in a row
FIRST_LOCK_S = 15 * 60.0
LONGEST_LOCK_S = 24 * 3600.0
_NAME = "pin_attempts"

Judgement = Literal["right", "wrong", "locked"]


@dataclass(frozen=True, slots=True)
class _Attempts:
    wrong: int = 0  # in a row, since the last lock-out
    locks: int = 0  # lock-outs so far; each lasts twice as long as the one before
    # Start of the lock-out, in seconds of the wall clock; None if not locked.
    since: float | None = None

    @property
    def lock_s(self) -> float:
        return min(FIRST_LOCK_S * 2.0 ** min(self.locks - 1, 16), LONGEST_LOCK_S)


class PinGuard:
    """Checks PINs. After three wrong PINs in a row, no PIN is accepted for 15 minutes, and each
    further lock-out is twice as long, up to a day.

    Each wrong attempt is written to the disk before it is reported, so a restart gives nobody extra
    attempts. If the disk can't be read, the PIN stays locked.
    """

    def __init__(self, pin: SecretStr, store: SmallValues, clock: Clock) -> None:
        """An empty `pin` never matches."""
        self._pin = pin
        self._store = store
        self._clock = clock
        self._attempts: _Attempts | None = None  # set only while the disk cannot be written
        self._one_at_a_time = asyncio.Lock()

    async def check(self, digits: str) -> Judgement:
        """Check one PIN. Never raises. During a lock-out, the result is "locked" even for the
        correct PIN."""
        async with self._one_at_a_time:
            try:
                attempts = self._attempts or await self._kept()
            except StoreError as error:
                _log.error("the PIN stays locked: %s", error)
                return "locked"
            if attempts.since is not None:
                now = self._now()
                if now < attempts.since:  # the clock was set back, so the lock-out starts over
                    await self._set(_Attempts(0, attempts.locks, now))
                    return "locked"
                if now - attempts.since < attempts.lock_s:
                    return "locked"
                attempts = _Attempts(0, attempts.locks, None)
            if self._is_right(digits):
                if attempts != _Attempts():
                    await self._set(_Attempts())
                return "right"
            if attempts.wrong + 1 < MAX_WRONG:
                await self._set(_Attempts(attempts.wrong + 1, attempts.locks, None))
            else:
                await self._set(_Attempts(0, attempts.locks + 1, self._now()))
            return "wrong"

    async def _kept(self) -> _Attempts:
        """Read the attempts from the store each time, because other processes record attempts too.
        Raises StoreError."""
        kept = await self._store.kept(_NAME)
        attempts = _attempts_from(kept, self._now())
        if kept is not None and kept != _written(attempts):
            await self._set(attempts)  # an unknown value locks the PIN now, but not forever
        return attempts

    def _is_right(self, digits: str) -> bool:
        pin = self._pin.get_secret_value()
        return hmac.compare_digest(digits.encode(), pin.encode()) and pin != ""

    async def _set(self, attempts: _Attempts) -> None:
        try:
            await self._store.keep(_NAME, _written(attempts))
            self._attempts = None
        except StoreError as error:
            self._attempts = attempts
            _log.error("the number of wrong PINs is kept in memory only: %s", error)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _written(attempts: _Attempts) -> dict[str, Any]:
    return {"wrong": attempts.wrong, "locks": attempts.locks, "since": attempts.since}


def _attempts_from(value: Any, now: float) -> _Attempts:
    if value is None:
        return _Attempts()
    if isinstance(value, dict):
        wrong, locks, since = value.get("wrong"), value.get("locks"), value.get("since")
        if isinstance(wrong, int) and isinstance(locks, int) and wrong >= 0 and locks >= 0:
            if since is None:
                return _Attempts(wrong, locks)
            if isinstance(since, int | float) and math.isfinite(since) and locks >= 1:
                return _Attempts(wrong, locks, since)
    return _Attempts(0, 1, now)
