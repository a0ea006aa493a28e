"""One question of a program: what answers it, and what came of it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from assistant.conversation.program_questions.templates import Fit, Templates
from assistant.conversation.programs import Ended, Weighed

_NOTE = (
    "(For your information: a program of this home had just asked the person something. What they "
    "said then was meant for it and not for you. Do not act on it and do not mention it.)"
)


class Mapper(Protocol):
    """Makes values of an answer (`program_questions.mapping.SchemaMapper`)."""

    async def map(
        self, question: str, sentence: str, schema: Mapping[str, Any], language: str
    ) -> dict[str, Any] | None:
        """Values that fit the schema; None: nobody can make them, or the words give none."""
        ...


class Inquiry:
    """The `Inquiry` of `programs`, made again where the question is asked in another turn.

    Expected answers come first, then the schema; without either any words will do.
    """

    def __init__(
        self,
        question: str,
        again: str,
        language: str,
        templates: Templates | None,
        schema: Mapping[str, Any] | None,
        mapper: Mapper | None,
        is_stop: Callable[[str], bool],
    ) -> None:
        """`again`: how it is asked once more. `is_stop`: words that ask for silence, which are no
        answer unless they are expected."""
        self.ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self.fit: Fit | None = None  # the answer that was expected
        self.values: dict[str, Any] = {}  # by its slots, or by the schema
        self.sentence: str | None = None  # the words that were the answer
        self.again = again
        self._question = question
        self._language = language
        self._templates = templates
        self._schema = schema
        self._mapper = mapper
        self._is_stop = is_stop

    @property
    def note(self) -> str:
        """What a model is told of it that has heard the answer too."""
        return _NOTE  # without the program's words: the next turn is a person's alone

    async def weigh(self, heard: Sequence[str]) -> Weighed:
        """Judge an answer; of two ways in which it was understood the last is the new one."""
        words = heard[-1]
        if self._templates is not None and (fit := self._templates.find(words)) is not None:
            self.fit, self.values = fit, dict(fit.slots)
            return self._fits(words)
        if self._is_stop(words):
            return Weighed(fits=False, again=False)
        if self._schema is not None:
            return await self._mapped(words, self._schema)
        if self._templates is None:
            return self._fits(words)
        return Weighed(fits=False, is_command_like=self._templates.is_command_like(words))

    def end(self, ended: Ended) -> None:
        """It is over."""
        if not self.ended.done():
            self.ended.set_result(ended)

    async def _mapped(self, words: str, schema: Mapping[str, Any]) -> Weighed:
        if self._mapper is None:
            return Weighed(fits=False, again=False)  # nobody would understand it the next time
        values = await self._mapper.map(self._question, words, schema, self._language)
        if values is None:
            return Weighed(fits=False)
        self.values = values
        return self._fits(words)

    def _fits(self, words: str) -> Weighed:
        self.sentence = words
        return Weighed(fits=True)
