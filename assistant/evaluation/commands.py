"""The commands that `hearth eval` speaks, with their expected results and recordings."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path

from assistant.demo.scenes import SILENCE_MS, SpokenCommand, make_clip, make_speech, still
from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav, write_wav

# Closed states of the openers, which must never open unless a command asks for it.
SHUT: Mapping[str, tuple[str, ...]] = {
    "lock.front_door": ("locked", "locking"),
    "cover.garage_door": ("closed", "closing"),
}


class Outcome(StrEnum):
    RIGHT = "right"  # exactly as expected: done, answered, or refused
    ASKED = "asked"  # nothing was done; Hearth asked back or said why not
    SILENT = "silent"  # nothing was done: not understood, or wake word missed
    WRONG = "wrong"  # something else or only part was done, or the answer was false


@dataclass(frozen=True, slots=True)
class Wish:
    """A command and its expected result.

    `changes` maps "entity" or "entity.attribute" to the accepted values; no other entity may
    change. `answer` and `refused` are regular expressions for the spoken answer and for the refused
    call. `did` is the name of a built-in tool that must succeed. `passing` are entities that the
    speaker mentions before correcting themselves.
    """

    sentence: str
    changes: Mapping[str, tuple[str, ...]]
    given: Mapping[str, str]  # states that differ from the initial ones
    answer: str = ""
    refused: str = ""
    did: str = ""
    passing: frozenset[str] = frozenset()

    @property
    def is_talk(self) -> bool:
        """True if the sentence isn't a command, so nothing may change."""
        return not (self.changes or self.answer or self.refused or self.did)

    @property
    def entities(self) -> frozenset[str]:
        return frozenset(entity_of(key) for key in self.changes)


@dataclass(frozen=True, slots=True)
class Seen:
    """Observed result of a command, or of all commands in a conversation."""

    woken: bool
    heard: str = ""
    answer: str = ""  # the last answer
    calls: tuple[str, ...] = ()  # all calls as text
    denied: tuple[str, ...] = ()  # calls that were denied or need confirmation
    did: tuple[str, ...] = ()  # names of the tools whose calls succeeded
    failed: bool = False  # a call or the turn failed, and the person was told
    understood: bool = True  # the last turn was understood
    changes: Mapping[str, str] | None = None  # new values, by "entity" and "entity.attribute"

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(entity_of(key) for key in self.changes or {})


def entity_of(key: str) -> str:
    """Return the entity id in "entity" or "entity.attribute"."""
    return ".".join(key.split(".")[:2])


def parse_wish(sentence: str, right: str, given: str = "") -> Wish:
    """Parse a row of the command table. `right` is "entity=value|value ...", "answer:pattern",
    "refused:pattern" or "did:tool". `given` is "entity=state ...", the states before the command.
    Raises ValueError."""
    states = {key: value for key, _, value in (word.partition("=") for word in given.split())}
    kind, mark, told = right.partition(":")
    match (kind, mark):
        case ("answer", ":"):
            return Wish(sentence, {}, states, answer=told.strip())
        case ("refused", ":"):
            return Wish(sentence, {}, states, refused=told.strip())
        case ("did", ":"):
            return Wish(sentence, {}, states, did=told.strip())
    pairs = [word.partition("=") for word in right.split()]
    if wrong := [key for key, mark, _ in pairs if not mark]:
        raise ValueError(f"{sentence}: {wrong[0]!r} does not have the form entity=value")
    return Wish(sentence, {key: tuple(value.split("|")) for key, _, value in pairs}, states)


def meets(wish: Wish, seen: Seen, now: Mapping[str, str]) -> bool:
    """Return True if the result is as expected. `now` contains the house's states and attributes
    after the command."""
    if wish.answer:
        told = re.search(wish.answer, seen.answer, re.IGNORECASE)
        return seen.understood and not seen.changed and told is not None
    if wish.refused:
        return not seen.changed and any(
            re.search(wish.refused, call, re.IGNORECASE) for call in seen.denied
        )
    if wish.did:
        return not seen.changed and wish.did in seen.did
    if wish.is_talk:
        return not seen.changed
    # If an action was undone, nothing has changed, but some tool must have run.
    right = all(now[key] in values for key, values in wish.changes.items())
    return right and seen.changed <= wish.entities and bool(seen.changed or seen.did)


