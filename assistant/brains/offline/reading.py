"""Decide what a sentence means: templates first, then looser readings, parts and follow-ups."""

import re
from dataclasses import replace
from functools import cache

from assistant.brains.offline.choices import answered
from assistant.brains.offline.device_frames import read_loosely
from assistant.brains.offline.dialog import follow_up
from assistant.brains.offline.frames import Ask, Reading
from assistant.brains.offline.lengths import Span, find_length, times_in
from assistant.brains.offline.lexicon import (
    LOOSE_LANGUAGES,
    NameIndex,
    asks_for_nothing,
    lexicon,
    written_tokens,
)
from assistant.brains.offline.list_frames import read_list
from assistant.brains.offline.missing import read_excess, read_missing
from assistant.brains.offline.names import Names
from assistant.brains.offline.parse import ANYTHING, ParsedCommand, Parser, parse_all
from assistant.brains.offline.parts import (
    Read,
    has_correction,
    plain,
    read_corrected,
    read_partly,
    read_parts,
    without_reasons,
)
from assistant.brains.offline.question_frames import read_outside, read_question
from assistant.brains.offline.references import (
    about_a_device,
    completed,
    corrected,
    fits,
    other_item,
)
from assistant.brains.offline.sentences import MISSING
from assistant.brains.offline.spanish import in_imperative, verb_first
from assistant.brains.offline.swap import with_noun, with_shared_place
from assistant.brains.offline.talk import Talk
from assistant.brains.offline.targets import Scene
from assistant.brains.offline.wordings import reworded, wordings
from assistant.tools.house.intents import LATER
from assistant.tools.vocabulary import fold, mentions
from assistant.tools.vocabulary.exceptions import exception_last
from integrations.home_assistant.house import House

# Intents of timers, alarms and reminders.
_TIMED = (
    *("HassStartTimer", "HassCancel", "HassTimerStatus", "HassPauseTimer", "HassUnpauseTimer"),
    *("HassIncreaseTimer", "HassDecreaseTimer", "HearthSetAlarm", "HearthCancelAlarm"),
    *("HearthListAlarms", "HearthSnooze"),
)
_BACK = {"HassTurnOn": "HassTurnOff", "HassTurnOff": "HassTurnOn"}
# Switching these back needs nobody's consent.
_SWITCHED_BACK = frozenset(
    {"light", "switch", "fan", "media_player", "input_boolean", "humidifier"}
)


