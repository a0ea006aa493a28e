"""What people say to lock up.

Home Assistant's own sentences lock one door by its name, and in Spanish only with bolt or key.
"""

from collections.abc import Mapping
from typing import Any

_LOCKS = {"domain": "lock"}

# By language: an intent's further blocks of templates, as in Home Assistant's.
SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "en": {
        "HassTurnOn": [
            {
                "sentences": [
                    "lock (all|every one of) [(the|my|our)] (doors|locks)",
                    "lock (the|my|our) (doors|locks)",
                    "lock (every door|everything|up|up the house|the house [up])",
                ],
                "slots": _LOCKS,
            },
            {
                "sentences": ["lock [all] [the] (doors|locks) in [<the>] {area}"],
                "slots": _LOCKS,
            },
        ],
    },
    "es": {
        "HassTurnOn": [
            # Theirs speak of bolts and keys alone.
            {
                "sentences": ["bloque(a|e|á|ar) [el|la] {name}"],
                "requires_context": {"domain": "lock"},
            },
            {
                "sentences": [
                    "bloque(a|e|á|ar) [todas] (las|mis|nuestras) (puertas|cerraduras)",
                    "(cierra|cierre|cerrá|cerrar) [todas] (las|mis|nuestras) puertas con llave",
                    "(cierra|cierre|cerrá|cerrar) con llave [todas] (las|mis|nuestras) puertas",
                    "(cierra|cierre|cerrá|cerrar) (todo|la casa) con llave",
                    "bloque(a|e|á|ar) todo",
                ],
                "slots": _LOCKS,
            },
        ],
        "HassTurnOff": [
            {
                "sentences": ["desbloque(a|e|á|ar) [el|la] {name}"],
                "requires_context": {"domain": "lock"},
            },
        ],
    },
}
