"""Taking back and correcting: "undo that", "no, the bedroom light", "I meant the kitchen".

Home Assistant has no such sentences; these are Hearth's own.
"""

from collections.abc import Mapping

from assistant.tools.builtin.undo import CORRECT_LAST, UNDO

_UNDO, _CORRECT = "HearthUndo", "HearthCorrect"
# Intent -> the tool; it takes the name or area. What became of it is in the outcome's sentence.
TOOLS: Mapping[str, str] = {_UNDO: UNDO, _CORRECT: CORRECT_LAST}

# By language, in hassil's template form.
SENTENCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {
        _UNDO: (
            "undo [(that|it|this)]",
            "undo the last (one|thing|command)",
            "put (it|that|everything) back [(how|the way) it was]",
        ),
        _CORRECT: (
            "no[,] [<the>] ({name}|{area})",
            "[no[,] ]i (meant|mean) [<the>] ({name}|{area})",
            "no[,] <the> one[s] in [<the>] {area}",
            "[no[,] ]i (meant|mean) <the> one[s] in [<the>] {area}",
        ),
    },
    "es": {
        _UNDO: (
            "(deshaz|deshacer) (eso|esto|lo último|lo anterior)",
            "deshazlo",
            "déja(lo|la|los|las) como (estaba|estaban|antes)",
        ),
        _CORRECT: (
            "no[,] [(el|la|los|las)] ({name}|{area})",
            "no[,] (el|la|los|las) (del|de la|de los|de las|de) {area}",
            "[no[,] ](quería decir|digo) [(el|la|los|las)] ({name}|{area})",
            "[no[,] ](quería decir|digo) (el|la|los|las) (del|de la|de los|de las|de) {area}",
            "[no[,] ]me refería (al|a la|a los|a las|a) ({name}|{area})",
            "[no[,] ]me refería (al|a la|a los|a las) (del|de la|de los|de las|de) {area}",
        ),
    },
}

# For the recogniser of English, with what the house must have; the parser takes them all.
SPOKEN: tuple[tuple[tuple[str, ...], str], ...] = (
    ((), "undo (that | it | the last one)"),
    (("thing",), "no <the> <thing> | i meant [<the>] <thing>"),
    (("area",), "i meant <the> (<area> | one in [<the>] <area>)"),
)
