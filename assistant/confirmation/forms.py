"""Recognition of yes, no and similar answers to Hearth's questions, without a model."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntFlag
from functools import cache
from pathlib import Path
from typing import Any

# The words of a text, and each language's forms from `forms/*.toml`.


FOLDER = Path(__file__).parent / "forms"
GAP = "_"  # placeholder for an action's object

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"(?<=\w)['’ʼ‘´`](?=\w)")
# "l'alarme" is two words; "don't" and "that's" are one, with or without the apostrophe.
_ELIDED = re.compile(r"\b(l|d|j|c|s|m|t|n|qu|jusqu)['’ʼ‘´`](?=\w)")
# Grave, acute, circumflex, tilde, diaeresis and cedilla: the marks of the supported languages.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308\u0327")
_SPACES = frozenset(" \t\r\n\u00a0\u202f")


def words_of(text: str, marks_tell: bool = False) -> Words | None:
    """Split a text into lower-case words without punctuation and, unless `marks_tell` is set,
    without accents.

    Returns None if the text contains something that no speech recogniser writes, such as symbols or
    invisible characters.
    """
    plain = unicodedata.normalize("NFC", text).casefold()
    plain = _APOSTROPHES.sub("", _ELIDED.sub(r"\1 ", plain))
    if any(unicodedata.category(one)[0] in "CSZ" and one not in _SPACES for one in plain):
        return None
    if not marks_tell:
        parts = unicodedata.normalize("NFD", plain)
        plain = unicodedata.normalize("NFC", "".join(c for c in parts if c not in _ACCENTS))
    return tuple(_WORD.findall(plain))


@dataclass(frozen=True, slots=True)
class SpokenAction:
    """The words for an action, with a gap for its object: "turn ... on"."""

    before: Words  # in front of the object
    after: Words = ()  # after the object, which must then be present


@dataclass(frozen=True, slots=True)
class Wording:
    marks_tell: bool  # accents distinguish words
    yes: frozenset[Words]
    no: frozenset[Words]
    always: frozenset[Words]
    polite: frozenset[Words]
    fillers: frozenset[Words]
    against: frozenset[Words]  # an answer that contains one of these is never a yes
    links: frozenset[str]  # articles and similar words within a name
    pronouns: frozenset[Words]
    acts: Mapping[
        str, frozenset[SpokenAction]
    ]  # by group: "open", "close", "start", "stop", "disarm"

    def words(self, text: str) -> Words | None:
        return words_of(text, self.marks_tell)


@cache
def wording(language: str) -> Wording | None:
    """Return a language's forms, or None if it has none. `language` is a code without a region,
    such as "en"."""
    path = FOLDER / f"{language}.toml"
    if language not in languages():
        return None
    return _wording(tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have forms, such as ("de", "en")."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def _wording(table: Mapping[str, Any]) -> Wording:
    marks_tell = bool(table.get("marks_tell", False))

    def phrases(key: str) -> frozenset[Words]:
        return _phrases(table[key], marks_tell)

    return Wording(
        marks_tell=marks_tell,
        yes=phrases("yes"),
        no=phrases("no"),
        always=phrases("always"),
        polite=phrases("polite"),
        fillers=phrases("fillers"),
        against=phrases("against"),
        links=frozenset(word for phrase in phrases("links") for word in phrase),
        pronouns=phrases("pronouns"),
        acts={
            group: frozenset(_action(text, marks_tell) for text in texts)
            for group, texts in table["acts"].items()
        },
    )


def _phrases(texts: Iterable[str], marks_tell: bool) -> frozenset[Words]:
    return frozenset(words_of(text, marks_tell) or () for text in texts) - {()}


def _action(text: str, marks_tell: bool) -> SpokenAction:
    before, _, after = text.partition(GAP)
    return SpokenAction(words_of(before, marks_tell) or (), words_of(after, marks_tell) or ())


MAX_WORDS = 24  # a longer text is not an answer to a short question
FALLBACK = "en"  # used if none of the configured languages has forms
# Actions that an answer may repeat if the question is unknown: gated calls open or start something.
_USUAL_ACTS = ("open", "start")
_KEEPING = "keep"  # "leave it locked": only after a no


class AnswerKind(Enum):
    YES = "yes"
    ALWAYS = "always"  # "yes, always"
    NO = "no"
    OTHER = "other"  # anything else
    NOTHING = "nothing"  # empty, or only "uh"


class _Said(IntFlag):
    NOTHING = 0
    YES = 1
    NO = 2
    ALWAYS = 4
    ECHO = 8  # repeats the action or its object, once, after a yes or no


class Forms:
    """Recognises yes and no in several languages at once."""

    def __init__(self, codes: Sequence[str], names: Sequence[str] = ()) -> None:
        """`codes` are the configured languages, such as ("en", "es-MX"). English is used if none of
        them has forms.

        `names` are the device's names, which can be part of an answer ("yes, Hearth").
        """
        bases = dict.fromkeys(code.lower().replace("_", "-").split("-")[0] for code in codes)
        known = [found for base in bases if (found := wording(base)) is not None]
        fallback = wording(FALLBACK)
        if not known and fallback is not None:
            known = [fallback]
        self._wordings = tuple(known)
        self._names = tuple(names)

    def read(self, text: str, things: Sequence[str] = (), asked: str = "") -> AnswerKind:
        """Return what kind of answer the text is. A text that doesn't consist entirely of one
        language's forms is `OTHER`.

        After a yes or no, the text can repeat part of the question ("yes, open the door"). `things`
        are the names of all entities that the pending call affects. `asked` is the question as it
        was spoken.
        """
        said = [_Answer(forms, text, things, asked, self._names) for forms in self._wordings]
        replies = {answer.reply() for answer in said}
        if AnswerKind.NO in replies:
            return AnswerKind.NO
        if replies & {AnswerKind.YES, AnswerKind.ALWAYS}:
            if any(answer.is_against for answer in said):
                return AnswerKind.OTHER
            return AnswerKind.ALWAYS if AnswerKind.ALWAYS in replies else AnswerKind.YES
        return AnswerKind.NOTHING if AnswerKind.NOTHING in replies else AnswerKind.OTHER

    def is_command_like(self, text: str, things: Sequence[str] = (), asked: str = "") -> bool:
        """Return True if the text may be a new request, because it is not an answer and at least
        two of its words aren't part of any form."""
        if self.read(text, things, asked) is not AnswerKind.OTHER:
            return False
        return min(_Answer(forms, text).further_words() for forms in self._wordings) >= 2


