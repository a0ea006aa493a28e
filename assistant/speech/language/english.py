"""English words and units."""

from assistant.speech.language import Calendar, LanguageTable, Numbers, Unit

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))


def integer(number: int, unit: Unit | None = None) -> str:
    """Return a whole number >= 0 in words, or digit by digit from 10**15 on."""
    if number >= 10**15:
        return spell(str(number))
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


def spell(digits: str) -> str:
    return " ".join(_ONES[int(digit)] for digit in digits)


def decimal(whole: str, mark: str, decimals: str) -> str:
    """Return a decimal number in words: "twenty-one point five" for "21.5"."""
    return f"{integer(int(whole))} point {spell(decimals)}"


def ordinal(number: int, sign: str) -> str | None:
    """Return "twenty-first" for 21, or None from 1000 on. `sign` is ignored."""
    return _ordinal(number) if number < 1000 else None


def _ordinal(number: int) -> str:
    if number >= 100:
        rest = f" {_ordinal(number % 100)}" if number % 100 else "th"
        return f"{_ONES[number // 100]} hundred{rest}"
    if number < 20 and number in _ORDINALS:
        return _ORDINALS[number]
    if number < 20:
        return f"{_ONES[number]}th"
    tens = _TENS[number // 10]
    return f"{tens}-{_ordinal(number % 10)}" if number % 10 else f"{tens[:-1]}ieth"


_ORDINALS = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth",
             12: "twelfth"}  # fmt: skip


def clock(hour: int, minute: int, half: str) -> str:
    """Return a time of day in words: "six oh five AM", "eighteen thirty", "three o'clock"."""
    if half:
        hours = integer(hour % 12 or 12)
        # espeak-ng (and so Piper) spells "AM", but says "uh em" for "A M".
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
    return f"and {integer(number)} {'second' if number == 1 else 'seconds'}"


_MONTHS = """January February March April May June July August September October November
December""".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def date(year: int | None, month: int, day: int | None, before: str = "") -> str:
    """Return "November twenty-first, twenty twenty-six", or only the month if `day` is None."""
    said = _MONTHS[month - 1]
    if day is not None:
        said += f" {_ordinal(day)}"
    return f"{said}, {_year(year)}" if year is not None else said


def _year(year: int) -> str:
    if not 1100 <= year < 10_000 or year % 1000 < 10:
        return integer(year)
    century, rest = divmod(year, 100)
    if not rest:
        return f"{integer(century)} hundred"
    return f"{integer(century)} {f'oh {_ONES[rest]}' if rest < 10 else integer(rest)}"


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
        "VA": "volt amp",
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
        "Ah": "amp hour",
        "mAh": "milliamp hour",
        "kn": "knot",
        " K": "kelvin",
        "yd": "yard",
        "tbsp": "tablespoon",
        "tsp": "teaspoon",
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
        "mins": "minute",
        "secs": "second",
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
    "″": Unit("inch", "inches"),
    "inHg": Unit("inch of mercury", "inches of mercury"),
    "psi": Unit("pound per square inch", "pounds per square inch"),
    "dBm": Unit("decibel milliwatt", "decibel milliwatts"),
    "dBA": Unit("decibel", "decibels"),
    "bar": Unit("bar", "bar"),
    "µS/cm": Unit("microsiemens per centimeter", "microsiemens per centimeter"),
    "day": Unit("day", "days"),
    "month": Unit("month", "months"),
    "year": Unit("year", "years"),
    "hour": Unit("hour", "hours"),
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

