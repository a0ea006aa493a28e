"""Decide what a sentence means: templates first, then looser readings, parts and follow-ups."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from assistant.brains.offline.choices import answered
from assistant.brains.offline.device_frames import read_loosely
from assistant.brains.offline.dialog import Talk, follow_up
from assistant.brains.offline.frames import Ask, Reading
from assistant.brains.offline.lexicon import (
    LOOSE_LANGUAGES,
    Lexicon,
    NameIndex,
    asks_for_nothing,
    lexicon,
    tokens,
    written_tokens,
)
from assistant.brains.offline.list_frames import read_list
from assistant.brains.offline.missing import read_missing
from assistant.brains.offline.names import Names
from assistant.brains.offline.parse import ANYTHING, ParsedCommand, Parser, parse_all
from assistant.brains.offline.parts import (
    Read,
    plain,
    read_corrected,
    read_parts,
    without_reasons,
)
from assistant.brains.offline.question_frames import read_outside, read_question
from assistant.brains.offline.sentences import MISSING
from assistant.brains.offline.spanish import in_imperative, verb_first, with_noun
from assistant.brains.offline.targets import Scene
from assistant.brains.offline.wordings import reworded, wordings
from assistant.tools.house.intents import LATER
from assistant.tools.vocabulary.exceptions import exception_last
from integrations.home_assistant.house import House

# A length of time as letters: N number, A article, H half, Q quarter, U unit, & "and".
_PART = re.compile(
    r"A?(?P<part>[HQ])A?(?P<of>U)"
    r"|(?P<number>[NA])?(?P<more>&A?H)?(?P<unit>U)(?P<half>&A?H)?(?P<quarter>&A?Q)?"
)
_LENGTH = re.compile(re.sub(r"\?P<\w+>", "?:", f"(?:{_PART.pattern})(?:&?(?:{_PART.pattern}))*"))
# Intents of timers, alarms and reminders.
_TIMED = (
    *("HassStartTimer", "HassCancel", "HassTimerStatus", "HassPauseTimer", "HassUnpauseTimer"),
    *("HassIncreaseTimer", "HassDecreaseTimer", "HearthSetAlarm", "HearthCancelAlarm"),
    *("HearthListAlarms", "HearthSnooze"),
)
_UNITS = {"hour": 3600, "minute": 60, "second_unit": 1}
_BACK = {"HassTurnOn": "HassTurnOff", "HassTurnOff": "HassTurnOn"}
# Switching these back needs nobody's consent.
_SWITCHED_BACK = frozenset(
    {"light", "switch", "fan", "media_player", "input_boolean", "humidifier"}
)


class Reader:
    """Reads sentences about one house, in any supported language."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._parser = Parser(names)
        self._index: NameIndex | None = None

    def parse(self, text: str, language: str, area_id: str = "") -> ParsedCommand | None:
        """Return the command that the strict templates find in the whole text."""
        return self._parser.parse(text, language, area_id)

    def read(self, text: str, language: str, house: House, area_id: str, talk: Talk) -> Reading:
        """Return all commands of a sentence in order, or [] if any part of it isn't understood."""
        base = language.partition("-")[0]
        if base in LOOSE_LANGUAGES and asks_for_nothing(text, base):
            return []
        text = exception_last(text)
        found = self._read(text, language, house, area_id, talk)
        if found and not _is_missing(found):
            return found
        other = verb_first(in_imperative(text, lexicon(base).verbs)) if base == "es" else text
        return (other != text and self._read(other, language, house, area_id, talk)) or found

    def _read(self, text: str, language: str, house: House, area_id: str, talk: Talk) -> Reading:
        base = language.partition("-")[0]
        loose = base in LOOSE_LANGUAGES
        scene = Scene(house, area_id, talk.recent(house), talk.earlier(house))
        if loose and (followed := self._follow_up(text, base, scene, talk)) is not None:
            return followed
        if loose and (outside := read_outside(text, base, self._names_of_house(), scene)):
            return outside
        parse = cache(lambda part: self._parser.parse(part, language, area_id))
        strict = parse_all(text, parse)
        if loose and strict and _is_half_a_question(text, strict[0]):
            strict = []
        # "pon la luz en rojo" could be the name of a song too.
        if not loose or (strict and not any(one.intent in ANYTHING for one in strict)):
            return list(strict)

        def whole(part: str) -> Reading:
            found = parse(part)
            if found is None or found.intent in ANYTHING or _is_half_a_question(part, found):
                return self._loosely(part, base, scene)
            return [found]

        def timed(part: str) -> Reading:
            return whole_or_timed(part, base, whole)

        without_manners = plain(text, base)
        others = [
            other
            for said in dict.fromkeys((text, without_manners))
            for other in reworded(said, base, topic="commands")
        ]
        reasonless = without_reasons(text, base)
        for said in dict.fromkeys((*others, reasonless, text, without_manners)):
            found = (
                timed(said) or read_corrected(said, base, whole) or read_parts(said, base, timed)
            )
            if found:
                return found
        return (
            self._reworded(text, language, area_id, talk)
            or self._otherwise(text, base, scene, talk)
            or list(strict)
        )

    def _reworded(self, text: str, language: str, area_id: str, talk: Talk) -> Reading:
        """Reword a sentence about timers, alarms or reminders as a strict template, and read it."""
        base = language.partition("-")[0]
        words, span = written_tokens(text), find_length(text, base)
        said = text
        if span is not None:
            said = " ".join((*words[: span.first], "§", *words[span.last :]))
        last = talk.commands[-1].intent if talk.commands else ""
        for other in reworded(said, base, span.lengths if span else {}, last):
            found = self._parser.parse(other, language, area_id)
            if found is not None and found.intent.startswith(_TIMED):
                return [found]
        return []

    def _otherwise(self, text: str, language: str, scene: Scene, talk: Talk) -> Reading:
        """Read a sentence that isn't about devices, or find what the house lacks."""
        if about_list := read_list(text, language, scene.house, talk.commands):
            return about_list
        said = next((key for key, _ in wordings("talk", text, language)), "")
        if said:
            return [ParsedCommand("HassRespond", text, response=said)]

        def reads(other: str) -> Reading:
            return self._loosely(other, language, scene)

        found = read_missing(text, language, self._names_of_house(), scene.house, reads)
        return [found] if found is not None else []

    def answer(
        self, text: str, language: str, house: House, talk: Talk
    ) -> tuple[ParsedCommand | Ask, ...] | None:
        """Return the commands that the person chose when asked, or None if the sentence isn't an
        answer. The question is asked again if the answer leaves several choices."""
        base = language.partition("-")[0]
        if talk.asked is None or base not in LOOSE_LANGUAGES:
            return None
        found = answered(text, base, talk.asked, house, self._names_of_house())
        return None if found is None else (*found.commands, *talk.others) * bool(found.commands)

    def _loosely(self, text: str, language: str, scene: Scene) -> Reading:
        found = read_loosely(text, language, self._names_of_house(), scene)
        if found is not None:
            reading, sure = found
            return reading if sure == 1.0 else [_as_guess(one) for one in reading]
        return read_question(text, language, self._names_of_house(), scene)

    def _follow_up(self, text: str, language: str, scene: Scene, talk: Talk) -> Reading | None:
        if not talk.commands:
            return None

        def again(said: str) -> Reading:
            strict = self._parser.parse(said, language, scene.here)
            return self._loosely(said, language, scene) or ([strict] if strict else [])

        last = talk.commands[-1]
        switched = language == "es" and last.intent in _BACK and "?" not in text
        fuller = with_noun(text, last.text) if switched else None
        if fuller is not None and (found := again(fuller)):
            return found
        return follow_up(text, language, self._names_of_house(), scene, talk, again)

    def _names_of_house(self) -> NameIndex:
        if self._index is None:
            self._index = NameIndex(self._names)
        return self._index