def _told_of(talk: Talk) -> str:
    """Return "timer", "alarm", "reminder" or "later" if the last command was about one of them, or
    "length" if it was a timer without a length."""
    last = talk.commands[-1] if talk.commands else None
    if last is None or not last.intent.startswith(_TIMED):
        return ""
    if last.later is not None:
        return "later"
    if last.intent == "HassStartTimer" and not {"hours", "minutes", "seconds"} & set(last.slots):
        return "length"
    return str(last.slots.get("kind", "alarm" if "Alarm" in last.intent else "timer"))


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
        recent, earlier = talk.recent(house), talk.earlier(house)
        scene = Scene(house, area_id, recent, earlier, single=talk.names_one(house))
        if loose and (followed := self._follow_up(text, base, scene, talk)) is not None:
            return followed
        if loose and (begun := self._continued(text, language, scene, talk, early=True)):
            return begun
        found = [_of_recent(one, scene) for one in self._alone(text, language, scene, talk)]
        if loose and (not found or _is_missing(found)):
            return self._continued(text, language, scene, talk) or found
        return found

    def _alone(self, text: str, language: str, scene: Scene, talk: Talk) -> Reading:
        """Read a sentence that doesn't refer to the one before."""
        base, area_id = language.partition("-")[0], scene.here
        loose = base in LOOSE_LANGUAGES
        if loose:
            text = with_shared_place(text, base, self._names_of_house(), scene.house)
        if loose and (outside := read_outside(text, base, self._names_of_house(), scene)):
            return outside
        told = _told_of(talk) if loose else ""
        if told and (changed := self._reworded(text, language, area_id, told)):
            return changed
        parse = cache(lambda part: self._parser.parse(part, language, area_id))
        strict = parse_all(text, parse)
        if loose and strict and _is_half_a_question(text, strict[0]):
            strict = []
        # "pon la luz en rojo" could be the name of a song too.
        doubtful = any(map(_is_doubtful, strict)) or (loose and has_correction(text, base))
        if not loose or (strict and not doubtful):
            return list(strict)

        def whole(part: str) -> Reading:
            found = parse(part)
            if found is None or _is_doubtful(found) or _is_half_a_question(part, found):
                return self._loosely(part, base, scene)
            return [found]

        def timed(part: str) -> Reading:
            return whole_or_timed(part, base, whole) or self._at_time(part, language, whole)

        without_manners = plain(text, base)
        others = [
            other
            for said in dict.fromkeys((text, without_manners))
            for other in reworded(said, base, topic="commands")
        ]
        # A timer's name can be any words: "ten minute timer, no, a twelve minute timer".
        if any(one.intent == "HassStartTimer" and one.name for one in strict) and (
            meant := read_corrected(text, base, whole, self._names_of_house())
        ):
            return meant
        reasonless = without_reasons(text, base)
        for said in dict.fromkeys((*others, reasonless, text, without_manners)):
            found = (
                timed(said)
                or read_corrected(said, base, whole, self._names_of_house())
                or read_parts(said, base, timed, self._names_of_house())
            )
            if found:
                return found
        return (
            self._reworded(text, language, area_id)
            or self._otherwise(text, base, scene, talk)
            or read_partly(text, base, timed)
            or list(strict)
        )

    def _whole(self, text: str, language: str, scene: Scene) -> Reading:
        found = self._parser.parse(text, language, scene.here)
        if found is None or _is_doubtful(found) or _is_half_a_question(text, found):
            return self._loosely(text, language.partition("-")[0], scene)
        return [found]

    def _continued(
        self, text: str, language: str, scene: Scene, talk: Talk, *, early: bool = False
    ) -> Reading:
        """Read a sentence that needs words of the last command. `early` limits it to sentences
        that would mean something else alone."""
        base = language.partition("-")[0]
        if not talk.commands:
            return []
        last = talk.commands[-1]
        if early and about_a_device(last):
            return []
        if early and (item := other_item(text, base, last)):
            return item
        index, house = self._names_of_house(), scene.house
        for kind, said in completed(text, base, talk, house, index):
            if early and kind == "shorter":
                continue
            found = read_outside(said, base, index, scene) or self._whole(said, language, scene)
            found = found or self._reworded(said, language, scene.here)
            if fits(kind, found, talk, house):
                instead = kind == "instead" or (kind == "named" and _begins_anew(found, last))
                return corrected(found, talk, house) if instead else found
        return []

    def _reworded(self, text: str, language: str, area_id: str, after: str = "") -> Reading:
        """Reword a sentence about timers, alarms or reminders as a strict template, and read it.
        `after` is what the last command was about, if the sentence continues it."""
        base = language.partition("-")[0]
        words, span = written_tokens(text), find_length(text, base)
        said = text
        if span is not None:
            said = " ".join((*words[: span.first], "§", *words[span.last :]))
        for other in reworded(said, base, span.lengths if span else {}, after):
            found = self._parser.parse(other, language, area_id)
            if found is not None and found.intent.startswith(_TIMED):
                return [found]
        return []

    def _at_time(self, text: str, language: str, read: Read) -> Reading:
        """Read a command that begins or ends with a time of day: "close it at ten to six"."""
        for rest, when in times_in(text, language):
            time = self._parser.parse(when, language)
            if time is None or "time" not in time.slots or "days" in time.slots:
                continue
            commands = read(rest)
            if len(commands) == 1 and isinstance(command := commands[0], ParsedCommand):
                slots = {key: time.slots[key] for key in ("time", "half") if key in time.slots}
                later = replace(command, text=rest)
                return [ParsedCommand("HassStartTimer", text, slots | {LATER: rest}, later=later)]
        return []

    def _otherwise(self, text: str, language: str, scene: Scene, talk: Talk) -> Reading:
        """Read a sentence that isn't about devices, or find what the house lacks."""
        if about_list := read_list(text, language, scene.house, talk.commands):
            return about_list
        for parts in ([text], re.split(r"[,.!;?]+\s+", text.strip())):
            said = [
                next((key for key, _ in wordings("talk", part, language)), "") for part in parts
            ]
            if all(said):
                return [ParsedCommand("HassRespond", text, response=said[0])]

        def reads(other: str) -> Reading:
            return self._loosely(other, language, scene)

        found = read_excess(text, language, reads) or read_missing(
            text, language, self._names_of_house(), scene.house, reads
        )
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
        index = self._names_of_house()
        switched = about_a_device(last) and "?" not in text
        fuller = with_noun(text, last.text, language, index) if switched else None
        if fuller is not None and (found := again(fuller)):
            return found
        return follow_up(text, language, index, scene, talk, again)

    def _names_of_house(self) -> NameIndex:
        if self._index is None:
            self._index = NameIndex(self._names)
        return self._index


