"""What a fact is made of, and how it is told."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from assistant.domain.records import MemoryRecord, new_id
from assistant.memory.sensitive import is_sensitive
from assistant.memory.words import speaks_of_themselves
from integrations.cleaning import one_line

MAX_FACTS = 500
MAX_LENGTH = 300  # characters of one fact
MAX_NAME = 60  # of who told it, and of whom or what it is about
MAX_KEYWORDS = 120  # characters in each language


@dataclass(frozen=True, slots=True)
class Given:
    """What a call says of a fact: clean lines, "" for what it does not say."""

    text: str
    who: str = ""
    about: str = ""
    sensitive: bool = False
    english: str = ""
    spanish: str = ""
    too_long: bool = False  # more than a fact may hold; the text is cut


def given_by(arguments: Mapping[str, Any]) -> Given:
    """A call's arguments, made fit to be kept."""
    told = str(arguments.get("fact", ""))
    return Given(
        text=one_line(told, MAX_LENGTH),
        who=_name(arguments.get("who")),
        about=_name(arguments.get("about")),
        sensitive=arguments.get("sensitive") is True,
        english=one_line(str(arguments.get("english", "")), MAX_KEYWORDS),
        spanish=one_line(str(arguments.get("spanish", "")), MAX_KEYWORDS),
        too_long=len(" ".join(told.split())) > MAX_LENGTH,
    )


def new_fact(given: Given, language: str, now: datetime) -> MemoryRecord:
    """A fact that holds since now."""
    return MemoryRecord(
        id=new_id(now),
        text=given.text,
        created_at=now,
        who=given.who,
        about=given.about or (given.who if is_own(given.text, language) else ""),
        language=language,
        sensitive=given.sensitive or is_sensitive(given.text),
        english=given.english,
        spanish=given.spanish,
    )


def corrected(
    fact: MemoryRecord, given: Given, now: datetime, language: str | None = None
) -> MemoryRecord:
    """The fact with another text, which holds since now. What is not said anew stays.

    `language`: of the new text; None: of the old one. What was sensitive stays so.
    """
    return replace(
        fact,
        text=given.text,
        created_at=now,
        who=given.who or fact.who,
        about=given.about or fact.about,
        language=fact.language if language is None else language,
        sensitive=fact.sensitive or given.sensitive or is_sensitive(given.text),
        english=given.english or fact.english,
        spanish=given.spanish or fact.spanish,
    )


def signed(fact: MemoryRecord, who: str) -> MemoryRecord:
    """The fact of a person who has told their name."""
    return replace(fact, who=who, about=fact.about or who)


def is_own(text: str, language: str) -> bool:
    """Whether a person says it of themselves, so that it means something only with their name."""
    return speaks_of_themselves(text, language)


def told(fact: MemoryRecord) -> str:
    """On one line, with the name where the text alone does not tell whose it is."""
    if fact.who and is_own(fact.text, fact.language):
        return f"{fact.who}: {fact.text}"
    return fact.text


def _name(given: object) -> str:
    return one_line(str(given), MAX_NAME) if isinstance(given, str) else ""
