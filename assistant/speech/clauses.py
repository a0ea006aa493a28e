"""Splitting of an answer into clauses, each of which can be spoken as soon as it is complete."""

import re

from assistant.speech.short_forms import OPENING_WORDS

# Lengths in characters.
FIRST_LENGTH = 10  # the first clause can end at a comma from here on
LONG = 160  # any clause can end at a comma from here on
VERY_LONG = 200  # a clause can end before a conjunction from here on
TOO_LONG = 320  # a clause can end between any two words from here on
SPAN_LENGTH = 100  # an open bracket or backtick prevents a boundary for this long
BLOCK_LENGTH = 4000  # a table or code block is kept whole up to this length

# A full stop after these never ends a sentence, because a name follows.
_TITLES = frozenset("dr dra mr mrs ms prof profa sr sra srta gral lic ing hr fr av avda".split())
# A full stop after these doesn't end a sentence if a number follows ("No. 5"; but "No. It is
# locked").
_NUMBERED = frozenset("no nr núm num fig vol art pág pag tel approx aprox ca vs".split())
# A full stop after these ends a sentence only if the next word is capitalised.
_ABBREVIATIONS = frozenset(
    """a.m p.m e.g i.e a p m etc ee.uu p.ej ej z.b d.h u.a bzw min max sec temp dept est st ud uds
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun ene abr ago dic
    ex cf inc ltd co jr""".split()
)
_JOINING = frozenset(
    """and but because while which y e pero porque mientras und aber weil während et mais parce
    mas porém enquanto và nhưng vì""".split()
)
# In German, the full stop after a day ("21. November") doesn't end a sentence.
_MONTHS_AFTER_A_POINT = frozenset(
    """januar februar märz april mai juni juli august september oktober november dezember""".split()
)
_CLOSERS = "\"'”’»)]*_`"
_OPENERS = "\"'“‘«([*_`"
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘«*_`]*$")
_QUESTION_MARKS = ("?", "？", "؟")
_FENCE = "```"
_OPEN_TAG = re.compile(r"</?[A-Za-z][^<>]*$")
_MARK = re.compile(r"[.!?…。！？,;:–—\n]")  # characters that may end a clause
_MARK_OR_SPACE = re.compile(r"[.!?…。！？,;:–—\s]")  # characters that may end a very long clause
_ENDS = frozenset(".!?…。！？")


def asks(text: str) -> bool:
    """Return True if the text ends with a question mark, so that an answer is expected."""
    return text.rstrip().endswith(_QUESTION_MARKS)


