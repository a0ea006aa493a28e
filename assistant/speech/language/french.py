"""French words and units. Numbers are left to the voice."""

from assistant.speech import language as digits
from assistant.speech.language import Calendar, LanguageTable, Unit

_MONTHS = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()
)
_SHORT_MONTHS = "janv févr mars avr mai juin juil août sept oct nov déc".split()


def date(year: int | None, month: int, day: int | None, before: str = "") -> str:
    name = _MONTHS[month - 1]
    said = name if day is None else f"{'1er' if day == 1 else day} {name}"
    return f"{said} {year}" if year is not None else said


def seconds(number: int) -> str:
    return f"et {number} {'seconde' if number == 1 else 'secondes'}"


FRENCH = LanguageTable(
    numbers=digits.numbers(thousands=" .", minus="moins", plus="plus"),
    calendar=Calendar(
        clock=digits.clock("heures", one="heures heure"),
        seconds=seconds,
        date=date,
        months={name: number for number, name in enumerate(_MONTHS, 1)}
        | {name: number for number, name in enumerate(_SHORT_MONTHS, 1)},
        weekdays={
            "lun": "lundi",
            "mar": "mardi",
            "mer": "mercredi",
            "jeu": "jeudi",
            "ven": "vendredi",
            "sam": "samedi",
            "dim": "dimanche",
        },
        month_first=False,
        clock_words="heures|h",
        h_is_clock=True,
        joint="",
        half_joints="",
        durations={
            "d": Unit("jour", "jours"),
            "h": Unit("heure", "heures"),
            "m": Unit("minute", "minutes"),
            "s": Unit("seconde", "secondes"),
        },
    ),
    units=digits.units(
        {
            "W": ("watt", "watts"),
            "kW": ("kilowatt", "kilowatts"),
            "MW": ("mégawatt", "mégawatts"),
            "Wh": ("wattheure", "wattheures"),
            "kWh": ("kilowattheure", "kilowattheures"),
            "MWh": ("mégawattheure", "mégawattheures"),
            "V": ("volt", "volts"),
            "A": ("ampère", "ampères"),
            "mA": ("milliampère", "milliampères"),
            "Hz": ("hertz", "hertz"),
            "km": ("kilomètre", "kilomètres"),
            "m": ("mètre", "mètres"),
            "cm": ("centimètre", "centimètres"),
            "mm": ("millimètre", "millimètres"),
            "kg": ("kilogramme", "kilogrammes"),
            "g": ("gramme", "grammes"),
            "l": ("litre", "litres"),
            "L": ("litre", "litres"),
            "ml": ("millilitre", "millilitres"),
            "m²": ("mètre carré", "mètres carrés"),
            "m³": ("mètre cube", "mètres cubes"),
            "hPa": ("hectopascal", "hectopascals"),
            "mbar": ("millibar", "millibars"),
            "dB": ("décibel", "décibels"),
            "lx": ("lux", "lux"),
            "lm": ("lumen", "lumens"),
            "ppm": ("partie par million", "parties par million"),
            "µg/m³": ("microgramme par mètre cube", "microgrammes par mètre cube"),
            "μg/m³": ("microgramme par mètre cube", "microgrammes par mètre cube"),
            "km/h": ("kilomètre par heure", "kilomètres par heure"),
            "m/s": ("mètre par seconde", "mètres par seconde"),
            "mm/h": ("millimètre par heure", "millimètres par heure"),
            "W/m²": ("watt par mètre carré", "watts par mètre carré"),
            "Mo": ("mégaoctet", "mégaoctets"),
            "Go": ("gigaoctet", "gigaoctets"),
            "MB": ("mégaoctet", "mégaoctets"),
            "GB": ("gigaoctet", "gigaoctets"),
            "ms": ("milliseconde", "millisecondes"),
            "s": ("seconde", "secondes"),
            "min": ("minute", "minutes"),
            "h": ("heure", "heures"),
            "°C": ("degré Celsius", "degrés Celsius"),
            "ºC": ("degré Celsius", "degrés Celsius"),
            "℃": ("degré Celsius", "degrés Celsius"),
            "°F": ("degré Fahrenheit", "degrés Fahrenheit"),
            "ºF": ("degré Fahrenheit", "degrés Fahrenheit"),
            "℉": ("degré Fahrenheit", "degrés Fahrenheit"),
            "°": ("degré", "degrés"),
            "%": ("pour cent", "pour cent"),
        }
    ),
    per="par",
    currencies={
        "€": (Unit("euro", "euros"), Unit("centime", "centimes")),
        "$": (Unit("dollar", "dollars"), Unit("cent", "cents")),
        "£": (Unit("livre", "livres"), Unit("penny", "pence")),
    },
    currency_join="",
    fractions={
        "1/2": "un demi",
        "½": "un demi",
        "1/3": "un tiers",
        "⅓": "un tiers",
        "2/3": "deux tiers",
        "⅔": "deux tiers",
        "1/4": "un quart",
        "¼": "un quart",
        "3/4": "trois quarts",
        "¾": "trois quarts",
    },
    symbols={
        "²": "au carré",
        "³": "au cube",
        "☑": "fait",
        "&": "et",
        "+": "plus",
        "=": "égale",
        "×": "fois",
        "÷": "divisé par",
        "±": "plus ou moins",
        "<": "moins de",
        ">": "plus de",
        "≤": "au plus",
        "≥": "au moins",
        "≈": "environ",
        "@": "arobase",
        "→": "à",
        "%": "pour cent",
        "°": "degrés",
        "€": "euros",
        "$": "dollars",
        "£": "livres",
    },
    abbreviations={
        "etc.": "et cetera",
        "temp.": "température",
    },
    inner={
        "env.": "environ",
        "c.-à-d.": "c'est-à-dire",
        "p.ex.": "par exemple",
        "p. ex.": "par exemple",
        "M.": "monsieur",
        "Mme": "madame",
        "Mlle": "mademoiselle",
        "Dr": "docteur",
    },
    before_number={
        "n°": "numéro",
        "no.": "numéro",
        "max.": "maximum",
        "min.": "minimum",
        "p.": "page",
    },
    acronyms={
        "CO2": "C O 2",
        "CO₂": "C O 2",
    },
    rewrites=[],
    range_words="à|et|ou",
    scales="millions?|milliards?",
    times="fois",
    to="à",
    by="fois",
    phones="(?!)",
    dot="point",
    point="point",
    number="numéro",
    version="version",
    slash="barre",
    power="puissance",
)
