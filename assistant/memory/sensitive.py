"""Which facts are sensitive, by plain rules: health, money, codes, papers, hidden keys.

They stand beside a model's own judgement: what either of the two calls sensitive is.
"""

import re

from assistant.memory.words import plain

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
    """Whether a fact is told only where somebody asks for it."""
    return bool(_RULE.search(plain(text)) or _CARD.search(text))
