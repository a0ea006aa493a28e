"""The name that makes a fact somebody's: asked for once, told in the next sentence."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from assistant.domain.records import MemoryRecord
from assistant.memory.facts import MAX_NAME, is_own
from assistant.memory.words import content_words, plain
from assistant.speech.names import spoken_name

ANSWER_WITHIN = timedelta(minutes=2)  # of the question

_LED = re.compile(
    r"(?i)^\s*[¡¿]?\s*(?:"
    r"(?:that'?s |that is |it'?s |it is )?(?:i am|i[’']m|im|my name is|the name is|name'?s|this is)"
    r"|it[’']s|it is|that[’']s|that is|call me"
    r"|(?:yo )?soy|me llamo|mi nombre es|es de|es|ll[áa]mame"
    r")\s+(?P<name>.+)$"
)
# What people say after "I am" and "it is", or alone, that is no name, folded: how it begins.
_NO_NAMES = frozenset(
    """a an the so very not just too still no nope yes yeah ok okay sure fine good great nice right
    wrong true false cold hot warm dark late early tired hungry busy sorry sick happy ready done
    here there home back thanks thank cheers please nothing nobody none never nevermind mine ours
    me you what when where who why how stop cancel wait later
    el la lo los las un una muy tan ya si vale bien mal bueno buena verdad mentira igual frio calor
    tarde pronto cansado cansada listo lista gracias nada nadie nunca mio mia nuestro nuestra yo tu
    aqui ahi que quien como olvidalo cancela espera luego""".split()
)
_NAME = re.compile(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}")


def nameless(known: Sequence[MemoryRecord], now: datetime) -> MemoryRecord | None:
    """The fact whose person was asked for the name just now: the newest of all, in the first
    person and without a name. `known`: the oldest first."""
    if not known:
        return None
    fact = known[-1]
    asked = not fact.who and is_own(fact.text, fact.language)
    return fact if asked and fact.created_at <= now <= fact.created_at + ANSWER_WITHIN else None


def is_same(text: str, fact: MemoryRecord) -> bool:
    """Whether a text says that fact again, as "Ana is allergic" does "I am allergic"."""
    words = content_words(fact.text)
    return 2 * len(words & content_words(text)) > len(words)


def name_in(answer: str, *, bare: bool) -> str:
    """The name in "I am …", "me llamo …"; "" where there is none.

    `bare`: one to three words that stand alone are a name too.
    """
    said = answer.strip(" .!,")
    found = _LED.match(said)
    if found is None and not bare:
        return ""
    name = said if found is None else found["name"]
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME or plain(name).split()[0] in _NO_NAMES:
        return ""
    told = spoken_name(name)
    return told[:1].upper() + told[1:]