_PLAYS = frozenset(
    {"HassMediaPause", "HassMediaUnpause", "HassMediaNext", "HassMediaPrevious"}
    | {"HassSetVolume", "HassSetVolumeRelative", "HassMediaPlayerMute", "HassMediaPlayerUnmute"}
)


def _of_recent(one: ParsedCommand | Ask, scene: Scene) -> ParsedCommand | Ask:
    """Return a command to no particular player, such as "stop", for the player of the last one."""
    if isinstance(one, Ask) or one.intent not in _PLAYS or one.entity_ids or one.area_said:
        return one
    recent = [scene.house.entities[name] for name in scene.recent]
    if len(recent) != 1 or recent[0].domain != "media_player" or mentions("everything", one.text):
        return one
    player = recent[0]
    return replace(one, entity_ids=(player.entity_id,), name=player.name, area_id="")


def _as_guess(one: ParsedCommand | Ask) -> ParsedCommand | Ask:
    return one if isinstance(one, Ask) else replace(one, guessed=True)


def _is_doubtful(command: ParsedCommand) -> bool:
    """Return True if a frame may know better what a template has found."""
    if command.intent in ANYTHING:
        return True
    # "Set the bedroom to 20" is rather about its heating.
    bare = command.intent == "HassLightSet" and "brightness" in command.slots
    return bare and command.area_said and not re.search(r"%|\bper ?cent|\bpor cien", command.text)


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
    found = read(span.rest)
    commands = [one for one in found if isinstance(one, ParsedCommand)]
    if len(commands) != len(found):
        return []
    if span.kind == "during":
        text = in_reverse(span.rest, language)
        backs = [replace(one, text=text) for one in map(_switched_back, commands) if one]
        complete = len(backs) == len(commands)
        return [*commands, *(_later(span, one) for one in backs)] if complete else []
    return [_later(span, replace(one, text=span.rest)) for one in commands]


def in_reverse(text: str, language: str) -> str:
    """Return "turn the lamp off" for "turn the lamp on"."""
    known, words = lexicon(language), text.split()
    verbs = {"en": ("turn on", "turn off"), "es": ("enciende", "apaga")}[language]
    for at, word in enumerate(words):
        tags = {one.tag for one in known.phrases.get(fold(word), ())}
        if way := next((tag for tag in ("on", "off") if tag in tags), ""):
            other = "off" if way == "on" else "on"
            words[at] = other if word == way else verbs[other == "off"]
            return " ".join(words)
    return text


def _begins_anew(found: Reading, last: ParsedCommand) -> bool:
    """Return True for "make it half an hour" after a timer was started."""
    intents = {one.intent for one in found if isinstance(one, ParsedCommand)}
    return intents == {last.intent} == {"HassStartTimer"}


def _lacks_later(command: ParsedCommand | Ask) -> bool:
    return isinstance(command, ParsedCommand) and LATER in command.slots and command.later is None


def _switched_back(command: ParsedCommand) -> ParsedCommand | None:
    if command.intent not in _BACK or command.slots.get("domain") not in _SWITCHED_BACK:
        return None
    return replace(command, intent=_BACK[command.intent])


def _later(span: Span, command: ParsedCommand) -> ParsedCommand:
    slots = {**span.lengths, LATER: command.text}
    return ParsedCommand("HassStartTimer", span.text, slots, later=command)
