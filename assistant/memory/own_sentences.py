"""Sentences and names that the household chose, and what it means by them.

They are read each time something is said, and survive a restart.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from assistant.domain.records import SmallValues
from integrations.cleaning import one_line

OWN_SENTENCES = "own sentences"  # name of the stored value
MOST = 100
LONGEST = 200  # characters
Kind = Literal["sentence", "name"]


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """Something that people say, and what they mean.

    A "sentence" is all that is said. A "name" is a part of it, such as their word for a device.
    """

    said: str
    means: str
    kind: Kind = "sentence"

    @property
    def id(self) -> str:
        return hashlib.sha256(_plain(self.said).encode()).hexdigest()[:12]


FORM = TypeAdapter(dict[str, OwnSentence])  # as stored, by what is said in plain words


class NoSentence(Exception):
    """These words can't be used. The message is a sentence for people."""


class OwnSentences:
    """The household's own sentences, as last read from the store."""

    def __init__(self, kept: SmallValues) -> None:
        self._kept = kept
        self._known: Mapping[str, OwnSentence] = {}

    @property
    def all(self) -> Sequence[OwnSentence]:
        return tuple(self._known.values())

    async def load(self) -> None:
        """Read them from the store. Unreadable ones are ignored. Raises StoreError."""
        try:
            self._known = FORM.validate_python(await self._kept.kept(OWN_SENTENCES) or {})
        except ValidationError:
            self._known = {}

    async def add(self, said: str, means: str, kind: Kind) -> OwnSentence:
        """Add a sentence, or change what is meant by it. Raises NoSentence and StoreError."""
        said, means = one_line(said, LONGEST), one_line(means, LONGEST)
        words = _plain(said)
        if not words or not _plain(means):
            raise NoSentence("Both what is said and what it means must contain words.")
        if words == _plain(means):
            raise NoSentence("What is said and what it means are the same.")
        await self.load()
        if words not in self._known and len(self._known) >= MOST:
            raise NoSentence(f"There are {MOST} own sentences already; delete one first.")
        made = OwnSentence(said, means, kind)
        await self._write({**self._known, words: made})
        return made

    async def remove(self, sentence_id: str) -> bool:
        """Delete a sentence. Returns False if none has that id. Raises StoreError."""
        await self.load()
        left = {words: one for words, one in self._known.items() if one.id != sentence_id}
        if len(left) == len(self._known):
            return False
        await self._write(left)
        return True

    def meant(self, text: str) -> str:
        """Return what people mean by `text`, or `text` itself."""
        whole = self._known.get(_plain(text))
        meant = whole.means if whole is not None and whole.kind == "sentence" else text
        names = [one for one in self._known.values() if one.kind == "name"]
        if not names:
            return meant
        by_words = {_plain(one.said): one.means for one in names}
        longest_first = sorted(by_words, key=len, reverse=True)
        pattern = "|".join(r"[^\w]+".join(map(re.escape, one.split())) for one in longest_first)
        return re.sub(
            rf"(?<!\w)(?:{pattern})(?!\w)",
            lambda found: by_words.get(_plain(found[0]), found[0]),
            meant,
            flags=re.IGNORECASE,
        )

    def told(self) -> tuple[str, ...]:
        """Return a line for each, for a model's instruction."""
        return tuple(f'"{one.said}" means "{one.means}"' for one in self._known.values())

    async def _write(self, changed: Mapping[str, OwnSentence]) -> None:
        rows: dict[str, Any] = FORM.dump_python(dict(changed), mode="json")
        await self._kept.keep(OWN_SENTENCES, rows)
        self._known = changed


def _plain(text: str) -> str:
    """Return the words of a text in lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())
