"""A Live session with Gemini: one connection, one task that owns it and reads it to its end.

The SDK's `receive()` ends with every turn, while handles, late transcripts and a coming end of the
connection arrive between turns (googleapis/python-genai #1224), so the reader goes round for ever.
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
MAX_STRANGE_FRAMES = 3  # in a row; a new kind of message must not end a session, a broken one must

OnEvent = Callable[[LiveEvent], None]
_Opening = asyncio.Future["LiveSession | IntegrationError"]


@dataclass(frozen=True, slots=True)
class FunctionAnswer:
    """The result of one function call."""

    id: str
    name: str
    response: dict[str, Any]


class LiveSession:
    """One open connection. Any task may send; what arrives goes to the `on_event` of `connect`.

    Every send raises IntegrationError once the connection is over or breaks.
    """

    def __init__(
        self, wire: "AsyncSession", setup: LiveSetup, secret: str, owner: asyncio.Task[None]
    ) -> None:
        self.handle = (
            setup.handle
        )  # newest to resume with; None while the service says there is none
        self._wire = wire
        self._setup = setup
        self._secret = secret
        self._owner = owner
        self._over: IntegrationError | None = None  # why nothing can be sent any more

    @property
    def closed(self) -> bool:
        """True if the connection is over or ending."""
        return self._over is not None

    async def begin_activity(self) -> None:
        """The person begins to speak; a reply that is under way is interrupted."""
        with self._sending():
            await self._wire.send_realtime_input(activity_start={})

    async def send_audio(self, pcm: bytes) -> None:
        """A piece of speech (mono int16, 16 kHz); 20 to 100 ms are good sizes.

        Outside of an activity the service discards it.
        """
        with self._sending():
            await self._wire.send_realtime_input(audio={"data": pcm, "mime_type": AUDIO_MIME})

    async def end_activity(self) -> None:
        """The person has finished; the reply follows."""
        with self._sending():
            await self._wire.send_realtime_input(activity_end={})

    async def send_text(self, text: str, *, complete: bool = True) -> None:
        """Text as the person's turn, or with `complete=False` as context for the next one.

        Context in a running session is only for models whose row has `client_content`.
        """
        with self._sending():
            await self._wire.send_client_content(
                turns={"role": "user", "parts": [{"text": text}]}, turn_complete=complete
            )

    async def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """The results of function calls, in one message; each call is answered once."""
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
        """Another instruction, other functions from here on. Raises Refused where not possible."""
        row = self._setup.row
        if not row.context_update:
            raise Refused(f"{row.name} takes no changes in a session: a fresh one is needed.")
        tools: list[Any] | None = None  # None: as they are
        if declarations is not None:
            tools = list(tools_of(row, declarations, google_search=self._setup.google_search))
        if instruction is None and tools is None:
            return
        with self._sending():
            await self._wire.send_context_update(system_instruction=instruction, tools=tools)

    async def close(self) -> None:
        """End the connection; returns when the socket is closed, after 2 s at the latest."""
        if not self.closed:  # else it is ending: cancelled on the way it would leave its socket
            self.end(Unavailable(CLOSED))
            self._owner.cancel()
        await asyncio.wait([self._owner], timeout=CLOSE_S)

    @contextmanager
    def _sending(self) -> Iterator[None]:
        if self._over is not None:
            raise self._over.with_traceback(None)  # of the last time
        try:
            yield
        except (TypeError, ValueError):
            raise  # what was to be sent cannot be: that is ours
        except Exception as error:
            raise self._fault(error) from error

    def _fault(self, error: BaseException) -> IntegrationError:
        return fault_of(error, model=self._setup.row.name, secret=self._secret)

    def end(self, reason: IntegrationError) -> None:
        """From here on nothing is sent; the first reason stays. For the owner alone."""
        self._over = self._over or reason

    async def read(self, on_event: OnEvent) -> IntegrationError:
        """Deliver everything that arrives, until the connection ends; gives the reason.

        For the owner alone.
        """
        async with aclosing(self._events()) as events:
            async for event in events:
                if isinstance(event, IntegrationError):
                    self.end(event)
                    return event
                on_event(event)
        raise AssertionError("the events end with the reason")

    async def _events(self) -> AsyncGenerator[LiveEvent | IntegrationError]:
        """The events of the connection, then why it ended."""
        frames = FrameReader()
        try:
            async for message in _messages(self._wire):
                self._note_handle(message)
                for event in frames.events(message):
                    yield event
        except Exception as error:  # the SDK, the socket, a foreign message: all end it
            yield self._fault(error)

    def _note_handle(self, message: "types.LiveServerMessage") -> None:
        """A handle is only good while the service calls the session resumable."""
        update = message.session_resumption_update
        if update is not None:
            self.handle = (update.new_handle or None) if update.resumable else None


class LiveClient:
    """Opens sessions. Its context owns their tasks: leaving it closes what is still open."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._tasks = OwnedTasks()
        # Of connections that are not over, and their sessions from the moment that they are open.
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
                # One that is ending is left alone: cancelled on the way it would leave its socket.
                if not owner.cancelling() and not (session is not None and session.closed):
                    owner.cancel()
            if self._owners:
                await asyncio.wait(self._owners, timeout=CLOSE_S)
            await self._tasks.__aexit__(kind, error, traceback)
        finally:
            await self._sdk.close()

    async def connect(
        self, setup: LiveSetup, on_event: OnEvent, timeout_s: float = CONNECT_S
    ) -> LiveSession:
        """Open a session and wait until the service has taken the set-up.

        From then on `on_event` is called with each event, in order, until Closed, which is the last
        one and comes when the socket is closed. Raises IntegrationError; then nothing is called.
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
            owner.cancel()  # also where it opened in this very moment
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
        """The whole life of one connection: what enters it also leaves it."""
        session: LiveSession | None = None
        reason: IntegrationError | None = None  # None: we closed it
        try:
            client = await self._sdk.get()
            live = client.aio.live.connect(model=setup.row.name, config=live_config(setup))
            async with live as wire:
                if wire.setup_complete is None:
                    raise Unavailable("Gemini opened no session: it may work again in a moment.")
                session = self._session(wire, setup)
                opening.set_result(session)
                try:
                    await taken.wait()  # no event before the caller has the session
                    reason = await session.read(on_event)
                finally:
                    await wire.close()  # normally: left by a cancellation it would close with 1011
        except Exception as error:
            if session is not None:
                raise  # `on_event` failed: that is ours
            opening.set_result(self._fault(error, setup))
        finally:
            if not opening.done():
                opening.set_result(Unavailable(CLOSED))
            if session is not None:
                session.end(reason or Unavailable(CLOSED))
                if taken.is_set():
                    on_event(Closed(reason))

    def _session(self, wire: "AsyncSession", setup: LiveSetup) -> LiveSession:
        """The session that the running task owns."""
        owner = asyncio.current_task()
        assert owner is not None
        session = self._owners[owner] = LiveSession(wire, setup, self._access.api_key, owner)
        return session

    def _fault(self, error: BaseException, setup: LiveSetup) -> IntegrationError:
        """Why no session opened."""
        return fault_of(
            error,
            model=setup.row.name,
            resuming=setup.handle is not None,
            secret=self._access.api_key,
        )


async def _messages(wire: "AsyncSession") -> "AsyncGenerator[types.LiveServerMessage]":
    """All frames. The SDK fails on one that it cannot read, and has taken it by then."""
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
            log.log(level, "A message of Gemini cannot be read (%s).", type(error).__name__)
            level = logging.DEBUG  # one line for a connection is enough
