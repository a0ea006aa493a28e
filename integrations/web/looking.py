"""What people look at: turns and their sound, costs, faults, tools, the microphone, the doctor."""

import asyncio
import re
from collections.abc import Sequence

from starlette.responses import JSONResponse, Response

from integrations.web.box import Box, Unknown
from integrations.web.paths import GONE, STORE, Call, Path, listed
from integrations.web.reading import Name, Number, read_name, read_number
from integrations.web.replies import (
    CheckReply,
    CostsReply,
    FaultReply,
    LevelReply,
    SharesReply,
    SoundTurnReply,
    ToolsReply,
    TraceReply,
)
from integrations.web.requests import MarkRequest

_LIMIT = Number("limit", default=20, least=1, most=200)
_BEFORE = Name("before")
_MONTH = Number("days", default=30, least=1, most=366)
_WEEK = Number("days", default=7, least=1, most=366)
_RANGE = re.compile(r"bytes=([0-9]{1,12})-([0-9]{0,12})")


class Looking:
    """Nothing of it changes anything in the house."""

    def __init__(self, box: Box) -> None:
        self._box = box

    def paths(self) -> Sequence[Path]:
        """Their rows of the table."""
        return (*self._turns_and_sound(), *self._figures(), *self._insides())

    def _turns_and_sound(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/turns", "read", "The last turns, newest first."),
                *(self._turns, 200, list[SoundTurnReply]),
                query=(_LIMIT, _BEFORE),
                problems={**GONE, **STORE},
            ),
            Path(
                *("GET", "/v1/turns/{id}", "read", "One turn with its calls."),
                *(self._turn, 200, TraceReply),
                problems={**GONE, **STORE},
            ),
            Path(
                *("POST", "/v1/turns/{id}/mark", "ask", "Say that it was wrong or misheard."),
                *(self._mark, 204),
                body=MarkRequest,
                problems={**GONE, **STORE},
            ),
            Path(
                *("GET", "/v1/turns/{id}/sound", "admin", "What was said, where that is kept."),
                *(self._sound, 200, bytes, "audio/wav"),
                problems=GONE,
            ),
        )

    def _figures(self) -> Sequence[Path]:
        return (
            Path(
                *("GET", "/v1/costs", "read", "What the cloud has cost, by day and brain."),
                *(self._costs, 200, CostsReply),
                query=(_MONTH,),
                problems=STORE,
            ),
            Path(
                *("GET", "/v1/shares", "read", "How many commands went right, and how others."),
                *(self._shares, 200, SharesReply),
                query=(_WEEK,),
                problems=STORE,
            ),
            Path(
                *("GET", "/v1/faults", "read", "What did not work, the newest first."),
                *(self._faults, 200, list[FaultReply]),
                query=(_MONTH,),
                problems=STORE,
            ),
        )

    def _insides(self) -> Sequence[Path]:
        return (
            Path("GET", "/v1/tools", "read", "What can be used.", self._tools, 200, ToolsReply),
            Path(
                *("GET", "/v1/level", "read", "How loud it is at the microphone."),
                *(self._level, 200, LevelReply),
            ),
            Path(
                *("GET", "/v1/doctor", "read", "Checks everything, which takes some seconds."),
                *(self._doctor, 200, list[CheckReply]),
            ),
        )

    async def _turns(self, call: Call) -> Response:
        limit, before = read_number(call.request, _LIMIT), read_name(call.request, _BEFORE)
        return listed(await self._box.turns(limit, before))

    async def _turn(self, call: Call) -> Response:
        return JSONResponse(dict(await self._box.turn(call.name)))

    async def _mark(self, call: Call) -> Response:
        wanted: MarkRequest = call.wanted
        await self._box.mark(call.name, wanted, call.caller)
        return Response(status_code=204)

    async def _sound(self, call: Call) -> Response:
        path = await self._box.sound(call.name)
        try:
            sound = await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError:
            raise Unknown("No sound of that turn is kept any more.") from None
        return _part_of(sound, call.request.headers.get("range", ""))

    async def _costs(self, call: Call) -> Response:
        return JSONResponse(dict(await self._box.costs(read_number(call.request, _MONTH))))

    async def _shares(self, call: Call) -> Response:
        return JSONResponse(dict(await self._box.shares(read_number(call.request, _WEEK))))

    async def _faults(self, call: Call) -> Response:
        return listed(await self._box.faults(read_number(call.request, _MONTH)))

    async def _tools(self, call: Call) -> Response:
        return JSONResponse(dict(await self._box.tools()))

    async def _level(self, call: Call) -> Response:
        return JSONResponse(dict(self._box.level()))

    async def _doctor(self, call: Call) -> Response:
        return listed(await self._box.doctor())


def _part_of(sound: bytes, wanted: str) -> Response:
    """All of it, or one range of bytes, without which some browsers play nothing.

    What the header `Range` asks for beside that may be left aside (RFC 9110, 14.2).
    """
    headers = {"Accept-Ranges": "bytes"}
    found = _RANGE.fullmatch(wanted)
    if found is None or int(found[1]) >= len(sound):
        return Response(sound, headers=headers, media_type="audio/wav")
    first = int(found[1])
    last = min(int(found[2] or len(sound)), len(sound) - 1)
    if last < first:
        return Response(sound, headers=headers, media_type="audio/wav")
    headers["Content-Range"] = f"bytes {first}-{last}/{len(sound)}"
    part = sound[first : last + 1]
    return Response(part, status_code=206, headers=headers, media_type="audio/wav")
