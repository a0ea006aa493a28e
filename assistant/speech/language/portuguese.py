"""Portuguese words and units. Numbers are left to the voice."""

from assistant.speech import language as digits
from assistant.speech.language import Calendar, LanguageTable, Unit

_MONTHS = """janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro
dezembro""".split()
_SHORT_MONTHS = "jan fev mar abr mai jun jul ago set out nov dez".split()


def date(year: int | None, month: int, day: int | None, before: str = "") -> str:
    name = _MONTHS[month - 1]
    said = name if day is None else f"{day} de {name}"
    return f"{said} de {year}" if year is not None else said


def seconds(number: int) -> str:
    return f"e {number} {'segundo' if number == 1 else 'segundos'}"


PORTUGUESE = LanguageTable(
    numbers=digits.numbers(thousands=".", minus="menos", plus="mais"),
    calendar=Calendar(
        clock=digits.clock("horas e", "horas", one="horas hora"),
        seconds=seconds,
        date=date,
        months={name: number for number, name in enumerate(_MONTHS, 1)}
        | {name: number for number, name in enumerate(_SHORT_MONTHS, 1)},
        weekdays={
            "seg": "segunda-feira",
            "ter": "terça-feira",
            "qua": "quarta-feira",
            "qui": "quinta-feira",
            "sex": "sexta-feira",
            "sáb": "sábado",
            "dom": "domingo",
        },
        month_first=False,
        clock_words="horas|hrs|h",
        h_is_clock=True,
        joint="de",
        half_joints="",
        durations={
            "d": Unit("dia", "dias"),
            "h": Unit("hora", "horas"),
            "m": Unit("minuto", "minutos"),
            "s": Unit("segundo", "segundos"),
        },
    ),
    units=digits.units(
        {
            "W": ("watt", "watts"),
            "kW": ("quilowatt", "quilowatts"),
            "MW": ("megawatt", "megawatts"),
            "Wh": ("watt-hora", "watts-hora"),
            "kWh": ("quilowatt-hora", "quilowatts-hora"),
            "MWh": ("megawatt-hora", "megawatts-hora"),
            "V": ("volt", "volts"),
            "A": ("ampere", "amperes"),
            "mA": ("miliampere", "miliamperes"),
            "Hz": ("hertz", "hertz"),
            "km": ("quilômetro", "quilômetros"),
            "m": ("metro", "metros"),
            "cm": ("centímetro", "centímetros"),
            "mm": ("milímetro", "milímetros"),
            "kg": ("quilograma", "quilogramas"),
            "g": ("grama", "gramas"),
            "l": ("litro", "litros"),
            "L": ("litro", "litros"),
            "ml": ("mililitro", "mililitros"),
            "m²": ("metro quadrado", "metros quadrados"),
            "m³": ("metro cúbico", "metros cúbicos"),
            "hPa": ("hectopascal", "hectopascais"),
            "mbar": ("milibar", "milibares"),
            "dB": ("decibel", "decibéis"),
            "lx": ("lux", "lux"),
            "lm": ("lúmen", "lúmens"),
            "ppm": ("parte por milhão", "partes por milhão"),
            "µg/m³": ("micrograma por metro cúbico", "microgramas por metro cúbico"),
            "μg/m³": ("micrograma por metro cúbico", "microgramas por metro cúbico"),
            "km/h": ("quilômetro por hora", "quilômetros por hora"),
            "m/s": ("metro por segundo", "metros por segundo"),
            "mm/h": ("milímetro por hora", "milímetros por hora"),
            "W/m²": ("watt por metro quadrado", "watts por metro quadrado"),
            "MB": ("megabyte", "megabytes"),
            "GB": ("gigabyte", "gigabytes"),
            "ms": ("milissegundo", "milissegundos"),
            "s": ("segundo", "segundos"),
            "min": ("minuto", "minutos"),
            "h": ("hora", "horas"),
            "°C": ("grau Celsius", "graus Celsius"),
            "ºC": ("grau Celsius", "graus Celsius"),
            "℃": ("grau Celsius", "graus Celsius"),
            "°F": ("grau Fahrenheit", "graus Fahrenheit"),
            "ºF": ("grau Fahrenheit", "graus Fahrenheit"),
            "℉": ("grau Fahrenheit", "graus Fahrenheit"),
            "°": ("grau", "graus"),
            "%": ("por cento", "por cento"),
        }
    ),
    per="por",
    currencies={
        "R$": (Unit("real", "reais"), Unit("centavo", "centavos")),
        "€": (Unit("euro", "euros"), Unit("cêntimo", "cêntimos")),
        "$": (Unit("dólar", "dólares"), Unit("centavo", "centavos")),
        "£": (Unit("libra", "libras"), Unit("pêni", "pence")),
    },
    currency_join="e",
    fractions={
        "1/2": "meio",
        "½": "meio",
        "1/3": "um terço",
        "⅓": "um terço",
        "2/3": "dois terços",
        "⅔": "dois terços",
        "1/4": "um quarto",
        "¼": "um quarto",
        "3/4": "três quartos",
        "¾": "três quartos",
    },
    symbols={
        "²": "ao quadrado",
        "³": "ao cubo",
        "☑": "feito",
        "&": "e",
        "+": "mais",
        "=": "igual a",
        "×": "vezes",
        "÷": "dividido por",
        "±": "mais ou menos",
        "<": "menos de",
        ">": "mais de",
        "≤": "no máximo",
        "≥": "pelo menos",
        "≈": "cerca de",
        "@": "arroba",
        "→": "para",
        "%": "por cento",
        "°": "graus",
        "€": "euros",
        "$": "dólares",
        "£": "libras",
    },
    abbreviations={
        "etc.": "et cetera",
        "aprox.": "aproximadamente",
        "temp.": "temperatura",
    },
    inner={
        "p.ex.": "por exemplo",
        "p. ex.": "por exemplo",
        "Sr.": "senhor",
        "Sra.": "senhora",
        "Dr.": "doutor",
        "Dra.": "doutora",
    },
    before_number={
        "n.º": "número",
        "nº": "número",
        "máx.": "máximo",
        "mín.": "mínimo",
        "pág.": "página",
    },
    acronyms={
        "CO2": "C O 2",
        "CO₂": "C O 2",
    },
    # "são 01:30" as "é 1 hora e 30", "às 01:30" as "à 1 hora e 30"
    rewrites=[
        (r"\bsão (?=0?1[:h]\d\d\b)", "é "),
        (r"\bSão (?=0?1[:h]\d\d\b)", "É "),
        (r"\b([AaÀà])s (?=0?1[:h]\d\d\b)", r"\1 "),
    ],
    range_words="a|e|ou",
    scales="mil|milhão|milhões",
    times="vezes",
    to="a",
    by="por",
    phones="(?!)",
    dot="ponto",
    point="ponto",
    number="número",
    version="versão",
    slash="barra",
    power="elevado a",
)
