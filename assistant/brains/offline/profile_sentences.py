"""What people say for another profile of the settings. Home Assistant has no such sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from assistant.tools.builtin.box_settings import NONE, named

INTENT = "HearthSwitchProfile"
_NAME = "{profile_name:profile}"

# By language: the intent's blocks of templates, as in Home Assistant's.
SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "en": {
        INTENT: [
            {
                "sentences": [
                    f"(use|switch to|change to|set) [the ]profile {_NAME}",
                    f"(use|switch to|change to) the {_NAME} profile",
                ]
            },
            {
                "sentences": [
                    "(use|[go ]back to|switch back to|return to) the (usual|normal) profile",
                    "(use|switch to) no profile",
                    "(leave|end|stop) (the|this) profile",
                ],
                "slots": {"profile": NONE},
            },
        ]
    },
    "es": {
        INTENT: [
            {
                "sentences": [
                    f"(usa|cambia al|cambia a|pon|activa) [el ]perfil [(de|del) ]{_NAME}",
                    f"(cambia|pasa) al perfil [(de|del) ]{_NAME}",
                ]
            },
            {
                "sentences": [
                    "(usa|vuelve a usar|pon) el perfil (de siempre|normal|habitual)",
                    "(vuelve|cambia) al perfil (de siempre|normal|habitual)",
                    "(sal|salte) del perfil",
                    "(quita|deja) (el|este) perfil",
                ],
                "slots": {"profile": NONE},
            },
        ]
    },
}
LISTS: Mapping[str, Any] = {"profile_name": {"wildcard": True}}


def profile_of(said: str, offered: Sequence[str]) -> str | None:
    """The profile that is meant, by what the tool offers; None where there is none such."""
    return said if said in offered else named(said, offered)
