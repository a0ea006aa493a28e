"""Rewriting of a written answer the way a good reader would read it aloud."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant.speech.dates import ClockReader, DateReader
from assistant.speech.language import LanguageTable, spoken_language
from assistant.speech.measures import Amounts, MeasureReader
from assistant.speech.short_forms import DigitReader, ShortReader, SignReader
from integrations.cleaning import one_line

# Numbers, dates, times, amounts and symbols in words, by a language's table. Each reader rewrites
# one kind of text. Their order matters: dates must be read before fractions, and times before
# numbers.


Reader = Callable[[str], str]

_ENDLESS = re.compile(r"(\d{31,})")  # not a real number, so it is left to the voice


def read_aloud(text: str, spoken: LanguageTable) -> str:
    """Put everything that the language table covers into words. Plain whole numbers stay digits."""
    parts = _ENDLESS.split(text)
    for read in _readers(spoken):
        parts[::2] = map(read, parts[::2])
    return "".join(parts)


@cache
def _readers(spoken: LanguageTable) -> tuple[Reader, ...]:
    amounts = Amounts(spoken.numbers)
    short, signs = ShortReader(spoken), SignReader(spoken)
    dates, digits = DateReader(spoken), DigitReader(spoken)
    return (
        signs.plain_forms,
        short.rewrite,
        dates.stamps,
        short.read,
        dates.read,
        ClockReader(spoken).read,
        digits.read,
        signs.before_numbers,
        MeasureReader(spoken, amounts).read,
        signs.read,
    )


SHORT_CODE = 80  # longest code block that is read, in characters
_ENDINGS = (".", "!", "?", ":", ";", ",", "…", "。", "！", "？")

# In spoken answers, indented text isn't code. HTML blocks would hide the text inside them.
_PARSER = (
    MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["code", "html_block"])
)
_FOOTNOTE = re.compile(r"\[\^\w+\]:?")
_KEY = re.compile(r"[\w ]{1,40}:(?:\s|$)")  # start of a line "key: value"
# Matches a clause without any character that has a meaning in Markdown or HTML. Most are like this.
_BARE = re.compile(r"(?!\s*(?:[-+=#]|\d+[.)](?:\s|$)))[^\\`*_\[\]<>|~&\n\r\0]*")
_AT_LEAST = re.compile(r"^([ \t]*)(?=>=)", re.MULTILINE)  # a line start that isn't a quotation
_HIDDEN = re.compile(r"<(script|style)\b.*?(</\1\s*>|$)", re.IGNORECASE | re.DOTALL)


def plain(text: str) -> str:
    """Return the text without Markdown and HTML, on one line."""
    if _BARE.fullmatch(text):
        return " ".join(text.split())
    text = _AT_LEAST.sub(r"\1\\", _FOOTNOTE.sub("", _HIDDEN.sub(" ", text)))
    tokens = _PARSER.parse(text)
    return _sentences(_blocks(tokens))


def _sentences(blocks: Iterator[str]) -> str:
    parts = [" ".join(block.split()) for block in blocks]
    parts = [part for part in parts if part]
    # A missing full stop is added to all blocks but the last.
    closed = [part if part.endswith(_ENDINGS) else f"{part}." for part in parts[:-1]]
    return " ".join([*closed, *parts[-1:]])


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    row: list[str] = []
    number = ""  # number of a list item whose text comes next
    for token, following in pairwise([*tokens, Token("end", "", 0)]):
        if token.type == "list_item_open":
            number = f"{token.info}." if token.info else ""
            if following.type == "list_item_close":
                yield number  # "3." alone is an answer, not an empty list
        elif token.type == "inline":
            if following.type == "th_close":
                continue  # column headings are not read
            if following.type == "td_close":
                row.append(_inline(token.children or []))
            else:
                yield f"{number} {_ticked(_inline(token.children or []))}"
                number = ""
        elif token.type == "fence" and "\n" not in token.content.strip():
            yield token.content if len(token.content) <= SHORT_CODE else ""
        elif token.type == "tr_close":
            yield _row(row)
            row = []


def _ticked(item: str) -> str:
    # A task's tick is read after its text.
    if item.startswith("[ ] "):
        return item[4:]
    return f"{item[4:]}, ☑" if item[:4] in ("[x] ", "[X] ") else item


def _row(cells: Sequence[str]) -> str:
    filled = [cell for cell in cells if cell.strip()]
    if len(filled) < 2:
        return "".join(filled)
    return f"{filled[0]}: {', '.join(filled[1:])}"


def _inline(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    for place, token in enumerate(tokens):
        if token.type in ("text", "text_special", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(_line_break("".join(parts), tokens[place + 1 :]))
        elif token.type == "html_inline":
            parts.append(_tag(token.content))
        elif token.type == "image":
            parts.append(_inline(token.children or []))
    return "".join(parts)


def _line_break(before: str, after: Sequence[Token]) -> str:
    """Return a space, or punctuation for a pause if the next line has the form "key: value"."""
    following = "".join(token.content for token in after[:4]).lstrip()
    if not before or before.rstrip().endswith(_ENDINGS) or not _KEY.match(following):
        return " "
    return ". " if following[0].isupper() else ", "


def _tag(tag: str) -> str:
    # Only some tags separate words.
    return " " if re.match(r"</?(br|p|div|li|tr|td|th|ul|ol|h\d)\b", tag, re.IGNORECASE) else ""


MAX_NAME = 60  # characters

# Home Assistant's domains, the first part of an entity id.
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
# Lengths are bounded so that no text can make matching slow.
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b")
_HOST = re.compile(
    rf"(?<![\w.-])(?:www\.)?((?:[\w-]{{1,63}}\.){{1,8}}(?:{_TOP_LEVEL}))\b(?![.@\w])(?:/[^\s,;]*)?",
    re.I,
)
_FILE = re.compile(r"\b([^\W\d]\w+)\.([a-z]\w+)\b(?!\.\w)")
_DOT = re.compile(r"[\w-]\.\w")  # as in an entity id, host or file


def say_names(text: str, dot: str, at: str) -> str:
    """Return the text with entity ids, URLs, email addresses, hosts and file names in words.

    `dot` and `at` are the spoken words for these symbols.
    """
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
    """Replace entity ids with names: "light.kitchen_lamp" becomes "kitchen lamp"."""
    if not _DOT.search(text):
        return text
    return ENTITY.sub(lambda found: found[1].replace("_", " ").strip(), text)


def _dotted(name: str, dot: str) -> str:
    return name.rstrip(".").replace(".", f" {dot} ")


def spoken_name(name: str) -> str:
    """Return a name as one short line that can't be mistaken for a sentence, or "" if nothing is
    left.

    It has at most MAX_NAME characters: letters, digits, spaces and the few symbols used in names.
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
    if unicodedata.category(sign)[0] in "LNM" or sign == " " or sign in "&+%°":
        return True
    # Punctuation that opens or ends a sentence isn't part of a name.
    return sign in "'’-./" and before.isalnum() and after.isalnum()