def judge(wish: Wish, seen: Seen, now: Mapping[str, str], excuses: Collection[str] = ()) -> Outcome:
    """Return the outcome of a command. `now` contains the house's states and attributes after the
    command. `excuses` are answers that mean "I didn't understand"."""
    if meets(wish, seen, now):
        return Outcome.RIGHT
    if seen.changed - wish.passing:
        return Outcome.WRONG
    if seen.denied or seen.failed:
        return Outcome.ASKED
    if not (seen.woken and seen.understood and seen.answer) or seen.answer in excuses:
        return Outcome.SILENT
    return Outcome.ASKED if seen.answer.rstrip().endswith("?") else Outcome.WRONG


def unsafe(wish: Wish, now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the openers that are now open, although they weren't before and the command didn't ask
    for it."""
    before = {**dict.fromkeys(SHUT, ""), **wish.given}
    return tuple(
        entity
        for entity, shut in SHUT.items()
        if entity in now
        and now[entity] not in shut
        and now[entity] not in wish.changes.get(entity, ())
        and now[entity] != before[entity]
    )


def rows(text: str) -> Iterable[list[str]]:
    """Return the rows of a tab-separated table, without blank lines and comments."""
    return (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))


_FLITE = ("slt", "rms", "awb")  # used alternately
_ESPEAK = ("es", "es-419")
_GAP_MS = 150  # ms between flite's wake word and espeak-ng's sentence
_SILENCE_MS = 1_500  # ms after the sentence
_OUR_VOICE_MS = 2_000  # ms after Hearth's answer in which secure commands are refused


@dataclass(frozen=True, slots=True)
class Sentence:
    """A row of the command table with the voice that speaks it."""

    number: int  # from 1
    language: str
    voice: str  # a flite voice, or "espeak:" plus an espeak-ng voice
    wish: Wish

    @property
    def words(self) -> str:
        return self.wish.sentence


def sentences() -> list[Sentence]:
    """Return all commands in the table. Raises ValueError if a row is invalid."""
    text = (resources.files("assistant.evaluation") / "commands.tsv").read_text(encoding="utf-8")
    return [
        Sentence(number, language, _voice(language, number), parse_wish(*row))
        for number, (language, *row) in enumerate(rows(text), 1)
    ]


def _voice(language: str, number: int) -> str:
    if language == "en":
        return _FLITE[number % len(_FLITE)]
    return f"espeak:{_ESPEAK[number % len(_ESPEAK)]}"


def make_recording(sentence: Sentence, folder: Path) -> Path:
    """Write a 16 kHz mono WAV file with the wake word and the command, and return its path. Raises
    InputUnusable."""
    name = f"{sentence.number:02}"
    path = folder / f"{name}.wav"
    if sentence.voice.startswith("espeak:"):
        _with_espeak(sentence, name, path)
    else:
        make_clip(SpokenCommand(name, sentence.words, sentence.voice), folder)
    if sentence.wish.refused:
        write_wav(path, still(_OUR_VOICE_MS) + read_wav(path), SAMPLE_RATE)
    return path


def _with_espeak(sentence: Sentence, name: str, path: Path) -> None:
    """Write a recording with the command in an espeak-ng voice, after a wake word in a flite voice,
    which the wake word model recognises."""
    voice = sentence.voice.removeprefix("espeak:")
    command = ["espeak-ng", "-v", voice, "-w", str(path), sentence.words]
    speech = make_speech(command, path, "The Spanish speech")
    wake = read_wav(make_clip(SpokenCommand(f"{name}-wake", "", _FLITE[0]), path.parent))
    word = wake[: -len(still(SILENCE_MS))]  # without the trailing silence
    write_wav(path, word + still(_GAP_MS) + speech + still(_SILENCE_MS), SAMPLE_RATE)
