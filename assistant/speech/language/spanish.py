"""Spanish, as spoken."""

from assistant.speech.language.table import Spoken, Unit

_ONES = """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro
veinticinco veintiséis veintisiete veintiocho veintinueve""".split()
_TENS = "- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_HUNDREDS = """- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos
ochocientos novecientos""".split()


def integer(number: int, unit: Unit | None = None) -> str:
    """A whole number >= 0 in words, in the form that stands before the unit: "un", "una", "uno"."""
    words = _cardinal(number)
    if unit is None or unit.apart:
        return words
    if unit.feminine:
        words = words.replace("cientos", "cientas").replace("quinientos", "quinientas")
        return words[:-1] + "a" if words.endswith("uno") else words
    return _shortened(words)


def _shortened(words: str) -> str:
    """The form before a masculine noun."""
    if words.endswith("veintiuno"):
        return words.removesuffix("uno") + "ún"
    return words.removesuffix("o") if words.endswith("uno") else words


def _cardinal(number: int) -> str:
    if number >= 10**12:
        return " ".join(_ONES[int(digit)] for digit in str(number))
    if number < 30:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f" y {_ONES[number % 10]}" if number % 10 else "")
    if number == 100:
        return "cien"
    if number < 1000:
        return _join(_HUNDREDS[number // 100], number % 100)
    if number < 10**6:
        thousands = number // 1000
        head = "mil" if thousands == 1 else f"{_shortened(_cardinal(thousands))} mil"
        return _join(head, number % 1000)
    millions = number // 10**6
    head = "un millón" if millions == 1 else f"{_shortened(_cardinal(millions))} millones"
    return _join(head, number % 10**6)


def _join(head: str, rest: int) -> str:
    return f"{head} {_cardinal(rest)}" if rest else head


def decimals(digits: str) -> str:
    """Up to two digits as a number, more digit by digit."""
    if len(digits) <= 2 and not digits.startswith("0"):
        return _cardinal(int(digits))
    return " ".join(_ONES[int(digit)] for digit in digits)


_HOUR = Unit("hora", "horas", feminine=True)


def clock(hour: int, minute: int, half: str) -> str:
    """A time of day without its article: "seis y cinco de la mañana", "dieciocho treinta"."""
    shown = (hour % 12 or 12) if half else hour
    words = integer(shown, _HOUR)
    if minute and shown <= 12:
        words += " y " + {15: "cuarto", 30: "media"}.get(minute, integer(minute))
    elif minute:
        words += f" {'cero ' if minute < 10 else ''}{integer(minute)}"
    return f"{words} {_part_of_day(shown, half)}".rstrip()


def _part_of_day(hour: int, half: str) -> str:
    if half == "am":
        if hour == 12:
            return "de la noche"
        return "de la madrugada" if hour < 6 else "de la mañana"
    if half == "pm":
        if hour == 12:
            return "del mediodía"
        return "de la tarde" if hour < 8 else "de la noche"
    return ""


def seconds(number: int) -> str:
    """What follows the clock time."""
    unit = Unit("segundo", "segundos")
    return f"y {integer(number, unit)} {unit.one if number == 1 else unit.many}"


def _regular(names: dict[str, str]) -> dict[str, Unit]:
    return {sign: Unit(name, f"{name}s") for sign, name in names.items()}


_UNITS = _regular(
    {
        "W": "vatio",
        "kW": "kilovatio",
        "MW": "megavatio",
        "V": "voltio",
        "mV": "milivoltio",
        "A": "amperio",
        "mA": "miliamperio",
        "km": "kilómetro",
        "m": "metro",
        "cm": "centímetro",
        "mm": "milímetro",
        "kg": "kilogramo",
        "g": "gramo",
        "mg": "miligramo",
        "l": "litro",
        "L": "litro",
        "ml": "mililitro",
        "mL": "mililitro",
        "kB": "kilobyte",
        "MB": "megabyte",
        "GB": "gigabyte",
        "TB": "terabyte",
        "ms": "milisegundo",
        "s": "segundo",
        "seg": "segundo",
        "min": "minuto",
    }
) | {
    "°C": Unit("grado Celsius", "grados Celsius"),
    "ºC": Unit("grado Celsius", "grados Celsius"),
    "℃": Unit("grado Celsius", "grados Celsius"),
    "°F": Unit("grado Fahrenheit", "grados Fahrenheit"),
    "ºF": Unit("grado Fahrenheit", "grados Fahrenheit"),
    "℉": Unit("grado Fahrenheit", "grados Fahrenheit"),
    "°": Unit("grado", "grados"),
    "%": Unit("por ciento", "por ciento", apart=True),
    "h": _HOUR,
    "hrs": _HOUR,
    "Wh": Unit("vatio hora", "vatios hora"),
    "kWh": Unit("kilovatio hora", "kilovatios hora"),
    "MWh": Unit("megavatio hora", "megavatios hora"),
    "Hz": Unit("hercio", "hercios"),
    "kHz": Unit("kilohercio", "kilohercios"),
    "MHz": Unit("megahercio", "megahercios"),
    "GHz": Unit("gigahercio", "gigahercios"),
    "lx": Unit("lux", "lux"),
    "lm": Unit("lumen", "lúmenes"),
    "dB": Unit("decibelio", "decibelios"),
    "hPa": Unit("hectopascal", "hectopascales"),
    "kPa": Unit("kilopascal", "kilopascales"),
    "mbar": Unit("milibar", "milibares"),
    "km/h": Unit("kilómetro por hora", "kilómetros por hora"),
    "m/s": Unit("metro por segundo", "metros por segundo"),
    "mm/h": Unit("milímetro por hora", "milímetros por hora"),
    "mph": Unit("milla por hora", "millas por hora", feminine=True),
    "ppm": Unit("parte por millón", "partes por millón", feminine=True),
    "ppb": Unit("parte por mil millones", "partes por mil millones", feminine=True),
    "µg/m³": Unit("microgramo por metro cúbico", "microgramos por metro cúbico"),
    "μg/m³": Unit("microgramo por metro cúbico", "microgramos por metro cúbico"),
    "m²": Unit("metro cuadrado", "metros cuadrados"),
    "m³": Unit("metro cúbico", "metros cúbicos"),
    "W/m²": Unit("vatio por metro cuadrado", "vatios por metro cuadrado"),
    "Mbps": Unit("megabit por segundo", "megabits por segundo"),
}

SPANISH = Spoken(
    thousands=".",
    integer=integer,
    decimals=decimals,
    decimal_signs={".": "punto", ",": "coma"},
    minus="menos",
    plus="más",
    to="a",
    clock=clock,
    seconds=seconds,
    units=_UNITS,
    currencies={
        "$": (Unit("dólar", "dólares"), Unit("centavo", "centavos")),
        "€": (Unit("euro", "euros"), Unit("céntimo", "céntimos")),
        "£": (Unit("libra", "libras", feminine=True), Unit("penique", "peniques")),
    },
    currency_join="con",
    fractions={
        "1/2": "un medio",
        "½": "un medio",
        "1/3": "un tercio",
        "⅓": "un tercio",
        "2/3": "dos tercios",
        "⅔": "dos tercios",
        "1/4": "un cuarto",
        "¼": "un cuarto",
        "3/4": "tres cuartos",
        "¾": "tres cuartos",
    },
    symbols={
        "&": "y",
        "+": "más",
        "=": "igual a",
        "×": "por",
        "÷": "entre",
        "±": "más o menos",
        "<": "menos de",
        ">": "más de",
        "≤": "como mucho",
        "≥": "al menos",
        "≈": "unos",
        "@": "arroba",
        "→": "a",
        "%": "por ciento",
        "°": "grados",
        "€": "euros",
        "$": "dólares",
        "£": "libras",
    },
    abbreviations={
        "p. ej.": "por ejemplo",
        "p.ej.": "por ejemplo",
        "etc.": "etcétera",
        "aprox.": "aproximadamente",
        "EE. UU.": "Estados Unidos",
        "Sr.": "señor",
        "Sra.": "señora",
        "Dr.": "doctor",
        "Dra.": "doctora",
        "Ud.": "usted",
    },
    dot="punto",
    point="punto",
    number="número",
    slash="barra",
)
