"""What people say about timers besides Home Assistant's own sentence templates."""

from collections.abc import Mapping
from typing import Any


def _spans(hours: str, minutes: str, seconds: str) -> str:
    """Any span of one or two units, as alternatives of a template."""
    both = (f"{hours} [and] {minutes}", f"{minutes} [and] {seconds}")
    return f"({'|'.join((hours, minutes, seconds, *both))})"


ENGLISH_SPAN = _spans(
    "{timer_hours:hours}( |-)hour[s]",
    "{timer_minutes:minutes}( |-)minute[s]",
    "{timer_seconds:seconds}( |-)second[s]",
)
SPANISH_SPAN = _spans("<nb_hours> hora[s]", "<nb_minutes> minuto[s]", "<nb_seconds> segundo[s]")

# Home Assistant's templates have a name only behind the length, and neither "an hour" nor the
# question which timers there are.
SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "en": {
        "HassStartTimer": [
            {
                "sentences": [
                    f"<timer_set> [a|an|the|my] {{timer_name:name}} timer for {ENGLISH_SPAN}",
                    f"<timer_set> [a|an|the|my] {ENGLISH_SPAN} {{timer_name:name}} timer",
                    f"<timer_set> [a|an|the|my] timer for {ENGLISH_SPAN} for {{timer_name:name}}",
                ]
            },
            {
                "sentences": [
                    "<timer_set> [a|an|the|my] timer for an hour",
                    "<timer_set> [a|an|the|my] {timer_name:name} timer for an hour",
                ],
                "slots": {"hours": 1},
            },
            {
                "sentences": ["<timer_set> [a|an|the|my] timer for an hour and a half"],
                "slots": {"hours": 1, "minutes": 30},
            },
            {
                "sentences": ["<timer_set> [a|an|the|my] timer for a minute"],
                "slots": {"minutes": 1},
            },
        ],
        "HassTimerStatus": [
            {
                "sentences": [
                    "(what|which) timers (are there|are running|are set|do I have)",
                    "(list|show) [all] [the|my] timers",
                    "(is|are) there (a|any) timer[s] [running]",
                    "how (long|much time) (is|do I have) left",
                ]
            },
        ],
    },
    "es": {
        "HassStartTimer": [
            {
                "sentences": [
                    "<timer_set> [un|una|mi] <temporizador> (de|para) [una] hora y media",
                ],
                "slots": {"hours": 1, "minutes": 30},
            },
            {
                "sentences": [
                    f"<timer_set> {SPANISH_SPAN} (en|de) [el|un] temporizador "
                    "(de|para) [el|la|los|las] {timer_name:name}",
                ],
            },
        ],
        "HassTimerStatus": [
            {
                "sentences": [
                    "qué temporizadores (hay|tengo) [puestos|en marcha]",
                    "(hay|tengo) (algún|un) temporizador [puesto|en marcha]",
                    "cuánto [tiempo] (queda|falta)",
                ]
            },
        ],
    },
}
