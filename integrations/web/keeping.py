"""What the box keeps: timers, what waits for a yes, memories, turns, and how it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

from integrations.web.box import Box
from integrations.web.paths import Call, Path
from integrations.web.reading import Number, read_number
from integrations.web.replies import (
    CheckReply,
    ConfirmationReply,
    ForgottenReply,
    KeptTurnReply,
    MemoryReply,
    TimerReply,
    TraceReply,
    VerdictReply,
)
from integrations.web.requests import ConfirmRequest, TimerRequest

_LIMIT = Number("limit", default=20, least=1, most=200)
_STORE = {507: "The store cannot be read or written now."}
_GONE = {404: "There is no such thing (any more)."}


class Keeping:
    """Lists, and what is done with their rows."""

    def __init__(self, box: Box) -> None:
        self._box = box

    def paths(self) -> Sequence[Path]:
        """Their rows of the table."""
        return (*self._timers_and_confirmations(), *self._memory_and_turns())

    def _timers_and_confirmations(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/timers", "read", "Timers, alarms, reminders, requests, commands."),
                *(self._timers, 200, list[TimerReply]),
                problems=_STORE,
            ),
            Path(
                *("POST", "/v1/timers", "speak", "Set one."),
                *(self._set_timer, 201, TimerReply),
                body=TimerRequest,
                problems=_STORE,
            ),
            Path(
                *("DELETE", "/v1/timers/{id}", "speak", "End one."),
                *(self._end_timer, 204),
                problems={**_GONE, **_STORE},
            ),
            Path(
                *("GET", "/v1/confirmations", "read", "Calls that wait for a person's yes."),
                *(self._confirmations, 200, list[ConfirmationReply]),
            ),
            Path(
                *("POST", "/v1/confirmations/{id}", "admin", "Answer one in a person's place."),
                *(self._confirm, 200, VerdictReply),
                body=ConfirmRequest,
                problems=_GONE,
            ),
        )

    def _memory_and_turns(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/memory", "read", "What people asked to remember."),
                *(self._memories, 200, list[MemoryReply]),
                problems=_STORE,
            ),
            Path(
                *("DELETE", "/v1/memory", "admin", "Forget all of it."),
                *(self._forget, 200, ForgottenReply),
                problems=_STORE,
            ),
            Path(
                *("GET", "/v1/doctor", "read", "Checks everything, which takes some seconds."),
                *(self._doctor, 200, list[CheckReply]),
            ),
            Path(
                *("GET", "/v1/turns", "read", "The last turns, newest first."),
                *(self._turns, 200, list[KeptTurnReply]),
                query=(_LIMIT,),
                problems=_STORE,
            ),
            Path(
                *("GET", "/v1/turns/{id}", "read", "One turn with its calls."),
                *(self._turn, 200, TraceReply),
                problems={**_GONE, **_STORE},
            ),
        )

    async def _timers(self, call: Call) -> Response:
        return _listed(await self._box.timers())

    async def _set_timer(self, call: Call) -> Response:
        wanted: TimerRequest = call.wanted
        return JSONResponse(dict(await self._box.set_timer(wanted, call.caller)), status_code=201)

    async def _end_timer(self, call: Call) -> Response:
        await self._box.end_timer(call.name, call.caller)
        return Response(status_code=204)

    async def _confirmations(self, call: Call) -> Response:
        return _listed(self._box.confirmations())

    async def _confirm(self, call: Call) -> Response:
        wanted: ConfirmRequest = call.wanted
        return JSONResponse(dict(await self._box.confirm(call.name, wanted, call.caller)))

    async def _memories(self, call: Call) -> Response:
        return _listed(await self._box.memories())

    async def _forget(self, call: Call) -> Response:
        return JSONResponse({"forgotten": await self._box.forget(call.caller)})

    async def _doctor(self, call: Call) -> Response:
        return _listed(await self._box.doctor())

    async def _turns(self, call: Call) -> Response:
        limit = read_number(call.request, _LIMIT)
        return _listed(await self._box.turns(limit))

    async def _turn(self, call: Call) -> Response:
        return JSONResponse(dict(await self._box.turn(call.name)))


def _listed(rows: Sequence[Mapping[str, Any]]) -> Response:
    return JSONResponse([dict(row) for row in rows])