ENGLISH = LanguageTable(
    numbers=Numbers(
        thousands=",",
        decimal_mark=".",
        integer=integer,
        decimal=decimal,
        spell=spell,
        ordinal_signs="st|nd|rd|th",
        ordinal=ordinal,
        minus="minus",
        plus="plus",
    ),
    calendar=Calendar(
        clock=clock,
        seconds=seconds,
        date=date,
        months={name: number for number, name in enumerate(_MONTHS, 1)}
        | {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
        | {"Sept": 9},
        weekdays={name[:3].lower(): name for name in _WEEKDAYS}
        | {"tues": "Tuesday", "thur": "Thursday", "thurs": "Thursday"},
        month_first=True,
        clock_words="",
        h_is_clock=False,
        joint="",
        half_joints="to|until|till|and",
        durations={
            "d": Unit("day", "days"),
            "h": Unit("hour", "hours"),
            "m": Unit("minute", "minutes"),
            "s": Unit("second", "seconds"),
        },
    ),
    units=_UNITS,
    per="per",
    currencies={
        "$": (Unit("dollar", "dollars"), Unit("cent", "cents")),
        "€": (Unit("euro", "euros"), Unit("cent", "cents")),
        "£": (Unit("pound", "pounds"), Unit("penny", "pence")),
        "¥": (Unit("yen", "yen"), Unit("sen", "sen")),
        "USD": (Unit("dollar", "dollars"), Unit("cent", "cents")),
        "EUR": (Unit("euro", "euros"), Unit("cent", "cents")),
        "GBP": (Unit("pound", "pounds"), Unit("penny", "pence")),
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
        "¥": "yen",
        "π": "pi",
        "²": "squared",
        "³": "cubed",
        "≠": "is not equal to",
        "☑": "done",
    },
    abbreviations={
        "etc.": "et cetera",
        "approx.": "approximately",
        "avg.": "average",
        "temp.": "temperature",
        "hum.": "humidity",
        "dept.": "department",
        "Ave.": "Avenue",
        "Blvd.": "Boulevard",
        "Rd.": "Road",
        "w/o": "without",
        "w/": "with",
    },
    inner={
        "e.g.": "for example",
        "i.e.": "that is",
        "vs.": "versus",
        "Dr.": "Doctor",
        "Mr.": "Mister",
        "Mrs.": "Missus",
        "Ms.": "Miss",
        "Prof.": "Professor",
    },
    before_number={
        "p.": "page",
        "pp.": "pages",
        "min.": "minimum",
        "max.": "maximum",
    },
    acronyms={
        "CO2": "C O two",
        "CO₂": "C O two",
        "PM2.5": "P M two point five",
        "PM10": "P M ten",
        "PM1": "P M one",
        "pH": "P H",
        "AC": "air conditioning",
        "A/C": "air conditioning",
        "NE": "northeast",
        "NW": "northwest",
        "SE": "southeast",
        "SW": "southwest",
        "4K": "four K",
        "8K": "eight K",
        "3D": "three D",
        "2D": "two D",
    }
    # A voice would read these acronyms as words.
    | {word: " ".join(word) for word in "AQI FAQ HVAC NAS PIR TVOC UPS VOC".split()},
    rewrites=[
        (r"\b24/7\b", "twenty-four seven"),
        (r"\b50/50\b", "fifty-fifty"),
        (r"\bS0?(\d+)E0?(\d+)\b", r"season \1, episode \2"),
        (r"(\d+(?:\.\d+){3}):(\d+)", r"\1, port \2"),
        (r"(?<=\d)\s?in(?=\sof\b|\s(?:tall|long|wide|deep|high|thick)\b)", "″"),
        (r"(?<=ft )(\d+)\s?in\b", r"\1″"),
        (r"(?<=[a-z] )St\.(?=\s[a-z]|[,;])", "Street"),
        (r"(?<=[a-z] )St\.(?=$|\s(?:The|It|I|You|They|We)\b)", "Street."),
        # Not before a plural: "No. 5 lamps are off." is an answer.
        (r"\bNo\.\s?(?=\d+\b(?!\s[a-z]{3,}s\b))", "number "),
        (r"\bApt\.\s?(?=\d)", "apartment "),
        (r"(?<!\w)#(?=[A-Za-z])", "hashtag "),
        (r"(?<=\S)\s≈\s", " is about "),
        (r"\bC\+\+", "C plus plus"),
        (r"\bC#(?!\w)", "C sharp"),
        (r"([$€£]\s?\d+(?:\.\d+)?)\s?K\b", r"\1 thousand"),
        (r"([$€£]\s?\d+(?:\.\d+)?)\s?M\b", r"\1 million"),
        (r"([$€£]\s?\d+(?:\.\d+)?)\s?B\b", r"\1 billion"),
        (r"\b([Ss]tep|[Pp]art|[Pp]age|[Tt]rack|[Ee]pisode)\s(\d+)/(\d+)", r"\1 \2 of \3"),
        (r"\b([Vv]ersion|[Rr]elease)\s(\d+)\.(\d+)(?![\d.])", r"\1 \2 point \3"),
    ],
    to="to",
    range_words="to|and|or",
    scales="hundred|thousand|million|billion|trillion",
    times="times",
    by="by",
    phones="(?!)",
    dot="dot",
    point="point",
    number="number",
    version="version",
    slash="slash",
    power="to the power of",
)
