"""generateContent of the simulated service: streamed answers over REST, scripted by turn.

A turn may take several requests: a call ends an answer, and the next request must contain its
response; an error or a drop ends a request, and the next one gets the remaining steps.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from aiohttp import web

from tests.simulators import frames, script
from tests.simulators.book import Book
from tests.simulators.calls import agrees
from tests.simulators.once_request import MadeCall, read_request
from tests.simulators.performance import opened, schedule
from tests.simulators.records import OnceRequest
from tests.simulators.wire import Json, Refusal, encoded, normalised

_STATUS = {  # canonical names of Google's API errors, and their default messages
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    403: ("PERMISSION_DENIED", "The caller does not have permission"),
    404: ("NOT_FOUND", "The model is not found."),
    429: (
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    500: ("INTERNAL", "Internal error encountered."),
    503: ("UNAVAILABLE", "The service is currently unavailable."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}


def http_error(status: int, message: str = "", reason: str = "") -> web.Response:
    """Make an error as Google's APIs do; `reason` as in ErrorInfo, e.g. API_KEY_INVALID."""
    name, usual = _STATUS.get(status, ("UNKNOWN", "Unknown error."))
    error: Json = {"code": status, "message": message or usual, "status": name}
    if reason:
        info = "type.googleapis.com/google.rpc.ErrorInfo"
        error["details"] = [{"@type": info, "reason": reason, "domain": "googleapis.com"}]
    return web.json_response({"error": error}, status=status)


@dataclass(slots=True)
class _UnderWay:
    """A turn that has begun."""

    plan: script.OnceTurn
    steps: list[script.Step]  # remaining steps
    expects: dict[str, script.Call]  # calls whose responses the next request must contain


