"""A Gemini Live session: one connection that one task owns and reads.

The SDK's `receive()` ends after every turn, but some messages arrive between turns
(googleapis/python-genai #1224), so the reader calls it repeatedly.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.gemini.access import Access, LazyClient
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import Closed, FrameReader, LiveEvent
from integrations.gemini.faults import fault_of
from integrations.gemini.setup import AUDIO_MIME, LiveSetup, live_config, tools_of
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from google.genai import types
    from google.genai.live import AsyncSession

log = logging.getLogger(__name__)

CONNECT_S = 5.0
CLOSE_S = 2.0
CLOSED = "The session with Gemini is closed."
# In a row: a single unknown message must not end a session, but a broken connection must.
MAX_STRANGE_FRAMES = 3

OnEvent = Callable[[LiveEvent], None]
_Opening = asyncio.Future["LiveSession | IntegrationError"]


@dataclass(frozen=True, slots=True)
class FunctionAnswer:
    id: str
    name: str
    response: dict[str, Any]


class LiveSession:
    """An open Live session. Any task may send. Events go to the `on_event` callback of `connect`.

    Every method that sends raises IntegrationError once the connection has closed or failed.
    """

    def __init__(
        self, wire: "AsyncSession", setup: LiveSetup, access: Access, owner: asyncio.Task[None]
    ) -> None:
        self.handle = setup.handle  # newest resumption handle; None while not resumable
        self._wire = wire
        self._setup = setup
        self._access = access
        self._owner = owner
        self._over: IntegrationError | None = None  # set once nothing more can be sent; the reason

    @property
    def closed(self) -> bool:
        return self._over is not None

    async def begin_activity(self) -> None:
        """Tell Gemini that the user has started speaking, which interrupts any reply."""
        with self._sending():
            await self._wire.send_realtime_input(activity_start={})

    async def send_audio(self, pcm: bytes) -> None:
        """Send a chunk of speech (16 kHz mono int16), ideally 20 to 100 ms long.

        Gemini discards audio that is sent outside an activity.
        """
        with self._sending():
            await self._wire.send_realtime_input(audio={"data": pcm, "mime_type": AUDIO_MIME})

    async def end_activity(self) -> None:
        """Tell Gemini that the user has finished speaking, so that it replies."""
        with self._sending():
            await self._wire.send_realtime_input(activity_end={})

    async def send_text(self, text: str, *, complete: bool = True) -> None:
        """Send text as the user's turn, or with `complete=False` as context for the next turn.

        Context may be sent during a session only if the model's row has `client_content`.
        """
        with self._sending():
            await self._wire.send_client_content(
                turns={"role": "user", "parts": [{"text": text}]}, turn_complete=complete
            )

    async def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """Send the results of function calls in one message. Answer each call exactly once."""
        if not answers:
            return
        with self._sending():
            await self._wire.send_tool_response(
                function_responses=[
                    {"id": one.id, "name": one.name, "response": one.response} for one in answers
                ]
            )

    async def update(
        self,
        *,
        instruction: str | None = None,
        declarations: Sequence[Declaration] | None = None,
    ) -> None:
        """Change the instruction or the functions of the running session.

        None leaves them unchanged. Raises Refused if the model does not support changes.
        """
        row = self._setup.row
        if not row.context_update:
            raise Refused(f"{row.name} cannot be changed during a session: start a new one.")
        tools: list[Any] | None = None  # None: unchanged
        if declarations is not None:
            tools = list(tools_of(row, declarations, google_search=self._setup.google_search))
        if instruction is None and tools is None:
            return
        with self._sending():
            await self._wire.send_context_update(system_instruction=instruction, tools=tools)

    async def close(self) -> None:
        """Close the connection, waiting at most CLOSE_S (2 s) for its socket to close."""
        if not self.closed:  # if it is already closing, cancelling would leak its socket
            self.end(Unavailable(CLOSED))
            self._owner.cancel()
        await asyncio.wait([self._owner], timeout=CLOSE_S)

    @contextmanager
    def _sending(self) -> Iterator[None]:
        if self._over is not None:
            raise self._over.with_traceback(None)  # drop the traceback of the previous raise
        try:
            yield
        except (TypeError, ValueError):
            raise  # invalid arguments, which are our own error
        except Exception as error:
            raise self._fault(error) from error

    def _fault(self, error: BaseException) -> IntegrationError:
        return fault_of(error, model=self._setup.row.name, access=self._access)

    def end(self, reason: IntegrationError) -> None:
        """Make all further sends raise `reason`, unless the session has already ended.

        Only the owner task may call this.
        """
        self._over = self._over or reason

    async def read(self, on_event: OnEvent) -> IntegrationError:
        """Deliver events until the connection closes, then return the reason.

        Only the owner task may call this.
        """
        async with aclosing(self._events()) as events:
            async for event in events:
                if isinstance(event, IntegrationError):
                    self.end(event)
                    return event
                on_event(event)
        raise AssertionError("the events end with the reason")

    async def _events(self) -> AsyncGenerator[LiveEvent | IntegrationError]:
        frames = FrameReader()
        try:
            async for message in _messages(self._wire):
                self._note_handle(message)
                for event in frames.events(message):
                    yield event
        except Exception as error:  # an error in the SDK, the socket or a message ends the session
            yield self._fault(error)

    def _note_handle(self, message: "types.LiveServerMessage") -> None:
        update = message.session_resumption_update
        # The handle is valid only while the service reports the session as resumable.
        if update is not None:
            self.handle = (update.new_handle or None) if update.resumable else None


class LiveClient:
    """Opens Live sessions. Leaving the context closes any that are still open."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._tasks = OwnedTasks()
        # Open and opening connections. The session is None until it is open.
        self._owners: dict[asyncio.Task[None], LiveSession | None] = {}
        self._sdk = LazyClient(access)

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            for owner, session in self._owners.items():
                # Don't cancel a connection that is already closing, which would leak its socket.
                if not owner.cancelling() and not (session is not None and session.closed):
                    owner.cancel()
            if self._owners:
                await asyncio.wait(self._owners, timeout=CLOSE_S)
            await self._tasks.__aexit__(kind, error, traceback)
        finally:
            await self._sdk.close()

    async def load(self) -> None:
        """Import Google's library, which can take seconds. Raises IntegrationError."""
        await self._sdk.get()

    async def connect(
        self, setup: LiveSetup, on_event: OnEvent, timeout_s: float = CONNECT_S
    ) -> LiveSession:
        """Open a session and wait until Gemini has accepted its set-up.

        `on_event` is then called with each event, in order; the last one is Closed. If this method
        raises IntegrationError, `on_event` is never called.
        """
        opening: _Opening = asyncio.get_running_loop().create_future()
        taken = asyncio.Event()
        owner = self._tasks.start(self._own(setup, on_event, opening, taken), "gemini-live")
        self._owners[owner] = None
        owner.add_done_callback(self._owners.pop)
        try:
            async with asyncio.timeout(timeout_s):
                opened = await asyncio.shield(opening)
        except TimeoutError as error:
            owner.cancel()  # even if it has just opened
            raise self._fault(error, setup) from None
        except asyncio.CancelledError:
            owner.cancel()
            raise
        if isinstance(opened, IntegrationError):
            raise opened
        taken.set()
        return opened

    async def _own(
        self, setup: LiveSetup, on_event: OnEvent, opening: _Opening, taken: asyncio.Event
    ) -> None:
        # The SDK's context manager must be entered and left in the same task.
        session: LiveSession | None = None
        reason: IntegrationError | None = None  # None: closed by us
        try:
            client = await self._sdk.get()
            live = client.aio.live.connect(model=setup.row.name, config=live_config(setup))
            async with live as wire:
                if wire.setup_complete is None:
                    raise Unavailable("Gemini did not open a session: try again in a moment.")
                session = self._session(wire, setup)
                opening.set_result(session)
                try:
                    await taken.wait()  # deliver no event before the caller has the session
                    reason = await session.read(on_event)
                finally:
                    await wire.close()  # close normally; a cancellation would close with code 1011
        except Exception as error:
            if session is not None:
                raise  # `on_event` failed, which is our own error
            opening.set_result(self._fault(error, setup))
        finally:
            if not opening.done():
                opening.set_result(Unavailable(CLOSED))
            if session is not None:
                session.end(reason or Unavailable(CLOSED))
                if taken.is_set():
                    on_event(Closed(reason))

    def _session(self, wire: "AsyncSession", setup: LiveSetup) -> LiveSession:
        owner = asyncio.current_task()
        assert owner is not None
        session = self._owners[owner] = LiveSession(wire, setup, self._access, owner)
        return session

    def _fault(self, error: BaseException, setup: LiveSetup) -> IntegrationError:
        return fault_of(
            error,
            model=setup.row.name,
            resuming=setup.handle is not None,
            access=self._access,
        )


async def _messages(wire: "AsyncSession") -> "AsyncGenerator[types.LiveServerMessage]":
    # When the SDK raises an error for a frame, it has already consumed that frame.
    strange = 0
    level = logging.WARNING
    while True:
        try:
            async for message in wire.receive():
                strange = 0
                yield message
        except (TypeError, ValueError, AttributeError) as error:
            strange += 1
            if strange > MAX_STRANGE_FRAMES:
                raise
            log.log(level, "A message from Gemini cannot be read (%s).", type(error).__name__)
            level = logging.DEBUG  # one warning per connection is enough
