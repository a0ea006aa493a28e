"""German words and units. Numbers are left to the voice."""

from assistant.speech import language as digits
from assistant.speech.language import Calendar, LanguageTable, Unit

_MONTHS = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)
_SHORT_MONTHS = "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez".split()


_ONES = """- ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
fünfzehn sechzehn siebzehn achtzehn neunzehn""".split()
_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
_TENS = {20: "zwanzig", 30: "dreißig"}


def _ordinal(day: int, before: str) -> str:
    # In digits, a voice would mistake the full stop of "21. November" for the end of the sentence.
    if day < 20:
        stem = _ORDINALS.get(day) or f"{_ONES[day]}t"
    else:
        ones = f"{_ONES[day % 10]}und" if day % 10 else ""
        stem = f"{ones}{_TENS[day // 10 * 10]}st"
    if before in ("der", "die", "das"):
        return f"{stem}e"
    return f"{stem}en" if before in _DATIVE else f"{stem}er"


_DATIVE = frozenset("am vom zum dem den im beim ab bis seit".split())


def date(year: int | None, month: int, day: int | None, before: str = "") -> str:
    """Return "einundzwanzigsten November 2026" after "am", or only the month if `day` is None."""
    name = _MONTHS[month - 1]
    said = name if day is None else f"{_ordinal(day, before)} {name}"
    return f"{said} {year}" if year is not None else said


def seconds(number: int) -> str:
    return f"und {number} {'Sekunde' if number == 1 else 'Sekunden'}"


