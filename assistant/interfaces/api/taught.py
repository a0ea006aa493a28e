"""The part of the daemon's API about what people taught Hearth, and about its backup."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from assistant.config.errors import ConfigError
from assistant.domain.events import EventBus
from assistant.domain.records import StoreError
from assistant.interfaces.api.parts import Parts
from integrations.web.box import Caller, NotKept, NotPossible
from integrations.web.requests import CorrectRequest, SentenceRequest


@contextmanager
def told(what: str) -> Iterator[None]:
    """Raise NotKept with this beginning if the store fails."""
    try:
        yield
    except StoreError as error:
        raise NotKept(f"{what}: {error}") from error


class TaughtBox:
    """The methods of `Box` about facts, sentences and backups, each of which the audit names."""

    def __init__(self, parts: Parts, bus: EventBus) -> None:
        self._parts = parts
        self._bus = bus

    async def sentences(self) -> Mapping[str, Any]:
        with told("Reading failed"):
            return await self._parts.sentences.rows()

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        with told("Reading failed"):
            return await self._parts.records.memories()

    async def add_sentence(self, wanted: SentenceRequest, caller: Caller) -> Mapping[str, Any]:
        with told("Not added, because it cannot be saved"):
            made = await self._parts.sentences.add(wanted)
        self._ordered("add_sentence", caller)
        return made

    async def remove_sentence(self, sentence_id: str, caller: Caller) -> None:
        with told("Not deleted, because that cannot be saved"):
            await self._parts.sentences.remove(sentence_id)
        self._ordered("remove_sentence", caller)

    async def backup(self, caller: Caller) -> bytes:
        make = self._parts.backup
        if make is None:
            raise NotPossible("There is nothing to back up here.")
        self._ordered("backup", caller)
        try:
            with told("Reading failed"):
                return await make()
        except (ConfigError, OSError) as error:
            raise NotPossible(f"The backup cannot be made: {error}") from error

    async def correct(self, memory_id: str, wanted: CorrectRequest, caller: Caller) -> None:
        with told("Not saved"):
            await self._parts.records.correct(memory_id, wanted.text)
        self._ordered("correct", caller)

    async def forget_one(self, memory_id: str, caller: Caller) -> None:
        with told("Not forgotten"):
            await self._parts.records.forget_one(memory_id)
        self._ordered("forget", caller)

    async def forget(self, caller: Caller) -> int:
        self._ordered("forget", caller)
        with told("Not everything was forgotten"):
            return await self._parts.records.forget()

    def _ordered(self, what: str, caller: Caller, **more: Any) -> None:
        self._bus.publish("command", caller=caller.name, what=what, **more)
