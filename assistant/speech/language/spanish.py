"""Spanish words and units."""

from assistant.speech.language import Calendar, LanguageTable, Numbers, Unit

_ONES = """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro
veinticinco veintiséis veintisiete veintiocho veintinueve""".split()
_TENS = "- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_HUNDREDS = """- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos
ochocientos novecientos""".split()


def integer(number: int, unit: Unit | None = None) -> str:
    """Return a whole number >= 0 in words, ending in "un", "una" or "uno" as the unit requires."""
    words = _cardinal(number)
    if unit is None or unit.apart:
        return words
    if number and number % 10**6 == 0:
        return f"{words} de"  # "un millón de vatios"
    if unit.feminine:
        words = words.replace("cientos", "cientas").replace("quinientos", "quinientas")
        return words[:-1] + "a" if words.endswith("uno") else words
    return _shortened(words)


def _shortened(words: str) -> str:
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


def spell(digits: str) -> str:
    return " ".join(_ONES[int(digit)] for digit in digits)


def decimal(whole: str, mark: str, decimals: str) -> str:
    """Return "veintiuno coma cinco" for "21,5"."""
    # Decimals are read digit by digit if they start with 0 or if there are more than two.
    as_number = len(decimals) <= 2 and not decimals.startswith("0")
    behind = _cardinal(int(decimals)) if as_number else spell(decimals)
    return f"{_cardinal(int(whole))} {'coma' if mark == ',' else 'punto'} {behind}"


_ORDINALS = """- primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo
duodécimo""".split()


def ordinal(number: int, sign: str) -> str | None:
    """Return "segunda" for "2.ª", or None for 0 and from 13 on."""
    if not 1 <= number < len(_ORDINALS):
        return None
    word = _ORDINALS[number]
    if sign.endswith("er"):
        return word.removesuffix("o")  # "primer piso"
    return f"{word[:-1]}a" if sign.endswith("ª") else word


_HOUR = Unit("hora", "horas", feminine=True)


def clock(hour: int, minute: int, half: str) -> str:
    """Return a time of day without its article: "seis y cinco de la mañana", "dieciocho
    treinta"."""
    shown = (hour % 12 or 12) if half else hour
    words = integer(shown, _HOUR)
    if minute and 1 <= shown <= 12:
        words += " y " + {15: "cuarto", 30: "media"}.get(minute, integer(minute))
    elif minute:
        words += f" {'cero ' if minute < 10 else ''}{integer(minute)}"
    elif shown > 12 or not hour:
        words += " horas"
    return f"{words} {_part_of_day(shown, minute, half)}".rstrip()


def _part_of_day(hour: int, minute: int, half: str) -> str:
    if half == "am":
        if hour == 12:
            return "de la noche"
        return "de la madrugada" if hour < 6 else "de la mañana"
    if half == "pm":
        if hour == 12:
            return "de la tarde" if minute else "del mediodía"
        return "de la tarde" if hour < 8 else "de la noche"
    return ""


def seconds(number: int) -> str:
    unit = Unit("segundo", "segundos")
    return f"y {integer(number, unit)} {unit.one if number == 1 else unit.many}"


_MONTHS = """enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
diciembre""".split()
_WEEKDAYS = "lunes martes miércoles jueves viernes sábado domingo".split()


def date(year: int | None, month: int, day: int | None, before: str = "") -> str:
    """Return "veintiuno de noviembre de dos mil veintiséis", or only the month if `day` is None."""
    name = _MONTHS[month - 1]
    said = name if day is None else f"{_cardinal(day)} de {name}"
    return f"{said} de {_cardinal(year)}" if year is not None else said


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
    "bar": Unit("bar", "bares"),
    "dBm": Unit("decibelio milivatio", "decibelios milivatio"),
    "dBA": Unit("decibelio", "decibelios"),
    "Mbit/s": Unit("megabit por segundo", "megabits por segundo"),
    "rpm": Unit("revolución por minuto", "revoluciones por minuto", feminine=True),
    " K": Unit("kelvin", "kelvins"),
    "VA": Unit("voltamperio", "voltamperios"),
    "Ah": Unit("amperio hora", "amperios hora"),
    "mAh": Unit("miliamperio hora", "miliamperios hora"),
    "µS/cm": Unit("microsiemens por centímetro", "microsiemens por centímetro"),
    "lb": Unit("libra", "libras", feminine=True),
    "oz": Unit("onza", "onzas", feminine=True),
    "cda": Unit("cucharada", "cucharadas", feminine=True),
    "día": Unit("día", "días"),
    "mes": Unit("mes", "meses"),
    "año": Unit("año", "años"),
    "hora": _HOUR,
    "ppm": Unit("parte por millón", "partes por millón", feminine=True),
    "ppb": Unit("parte por mil millones", "partes por mil millones", feminine=True),
    "µg/m³": Unit("microgramo por metro cúbico", "microgramos por metro cúbico"),
    "μg/m³": Unit("microgramo por metro cúbico", "microgramos por metro cúbico"),
    "m²": Unit("metro cuadrado", "metros cuadrados"),
    "m³": Unit("metro cúbico", "metros cúbicos"),
    "W/m²": Unit("vatio por metro cuadrado", "vatios por metro cuadrado"),
    "Mbps": Unit("megabit por segundo", "megabits por segundo"),
}

