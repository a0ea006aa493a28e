"""Numbers up to 99 in words, for PINs. Accents do not matter: they are taken off before reading."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Pair = tuple[str, str]  # words, digits


@dataclass(frozen=True, slots=True)
class Numerals:
    """One language's number words."""

    words: tuple[Pair, ...]  # 0 to 19 or more, with other words for the same
    compounds: Callable[[], Iterable[Pair]]  # the rest up to 99
    aside: tuple[str, ...]  # what may stand around the digits


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
    """ "thirty", "thirty four": tens from `first` on, joined to the ones by `link`."""
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
    """Up to 69 by tens; 70 to 99 count on from 60 and 80, or go as in Belgium and Switzerland."""
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
    other = {1: "mốt", 4: "tư", 5: "lăm"}  # as the last of two figures
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
