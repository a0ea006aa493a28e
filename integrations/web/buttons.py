"""How the box stands, as it changes, and what switches it."""

from collections.abc import Sequence

from starlette.responses import JSONResponse, Response

from integrations.web.box import Box
from integrations.web.guard import Guard, require
from integrations.web.paths import Call, Path
from integrations.web.problems import Refused
from integrations.web.replies import SettingsReply, StateReply
from integrations.web.requests import LiveRequest, ModeRequest, MuteRequest
from integrations.web.stream import EventStreams

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