def _as_guess(one: ParsedCommand | Ask) -> ParsedCommand | Ask:
    return one if isinstance(one, Ask) else replace(one, guessed=True)


def _is_missing(found: Reading) -> bool:
    return any(isinstance(one, ParsedCommand) and one.intent == MISSING for one in found)


_WHOLE = re.compile(r"(?:all|both|every|each|todas?|todos) .+ (?:on|off)", re.IGNORECASE)


def _is_half_a_question(text: str, command: ParsedCommand) -> bool:
    # "All the kitchen lights on" is a command, but the templates take it for a question.
    return command.intent == "HassGetState" and _WHOLE.fullmatch(text.strip(" .!")) is not None


def whole_or_timed(text: str, language: str, read: Read) -> Reading:
    """Read a sentence that can contain a length of time, such as "for ten minutes" or "in half an
    hour"."""
    found = read(text)
    if found and not any(_lacks_later(one) for one in found):
        return found
    span = find_length(text, language)
    if span is None or not span.kind:
        return []
    commands = read(span.rest)
    if len(commands) != 1 or not isinstance(commands[0], ParsedCommand):
        return []
    command = commands[0]
    if command.intent not in _BACK and span.kind == "during":
        return []
    if span.kind == "during":
        back = _switched_back(command)
        return [command, _later(span, back)] if back else []
    return [_later(span, replace(command, text=span.rest))]


