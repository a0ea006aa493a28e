"""Sentences that lead to Hearth's own tools, which Home Assistant has no intents for."""

from collections.abc import Mapping

from assistant.tools.builtin.audit_tools import WHAT_DID_YOU_DO, WHY_DID_YOU_REFUSE

# Intent -> the tool, which takes no arguments.
OWN_TOOLS: Mapping[str, str] = {
    "HearthWhatDidYouDo": WHAT_DID_YOU_DO,
    "HearthWhyDidYouRefuse": WHY_DID_YOU_REFUSE,
}

# By language, in hassil's template form.
OWN_SENTENCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "HearthWhatDidYouDo": (
            "what did you [just] (do|change)",
            "what have you [just] (done|changed)",
        ),
        "HearthWhyDidYouRefuse": (
            "why did you refuse [(that|it)]",
            "why (did|would) you not do (that|it)",
            "why (didn't|wouldn't|won't) you do (that|it)",
        ),
    },
    "es": {
        "HearthWhatDidYouDo": (
            "qué (acabas de hacer|acabas de cambiar)",
            "qué (has hecho|hiciste|has cambiado|cambiaste)",
        ),
        "HearthWhyDidYouRefuse": (
            "por qué (te negaste|te has negado)",
            "por qué no lo (hiciste|has hecho|haces|quieres hacer)",
        ),
    },
}
