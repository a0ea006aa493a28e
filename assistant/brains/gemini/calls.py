"""The calls that a model waits for: each is answered once, a cancelled one never."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from integrations.gemini.events import FunctionCall
from integrations.gemini.live import FunctionAnswer

Answers = tuple[FunctionAnswer, ...]


@dataclass(slots=True)
class _Batch:
    """The calls of one frame, and the answers to them so far."""

    open: dict[str, FunctionCall]
    ready: list[FunctionAnswer] = field(default_factory=list)


class OpenCalls:
    """The calls of one session.

    Calls that came together are answered together, once the last of them is done: a model that
    waits goes on only then, and what it makes of half of them is not known.
    """

    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self._settled = asyncio.Event()
        self._settled.set()

    def opened(self, calls: Iterable[FunctionCall]) -> tuple[FunctionCall, ...]:
        """Calls came; those of them that are new. One that is still open does not count again."""
        known = {id for batch in self._batches for id in batch.open}
        known |= {answer.id for batch in self._batches for answer in batch.ready}
        new = {call.id: call for call in calls if call.id not in known}
        if new:
            self._batches.append(_Batch(new))
            self._settled.clear()
        return tuple(new.values())

    def answered(self, id: str, response: dict[str, object]) -> Answers | None:
        """A result is there: what is to be sent now. None: nobody waits for this one."""
        for batch in self._batches:
            call = batch.open.pop(id, None)
            if call is not None:
                batch.ready.append(FunctionAnswer(call.id, call.name, response))
                return self._complete(batch)
        return None

    def cancelled(self, ids: Iterable[str]) -> tuple[tuple[str, ...], Answers]:
        """The service wants no answer to `ids`: which of them it waited for, and what is to be sent
        now because the rest of their batch is done."""
        gone: list[str] = []
        to_send: list[FunctionAnswer] = []
        for id in ids:
            for batch in self._batches:
                ready = [answer for answer in batch.ready if answer.id != id]
                if batch.open.pop(id, None) is None and len(ready) == len(batch.ready):
                    continue
                batch.ready = ready
                gone.append(id)
                to_send += self._complete(batch)
                break
        return tuple(gone), tuple(to_send)

    def give_up(self, response: dict[str, object]) -> Answers:
        """Everything that is still open, with `response` for what has no result."""
        answers: list[FunctionAnswer] = []
        for batch in self._batches:
            answers += batch.ready
            answers += [FunctionAnswer(id, one.name, response) for id, one in batch.open.items()]
        self._batches.clear()
        self._settled.set()
        return tuple(answers)

    async def settled(self) -> None:
        """Return when the model waits for nothing."""
        await self._settled.wait()

    def _complete(self, batch: _Batch) -> Answers:
        if batch.open:
            return ()
        self._batches.remove(batch)
        if not self._batches:
            self._settled.set()
        return tuple(batch.ready)