class ClauseCutter:
    """Splits an answer into clauses as its text arrives.

    The first clause ends at the first safe boundary, even a comma, so that speech starts early. A
    boundary is decided only when enough of the following text has arrived, so the clauses don't
    depend on how the text was chunked.
    """

    def __init__(self) -> None:
        self._text = ""  # from the start of the current clause
        self._next = 0  # index of the first character that has not been checked
        self._first = True

    def push(self, delta: str) -> list[str]:
        """Add text and return the clauses that it completes."""
        self._text += delta
        return self._cut(final=False)

    def flush(self) -> list[str]:
        """Return the remaining clauses at the end of the text, and reset the cutter."""
        clauses = self._cut(final=True)
        if rest := self._text.strip():
            clauses.append(rest)
        self._text, self._next, self._first = "", 0, True
        return clauses

    def settle(self) -> list[str]:
        """Return the pending text if it looks like a complete sentence. Call this during a pause in
        the text.

        Nothing is returned where only the next character could decide: "at 21." may continue with
        "5".
        """
        text = self._text.strip()
        before = text.rstrip(_CLOSERS)
        end = before[-1:]
        if end not in _ENDS or _is_block(text) or _is_inside_span(text):
            return []
        if end == "." and not _surely_ends(before[:-1]):
            return []
        self._text, self._next, self._first = "", 0, False
        return [text]

    def _cut(self, final: bool) -> list[str]:
        clauses = []
        while self._find_mark():
            end = self._boundary(self._next)
            if end is None and not final:
                break  # the deciding characters have not arrived
            if not end:
                self._next += 1
                continue
            clause = self._text[:end].strip()
            self._text, self._next = self._text[end:], 0
            if clause:
                clauses.append(clause)
                self._first = False
        return clauses

    def _find_mark(self) -> bool:
        found = _MARK.search(self._text, self._next, VERY_LONG)
        if found is None and len(self._text) > VERY_LONG:
            found = _MARK_OR_SPACE.search(self._text, max(self._next, VERY_LONG))
        self._next = len(self._text) if found is None else found.start()
        return found is not None

    def _boundary(self, at: int) -> int | None:
        """Return the end of the clause if the character at `at` ends it, 0 if it doesn't, or None
        if more text must arrive first."""
        char = self._text[at]
        if char == "\n":
            return self._line_end(at)
        clause = self._text[:at].lstrip()
        if _is_block(clause):
            return 0
        if char in "。！？":
            return at + 1
        if char in ".!?…":
            return self._sentence_end(at, clause)
        if char.isspace():
            return self._between_words(at, clause)
        return self._pause(at, clause)

    def _line_end(self, at: int) -> int | None:
        clause = self._text[:at].strip()
        if not _is_block(clause):
            return at + 1
        if clause.startswith(_FENCE):
            lines = clause.splitlines()
            return at + 1 if len(lines) > 1 and lines[-1].strip().startswith(_FENCE) else 0
        begin = self._skip(at, " \t\n")
        if begin is None:
            return None
        return 0 if self._text[begin] == "|" else at + 1

    def _sentence_end(self, at: int, clause: str) -> int | None:
        after = self._skip(at + 1, _CLOSERS)
        if after is None:
            return None
        if not self._text[after].isspace() or _is_inside_span(clause):
            return 0
        if self._text[at] in "!?":
            return after
        begin = self._skip(after, _OPENERS + " \t\u00a0")
        if begin is None:
            return None
        if clause[-1:].isdigit() and self._text[begin].isupper():
            word = self._word(begin)
            if word is None or word.lower() in _MONTHS_AFTER_A_POINT:
                return None if word is None else 0
        if _is_initial(clause) and self._text[begin].isupper():
            word = self._word(begin)
            if word is None or word in OPENING_WORDS:
                return None if word is None else after
        return after if _ends_sentence(clause, self._text[begin]) else 0

    def _pause(self, at: int, clause: str) -> int | None:
        if len(clause) < (FIRST_LENGTH if self._first else LONG) or _is_inside_span(clause):
            return 0
        after = self._skip(at + 1, _CLOSERS)
        if after is None:
            return None
        if not self._text[after].isspace():
            return 0
        if not clause[-1:].isdigit():
            return after
        begin = self._skip(after, " \t\u00a0")
        if begin is None:
            return None
        # Don't split "November 21, 2026" or "1, 2 and 3".
        return 0 if self._text[begin].isdigit() else after

    def _between_words(self, at: int, clause: str) -> int | None:
        if len(clause) < VERY_LONG or clause[-1:].isdigit() or _is_inside_span(clause):
            return at if len(clause) >= TOO_LONG + SPAN_LENGTH else 0
        if len(clause) >= TOO_LONG:
            return at
        word = self._word(at + 1)
        if word is None:
            return None
        return at if word.lower() in _JOINING else 0

    def _word(self, at: int) -> str | None:
        end = at
        while end < len(self._text) and self._text[end].isalpha():
            end += 1
        return self._text[at:end] if end < len(self._text) else None

    def _skip(self, at: int, characters: str) -> int | None:
        while at < len(self._text) and self._text[at] in characters:
            at += 1
        return at if at < len(self._text) else None


def _is_block(clause: str) -> bool:
    # Line ends and full stops in tables and code blocks are not boundaries.
    return clause.startswith(("|", _FENCE)) and len(clause) < BLOCK_LENGTH


def _is_inside_span(clause: str) -> bool:
    # A cut within a bracket or backticks would split a link or code.
    tail = clause[-SPAN_LENGTH:]
    return (
        tail.count("`") % 2 == 1
        or tail.rfind("[") > tail.rfind("]")
        or tail.rfind("(") > tail.rfind(")")
        or bool(_OPEN_TAG.search(tail))
    )


def _is_initial(before: str) -> bool:
    found = _WORD_BEFORE.search(before)
    word = found.group() if found else ""
    return word.isupper() and (len(word) == 1 or "." in word)


def _surely_ends(before: str) -> bool:
    found = _WORD_BEFORE.search(before)
    word = found.group() if found else ""
    if not word.isalpha() or word.isupper():  # an initial, or half of "EE. UU."
        return False
    return word.lower() not in _ABBREVIATIONS | _NUMBERED | _TITLES


def _ends_sentence(before: str, following: str) -> bool:
    found = _WORD_BEFORE.search(before)
    word = found.group() if found else ""
    if following.islower() or word.lower() in _TITLES:
        return False
    if word.lower() in _NUMBERED and following.isdigit():
        return False
    if _is_initial(before):
        return False
    if word.isdigit() and before == word:
        return False  # the number of a list item
    return word.lower() not in _ABBREVIATIONS or following.isupper() or following in "¿¡"