GERMAN = LanguageTable(
    numbers=digits.numbers(thousands=".", minus="minus", plus="plus"),
    calendar=Calendar(
        clock=digits.clock("Uhr"),
        seconds=seconds,
        date=date,
        months={name: number for number, name in enumerate(_MONTHS, 1)}
        | {name: number for number, name in enumerate(_SHORT_MONTHS, 1)},
        weekdays={
            "mo": "Montag",
            "di": "Dienstag",
            "mi": "Mittwoch",
            "do": "Donnerstag",
            "fr": "Freitag",
            "sa": "Samstag",
            "so": "Sonntag",
        },
        month_first=False,
        clock_words="Uhr|h",
        h_is_clock=True,
        joint="",
        half_joints="",
        durations={
            "d": Unit("Tag", "Tage"),
            "h": Unit("Stunde", "Stunden"),
            "m": Unit("Minute", "Minuten"),
            "s": Unit("Sekunde", "Sekunden"),
        },
    ),
    units=digits.units(
        {
            "W": ("Watt", "Watt"),
            "kW": ("Kilowatt", "Kilowatt"),
            "MW": ("Megawatt", "Megawatt"),
            "Wh": ("Wattstunde", "Wattstunden"),
            "kWh": ("Kilowattstunde", "Kilowattstunden"),
            "MWh": ("Megawattstunde", "Megawattstunden"),
            "V": ("Volt", "Volt"),
            "A": ("Ampere", "Ampere"),
            "mA": ("Milliampere", "Milliampere"),
            "Hz": ("Hertz", "Hertz"),
            "km": ("Kilometer", "Kilometer"),
            "m": ("Meter", "Meter"),
            "cm": ("Zentimeter", "Zentimeter"),
            "mm": ("Millimeter", "Millimeter"),
            "kg": ("Kilogramm", "Kilogramm"),
            "g": ("Gramm", "Gramm"),
            "l": ("Liter", "Liter"),
            "L": ("Liter", "Liter"),
            "ml": ("Milliliter", "Milliliter"),
            "m²": ("Quadratmeter", "Quadratmeter"),
            "m³": ("Kubikmeter", "Kubikmeter"),
            "hPa": ("Hektopascal", "Hektopascal"),
            "mbar": ("Millibar", "Millibar"),
            "dB": ("Dezibel", "Dezibel"),
            "lx": ("Lux", "Lux"),
            "lm": ("Lumen", "Lumen"),
            "ppm": ("Teil pro Million", "Teile pro Million"),
            "µg/m³": ("Mikrogramm pro Kubikmeter", "Mikrogramm pro Kubikmeter"),
            "μg/m³": ("Mikrogramm pro Kubikmeter", "Mikrogramm pro Kubikmeter"),
            "km/h": ("Kilometer pro Stunde", "Kilometer pro Stunde"),
            "m/s": ("Meter pro Sekunde", "Meter pro Sekunde"),
            "mm/h": ("Millimeter pro Stunde", "Millimeter pro Stunde"),
            "W/m²": ("Watt pro Quadratmeter", "Watt pro Quadratmeter"),
            "MB": ("Megabyte", "Megabyte"),
            "GB": ("Gigabyte", "Gigabyte"),
            "ms": ("Millisekunde", "Millisekunden"),
            "s": ("Sekunde", "Sekunden"),
            "min": ("Minute", "Minuten"),
            "h": ("Stunde", "Stunden"),
            "Std.": ("Stunde", "Stunden"),
            "Min.": ("Minute", "Minuten"),
            "Sek.": ("Sekunde", "Sekunden"),
            "°C": ("Grad Celsius", "Grad Celsius"),
            "ºC": ("Grad Celsius", "Grad Celsius"),
            "℃": ("Grad Celsius", "Grad Celsius"),
            "°F": ("Grad Fahrenheit", "Grad Fahrenheit"),
            "ºF": ("Grad Fahrenheit", "Grad Fahrenheit"),
            "℉": ("Grad Fahrenheit", "Grad Fahrenheit"),
            "°": ("Grad", "Grad"),
            "%": ("Prozent", "Prozent"),
        }
    ),
    per="pro",
    currencies={
        "€": (Unit("Euro", "Euro"), Unit("Cent", "Cent")),
        "$": (Unit("Dollar", "Dollar"), Unit("Cent", "Cent")),
        "£": (Unit("Pfund", "Pfund"), Unit("Penny", "Pence")),
    },
    currency_join="",
    fractions={
        "1/2": "ein halb",
        "½": "ein halb",
        "1/3": "ein Drittel",
        "⅓": "ein Drittel",
        "2/3": "zwei Drittel",
        "⅔": "zwei Drittel",
        "1/4": "ein Viertel",
        "¼": "ein Viertel",
        "3/4": "drei Viertel",
        "¾": "drei Viertel",
    },
    symbols={
        "²": "hoch zwei",
        "³": "hoch drei",
        "☑": "erledigt",
        "&": "und",
        "+": "plus",
        "=": "gleich",
        "×": "mal",
        "÷": "geteilt durch",
        "±": "plus minus",
        "<": "weniger als",
        ">": "mehr als",
        "≤": "höchstens",
        "≥": "mindestens",
        "≈": "etwa",
        "@": "at",
        "→": "zu",
        "%": "Prozent",
        "°": "Grad",
        "€": "Euro",
        "$": "Dollar",
        "£": "Pfund",
    },
    abbreviations={
        "usw.": "und so weiter",
        "Temp.": "Temperatur",
    },
    inner={
        "evtl.": "eventuell",
        "ggf.": "gegebenenfalls",
        "u.a.": "unter anderem",
        "u. a.": "unter anderem",
        "ca.": "circa",
        "bzw.": "beziehungsweise",
        "d.h.": "das heißt",
        "d. h.": "das heißt",
        "z.B.": "zum Beispiel",
        "z. B.": "zum Beispiel",
        "Dr.": "Doktor",
        "Hr.": "Herr",
        "Prof.": "Professor",
    },
    before_number={
        "Nr.": "Nummer",
        "max.": "maximal",
        "min.": "mindestens",
        "S.": "Seite",
    },
    acronyms={
        "CO2": "C O 2",
        "CO₂": "C O 2",
    },
    rewrites=[(r"\bFr\.(?=\s[A-ZÄÖÜ])", "Frau")],
    range_words="bis|und|oder",
    scales="Millionen?|Milliarden?",
    times="mal",
    to="bis",
    by="mal",
    phones="(?!)",
    dot="Punkt",
    point="Punkt",
    number="Nummer",
    version="Version",
    slash="Schrägstrich",
    power="hoch",
)
