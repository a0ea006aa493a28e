"""Exceptions in what a person says: "except the kitchen", "leave the hall on, but ..."."""

import re
from functools import cache

from assistant.tools.vocabulary import LANGUAGES, entries, find, fold, mentions


def exception_last(text: str) -> str:
    """Return a sentence with its exception at the end, after a plain "except".

    "Except for the kitchen, turn off all the lights" becomes "turn off all the lights except for
    the kitchen". "Keep the hall on and turn off the rest" becomes "turn off the rest except the
    hall". Any other sentence is returned unchanged.
    """
    said = text.strip(" .!?¡¿")
    first, comma, rest = said.partition(",")
    if comma and rest.strip() and _starts_with_exception(first):
        return f"{rest.strip()} {first.strip()}"
    for code in LANGUAGES:
        before, after = _leaving(code)
        if (found := before.fullmatch(said)) and _is_of_rest(found["rest"], found["kept"]):
            return f"{found['rest']} {entries('except', code)[0]} {found['kept']}"
        if found := after.fullmatch(said):
            kept, rest = found["kept"], found["rest"]
            if mentions("the_rest", kept):  # "turn off the hall and leave the rest"
                return rest
            if mentions("everything", rest):
                return f"{rest} {entries('except', code)[0]} {kept}"
    return text


def _is_of_rest(rest: str, kept: str) -> bool:
    return mentions("the_rest", rest) and not mentions("the_rest", kept)


def _starts_with_exception(text: str) -> bool:
    cut = find("except", fold(text))
    return cut is not None and cut[0] == 0


@cache
def _leaving(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of "leave KEPT on and REST" and "REST and leave KEPT on"."""

    def either(*topics: str) -> str:
        words = [word for topic in topics for word in entries(topic, language)]
        return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))

    kept = rf"(?:{either('leaves')}) (?P<kept>[^,;]+?)(?: (?:{either('left_as')}))?"
    joint = rf"(?:[,;] ?(?:(?:{either('and', 'but')}) )?| (?:{either('and', 'but')}) )"
    return (
        re.compile(rf"{kept}{joint}(?P<rest>.+)", re.IGNORECASE),
        re.compile(rf"(?P<rest>.+?){joint}{kept}", re.IGNORECASE),
    )