class OnceService:
    """Answer the requests, one turn after another."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._made: dict[str, MadeCall] = {}
        self._turn: _UnderWay | None = None
        self.stopping = asyncio.Event()

    def unconsumed(self) -> list[str]:
        """Return the remaining steps of the current turn."""
        turn = self._turn
        left = turn is not None and (turn.steps or turn.expects) and turn.plan.cut is False
        return [f"never came to: {turn.steps!r} of REST"] if turn and left else []

    async def serve(self, request: web.Request, model: str) -> web.StreamResponse:
        """Answer a request whose key and address are right."""
        rules = self._book.rules(model, live=False)
        if rules is None:
            said = (
                f"models/{model} is not found for API version {self._book.version}, or is not "
                "supported for generateContent."
            )
            if not self._book.is_retired(model):
                self._book.refuse(Refusal(said, 404))
            return http_error(404, said)
        try:
            raw = normalised(await request.json())
            number = len(self._book.once_requests)
            now = self._book.clock.monotonic()
            asked = read_request(raw, model, rules, self._made, now, number)
            self._book.once_requests.append(asked)
            turn = self._take(asked)
        except Refusal as refusal:
            self._book.refuse(Refusal(refusal.reason, 400))
            return http_error(400, refusal.reason)
        except AssertionError as error:
            self._book.fail(str(error))
            return http_error(500, "This was not scripted.")
        self._book.note(f"REST request {asked.index}")
        answer = _Answer(request, asked, self._book)
        try:
            return await self._perform(turn, answer)
        except ConnectionError:
            self._cut(turn)  # the client has gone
            return answer.response

    def _take(self, asked: OnceRequest) -> _UnderWay:
        """Return the turn of this request. Raises AssertionError."""
        turn = self._turn
        if turn is not None and turn.expects and not asked.responses:
            self._cut(turn)  # it did not send the responses
            turn = None
        if turn is not None and turn.steps:
            self._check_answers(turn, asked)
            return turn
        if asked.responses:
            raise AssertionError("REST: function responses came and nothing waits for them")
        scripted = self._book.take_once()
        if scripted is None:
            assert self._book.expected.respond_once is not None
            scripted = script.OnceTurn(self._book.expected.respond_once(asked), cut=None)
        self._turn = _UnderWay(scripted, list(scripted.steps), {})
        return self._turn

    def _check_answers(self, turn: _UnderWay, asked: OnceRequest) -> None:
        answers = {answer["id"]: answer["response"] for answer in asked.responses}
        for name, call in turn.expects.items():
            expected = call.answer
            if expected is not None and not agrees(expected, answers[name]):
                self._book.fail(f"{call.name} was answered {answers[name]!r}, not {expected!r}")
        turn.expects = {}

    def _cut(self, turn: _UnderWay) -> None:
        if turn.plan.cut is False and (turn.steps or turn.expects):
            self._book.fail(f"the REST turn was cut off before {turn.steps!r}")
        turn.steps.clear()
        turn.expects = {}

    async def _perform(self, turn: _UnderWay, answer: "_Answer") -> web.StreamResponse:
        """Run steps until one ends the answer."""
        while turn.steps:
            step = turn.steps.pop(0)
            match step:
                case script.Wait(seconds):
                    await self._book.clock.sleep(seconds)
                case script.Stall():
                    await self._stall(step)
                case script.Call():
                    return await self._call(turn, answer, (step,))
                case script.CallTogether(calls):
                    return await self._call(turn, answer, calls)
                case script.HttpError(status, message):
                    return await answer.fail(status, message)
                case script.Drop():
                    return await answer.drop()
                case script.Blocked(reason):
                    await answer.send({"promptFeedback": {"blockReason": reason}})
                    return await answer.end()
                case script.Done():
                    await answer.finish(step.reason or "STOP", step.usage)
                    return await answer.end()
                case _:
                    await answer.do(step)
        return await answer.end()

    async def _stall(self, step: script.Stall) -> None:
        if step.until:
            await opened(step.until)
        elif step.seconds is not None:
            await self._book.clock.sleep(step.seconds)
        else:
            await self.stopping.wait()

    async def _call(
        self, turn: _UnderWay, answer: "_Answer", calls: Sequence[script.Call]
    ) -> web.StreamResponse:
        parts = []
        for index, wanted in enumerate(calls):
            call = script.as_declared(wanted, answer.asked.functions)
            if call.name not in answer.asked.functions and not call.undeclared:
                self._book.fail(f"{call.name} is called but was not declared")
            name = call.id or self._book.next_call_id()
            # Only the first of parallel calls is signed (Google's page on thought signatures).
            signature = f"signature of {name}\xff\xfe".encode("latin-1") if index == 0 else None
            self._made[name] = MadeCall(name, call.name, dict(call.args or {}), signature)
            part: Json = {
                "functionCall": {"id": name, "name": call.name, "args": dict(call.args or {})}
            }
            if signature:
                part["thoughtSignature"] = encoded(signature)
            parts.append(part)
            turn.expects[name] = call
        await answer.parts(parts)
        await answer.finish("STOP", None)
        return await answer.end()


class _Answer:
    """An HTTP answer: server-sent events, begun with the first of them."""

    def __init__(self, request: web.Request, asked: OnceRequest, book: Book) -> None:
        self._request = request
        self.asked = asked
        self._book = book
        self._usage = script.Tokens()
        self.response: web.StreamResponse = web.StreamResponse(
            headers={"Content-Type": "text/event-stream"}
        )

    async def do(self, step: script.Step) -> None:
        """Run a step that sends parts, or the token counts."""
        match step:
            case script.Say():
                began = self._book.clock.monotonic()
                for at, _, text in schedule(step):
                    if text is not None:
                        passed = self._book.clock.monotonic() - began
                        await self._book.clock.sleep(max(0.0, at - passed))
                        await self.parts([{"text": text}])
            case script.Inner(text, thought):
                await self.parts([{"text": text, **({"thought": True} if thought else {})}])
            case script.Used(tokens):
                self._usage = tokens
            case script.Raw(frame):
                await self.send(dict(frame))
            case _:
                raise AssertionError(f"{step!r} is no step of a REST answer")

    async def parts(self, parts: Sequence[Json]) -> None:
        """Send a piece of the reply."""
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
        await self.send({"candidates": [candidate]})

    async def finish(self, reason: str, usage: script.Tokens | None) -> None:
        """Send the last piece."""
        content = {"role": "model", "parts": [{"text": ""}]}
        candidate = {"content": content, "finishReason": reason, "index": 0}
        await self.send({"candidates": [candidate], **frames.usage_once(usage or self._usage)})

    async def send(self, event: Json) -> None:
        """Send one event."""
        await self._begin()
        full: Json = {
            **event,
            "modelVersion": self.asked.model,
            "responseId": f"response-{self.asked.index}",
        }
        await self.response.write(f"data: {json.dumps(full)}\r\n\r\n".encode())

    async def fail(self, status: int, message: str) -> web.StreamResponse:
        """Send an error: as the answer itself, or as an event if the answer has begun."""
        error = http_error(status, message)
        if not self.response.prepared:
            self.asked.status = status
            return error
        await self.response.write(b"data: " + error.body + b"\r\n\r\n")  # type: ignore[operator]
        return await self.end()

    async def drop(self) -> web.StreamResponse:
        """Break the connection."""
        if self._request.transport is not None:
            self._request.transport.abort()
        return self.response

    async def end(self) -> web.StreamResponse:
        """End the answer properly."""
        await self._begin()
        await self.response.write_eof()
        self._book.changes.tell()
        return self.response

    async def _begin(self) -> None:
        if not self.response.prepared:
            self.asked.status = 200
            await self.response.prepare(self._request)