_PUNCTUATION = frozenset(".,;:!?¿¡…。，、！？।،؟؛")
# If a language has no table, these are left to the voice, because every engine can read them.
_LEFT_TO_THE_VOICE = frozenset("%°€$£+/")
_SMILEY = re.compile(r"(?<!\w)(?:[:;]['’]?-?[()DPpOo|*/]|xD|<3(?=[!?.]*\s*$))(?![\w/])")
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_RUN = re.compile(r"[,;:.!?…](?:\s*[,;:.!?…])+")
_GAP = re.compile(r"\s+([:,;])(?=[^\s\d])")
_SPACE_BEFORE = re.compile(r"\s+([,;:.!?…])(?=\s|$)")
_CLOSING = re.compile(r"[\s)\]}\"'”’»]+$")  # no pause is needed at the end
_LEADING = re.compile(r"^(?:[\s,;:.!?…]|-(?!\d))+")  # but keep a minus sign
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # in ASCII, except tabs and line ends
_UNCLEAN = re.compile(r"[^\x00-\x7f]")  # might be a control, format or space character
_RARE = re.compile(r"[^A-Za-z0-9 .,;:!?]")  # might not be speakable
_STRENGTH = "?!.…:;,"  # strongest first; only the strongest mark of a run is kept


def speakable(text: str, language: str) -> str:
    """Return a clause as it should be spoken, on one line, or "" if there is nothing to speak.

    Markdown, HTML, emoji, control characters and entity ids are removed or replaced in any
    language. Numbers, units, times and symbols are put into words if the language has a table.
    """
    spoken = spoken_language(language)
    words = _TAG.sub(" ", plain(_clean(text)))
    words = _SMILEY.sub(" ", words)
    words = say_names(words, spoken.dot if spoken else "", spoken.symbols["@"] if spoken else "")
    if spoken:
        words = read_aloud(words, spoken)
    allowed = frozenset() if spoken else _LEFT_TO_THE_VOICE
    words = _tidy(_only_speech(_CLOSING.sub("", words), allowed))
    return say_entities(words)


def _clean(text: str) -> str:
    if text.isascii():
        return _CONTROL.sub(" ", text)
    return _UNCLEAN.sub(_cleaned, _CONTROL.sub(" ", unicodedata.normalize("NFC", text)))


def _cleaned(found: re.Match[str]) -> str:
    char = found[0]
    kind = unicodedata.category(char)
    if "\ufe00" <= char <= "\ufe0f" or kind in ("Cf", "Me"):
        return ""
    return " " if kind[0] in "CZ" else char


def _only_speech(text: str, allowed: frozenset[str]) -> str:
    def form(found: re.Match[str]) -> str:
        at = found.start()
        before, after = text[at - 1 : at] or " ", text[at + 1 : at + 2] or " "
        return _spoken_form(found[0], before, after, allowed)

    return _RARE.sub(form, text)


def _spoken_form(char: str, before: str, after: str, allowed: frozenset[str]) -> str:
    kind = unicodedata.category(char)
    if kind == "No":  # superscripts and circled numbers
        simple = unicodedata.normalize("NFKC", char)
        if not simple.isdigit():
            return char
        return f" {simple}" if before.isdigit() else simple
    if kind[0] in "LN" or kind in ("Mn", "Mc") or char in _PUNCTUATION or char in allowed:
        return char
    if char in "'’":
        return "'" if before.isalpha() and after.isalpha() else " "
    if char in "-‐‑":
        inside = before.isalnum() and after.isalnum()
        return "-" if inside or (allowed and after.isdigit()) else " "
    if char in "−" and allowed:
        return "-"
    return ", " if char in "()[]–—|" else " "


def _tidy(text: str) -> str:
    text = _GAP.sub(r"\1 ", " ".join(text.split()))
    text = _SPACE_BEFORE.sub(r"\1", text)
    text = _RUN.sub(lambda run: _strongest(run[0]) + " ", text)
    text = " ".join(_LEADING.sub("", text).split())
    text = _SPACE_BEFORE.sub(r"\1", text)
    text = text.replace("…", ".")
    return text if any(char.isalnum() for char in text) else ""


def _strongest(marks: str) -> str:
    return next(mark for mark in _STRENGTH if mark in marks)
