"""Compare and search the text of facts, and recognise first-person and sensitive wording."""

import re
import unicodedata

from assistant.tools.builtin.protocol import CORRECT, FORGET, REMEMBER
from assistant.tools.house.names import folded, stemmed

MAX_WORDS = 24  # words in one query
_SHORTEST = 3  # letters in a meaningful word; shorter words are mostly articles

# Words, folded, that carry no meaning of their own in questions and requests to remember.
_EMPTY = frozenset(
    """a about all also am an and any anything are at be been but by can could did do does for from
    had has have how i if in is it its just me my not of on or our please remember she so some that
    the their them then there they this to us was we what when where which who whose why will with
    would you your
    al algo asi como con cual cuando de del desde donde e el ella en era es esa ese eso esta este
    esto fue ha hay la las le les lo los me mi mis muy ni no nos o para pero por porque que quien se
    ser si sin sobre son su sus tan tambien te tiene tu un una y ya yo recuerda recuerdas""".split()
)

# First-person words by language, with accents.
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
    """Return the text in lower case, without accents or punctuation."""
    # `folded` truncates long texts, so each word is folded separately.
    spaced = "".join(sign if sign.isalnum() or sign in "'’" else " " for sign in text)
    return " ".join(folded(word) for word in spaced.split())


def content_words(text: str) -> frozenset[str]:
    """Return the meaningful words and numbers of a text, without plural endings."""
    return frozenset(stemmed(word) for word in plain(text).split() if _counts(word))


def query_of(text: str) -> str:
    """Return an FTS5 query that matches facts with any of the text's meaningful words, or "" if it
    has none."""
    words = dict.fromkeys(word for word in plain(text).split() if _counts(word))
    # Quotes keep a word from being read as an operator. The prefix search finds other endings.
    terms = (f'"{word}"*' if len(word) > _SHORTEST else f'"{word}"' for word in words)
    return " OR ".join(list(terms)[:MAX_WORDS])


def speaks_of_themselves(text: str, language: str) -> bool:
    """Return True if the text is in the first person, such as "I am allergic to nuts"."""
    own = _OWN_WORDS.get(language.partition("-")[0].lower(), frozenset())
    written = unicodedata.normalize("NFC", text).casefold()
    return any(word in own for word in _WORD.findall(written))


def _counts(word: str) -> bool:
    return word not in _EMPTY and (len(word) >= _SHORTEST or word.isdigit())


# Detection of requests to change the memory in a person's own words. A model can invent a fact, or
# a web page can tell it to store one, so changes that the person hasn't asked for need a
# confirmation.


# Word beginnings by language, without case, accents and apostrophes. Short ones must match whole
# words, because nearly every sentence has a word that begins with "no".
_KEEP = (
    r"remember|dont (?:you )?forget|never forget|memori[sz]e|keep in mind|bear in mind|note|"
    r"write (?:it |this |that )?down|save|store",
    r"recuerd|acuerda|acordar|recordes|apunt|anota|memoriza|ten en cuenta|no (?:te )?olvid|guarda",
    r"lembr|decora|nao (?:te |se )?esque|guarde",
    r"merk|notier|erinner|vergiss? (?:das )?nicht",
    r"souviens|souvenez|rappel|retien|retenez|oublie pas|n oublie|noublie",
    r"ghi nho|nho\b|dung quen|ghi lai",
)
_DROP = (
    r"forget|erase|delete|remove|drop|clear|no longer",
    r"olvid|borr|elimin|quita",
    r"esque|apag|remov",
    r"vergiss|vergess|losch|entfern",
    r"oubli|efface|supprim",
    r"quen|xoa",
)
_CHANGE = (
    r"correct|change|update|actually|wrong|instead|no\b|not\b|now\b|any ?more|mean|meant",
    r"corrig|corrij|cambi|actualiz|realidad|mal\b|ahora|sino|ya\b",
    r"mud[aeo]|atualiz|verdade|errad|nao\b|agora",
    r"korrig|ander|falsch|nein|nicht|jetzt|sondern|stimmt",
    r"chang|faux|non\b|pas\b|maintenant|plutot",
    r"sua\b|doi\b|sai\b|khong|bay gio",
)


def _beginning(*stems: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(stems)})")


_WORDS = {
    REMEMBER: _beginning(*_KEEP),
    FORGET: _beginning(*_DROP),
    CORRECT: _beginning(*_CHANGE, *_KEEP),
}


def asked_for(tool: str, heard: str | None) -> bool:
    """Return True if the person's own words ask for this memory tool, or False if
    `heard` is None."""
    return heard is not None and _WORDS[tool].search(plain(heard)) is not None


# Simple rules that detect sensitive facts: health, money, codes, documents, hidden keys. A fact is
# sensitive if either these rules or the model say so.


# Word beginnings in all supported languages, without case and accents.
_STEMS = """
allerg alerg asthma asma blutdruck blutgruppe cancer cancro cholesterol colesterol celiac coeliac
dementia demencia depress depres diabet embaraz enferm enceinte epileps gravida hepatit illness
disease insulin krankheit malad medicament medicac medication medicine medicin medikament pastilla
pregnan schwanger surgery terapia therap tablett vih xarope
bank banc debt deuda salar sueldo gehalt schulden hipotec mortgage iban konto kredit
password passwort passcode contrasena clave senha kennwort codigo geheimzahl
passport pasaporte passaporte reisepass ausweis
""".split()
_WHOLE = """
hiv aids pin pins code codes dni ssn nif pill pills pastillas pille pillen loan loans wage wages
conta contas
pay income nomina cuenta account accounts creditcard tarjeta cartao kreditkarte combination
combinacion thuoc benh luong
""".split()
_PHRASES = (
    r"blood (?:type|group|pressure)|presion arterial|grupo sanguineo",
    r"credit card|carte bancaire|mot de passe|mat khau|ma pin|tai khoan|social security",
    r"seguridad social|seguro social|numero de serie",
    # Location of a key.
    r"(?:keys?|llaves?|chaves?|schlussel|cles?|chia khoa)\b.* "
    r"(?:under|behind|below|inside|hidden|hides|bajo|debajo|detras|dentro|escondid\w+|embaixo|atras"
    r"|unter|hinter|versteckt|sous|derriere|duoi|sau)",
    r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,}",  # an IBAN
)
_RULE = re.compile(
    rf"\b(?:{'|'.join(_STEMS)})|\b(?:{'|'.join(_WHOLE)})\b|{'|'.join(_PHRASES)}",
)
_CARD = re.compile(r"(?:\d[ -]?){13,19}")


def is_sensitive(text: str) -> bool:
    """Return True if the fact should be revealed only when somebody asks for it."""
    return bool(_RULE.search(plain(text)) or _CARD.search(text))
