"""The words of a fact: which count, how they are compared and looked for, who speaks in them."""

import re
import unicodedata

from assistant.tools.mend import folded, stemmed

MAX_WORDS = 24  # of one query
_SHORTEST = 3  # letters; shorter ones are mostly articles

# Words that say nothing of what a fact is about, folded: of questions and of orders to remember.
_EMPTY = frozenset(
    """a about all also am an and any anything are at be been but by can could did do does for from
    had has have how i if in is it its just me my not of on or our please remember she so some that
    the their them then there they this to us was we what when where which who whose why will with
    would you your
    al algo asi como con cual cuando de del desde donde e el ella en era es esa ese eso esta este
    esto fue ha hay la las le les lo los me mi mis muy ni no nos o para pero por porque que quien se
    ser si sin sobre son su sus tan tambien te tiene tu un una y ya yo recuerda recuerdas""".split()
)

# In which a person speaks of themselves, by language, as they are written.
_OWN = {
    "en": "i my me mine myself",
    "es": "yo mi mí mis me mío mía míos mías conmigo soy estoy tengo prefiero vivo nací necesito",
    "pt": "eu meu minha meus minhas me mim comigo sou estou tenho moro prefiro preciso",
    "de": "ich mein meine meiner meinem meinen meines mir mich",
    "fr": "je j moi mon ma mes me m suis",
    "vi": "tôi mình tớ",
}
_OWN_WORDS = {code: frozenset(words.split()) for code, words in _OWN.items()}
_WORD = re.compile(r"[^\W_]+")


def plain(text: str) -> str:
    """Without case, accents and punctuation; word by word, since `folded` cuts long texts."""
    spaced = "".join(sign if sign.isalnum() or sign in "'’" else " " for sign in text)
    return " ".join(folded(word) for word in spaced.split())


def content_words(text: str) -> frozenset[str]:
    """What it is about: words that say something and numbers, without plurals."""
    return frozenset(stemmed(word) for word in plain(text).split() if _counts(word))


def query_of(text: str) -> str:
    """What to look for in the index (FTS5): any of these words or what begins with them.

    "" where nothing is left to look for.
    """
    words = dict.fromkeys(word for word in plain(text).split() if _counts(word))
    # Quoted, so that no word is an operator; a prefix finds what another ending hides.
    terms = (f'"{word}"*' if len(word) > _SHORTEST else f'"{word}"' for word in words)
    return " OR ".join(list(terms)[:MAX_WORDS])


def speaks_of_themselves(text: str, language: str) -> bool:
    """Whether a fact is in the first person: "I am allergic to nuts", "mi coche es rojo"."""
    own = _OWN_WORDS.get(language.partition("-")[0].lower(), frozenset())
    written = unicodedata.normalize("NFC", text).casefold()
    return any(word in own for word in _WORD.findall(written))


def _counts(word: str) -> bool:
    return word not in _EMPTY and (len(word) >= _SHORTEST or word.isdigit())
