"""What people say about alarms, reminders and what is to be done later, for which Home Assistant
has no intents."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.brains.offline.numbers import number_words
from assistant.brains.offline.timer_sentences import ENGLISH_SPAN, SPANISH_SPAN
from assistant.speech.language.spanish import integer
from assistant.speech.language.table import Unit

# Times of day as people say them: each way to say a time, and the time on a clock of 12 hours.


_HORA = Unit("hora", "horas", feminine=True)  # "la una"


def english_times() -> Iterator[tuple[str, str]]:
    """ "seven thirty", "half past seven", "ten to eight" -> "7:30", "7:30", "7:50"."""
    for hour in range(1, 13):
        named, before = number_words(hour), (hour - 2) % 12 + 1
        yield f"{named} [o'clock]", f"{hour}:00"
        yield f"half past {named}", f"{hour}:30"
        yield f"[a] quarter past {named}", f"{hour}:15"
        yield f"[a] quarter to {named}", f"{before}:45"
        for minute in range(1, 60):
            oh = "(oh|o) " if minute < 10 else ""
            yield f"{named} {oh}{number_words(minute)}", f"{hour}:{minute:02}"
        for minute in (5, 10, 20, 25):
            yield f"{number_words(minute)} [minutes] past {named}", f"{hour}:{minute:02}"
            yield f"{number_words(minute)} [minutes] to {named}", f"{before}:{60 - minute}"
    yield from _figures()


def spanish_times() -> Iterator[tuple[str, str]]:
    """ "siete y media", "ocho menos diez" -> "7:30", "7:50"."""
    for hour in range(1, 13):
        named, before = integer(hour, _HORA), (hour - 2) % 12 + 1
        yield f"{named} [en punto]", f"{hour}:00"
        yield f"{named} y cuarto", f"{hour}:15"
        yield f"{named} y media", f"{hour}:30"
        yield f"{named} menos cuarto", f"{before}:45"
        for minute in range(1, 60):
            yield f"{named} [y] {integer(minute)}", f"{hour}:{minute:02}"
            if minute <= 30:
                yield f"{named} menos {integer(minute)}", f"{before}:{60 - minute:02}"
    yield from _figures()


def _figures() -> Iterator[tuple[str, str]]:
    """As they are typed. The parser makes "7:30" two words."""
    for hour in range(24):
        yield f"{hour}", f"{hour}:00"
        for minute in range(60):
            yield f"{hour} {minute:02}", f"{hour}:{minute:02}"


SET, LIST, CANCEL, SNOOZE = (
    "HearthSetAlarm",
    "HearthListAlarms",
    "HearthCancelAlarm",
    "HearthSnooze",
)
WORKDAYS, DAILY, WEEKEND, TOMORROW = "workdays", "daily", "weekend", "tomorrow"

_EN_WHEN = "[{alarm_days:days} ][at ]{alarm_time:time}[ {alarm_half:half}][ {alarm_days:days}]"
_ES_WHEN = (
    "[{alarm_days:days} ](a|para) (la|las) {alarm_time:time}[ {alarm_half:half}]"
    "[ {alarm_days:days}]"
)
_KIND_EN = "(alarm[s]|reminder[s])"

# By language: an intent's blocks of templates, as in Home Assistant's.
SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "en": {
        SET: [
            {
                "sentences": [f"(set|create|make) [me] (a|an|the|my) alarm [for] {_EN_WHEN}"],
                "slots": {"kind": "alarm"},
            },
            {
                "sentences": [f"wake me [up] {_EN_WHEN}"],
                "slots": {"kind": "alarm", "wakes": True},
            },
            {
                "sentences": [
                    f"remind me {_EN_WHEN} to {{alarm_text:text}}",
                    f"remind me to {{alarm_text:text}} {_EN_WHEN}",
                    f"remind me in {ENGLISH_SPAN} to {{alarm_text:text}}",
                    f"remind me to {{alarm_text:text}} in {ENGLISH_SPAN}",
                ],
                "slots": {"kind": "reminder"},
            },
            {
                "sentences": [
                    "remind me in (an|one) hour to {alarm_text:text}",
                    "remind me to {alarm_text:text} in (an|one) hour",
                ],
                "slots": {"kind": "reminder", "hours": 1},
            },
            {
                "sentences": [
                    "remind me in half an hour to {alarm_text:text}",
                    "remind me to {alarm_text:text} in half an hour",
                ],
                "slots": {"kind": "reminder", "minutes": 30},
            },
        ],
        LIST: [
            {
                "sentences": [
                    "(what|which) alarms (are there|are set|do I have)",
                    "(list|show) [all] [the|my] alarms",
                    "(is|are) there (a|an|any) alarm[s] [set]",
                    "when (is|does) my [next] alarm [ring|go off]",
                ],
                "slots": {"kind": "alarm"},
            },
            {
                "sentences": [
                    "(what|which) reminders (are there|are set|do I have)",
                    "(list|show) [all] [the|my] reminders",
                ],
                "slots": {"kind": "reminder"},
            },
            {
                "sentences": [
                    "what did I (tell|ask) you to do later",
                    "what (are you going to|will you) do later",
                ],
                "slots": {"kind": "command"},
            },
        ],
        CANCEL: [
            {
                "sentences": [
                    "(cancel|delete|remove|stop|turn off) [the|my] alarm",
                    "(cancel|delete|remove|stop|turn off) [the|my] "
                    "{alarm_time:time}[ {alarm_half:half}] alarm",
                    "(cancel|delete|remove) [the|my] alarm (for|at) "
                    "{alarm_time:time}[ {alarm_half:half}]",
                ],
                "slots": {"kind": "alarm"},
            },
            {
                "sentences": ["(cancel|delete|remove) all [[of] (the|my)] alarms"],
                "slots": {"kind": "alarm", "all": True},
            },
            {
                "sentences": [
                    "(cancel|delete|remove|stop) [the|my] reminder [to {alarm_text:text}]",
                ],
                "slots": {"kind": "reminder"},
            },
            {
                "sentences": ["(cancel|forget) what I (told|asked) you to do later"],
                "slots": {"kind": "command"},
            },
        ],
        SNOOZE: [
            {
                "sentences": [
                    "snooze [it|[the|my] alarm]",
                    f"snooze [it|[the|my] alarm] for {ENGLISH_SPAN}",
                    "{timer_minutes:minutes} more minutes",
                ]
            },
        ],
    },
    "es": {
        SET: [
            {
                "sentences": [
                    f"(pon|ponme|programa|crea) [una|la|mi] alarma {_ES_WHEN}",
                ],
                "slots": {"kind": "alarm"},
            },
            {
                "sentences": [f"(despiértame|despierta me) {_ES_WHEN}"],
                "slots": {"kind": "alarm", "wakes": True},
            },
            {
                "sentences": [
                    f"recuérdame {_ES_WHEN} [que] {{alarm_text:text}}",
                    f"recuérdame {{alarm_text:text}} {_ES_WHEN}",
                    f"recuérdame (en|dentro de) {SPANISH_SPAN} [que] {{alarm_text:text}}",
                    f"recuérdame {{alarm_text:text}} (en|dentro de) {SPANISH_SPAN}",
                ],
                "slots": {"kind": "reminder"},
            },
        ],
        LIST: [
            {
                "sentences": [
                    "qué alarmas (hay|tengo) [puestas]",
                    "(hay|tengo) (alguna|una) alarma [puesta]",
                    "cuándo suena (la|mi) [próxima] alarma",
                ],
                "slots": {"kind": "alarm"},
            },
            {
                "sentences": ["qué recordatorios (hay|tengo) [puestos]"],
                "slots": {"kind": "reminder"},
            },
            {
                "sentences": [
                    "qué te (dije|he dicho|pedí|he pedido) que (hicieras|hagas) "
                    "[luego|después|más tarde]",
                    "qué vas a hacer (luego|después|más tarde)",
                ],
                "slots": {"kind": "command"},
            },
        ],
        CANCEL: [
            {
                "sentences": [
                    "(cancela|quita|borra|apaga|desactiva) (la|mi) alarma "
                    "[(de|para) (la|las) {alarm_time:time}[ {alarm_half:half}]]",
                ],
                "slots": {"kind": "alarm"},
            },
            {
                "sentences": ["(cancela|quita|borra|desactiva) todas (las|mis) alarmas"],
                "slots": {"kind": "alarm", "all": True},
            },
            {
                "sentences": [
                    "(cancela|quita|borra) (el|mi) recordatorio [de {alarm_text:text}]",
                ],
                "slots": {"kind": "reminder"},
            },
            {
                "sentences": [
                    "(cancela|olvida) lo que te (dije|he dicho|pedí) que hicieras "
                    "[luego|después|más tarde]",
                ],
                "slots": {"kind": "command"},
            },
        ],
        SNOOZE: [
            {
                "sentences": [
                    "(pospón|aplaza) (la|mi) alarma",
                    f"(pospón|aplaza) (la|mi) alarma {SPANISH_SPAN}",
                    "<nb_minutes> minuto[s] más",
                ]
            },
        ],
    },
}


def _days(names: str, prefix: str, singular: str) -> list[dict[str, str]]:
    """Every weekday, on which it comes again and again."""
    codes = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    return [
        {"in": f"({prefix} {name}[s]|{singular} {name})", "out": code}
        for name, code in zip(names.split(), codes, strict=True)
    ]


LISTS: Mapping[str, Mapping[str, Any]] = {
    "en": {
        "alarm_time": {"values": [{"in": said, "out": at} for said, at in english_times()]},
        "alarm_text": {"wildcard": True},
        "alarm_half": {
            "values": [
                {"in": "(in the morning|am|a m|a.m.)", "out": "am"},
                {
                    "in": "(in the (afternoon|evening)|at night|tonight|pm|p m|p.m.)",
                    "out": "pm",
                },
            ]
        },
        "alarm_days": {
            "values": [
                {
                    "in": "([on ](weekdays|workdays)|[from ]monday to friday|every weekday)",
                    "out": WORKDAYS,
                },
                {"in": "(every (day|morning|evening)|daily)", "out": DAILY},
                {"in": "((at|on) [the ]weekend[s]|every weekend)", "out": WEEKEND},
                {"in": "tomorrow[ morning]", "out": TOMORROW},
                *_days("monday tuesday wednesday thursday friday saturday sunday", "on", "every"),
            ]
        },
    },
    "es": {
        "alarm_time": {"values": [{"in": said, "out": at} for said, at in spanish_times()]},
        "alarm_text": {"wildcard": True},
        "alarm_half": {
            "values": [
                {"in": "de la (mañana|madrugada)", "out": "am"},
                {"in": "de la (tarde|noche)", "out": "pm"},
            ]
        },
        "alarm_days": {
            "values": [
                {
                    "in": "(entre semana|de lunes a viernes|los días (laborables|de trabajo))",
                    "out": WORKDAYS,
                },
                {"in": "(todos los días|cada día|todas las mañanas)", "out": DAILY},
                {"in": "(los|cada) fin[es] de semana", "out": WEEKEND},
                {"in": "mañana[ por la mañana]", "out": TOMORROW},
                *_days("lunes martes miércoles jueves viernes sábado domingo", "los", "cada"),
            ]
        },
    },
}
