"""What people say for something to be remembered, told, put right or forgotten.

Home Assistant has no such sentences; these are Hearth's own.
"""

from collections.abc import Mapping
from typing import Any

from assistant.tools.builtin.protocol import CORRECT, FORGET, RECALL, REMEMBER

_REMEMBER, _RECALL, _CORRECT = "HearthRemember", "HearthRecall", "HearthCorrectMemory"
_FORGET, _FORGET_ALL = "HearthForget", "HearthForgetAll"

# Intent -> the tool; its slots are the tool's arguments.
TOOLS: Mapping[str, str] = {
    _REMEMBER: REMEMBER,
    _RECALL: RECALL,
    _CORRECT: CORRECT,
    _FORGET: FORGET,
    _FORGET_ALL: FORGET,
}

_FACT, _ABOUT = "{memory_fact:fact}", "{memory_about:about}"
_EN_KNOWN = "what you (remember|know|remembered)"
_ES_KNOWN = "lo que (recuerdas|sabes)"

# By language: an intent's blocks of templates, as in Home Assistant's.
SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "en": {
        _REMEMBER: [
            {
                "sentences": [
                    f"[please ](remember|note|keep in mind|make a note|don't forget) that {_FACT}",
                ]
            }
        ],
        _RECALL: [
            {
                "sentences": [
                    f"what do you remember[ (about|of) {_ABOUT}]",
                    f"what did (I|we) (ask|tell) you to remember[ about {_ABOUT}]",
                    f"what do you know about {_ABOUT}",
                    f"do you remember anything about {_ABOUT}",
                ]
            }
        ],
        _CORRECT: [
            {
                "sentences": [
                    f"(correct|change) {_EN_KNOWN} about {_ABOUT} to {_FACT}",
                ]
            }
        ],
        _FORGET: [
            {
                "sentences": [
                    f"forget (that|about) {_ABOUT}",
                    f"(forget|erase|delete) {_EN_KNOWN} (about|of) {_ABOUT}",
                ]
            }
        ],
        _FORGET_ALL: [
            {
                "sentences": [
                    "forget everything[ [that ](you (remember|know)|(I|we) (told|asked) you to "
                    "remember)]",
                    "(erase|delete|clear) (your|the) [whole ]memory",
                    "forget all [of ]your memories",
                ],
                "slots": {"all": True},
            }
        ],
    },
    "es": {
        _REMEMBER: [
            {
                "sentences": [
                    f"[por favor ](recuerda|apunta|anota|ten en cuenta|memoriza) que {_FACT}",
                    f"[por favor ](acuérdate de|no olvides|no te olvides de) que {_FACT}",
                ]
            }
        ],
        _RECALL: [
            {
                "sentences": [
                    f"qué recuerdas[ (de|del|sobre|acerca de) {_ABOUT}]",
                    f"qué te (pedí|pedimos|dije|dijimos) que recordaras[ (de|del|sobre) {_ABOUT}]",
                    f"qué sabes (de|del|sobre|acerca de) {_ABOUT}",
                ]
            }
        ],
        _CORRECT: [
            {
                "sentences": [
                    f"(corrige|cambia) {_ES_KNOWN} (de|del|sobre) {_ABOUT} (por|a) {_FACT}",
                ]
            }
        ],
        _FORGET: [
            {
                "sentences": [
                    f"olvida (que|lo de|lo del) {_ABOUT}",
                    f"(olvida|borra|elimina) {_ES_KNOWN} (de|del|sobre) {_ABOUT}",
                ]
            }
        ],
        _FORGET_ALL: [
            {
                "sentences": [
                    "(olvida|olvídalo|borra) todo[ lo que (recuerdas|sabes)]",
                    "(olvida|borra) todo lo que te (pedí|pedimos) que recordaras",
                    "borra (tu|la|toda la|toda tu) memoria",
                ],
                "slots": {"all": True},
            }
        ],
    },
}

LISTS: Mapping[str, Any] = {
    "memory_fact": {"wildcard": True},
    "memory_about": {"wildcard": True},
}

# For the recogniser of English: it hears no free words, so what there is to remember is typed.
SPOKEN: tuple[tuple[tuple[str, ...], str], ...] = (
    ((), "what do you remember | forget everything you remember"),
)


def as_written(slots: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The slots with the large letters of the sentence, which is parsed without any."""
    return {
        key: _as_in(text, value) if isinstance(value, str) else value
        for key, value in slots.items()
    }


def _as_in(text: str, value: str) -> str:
    value = value.strip(" ,;:.!?¿¡")
    at = text.lower().rfind(value.lower())
    found = value if at < 0 else text[at : at + len(value)]
    return found[:1].upper() + found[1:]
