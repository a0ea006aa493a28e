"""One Live socket of the simulated service: upgrade, set-up, frames in both directions, end."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import WSMsgType, web

from integrations.owner import OwnedTasks
from tests.simulators.book import Book
from tests.simulators.conversation import Conversation
from tests.simulators.frames import as_candidates
from tests.simulators.handshake import Setup, model_name, read_setup
from tests.simulators.models import ModelRules
from tests.simulators.records import ConnectionRecord, Ending, Frame, Session
from tests.simulators.script import Opening
from tests.simulators.wire import INTERNAL, NOT_HERE, Json, Refusal, known_fields, normalised

_LATER = ("clientContent", "realtimeInput", "toolResponse", "contextUpdate")
_CLOSE_WITHIN_S = 2.0
_REASON_BYTES = 123  # RFC 6455, 5.5


class LiveSocket:
    """Serves one websocket until it closes.

    `prefix` precedes the model's name on Vertex AI. `admit` raises Refusal if the token can't open
    this session.
    """

    def __init__(
        self,
        book: Book,
        opening: Opening,
        key_is_right: bool,
        prefix: str,
        admit: Callable[[Json], None],
    ) -> None:
        self._prefix = prefix
        self._admit = admit
        self._book = book
        self._opening = opening
        self._key_is_right = key_is_right
        self._outbox: asyncio.Queue[Frame | Ending] = asyncio.Queue()
        self._over = False  # the service has ended it and ignores further messages
        self._written = asyncio.Event()  # the writer has ended
        self._setup_seen = False
        self._session: Session | None = None
        self._conversation: Conversation | None = None
        self._tasks = OwnedTasks()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._record = ConnectionRecord(
            index=len(book.connections), opened_at=book.clock.monotonic(), send=self._send
        )

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Upgrade the request and follow the protocol until the socket is closed."""
        socket = web.WebSocketResponse(autoping=False, compress=False, timeout=_CLOSE_WITHIN_S)
        await socket.prepare(request)
        self._book.connections.append(self._record)
        self._book.note(f"connection {self._record.index} is open")
        try:
            async with self._tasks:
                self._tasks.start(self._write(socket, request), "simulator-writer")
                try:
                    await self._read(socket)
                finally:
                    self._closed(socket)
        except* Exception as group:
            # An error of a script or of the simulator fails the test that gets it.
            for error in group.exceptions:
                self._book.fail(f"connection {self._record.index}: {error!r}")
        return socket

    def _closed(self, socket: web.WebSocketResponse) -> None:
        self._record.closed_at = self._book.clock.monotonic()
        self._record.close_code = socket.close_code
        if self._session:
            self._session.connection = None
        if self._conversation:
            self._conversation.closed()
        self._book.note(f"connection {self._record.index} is closed ({socket.close_code})")

    # --- the wire

    def _send(self, item: Frame | Ending) -> None:
        """Send something, in order, from any thread."""
        if threading.get_ident() == self._thread:
            self._outbox.put_nowait(item)
        else:
            self._loop.call_soon_threadsafe(self._outbox.put_nowait, item)

    async def _write(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        try:
            while True:
                item = await self._outbox.get()
                if isinstance(item, Frame):
                    # The real service sends its JSON in binary frames.
                    on_vertex = self._book.version == "v1beta1"
                    message = as_candidates(item.message) if on_vertex else item.message
                    await socket.send_bytes((item.instead or json.dumps(message)).encode())
                    continue
                self._over = True
                if item.code is None:
                    assert request.transport is not None
                    request.transport.abort()
                else:
                    reason = item.reason.encode()[:_REASON_BYTES]
                    await socket.close(code=item.code, message=reason)
                return
        except ConnectionError:
            return  # the client has gone, which the reader notices as well
        finally:
            self._written.set()

    async def _read(self, socket: web.WebSocketResponse) -> None:
        while True:
            message = await socket.receive()
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._take(message.data)
            elif message.type is WSMsgType.PING:
                self._pong(socket, message.data)
            elif message.type is not WSMsgType.PONG:
                break
        if self._over:
            await self._written.wait()  # the closing handshake

    def _pong(self, socket: web.WebSocketResponse, data: bytes) -> None:
        self._record.pings += 1
        self._book.changes.tell()
        delay = self._opening.pong_delay_s

        async def answer(seconds: float) -> None:
            await self._book.clock.sleep(seconds)
            if not socket.closed:
                await socket.pong(data)

        if delay is not None:
            self._tasks.start(answer(delay), "simulator-pong")

    def _take(self, data: str | bytes) -> None:
        if self._book.keeps_frames:
            self._record.frames.append(data if isinstance(data, str) else data.decode())
        if self._over:
            return
        try:
            message = normalised(json.loads(data))
            if self._conversation:
                self._conversation.receive(message)
            else:
                self._set_up(message)
        except ValueError:
            self._refuse(Refusal("Request contains an invalid argument."))
        except Refusal as refusal:
            self._refuse(refusal)
        except AssertionError as error:
            self._book.fail(str(error))
            self._end(INTERNAL, "This was not scripted.")

    def _refuse(self, refusal: Refusal) -> None:
        if not refusal.scripted:
            self._book.refuse(refusal)
        self._end(refusal.code, refusal.reason)

    def _end(self, code: int, reason: str) -> None:
        self._over = True
        self._record.refused = (code, reason)
        self._record.send(Ending(code, reason))

    # --- the setup

    def _set_up(self, message: Any) -> None:
        if self._setup_seen:
            raise Refusal("The client must wait for setupComplete.")
        self._setup_seen = True
        self._record.setup_at = self._book.clock.monotonic()
        fields = known_fields(message, ("setup", *_LATER), "message")
        if list(fields) != ["setup"]:
            raise Refusal("The first message must be setup.")
        if not self._key_is_right:
            # As reported of the service: it upgrades and then closes.
            raise Refusal("API key not valid. Please pass a valid API key.")
        fields = {"setup": self._in_place(fields["setup"])}
        self._admit(fields["setup"])
        if self._opening.drop:
            self._record.send(Ending(None))
            return
        if self._opening.refuse:
            code, reason = self._opening.refuse
            raise Refusal(reason, code, scripted=True)
        if any(_has(fields["setup"], path) for path in self._opening.refuses):
            code, reason = self._opening.refusal
            raise Refusal(reason, code, scripted=True)
        if self._book.is_full(self._record):
            # As reported of sessions beyond the tier's limit: they are closed as over quota.
            raise Refusal("RESOURCE_EXHAUSTED: too many sessions at once.", INTERNAL, scripted=True)
        rules = self._rules(fields["setup"])
        setup = self._record.setup = read_setup(fields["setup"], rules)
        self._session = self._session_of(setup)
        self._session.connection = self._record.index
        self._record.session = self._session.name
        self._book.note(f"connection {self._record.index}: setup of {self._session.name}")
        if not self._opening.silent:
            work = self._complete(setup, rules, self._session)
            self._tasks.start(work, "simulator-setup")

    def _in_place(self, setup: Any) -> Any:
        """Return the set-up with the model's name as in the Gemini API. Raises Refusal."""
        name = setup.get("model") if isinstance(setup, dict) else None
        if not self._prefix or not isinstance(name, str):
            return setup
        if not name.startswith(self._prefix):
            raise Refusal(f"Permission 'aiplatform.endpoints.predict' denied on {name!r}", NOT_HERE)
        return {**setup, "model": name.removeprefix(self._prefix)}

    def _rules(self, setup: Json) -> ModelRules:
        name = model_name(setup)
        rules = self._book.rules(name, live=True)
        if rules is None:
            said = (
                f"models/{name} is not found for API version {self._book.version}, or is not "
                "supported for bidiGenerateContent."
            )
            if self._prefix:  # Vertex AI, as in pollinations/pollinations #6148
                said = (
                    f"Publisher Model `{self._prefix}models/{name}` was not found or your project "
                    "does not have access to it."
                )
            raise Refusal(said, NOT_HERE, scripted=self._book.is_retired(name))
        return rules

    def _session_of(self, setup: Setup) -> Session:
        if setup.resumes is None:
            return self._book.new_session()
        if self._opening.refuse_handle:
            raise Refusal("BidiGenerateContent session not found", NOT_HERE, scripted=True)
        session = self._book.resume(setup.resumes)
        if session.connection is not None:
            # aicc2025/sip-to-ai PR #14: the old socket must be closed first.
            raise Refusal("Internal error encountered.", INTERNAL)
        self._record.resumed = True
        return session

    async def _complete(self, setup: Setup, rules: ModelRules, session: Session) -> None:
        await self._book.clock.sleep(self._opening.delay_s)
        self._conversation = Conversation(
            *(self._book, self._record, setup, rules, session, self._spawn),
            self._opening.update_refusal,
        )
        self._record.ready_at = self._book.clock.monotonic()
        self._record.send(
            Frame({"setupComplete": {"sessionId": session.name} if self._prefix else {}})
        )
        self._conversation.begin(self._opening.then)
        self._book.note(f"connection {self._record.index} is ready")

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        return self._tasks.start(work, name)


def _has(fields: object, path: str) -> bool:
    """Return True if the message has this field; a list has it if one of its items does."""
    name, _, rest = path.partition(".")
    if isinstance(fields, list):
        return any(_has(item, path) for item in fields)
    if not isinstance(fields, dict) or name not in fields:
        return False
    return not rest or _has(fields[name], rest)
