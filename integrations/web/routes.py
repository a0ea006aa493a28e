"""What the box keeps for people: timers, what waits for a yes, what may open, memories."""

import asyncio
import re
from collections.abc import Sequence

from starlette.responses import JSONResponse, Response

from integrations.web.box import Box, Unknown
from integrations.web.guard import Guard, require
from integrations.web.paths import GONE, STORE, Call, Path, listed
from integrations.web.problems import Name, Number, Refused, read_name, read_number
from integrations.web.replies import (
    CheckReply,
    ConfirmationReply,
    CostsReply,
    FaultReply,
    ForgottenReply,
    LevelReply,
    MemoryReply,
    OpenerReply,
    SettingsReply,
    SharesReply,
    SoundTurnReply,
    StateReply,
    TimerReply,
    ToolsReply,
    TraceReply,
    VerdictReply,
)
from integrations.web.requests import (
    ConfirmRequest,
    CorrectRequest,
    LiveRequest,
    MarkRequest,
    ModeRequest,
    MuteRequest,
    RateRequest,
    TimerRequest,
)
from integrations.web.stream import EventStreams


class ListRoutes:
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


# How the box stands, as it changes, and what switches it.


_DEAF = "It cannot listen now: it is muted, busy, or has no microphone."
_NOT_KEPT = {507: "It holds now, but not over a restart."}


class Buttons:
    """Each gives the state after what it did."""

    def __init__(self, box: Box, guard: Guard) -> None:
        self._box = box
        self._streams = EventStreams(box, guard)

    def paths(self) -> Sequence[Path]:
        """Their rows of the table."""
        deaf = {409: _DEAF}
        too_many = {503: "As many programs follow the events as may."}
        return (
            Path("GET", "/v1/state", "read", "How it stands.", self._state, 200, StateReply),
            Path(
                *("GET", "/v1/events", "read", "What happens, as server-sent events."),
                *(self._streams.open, 200, str, "text/event-stream"),
                problems=too_many,
            ),
            Path(
                *("POST", "/v1/listen", "speak", "Listen as after the wake word, with a tone."),
                *(self._listen, 200, StateReply),
                problems=deaf,
            ),
            Path("POST", "/v1/stop", "speak", "Silence at once.", self._stop, 200, StateReply),
            Path(
                *("POST", "/v1/mute", "speak", "Mute the microphone; `admin` may open it again."),
                *(self._mute, 200, StateReply),
                body=MuteRequest,
                problems=_NOT_KEPT,
            ),
            Path(
                *("POST", "/v1/mode", "admin", "Switch how much is asked before it acts."),
                *(self._mode, 200, StateReply),
                body=ModeRequest,
                problems=_NOT_KEPT,
            ),
            Path(
                *("GET", "/v1/settings", "read", "What can be changed while it runs."),
                *(self._settings, 200, SettingsReply),
            ),
            Path(
                *("POST", "/v1/settings", "admin", "Change settings while it runs."),
                *(self._change, 200, SettingsReply),
                body=LiveRequest,
                problems=_NOT_KEPT,
            ),
        )

    async def _state(self, call: Call) -> Response:
        return JSONResponse(dict(self._box.state()))

    async def _listen(self, call: Call) -> Response:
        if not self._box.listen(call.caller):
            raise Refused(409, "cannot_listen", _DEAF)
        return await self._state(call)

    async def _stop(self, call: Call) -> Response:
        self._box.stop(call.caller)
        return await self._state(call)

    async def _mute(self, call: Call) -> Response:
        wanted: MuteRequest = call.wanted
        if not wanted.muted:
            # A person may have muted it: a program that only announces does not open the microphone
            # for good. `/v1/listen` does so once, with a tone, and not while it is muted.
            require(call.caller, "admin")
        await self._box.mute(wanted.muted, call.caller)
        return await self._state(call)

    async def _mode(self, call: Call) -> Response:
        wanted: ModeRequest = call.wanted
        await self._box.set_mode(wanted.mode, wanted.minutes, call.caller)
        return await self._state(call)

    async def _settings(self, call: Call) -> Response:
        return JSONResponse(dict(self._box.live()))

    async def _change(self, call: Call) -> Response:
        await self._box.set_live(call.wanted, call.caller)
        return await self._settings(call)


# What people look at: turns and their sound, costs, faults, tools, the microphone, the doctor.


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
