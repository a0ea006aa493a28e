"""English, as spoken."""

from assistant.speech.language.table import Spoken, Unit

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))


def integer(number: int, unit: Unit | None = None) -> str:
    """A whole number >= 0 in words; from 10**15 on digit by digit."""
    if number >= 10**15:
        return decimals(str(number))
    if number < 20:
        return _ONES[number]
    if number < 100:
        ones = f"-{_ONES[number % 10]}" if number % 10 else ""
        return _TENS[number // 10] + ones
    for size, name in (*_SCALES, (100, "hundred")):
        if number >= size:
            rest = f" {integer(number % size)}" if number % size else ""
            return f"{integer(number // size)} {name}{rest}"
    raise AssertionError(number)


def decimals(digits: str) -> str:
    """Digit by digit."""
    return " ".join(_ONES[int(digit)] for digit in digits)


def clock(hour: int, minute: int, half: str) -> str:
    """A time of day: "six oh five AM", "eighteen thirty", "three o'clock"."""
    if half:
        hours = integer(hour % 12 or 12)
        # espeak-ng (Piper's phonemes too) spells "AM", but says "uh em" for "A M".
        return f"{hours} {_minutes(minute)} {half.upper()}".replace("  ", " ")
    if minute:
        return f"{integer(hour)} {_minutes(minute)}"
    if hour == 0:
        return "midnight"
    return f"{integer(hour)} o'clock" if hour <= 12 else f"{integer(hour)} hundred"


def _minutes(minute: int) -> str:
    if minute == 0:
        return ""
    return f"oh {integer(minute)}" if minute < 10 else integer(minute)


def seconds(number: int) -> str:
    """What follows the clock time."""
    return f"and {integer(number)} {'second' if number == 1 else 'seconds'}"


def _regular(names: dict[str, str]) -> dict[str, Unit]:
    return {sign: Unit(name, f"{name}s") for sign, name in names.items()}


_UNITS = _regular(
    {
        "W": "watt",
        "kW": "kilowatt",
        "MW": "megawatt",
        "Wh": "watt hour",
        "kWh": "kilowatt hour",
        "MWh": "megawatt hour",
        "VA": "volt ampere",
        "V": "volt",
        "mV": "millivolt",
        "A": "amp",
        "mA": "milliamp",
        "km": "kilometer",
        "m": "meter",
        "cm": "centimeter",
        "mm": "millimeter",
        "mi": "mile",
        "kg": "kilogram",
        "g": "gram",
        "mg": "milligram",
        "lb": "pound",
        "lbs": "pound",
        "oz": "ounce",
        "l": "liter",
        "L": "liter",
        "ml": "milliliter",
        "mL": "milliliter",
        "gal": "gallon",
        "m³": "cubic meter",
        "m3": "cubic meter",
        "hPa": "hectopascal",
        "kPa": "kilopascal",
        "mbar": "millibar",
        "dB": "decibel",
        "GB": "gigabyte",
        "MB": "megabyte",
        "kB": "kilobyte",
        "TB": "terabyte",
        "ms": "millisecond",
        "s": "second",
        "sec": "second",
        "min": "minute",
        "h": "hour",
        "hr": "hour",
        "hrs": "hour",
    }
) | {
    "°C": Unit("degree Celsius", "degrees Celsius"),
    "ºC": Unit("degree Celsius", "degrees Celsius"),
    "℃": Unit("degree Celsius", "degrees Celsius"),
    "°F": Unit("degree Fahrenheit", "degrees Fahrenheit"),
    "ºF": Unit("degree Fahrenheit", "degrees Fahrenheit"),
    "℉": Unit("degree Fahrenheit", "degrees Fahrenheit"),
    "°": Unit("degree", "degrees"),
    "%": Unit("percent", "percent"),
    "Hz": Unit("hertz", "hertz"),
    "kHz": Unit("kilohertz", "kilohertz"),
    "MHz": Unit("megahertz", "megahertz"),
    "GHz": Unit("gigahertz", "gigahertz"),
    "lx": Unit("lux", "lux"),
    "lm": Unit("lumen", "lumens"),
    "km/h": Unit("kilometer per hour", "kilometers per hour"),
    "m/s": Unit("meter per second", "meters per second"),
    "mph": Unit("mile per hour", "miles per hour"),
    "mm/h": Unit("millimeter per hour", "millimeters per hour"),
    "ft": Unit("foot", "feet"),
    "ppm": Unit("part per million", "parts per million"),
    "ppb": Unit("part per billion", "parts per billion"),
    "µg/m³": Unit("microgram per cubic meter", "micrograms per cubic meter"),
    "μg/m³": Unit("microgram per cubic meter", "micrograms per cubic meter"),
    "m²": Unit("square meter", "square meters"),
    "Mbit/s": Unit("megabit per second", "megabits per second"),
    "Mbps": Unit("megabit per second", "megabits per second"),
    "kWh/day": Unit("kilowatt hour per day", "kilowatt hours per day"),
    "W/m²": Unit("watt per square meter", "watts per square meter"),
}

ENGLISH = Spoken(
    thousands=",",
    integer=integer,
    decimals=decimals,
    decimal_signs={".": "point", ",": "point"},
    minus="minus",
    plus="plus",
    to="to",
    clock=clock,
    seconds=seconds,
    units=_UNITS,
    currencies={
        "$": (Unit("dollar", "dollars"), Unit("cent", "cents")),
        "€": (Unit("euro", "euros"), Unit("cent", "cents")),
        "£": (Unit("pound", "pounds"), Unit("penny", "pence")),
    },
    currency_join="and",
    fractions={
        "1/2": "one half",
        "½": "one half",
        "1/3": "one third",
        "⅓": "one third",
        "2/3": "two thirds",
        "⅔": "two thirds",
        "1/4": "one quarter",
        "¼": "one quarter",
        "3/4": "three quarters",
        "¾": "three quarters",
    },
    symbols={
        "&": "and",
        "+": "plus",
        "=": "equals",
        "×": "times",
        "÷": "divided by",
        "±": "plus or minus",
        "<": "less than",
        ">": "more than",
        "≤": "at most",
        "≥": "at least",
        "≈": "about",
        "@": "at",
        "→": "to",
        "%": "percent",
        "°": "degrees",
        "€": "euros",
        "$": "dollars",
        "£": "pounds",
    },
    abbreviations={
        "e.g.": "for example",
        "i.e.": "that is",
        "etc.": "et cetera",
        "approx.": "approximately",
        "vs.": "versus",
        "Dr.": "Doctor",
        "Mr.": "Mister",
        "Mrs.": "Missus",
        "w/o": "without",
    },
    dot="dot",
    point="point",
    number="number",
    slash="slash",
)
