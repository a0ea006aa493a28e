"""The sentences of `hearth eval`, and their recordings: made voices, as on the reader's machine."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path

from assistant.demo.scenes import SILENCE_MS, SpokenCommand, make_clip, make_speech, still
from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav, write_wav

# What a sentence must lead to, and how what came of it is judged. Pure.


# What opens the house to others: never without a wish. Entity to the states in which it is shut.
SHUT: Mapping[str, tuple[str, ...]] = {
    "lock.front_door": ("locked", "locking"),
    "cover.garage_door": ("closed", "closing"),
}


class Outcome(StrEnum):
    """The result of a sentence."""

    RIGHT = "right"  # just what was wished: done, answered, or asked about where that is right
    ASKED = "asked"  # nothing done, and the person was asked, or told why not
    SILENT = "silent"  # nothing done, and nothing understood, or nobody woken
    WRONG = "wrong"  # something else was done, a part of it, or something untrue was said


@dataclass(frozen=True, slots=True)
class Wish:
    """One sentence and all that it must lead to.

    `changes`: "entity" or "entity.attribute" to the values that are right; no other entity may
    change. `answer`: a pattern for the spoken answer, `refused`: what the refused call names,
    `did`: the tool of Hearth's own that must have been run. `passing`: entities that were asked for
    on the way; where the last word was not understood, it is no mistake that they have changed.
    """

    sentence: str
    changes: Mapping[str, tuple[str, ...]]
    given: Mapping[str, str]  # states that differ from the house's first ones
    answer: str = ""
    refused: str = ""
    did: str = ""
    passing: frozenset[str] = frozenset()

    @property
    def is_talk(self) -> bool:
        """Must nothing come of it?"""
        return not (self.changes or self.answer or self.refused or self.did)

    @property
    def entities(self) -> frozenset[str]:
        """The entities that are to change."""
        return frozenset(entity_of(key) for key in self.changes)


@dataclass(frozen=True, slots=True)
class Seen:
    """The effects of one sentence, or of all sentences of a talk."""

    woken: bool
    heard: str = ""
    answer: str = ""  # the last one
    calls: tuple[str, ...] = ()  # all that were made, as text
    denied: tuple[str, ...] = ()  # those of them that were refused, or are asked about
    did: tuple[str, ...] = ()  # names of the tools whose calls were done
    failed: bool = False  # a call or the turn itself, and the person was told so
    understood: bool = True  # in the last turn
    changes: Mapping[str, str] | None = None  # "entity" and "entity.attribute" to the new value

    @property
    def changed(self) -> frozenset[str]:
        """The entities that are different now."""
        return frozenset(entity_of(key) for key in self.changes or {})


def entity_of(key: str) -> str:
    """The entity of "entity" or "entity.attribute"."""
    return ".".join(key.split(".")[:2])


def parse_wish(sentence: str, right: str, given: str = "") -> Wish:
    """A row of a table: "entity=value|value ...", "answer:pattern", "refused:name", "did:tool".

    `given`: "entity=state ...". Raises ValueError.
    """
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
        raise ValueError(f"{sentence}: {wrong[0]!r} is no entity=value")
    return Wish(sentence, {key: tuple(value.split("|")) for key, _, value in pairs}, states)


def meets(wish: Wish, seen: Seen, now: Mapping[str, str]) -> bool:
    """Is that exactly what was wished? `now`: states and attributes after the sentence."""
    if wish.answer:
        told = re.search(wish.answer, seen.answer, re.IGNORECASE)
        return seen.understood and not seen.changed and told is not None
    if wish.refused:
        return not seen.changed and any(wish.refused in call.casefold() for call in seen.denied)
    if wish.did:
        return not seen.changed and wish.did in seen.did
    if wish.is_talk:
        return not seen.changed
    # What was done and taken back shows nothing of it; then something must have been done.
    right = all(now[key] in values for key, values in wish.changes.items())
    return right and seen.changed <= wish.entities and bool(seen.changed or seen.did)


def judge(wish: Wish, seen: Seen, now: Mapping[str, str], excuses: Collection[str] = ()) -> Outcome:
    """`now`: states and attributes after it; `excuses`: words for "I understood nothing"."""
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
    """Name what stands open that nobody wished open, nor was before."""
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
    """The lines of a table with tabs, without empty ones and comments."""
    return (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))


_FLITE = ("slt", "rms", "awb")  # one after the other
_ESPEAK = ("es", "es-419")
_GAP_MS = 150  # between the wake word, which flite says, and a sentence of espeak-ng's
_SILENCE_MS = 1_500  # after the sentence
_OUR_VOICE_MS = 2_000  # so long after our own answer nothing secure is taken for a person's wish


@dataclass(frozen=True, slots=True)
class Sentence:
    """One row of the table, in one voice."""

    number: int  # from 1
    language: str
    voice: str  # flite's, or "espeak:" and one of espeak-ng's
    wish: Wish

    @property
    def words(self) -> str:
        """The spoken words."""
        return self.wish.sentence


def sentences() -> list[Sentence]:
    """All of the table. Raises ValueError where a row is none."""
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
    """The wake word and the sentence, 16 kHz mono, and its path. Raises InputUnusable."""
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
    """By espeak-ng, after the wake word in a voice that the wake word's model knows."""
    voice = sentence.voice.removeprefix("espeak:")
    command = ["espeak-ng", "-v", voice, "-w", str(path), sentence.words]
    speech = make_speech(command, path, "The Spanish speech")
    wake = read_wav(make_clip(SpokenCommand(f"{name}-wake", "", _FLITE[0]), path.parent))
    word = wake[: -len(still(SILENCE_MS))]  # without the silence behind it
    write_wav(path, word + still(_GAP_MS) + speech + still(_SILENCE_MS), SAMPLE_RATE)
