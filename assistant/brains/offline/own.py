"""Sentences that lead to Hearth's own tools, which Home Assistant has no intents for."""

from collections.abc import Mapping
from typing import Any

from assistant.tools.builtin.audit_tools import WHAT_DID_YOU_DO, WHY_DID_YOU_REFUSE
from assistant.tools.builtin.talk import THAT_WAS_WRONG

# Intent -> the tool.
OWN_TOOLS: Mapping[str, str] = {
    "HearthWhatDidYouDo": WHAT_DID_YOU_DO,
    "HearthWhyDidYouRefuse": WHY_DID_YOU_REFUSE,
    "HearthThatWasWrong": THAT_WAS_WRONG,
    "HearthMisheard": THAT_WAS_WRONG,
}

# What an intent's tool is given; nothing, where none is named.
OWN_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {"HearthMisheard": {"misheard": True}}

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
        "HearthThatWasWrong": (
            "[no] (that|this|it) (was|is) [all] (wrong|not right|incorrect|a mistake)",
            "[no] that's [all] (wrong|not right|incorrect|a mistake)",
            "(that|it) (wasn't|isn't) (right|correct)",
            "(that|it) was not what i (asked for|meant|wanted|said)",
            "(that's not|that wasn't|that isn't) what i (asked for|meant|wanted)",
            "you (got|did) (that|it) wrong",
        ),
        "HearthMisheard": (
            "you (misheard|misunderstood) [(me|that)]",
            "you (heard|understood) (me|that) wrong",
            "you didn't (hear|understand) me (right|correctly)",
            "you did not (hear|understand) me (right|correctly)",
            "(that's not|that wasn't|that was not|that isn't) what i said",
            "i didn't say that",
            "i did not say that",
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
        "HearthThatWasWrong": (
            "[no] (eso|esto) (estaba|está|estuvo) mal",
            "[no] (eso|esto) (era|es|fue) (un error|incorrecto)",
            "(eso|esto) no (era|es|fue) correcto",
            "(eso|esto) no (era|es|fue) lo que (pedí|quería|te pedí|he pedido|quería decir)",
            "lo (hiciste|has hecho) mal",
            "te (equivocaste|has equivocado)",
        ),
        "HearthMisheard": (
            "me (oíste|entendiste|escuchaste) mal",
            "me has (oído|entendido|escuchado) mal",
            "no me (oíste|entendiste|escuchaste) bien",
            "no me has (oído|entendido|escuchado) bien",
            "(eso|esto) no (era|es|fue) lo que (dije|he dicho)",
            "no (dije|he dicho) eso",
        ),
    },
}
