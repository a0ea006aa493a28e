"""Names that were made for machines, as a person says them: entity ids, addresses, files."""

import re
import unicodedata

from integrations.cleaning import one_line

MAX_NAME = 60  # characters of a name in a question of ours

# Home Assistant's domains; what follows their dot is a name with underscores.
DOMAINS = """air_quality alarm_control_panel assist_satellite automation binary_sensor button
calendar camera climate conversation counter cover date datetime device_tracker event fan group
humidifier image input_boolean input_button input_datetime input_number input_select input_text
intent lawn_mower light lock media_player notify number person plant proximity remote scene
schedule script select sensor siren stt sun switch text time timer todo tts update vacuum valve
wake_word water_heater weather zone""".split()
_TOP_LEVEL = "com|org|net|io|dev|app|info|gov|edu|local|home|lan|es|de|fr|uk|us|eu|mx|ar|br|pt|vn"

ENTITY = re.compile(
    rf"(?<![\w.@/])(?:{'|'.join(sorted(DOMAINS, key=len, reverse=True))})\.([a-z0-9_]+)(?![\w/])"
)
_URL = re.compile(
    r"\b(?:https?|ftp|wss?)://(?:www\.)?([^\s/?#:<>\"')\]]+)[^\s<>\"')\]]*(?<![.,;:!?])", re.I
)
# Lengths are bounded, so that no text makes them slow.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b")
_HOST = re.compile(
    rf"(?<![\w.-])(?:www\.)?((?:[\w-]{{1,63}}\.){{1,8}}(?:{_TOP_LEVEL}))\b(?![.@\w])(?:/[^\s,;]*)?",
    re.I,
)
_FILE = re.compile(r"\b([^\W\d]\w+)\.([a-z]\w+)\b(?!\.\w)")
_DOT = re.compile(r"[\w-]\.\w")  # as in an entity id, a host and a file


def say_names(text: str, dot: str, at: str) -> str:
    """Every such name in words; `dot` and `at` are the words for their signs."""
    text = say_entities(text)
    if "://" in text:
        text = _URL.sub(lambda found: _dotted(found[1], dot), text)
    if "@" in text:
        text = _EMAIL.sub(lambda found: _dotted(found[0].replace("@", f" {at} "), dot), text)
    if _DOT.search(text):
        text = _HOST.sub(lambda found: _dotted(found[1], dot), text)
        text = _FILE.sub(rf"\1 {dot} \2", text)
    return text.replace("_", " ")


def say_entities(text: str) -> str:
    """ "light.kitchen_lamp" becomes "kitchen lamp"."""
    if not _DOT.search(text):
        return text
    return ENTITY.sub(lambda found: found[1].replace("_", " ").strip(), text)


def _dotted(name: str, dot: str) -> str:
    return name.rstrip(".").replace(".", f" {dot} ")


def spoken_name(name: str) -> str:
    """A name as it may be said in a sentence of ours: one short line, no sentence of its own.

    Letters, digits, spaces and the few signs that names have stay; at most MAX_NAME characters, cut
    between words where that can be. "" where nothing is left.
    """
    line = one_line(unicodedata.normalize("NFC", name), 4 * MAX_NAME)
    kept = "".join(
        sign if _belongs(sign, line[at - 1 : at], line[at + 1 : at + 2]) else " "
        for at, sign in enumerate(line)
    )
    words = " ".join(kept.split())
    if len(words) <= MAX_NAME:
        return words
    head, _, _ = words[: MAX_NAME + 1].rpartition(" ")
    return head or words[:MAX_NAME]


def _belongs(sign: str, before: str, after: str) -> bool:
    """Whether a sign is part of a name. What ends or opens a sentence is not."""
    if unicodedata.category(sign)[0] in "LNM" or sign == " " or sign in "&+%°":
        return True
    return sign in "'’-./" and before.isalnum() and after.isalnum()