class _Answer:
    def __init__(
        self,
        forms: Wording,
        text: str,
        things: Sequence[str] = (),
        asked: str = "",
        names: Sequence[str] = (),
    ) -> None:
        self._forms = forms
        self._words = forms.words(text)
        self._things = [bare for thing in things if (bare := self._bare(forms.words(thing)))]
        self._asked = self._bare(forms.words(asked))
        groups = self._groups(forms.words(asked) or ())
        self._names_action = bool(groups)
        self._acts = [act for group in groups or _USUAL_ACTS for act in forms.acts[group]]
        called = frozenset(words for name in names if (words := forms.words(name)))
        self._aside = forms.polite | forms.fillers | called

    @property
    def is_against(self) -> bool:
        words = self._words or ()
        return any(True for at in range(len(words)) for _ in _ends(words, at, self._forms.against))

    def reply(self) -> AnswerKind:
        words = self._words
        if words is None or len(words) > MAX_WORDS:
            return AnswerKind.OTHER
        endings = self._endings(words)
        if any(said & _Said.NO for said in endings):
            return AnswerKind.NO
        if any(said & _Said.YES for said in endings):
            always = any(said & _Said.YES and said & _Said.ALWAYS for said in endings)
            return AnswerKind.ALWAYS if always else AnswerKind.YES
        return AnswerKind.NOTHING if _Said.NOTHING in endings else AnswerKind.OTHER

    def further_words(self) -> int:
        words, at, count = self._words or (), 0, 0
        known = self._forms.yes | self._forms.no | self._forms.always | self._aside
        while at < len(words):
            end = max(_ends(words, at, known), default=at)
            count += end == at
            at = max(end, at + 1)
        return count

    def _endings(self, words: Words) -> set[_Said]:
        """Return every possible meaning of the whole text. The set is empty if some words have no
        meaning."""
        reached: list[set[_Said]] = [set() for _ in range(len(words) + 1)]
        reached[0].add(_Said.NOTHING)
        for at in range(len(words)):
            for said in reached[at]:
                for end, more in self._steps(words, at, said):
                    reached[end].add(said | more)
        return reached[-1]

    def _steps(self, words: Words, at: int, said: _Said) -> Iterator[tuple[int, _Said]]:
        """Yield (end, meaning) for each form that starts at word `at`. `said` is the meaning of the
        words before it."""
        forms = self._forms
        kinds = (
            (forms.yes, _Said.YES),
            (forms.no, _Said.NO),
            (forms.always, _Said.ALWAYS),
            (self._aside, _Said.NOTHING),
        )
        for phrases, adds in kinds:
            for end in _ends(words, at, phrases):
                yield end, adds
        if said & (_Said.YES | _Said.NO) and not said & _Said.ECHO:
            for end in self._echoes(words, at, bool(said & _Said.NO)):
                yield end, _Said.ECHO

    def _echoes(self, words: Words, at: int, after_no: bool) -> Iterator[int]:
        """Yield the end of each phrase that starts at word `at` and repeats part of the question,
        such as "unlock it" or "the front door"."""
        things = [end for end in range(at + 1, len(words) + 1) if self._is_thing(words[at:end])]
        yield from things
        for end in range(at + 1, len(words) + 1):
            if self._asked and self._bare(words[at:end]) == self._asked:
                yield end
        kept = self._forms.acts[_KEEPING] if after_no else ()
        for act in (*self._acts, *kept):
            if words[at : at + len(act.before)] != act.before:
                continue
            start = at + len(act.before)
            if not act.after:
                yield start
            for end in range(start + 1, len(words) + 1):
                behind = end + len(act.after)
                if words[end:behind] == act.after and self._is_thing(words[start:end]):
                    yield behind

    def _is_thing(self, words: Words) -> bool:
        """Return True if the words refer to everything that the call affects, by a pronoun or by
        name."""
        if words in self._forms.pronouns:
            return True
        said = set(self._bare(words))
        if not said or words[-1] in self._forms.links:  # "the door and ..."
            return False
        if not self._things:  # "All lights in the house?"
            return not self._names_action and said <= set(self._asked)
        common = set.intersection(*(set(thing) for thing in self._things))
        return said <= common or said == {word for thing in self._things for word in thing}

    def _bare(self, words: Words | None) -> Words:
        return tuple(word for word in words or () if word not in self._forms.links)

    def _groups(self, asked: Words) -> list[str]:
        names = {word for thing in self._things for word in thing}
        return [
            group
            for group, acts in self._forms.acts.items()
            if any(_is_said(act, asked) and not names >= set(act.before) for act in acts)
        ]


def read_answer(text: str, things: Sequence[str] = ()) -> AnswerKind:
    """Interpret the text with `Forms.read` in every language that has forms."""
    return Forms(languages()).read(text, things)


def is_command_like(text: str) -> bool:
    """Check the text with `Forms.is_command_like` in every language that has forms."""
    return Forms(languages()).is_command_like(text)


def _ends(words: Words, at: int, phrases: frozenset[Words]) -> Iterator[int]:
    longest = max(map(len, phrases), default=0)
    for end in range(at + 1, min(len(words), at + longest) + 1):
        if words[at:end] in phrases:
            yield end


def _is_said(act: SpokenAction, words: Words) -> bool:
    for at in range(len(words)):
        if words[at : at + len(act.before)] == act.before:
            behind = words[at + len(act.before) :]
            size = len(act.after)
            if not size or any(behind[i : i + size] == act.after for i in range(len(behind))):
                return True
    return False
