"""What the box keeps for people: timers, what waits for a yes, what may open, memories."""

from collections.abc import Sequence

from starlette.responses import JSONResponse, Response

from integrations.web.box import Box
from integrations.web.paths import GONE, STORE, Call, Path, listed
from integrations.web.replies import (
    ConfirmationReply,
    ForgottenReply,
    MemoryReply,
    OpenerReply,
    TimerReply,
    VerdictReply,
)
from integrations.web.requests import ConfirmRequest, CorrectRequest, RateRequest, TimerRequest


class Keeping:
    """Lists, and what is done with their rows."""

    def __init__(self, box: Box) -> None:
        self._box = box

    def paths(self) -> Sequence[Path]:
        """Their rows of the table."""
        return (*self._timers_and_confirmations(), *self._openings(), *self._memory())

    def _timers_and_confirmations(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/timers", "read", "Timers, alarms, reminders, requests, commands."),
                *(self._timers, 200, list[TimerReply]),
                problems=STORE,
            ),
            Path(
                *("POST", "/v1/timers", "speak", "Set one."),
                *(self._set_timer, 201, TimerReply),
                body=TimerRequest,
                problems=STORE,
            ),
            Path(
                *("DELETE", "/v1/timers/{id}", "speak", "End one."),
                *(self._end_timer, 204),
                problems={**GONE, **STORE},
            ),
            Path(
                *("GET", "/v1/confirmations", "read", "Calls that wait for a person's yes."),
                *(self._confirmations, 200, list[ConfirmationReply]),
            ),
            Path(
                *("POST", "/v1/confirmations/{id}", "admin", "Answer one in a person's place."),
                *(self._confirm, 200, VerdictReply),
                body=ConfirmRequest,
                problems=GONE,
            ),
        )

    def _openings(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/openers", "read", "What may open the house, and its ratings."),
                *(self._openers, 200, list[OpenerReply]),
            ),
            Path(
                *("POST", "/v1/openers/{id}", "admin", "Rate one of them."),
                *(self._rate, 204),
                body=RateRequest,
                problems={**GONE, **STORE},
            ),
        )

    def _memory(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/memory", "read", "What people asked to remember."),
                *(self._memories, 200, list[MemoryReply]),
                problems=STORE,
            ),
            Path(
                *("DELETE", "/v1/memory", "admin", "Forget all of it."),
                *(self._forget, 200, ForgottenReply),
                problems=STORE,
            ),
            Path(
                *("POST", "/v1/memory/{id}", "admin", "Correct one of them."),
                *(self._correct, 204),
                body=CorrectRequest,
                problems={**GONE, **STORE},
            ),
            Path(
                *("DELETE", "/v1/memory/{id}", "admin", "Forget one of them."),
                *(self._forget_one, 204),
                problems={**GONE, **STORE},
            ),
        )

    async def _timers(self, call: Call) -> Response:
        return listed(await self._box.timers())

    async def _set_timer(self, call: Call) -> Response:
        wanted: TimerRequest = call.wanted
        return JSONResponse(dict(await self._box.set_timer(wanted, call.caller)), status_code=201)

    async def _end_timer(self, call: Call) -> Response:
        await self._box.end_timer(call.name, call.caller)
        return Response(status_code=204)

    async def _confirmations(self, call: Call) -> Response:
        return listed(self._box.confirmations())

    async def _confirm(self, call: Call) -> Response:
        wanted: ConfirmRequest = call.wanted
        return JSONResponse(dict(await self._box.confirm(call.name, wanted, call.caller)))

    async def _openers(self, call: Call) -> Response:
        return listed(self._box.openers())

    async def _rate(self, call: Call) -> Response:
        await self._box.rate(call.name, call.wanted, call.caller)
        return Response(status_code=204)

    async def _memories(self, call: Call) -> Response:
        return listed(await self._box.memories())

    async def _forget(self, call: Call) -> Response:
        return JSONResponse({"forgotten": await self._box.forget(call.caller)})

    async def _correct(self, call: Call) -> Response:
        wanted: CorrectRequest = call.wanted
        await self._box.correct(call.name, wanted, call.caller)
        return Response(status_code=204)

    async def _forget_one(self, call: Call) -> Response:
        await self._box.forget_one(call.name, call.caller)
        return Response(status_code=204)