def _lacks_later(command: ParsedCommand | Ask) -> bool:
    return isinstance(command, ParsedCommand) and LATER in command.slots and command.later is None


def _switched_back(command: ParsedCommand) -> ParsedCommand | None:
    if command.slots.get("domain") not in _SWITCHED_BACK:
        return None
    return replace(command, intent=_BACK[command.intent])


def _later(span: "Span", command: ParsedCommand) -> ParsedCommand:
    slots = {**span.lengths, LATER: command.text}
    return ParsedCommand("HassStartTimer", span.text, slots, later=command)


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time in a sentence."""

    kind: str  # "after" ("in ten minutes"), "during" ("for ten minutes") or ""
    lengths: Mapping[str, int]  # hours, minutes, seconds
    rest: str  # the sentence without it
    text: str
    first: int  # positions of its words, with "for" or "in"
    last: int


def find_length(text: str, language: str) -> Span | None:
    """Return the first length of time in a sentence."""
    words, known = tokens(text), lexicon(language)
    letters, spans, values = "", [], []
    at = 0
    while at < len(words):
        size, letter, value = _letter(words, at, known)
        letters += letter
        spans.append((at, at + size))
        values.append(value)
        at += size
    for found in _LENGTH.finditer(letters):
        seconds = _seconds(
            letters[found.start() : found.end()], values[found.start() : found.end()]
        )
        if not seconds:
            continue
        first, last = spans[found.start()][0], spans[found.end() - 1][1]
        before, size = _tag_before(words, first, known)
        start = first - size
        hours, rest = divmod(seconds, 3600)
        given = {"hours": hours, "minutes": rest // 60, "seconds": rest % 60}
        return Span(
            before,
            {key: value for key, value in given.items() if value},
            " ".join((*words[:start], *words[last:])),
            " ".join(words),
            start,
            last,
        )
    return None


def _tag_before(words: Sequence[str], at: int, known: Lexicon) -> tuple[str, int]:
    """Return the meaning of the words before a length of time, and the number of these words."""
    for size in range(min(3, at), 0, -1):
        tags = {one.tag for one in known.phrases.get(" ".join(words[at - size : at]), ())}
        if found := next((tag for tag in ("after", "during") if tag in tags), ""):
            return found, size
    return "", 0


def _letter(words: Sequence[str], at: int, known: Lexicon) -> tuple[int, str, float]:
    for size in range(min(4, len(words) - at), 0, -1):
        text = " ".join(words[at : at + size])
        tags = {one.tag for one in known.phrases.get(text, ())}
        unit = next((tag for tag in _UNITS if tag in tags), None)
        if unit:
            return size, "U", float(_UNITS[unit])
        if "half_unit" in tags:
            return size, "H", 0.5
        if "quarter" in tags:
            return size, "Q", 0.75 if size > 1 and text[0] in "t3" else 0.25
        if "article" in tags:
            return size, "A", 1.0
        if text in known.numbers:
            return size, "N", known.numbers[text]
        if size == 1 and re.fullmatch(r"\d+(?:[.,]\d+)?", text):
            return 1, "N", float(text.replace(",", "."))
        if "and" in tags:
            return size, "&", 0.0
    return 1, "x", 0.0


def _seconds(letters: str, values: Sequence[float]) -> int:
    """Return the length in seconds that the letters describe, or 0 if a number is missing."""
    total = 0.0
    for found in _PART.finditer(letters):
        if found["of"]:
            total += values[found.start("part")] * values[found.start("of")]
            continue
        if not (found["number"] or found["half"] or found["quarter"]):
            return 0
        number = values[found.start("number")] if found["number"] else 1.0
        number += (0.5 if found["more"] else 0.0) + (0.5 if found["half"] else 0.0)
        number += 0.25 if found["quarter"] else 0.0
        total += number * values[found.start("unit")]
    return round(total)
