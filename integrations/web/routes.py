"""API paths for the state and the buttons, for lists and their items, and for read-only views."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from integrations.web.box import Box, Unknown
from integrations.web.guard import Guard, require
from integrations.web.paths import GONE, STORE, Call, Path
from integrations.web.problems import Name, Number, Refused, read_name, read_number
from integrations.web.replies import (
    CheckReply,
    CloudReply,
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
    SnoozeRequest,
    TimerRequest,
)
from integrations.web.stream import KIND, EventStreams

_DEAF = "Hearth can't listen now: it is muted or busy, or has no microphone."
_REJECTED = "Home Assistant rejected the token, so trying again doesn't help."
_NOT_KEPT = {507: "Applied, but not saved: a restart undoes it."}
_LIMIT = Number("limit", default=20, least=1, most=200)
_BEFORE = Name("before")
_MONTH = Number("days", default=30, least=1, most=366)
_WEEK = Number("days", default=7, least=1, most=366)
_RANGE = re.compile(r"bytes=([0-9]{1,12})-([0-9]{0,12})")


def button_paths(box: Box, guard: Guard) -> Sequence[Path]:
    def listen(call: Call) -> Mapping[str, Any]:
        if not box.listen(call.caller):
            raise Refused(409, "cannot_listen", _DEAF)
        return box.state()

    def stop(call: Call) -> Mapping[str, Any]:
        box.stop(call.caller)
        return box.state()

    def reconnect(call: Call) -> Mapping[str, Any]:
        if not box.reconnect(call.caller):
            raise Refused(409, "rejected", _REJECTED)
        return box.state()

    async def mute(call: Call) -> Mapping[str, Any]:
        wanted: MuteRequest = call.wanted
        if not wanted.muted:
            # A person may have muted it, so a program without `admin` must not unmute it for good.
            # `/v1/listen` listens only once, after a tone, and not while the microphone is muted.
            require(call.caller, "admin")
        await box.mute(wanted.muted, call.caller)
        return box.state()

    return (
        Path(
            "GET",
            "/v1/state",
            "see",
            "Get the current state.",
            lambda _: box.state(),
            200,
            StateReply,
        ),
        Path(
            *("GET", "/v1/events", "see", "Follow events (server-sent events)."),
            *(EventStreams(box, guard).open, 200, str, "text/event-stream"),
            query=(KIND,),
            problems={503: "Too many programs are following the events already."},
        ),
        Path(
            *(
                "POST",
                "/v1/listen",
                "speak",
                "Start listening, after a tone, as after the wake word.",
            ),
            *(listen, 200, StateReply),
            problems={409: _DEAF},
        ),
        Path(
            *("POST", "/v1/reconnect", "speak", "Connect to Home Assistant again now."),
            *(reconnect, 200, StateReply),
            problems={409: _REJECTED},
        ),
        Path("POST", "/v1/stop", "speak", "Stop speaking and ringing.", stop, 200, StateReply),
        Path(
            *("POST", "/v1/mute", "speak", "Mute the microphone, or unmute it with `admin`."),
            *(mute, 200, StateReply),
            body=MuteRequest,
            problems=_NOT_KEPT,
        ),
        *_setting_paths(box),
    )


def _setting_paths(box: Box) -> Sequence[Path]:
    async def mode(call: Call) -> Mapping[str, Any]:
        wanted: ModeRequest = call.wanted
        await box.set_mode(wanted.mode, wanted.minutes, call.caller)
        return box.state()

    async def change(call: Call) -> Mapping[str, Any]:
        await box.set_live(call.wanted, call.caller)
        return box.live()

    return (
        Path(
            *("POST", "/v1/mode", "admin", "Set how much needs confirmation."),
            *(mode, 200, StateReply),
            body=ModeRequest,
            problems=_NOT_KEPT,
        ),
        Path(
            *("GET", "/v1/settings", "read", "Get the settings that can change at run time."),
            *(lambda _: box.live(), 200, SettingsReply),
        ),
        Path(
            *("POST", "/v1/settings", "admin", "Change settings at run time."),
            *(change, 200, SettingsReply),
            body=LiveRequest,
            problems=_NOT_KEPT,
        ),
    )


def list_paths(box: Box) -> Sequence[Path]:
    return (*_timer_paths(box), *_memory_paths(box))


def _timer_paths(box: Box) -> Sequence[Path]:
    return (
        Path(
            *("GET", "/v1/timers", "see", "List timers, alarms, reminders and planned requests."),
            *(lambda _: box.timers(), 200, list[TimerReply]),
            problems=STORE,
        ),
        Path(
            *("POST", "/v1/timers", "speak", "Set a timer, alarm, reminder or request."),
            *(lambda call: box.set_timer(call.wanted, call.caller), 201, TimerReply),
            body=TimerRequest,
            problems=STORE,
        ),
        Path(
            *("DELETE", "/v1/timers/{id}", "speak", "Cancel a timer, alarm, reminder or request."),
            *(lambda call: box.end_timer(call.name, call.caller), 204),
            problems={**GONE, **STORE},
        ),
        Path(
            *("POST", "/v1/timers/{id}/snooze", "speak", "Silence a ringing timer until later."),
            *(lambda call: box.snooze_timer(call.name, call.wanted, call.caller), 200, TimerReply),
            body=SnoozeRequest,
            problems={**GONE, **STORE},
        ),
        Path(
            *("GET", "/v1/confirmations", "see", "List calls that are waiting for confirmation."),
            *(lambda call: box.confirmations(call.caller), 200, list[ConfirmationReply]),
        ),
        Path(
            *(
                "POST",
                "/v1/confirmations/{id}",
                "person",
                "Confirm or reject a waiting call: one's own, or any call with `admin`.",
            ),
            *(lambda call: box.confirm(call.name, call.wanted, call.caller), 200, VerdictReply),
            body=ConfirmRequest,
            problems=GONE,
        ),
        Path(
            *(
                "GET",
                "/v1/openers",
                "read",
                "List entities that could open the home, with their ratings.",
            ),
            *(lambda _: box.openers(), 200, list[OpenerReply]),
        ),
        Path(
            *("POST", "/v1/openers/{id}", "admin", "Rate an entity that could open the home."),
            *(lambda call: box.rate(call.name, call.wanted, call.caller), 204),
            body=RateRequest,
            problems={**GONE, **STORE},
        ),
    )


def _memory_paths(box: Box) -> Sequence[Path]:
    async def forget(call: Call) -> Mapping[str, Any]:
        return {"forgotten": await box.forget(call.caller)}

    return (
        Path(
            *("GET", "/v1/memory", "read", "Remembered facts."),
            *(lambda _: box.memories(), 200, list[MemoryReply]),
            problems=STORE,
        ),
        Path(
            *("DELETE", "/v1/memory", "admin", "Forget everything."),
            *(forget, 200, ForgottenReply),
            problems=STORE,
        ),
        Path(
            *("POST", "/v1/memory/{id}", "admin", "Correct a fact."),
            *(lambda call: box.correct(call.name, call.wanted, call.caller), 204),
            body=CorrectRequest,
            problems={**GONE, **STORE},
        ),
        Path(
            *("DELETE", "/v1/memory/{id}", "admin", "Forget a fact."),
            *(lambda call: box.forget_one(call.name, call.caller), 204),
            problems={**GONE, **STORE},
        ),
    )


def looking_paths(box: Box) -> Sequence[Path]:
    return (*_turn_paths(box), *_number_paths(box))


def _turn_paths(box: Box) -> Sequence[Path]:
    async def turns(call: Call) -> Sequence[Mapping[str, Any]]:
        return await box.turns(read_number(call.request, _LIMIT), read_name(call.request, _BEFORE))

    async def sound(call: Call) -> Response:
        path = await box.sound(call.name)
        try:
            whole = await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError:
            raise Unknown("That turn's recording is no longer kept.") from None
        return _part_of(whole, call.request.headers.get("range", ""))

    return (
        Path(
            *("GET", "/v1/turns", "read", "List recent turns, newest first."),
            *(turns, 200, list[SoundTurnReply]),
            query=(_LIMIT, _BEFORE),
            problems={**GONE, **STORE},
        ),
        Path(
            *("GET", "/v1/turns/{id}", "read", "Get a turn with its calls."),
            *(lambda call: box.turn(call.name), 200, TraceReply),
            problems={**GONE, **STORE},
        ),
        Path(
            *("POST", "/v1/turns/{id}/mark", "ask", "Mark a turn as wrong or misheard."),
            *(lambda call: box.mark(call.name, call.wanted, call.caller), 204),
            body=MarkRequest,
            problems={**GONE, **STORE},
        ),
        Path(
            *("GET", "/v1/turns/{id}/sound", "admin", "Get a turn's recording, if it was kept."),
            *(sound, 200, bytes, "audio/wav"),
            problems=GONE,
        ),
    )


def _number_paths(box: Box) -> Sequence[Path]:
    return (
        Path(
            *("GET", "/v1/costs", "read", "Get the cloud cost by day and brain."),
            *(lambda call: box.costs(read_number(call.request, _MONTH)), 200, CostsReply),
            query=(_MONTH,),
            problems=STORE,
        ),
        Path(
            *(
                "GET",
                "/v1/shares",
                "read",
                "Count the commands that succeeded, and report what happened to the others.",
            ),
            *(lambda call: box.shares(read_number(call.request, _WEEK)), 200, SharesReply),
            query=(_WEEK,),
            problems=STORE,
        ),
        Path(
            *("GET", "/v1/faults", "read", "List problems, newest first."),
            *(lambda call: box.faults(read_number(call.request, _MONTH)), 200, list[FaultReply]),
            query=(_MONTH,),
            problems=STORE,
        ),
        Path(
            "GET",
            "/v1/tools",
            "read",
            "List the available tools.",
            lambda _: box.tools(),
            200,
            ToolsReply,
        ),
        Path(
            *("GET", "/v1/level", "read", "Get the microphone's sound level."),
            *(lambda _: box.level(), 200, LevelReply),
        ),
        Path(
            *("GET", "/v1/doctor", "read", "Run all checks; this takes a few seconds."),
            *(lambda _: box.doctor(), 200, list[CheckReply]),
        ),
        Path(
            *("POST", "/v1/doctor/cloud", "admin", "Test Gemini; costs up to 0.05 USD."),
            *(lambda call: box.test_gemini(call.caller), 200, CloudReply),
            problems={409: "Another check is running.", **STORE},
        ),
    )


def _part_of(sound: bytes, wanted: str) -> Response:
    """Return the whole recording or one byte range, which some browsers need for playback.

    Any other form of the `Range` header is ignored, as RFC 9110 (14.2) allows.
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
