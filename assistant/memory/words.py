"""The words of a fact: which count, how they are compared and looked for, who speaks in them."""

import re
import unicodedata

from assistant.tools.builtin.protocol import CORRECT, FORGET, REMEMBER
from assistant.tools.house.names import folded, stemmed

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
    """Words that say what it is about, and numbers, without plurals."""
    return frozenset(stemmed(word) for word in plain(text).split() if _counts(word))


def query_of(text: str) -> str:
    """Query of the index (FTS5): any of these words or what begins with them.

    "" where nothing is left to look for.
    """
    words = dict.fromkeys(word for word in plain(text).split() if _counts(word))
    # Quoted, so that no word is an operator; a prefix finds what another ending hides.
    terms = (f'"{word}"*' if len(word) > _SHORTEST else f'"{word}"' for word in words)
    return " OR ".join(list(terms)[:MAX_WORDS])


def speaks_of_themselves(text: str, language: str) -> bool:
    """True of a fact in the first person: "I am allergic to nuts", "mi coche es rojo"."""
    own = _OWN_WORDS.get(language.partition("-")[0].lower(), frozenset())
    written = unicodedata.normalize("NFC", text).casefold()
    return any(word in own for word in _WORD.findall(written))


def _counts(word: str) -> bool:
    return word not in _EMPTY and (len(word) >= _SHORTEST or word.isdigit())


#
# Whether a person's own words ask for what is done to the memory.
#
# A model may think of a fact by itself, or a page may tell it to keep one. What the words do not
# ask for is asked about first.


# Without case, accents and apostrophes; where a word begins so. Short ones are whole words: nearly
# every sentence has one that begins with "no". By the catalogue's languages.
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
    """True where what was heard asks for this tool. Without words nobody knows: False."""
    return heard is not None and _WORDS[tool].search(plain(heard)) is not None


#
# Which facts are sensitive, by plain rules: health, money, codes, papers, hidden keys.
#
# They stand beside a model's own judgement: what either of the two calls sensitive is.


# Beginnings of words, without case and accents, in the languages of the catalogue.
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
    # Where a key lies.
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
    """True of a fact that is told only where somebody asks for it."""
    return bool(_RULE.search(plain(text)) or _CARD.search(text))