SPANISH = LanguageTable(
    numbers=Numbers(
        thousands=". ",
        decimal_mark=",",
        integer=integer,
        decimal=decimal,
        spell=spell,
        ordinal_signs=r"\.?(?:[ºª]|er)",
        ordinal=ordinal,
        minus="menos",
        plus="más",
    ),
    calendar=Calendar(
        clock=clock,
        seconds=seconds,
        date=date,
        months={name: number for number, name in enumerate(_MONTHS, 1)}
        | {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
        | {"sept": 9, "setiembre": 9},
        weekdays={name[:3]: name for name in _WEEKDAYS} | {"mie": "miércoles", "sab": "sábado"},
        month_first=False,
        clock_words="horas|hrs|h",
        h_is_clock=False,
        joint="del?",
        half_joints="",
        durations={
            "d": Unit("día", "días"),
            "h": _HOUR,
            "m": Unit("minuto", "minutos"),
            "s": Unit("segundo", "segundos"),
        },
    ),
    units=_UNITS,
    per="por",
    currencies={
        "$": (Unit("dólar", "dólares"), Unit("centavo", "centavos")),
        "€": (Unit("euro", "euros"), Unit("céntimo", "céntimos")),
        "£": (Unit("libra", "libras", feminine=True), Unit("penique", "peniques")),
        "¥": (Unit("yen", "yenes"), Unit("sen", "senes")),
        "US$": (Unit("dólar", "dólares"), Unit("centavo", "centavos")),
        "USD": (Unit("dólar", "dólares"), Unit("centavo", "centavos")),
        "EUR": (Unit("euro", "euros"), Unit("céntimo", "céntimos")),
        "MXN": (Unit("peso mexicano", "pesos mexicanos"), Unit("centavo", "centavos")),
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
        "±": "más menos",
        "<": "menos de",
        ">": "más de",
        "≤": "como mucho",
        "≥": "al menos",
        "≈": "alrededor de",
        "@": "arroba",
        "→": "a",
        "%": "por ciento",
        "°": "grados",
        "€": "euros",
        "$": "dólares",
        "£": "libras",
        "¥": "yenes",
        "π": "pi",
        "²": "al cuadrado",
        "³": "al cubo",
        "≠": "no es igual a",
        "☑": "hecho",
    },
    abbreviations={
        "etc.": "etcétera",
        "aprox.": "aproximadamente",
        "EE. UU.": "Estados Unidos",
        "EE.UU.": "Estados Unidos",
        "temp.": "temperatura",
        "hum.": "humedad",
        "prom.": "promedio",
        "tel.": "teléfono",
        "tfno.": "teléfono",
        "máx.": "máximo",
        "mín.": "mínimo",
    },
    inner={
        "p. ej.": "por ejemplo",
        "p.ej.": "por ejemplo",
        "Sr.": "señor",
        "Sra.": "señora",
        "Srta.": "señorita",
        "Dr.": "doctor",
        "Dra.": "doctora",
        "D.": "don",
        "Dña.": "doña",
        "Ud.": "usted",
        "Uds.": "ustedes",
        "Avda.": "avenida",
        "Av.": "avenida",
    },
    before_number={
        "n.º": "número",
        "nº": "número",
        "núm.": "número",
        "pág.": "página",
        "págs.": "páginas",
    },
    acronyms={
        "CO2": "C O dos",
        "CO₂": "C O dos",
        "PM2.5": "P M dos punto cinco",
        "PM2,5": "P M dos coma cinco",
        "PM10": "P M diez",
        "pH": "P H",
        "4K": "cuatro K",
        "3D": "tres D",
    }
    | {word: " ".join(word) for word in "HVAC PIR TVOC VOC".split()},
    rewrites=[
        (r"\b([Aa]ire) A/?C\b", r"\1 acondicionado"),
        (r"\b([Ee]l|[Dd]el|[Aa]l|[Uu]n|[Tt]u|[Mm]i) A/?C\b", r"\1 aire acondicionado"),
        (r"\b([13])\.?º(?=\s(?!(?:de|del|y|o|en|es|está|a)\b)[a-záéíóúñ])", r"\1.er"),
        (r"(?<![\d/])(?:1/2|½) (?=taza|cucharada|cucharadita|hora|libra|cebolla)", "media "),
        (r"(?<![\d/])(?:1/2|½)\s?kg\b", "medio kilogramo"),
        (r"(?<![\d/])(?:1/2|½)\s?[lL]\b", "medio litro"),
        (r"\b([Pp]aso|[Pp]arte|[Pp]ágina|[Ee]pisodio)\s(\d+)/(\d+)", r"\1 \2 de \3"),
        (r"\b([Vv]ersión)\s(\d+)\.(\d+)(?![\d.])", r"\1 \2 punto \3"),
        (r"\b([Tt])emp\. máx\.", r"\1emperatura máxima"),
        (r"\b([Tt])emp\. mín\.", r"\1emperatura mínima"),
        (r"\$(\d{1,3}),(\d{3})(?=\s?MXN\b)", r"\1.\2"),
        (r"\$(?=[\d.,]+\s?MXN\b)", ""),
        (r"\b24/7\b", "veinticuatro siete"),
        (r"\bS0?(\d+)E0?(\d+)\b", r"temporada \1, episodio \2"),
        (r"\bT0?(\d+)E0?(\d+)\b", r"temporada \1, episodio \2"),
        (r"(\d+(?:\.\d+){3}):(\d+)", r"\1, puerto \2"),
        (r"\bC/\s?(?=[A-ZÁÉÍÓÚ])", "calle "),
        (r"(?<!\w)#(?=[^\W\d])", "almohadilla "),
        (r"(?<=\S)\s≈\s", " es aproximadamente "),
    ],
    to="a",
    range_words="a|y|o|e",
    scales="mil|millón|millones|mil millones|billones",
    times="por",
    by="por",
    phones=r"[6-9]\d{2} \d{3} \d{3}|[89]\d \d{3} \d{2} \d{2}",
    dot="punto",
    point="punto",
    number="número",
    version="versión",
    slash="barra",
    power="elevado a",
)
