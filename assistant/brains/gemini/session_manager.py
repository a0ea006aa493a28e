"""Keep one Gemini Live session, and open, resume, replace or close it when necessary."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any
from uuid import uuid4

from assistant.brains.briefing.briefer import Briefing
from assistant.brains.briefing.prompt import Exchange, with_history
from assistant.brains.gemini.attempts import SessionAttempts
from assistant.brains.gemini.connection import Listener, LiveConnection, LiveServices
from assistant.brains.gemini.history import ConversationHistory
from assistant.brains.gemini.lifecycle import SessionLifecycle, Step, within
from assistant.brains.gemini.usage import UsageMeter
from assistant.domain.brain import ConversationOwner
from integrations.errors import (
    Exhausted,
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.gemini.setup import LiveSetup, suspects, without

_log = logging.getLogger(__name__)
# Rejections in a row after which the session is replaced. One session rejected 27 turns in a row
# (google-gemini/gemini-live-api-examples #40).
MAX_REJECTIONS = 2
# Sessions in a row that the service ends in a turn, after which one is opened without the optional
# parts of its set-up, because the service can accept a part that it can't use.
MAX_REFUSALS = 2
_SOON_S = 0.001  # minimum wait, so that rounding errors don't cause a busy loop
_NO_MATTER_HOW = (Exhausted, Misconfigured, SignInAgain)  # a new session would fail too


# Called with False before a manager connects, and with True after it was refused for lack of quota.
# Returns True if another session was closed.
MakeRoom = Callable[["LiveSessionManager", bool], Awaitable[bool]]


class LiveSessionManager:
    """The session, history and notes of one conversation."""

    def __init__(
        self, services: LiveServices, owner: ConversationOwner, make_room: MakeRoom
    ) -> None:
        self.meter = UsageMeter()
        self.history = ConversationHistory()
        self.talk = uuid4().hex  # id of the conversation that is in the model's context
        self.searched = False  # the model has used web search in this conversation
        self.openings = 0  # sessions opened or resumed since the start
        self._services = services
        self._make_setup = services.make_setup
        self._tasks = services.tasks
        self._clock = services.clock
        self._timeouts = services.timeouts
        self._owner = owner
        self._make_room = make_room
        self._running: asyncio.Task[None] | None = None
        self._life = SessionLifecycle(services.timeouts)
        self._attempts = SessionAttempts(services.tasks, services.clock, services.timeouts)
        self._lock = asyncio.Lock()  # only one socket is opened or closed at a time
        self._link: LiveConnection | None = None
        self._doomed: list[LiveConnection] = []  # given up, with sockets that aren't closed yet
        self._user: Listener | None = None  # of the turn that uses the session or waits for it
        self._may_update = True  # False after the service has rejected an update
        self._changed = asyncio.Event()  # the time of the next step may have changed
        self._seeded: tuple[Exchange, ...] = ()  # in the instruction of the last new session
        self._unwanted = False  # the conversation must be forgotten when no turn is using it
        self._rejections = 0  # turns in a row that the service declined to answer
        self._refusals = 0  # sessions in a row that the service ended in the middle of a turn

    def begin(self) -> None:
        self._running = self._tasks.start(self.run(), "gemini-live session")

    async def run(self) -> None:
        """Perform the steps of `SessionLifecycle` when they are due, until cancelled."""
        while True:
            self._changed.clear()
            await self._do_what_is_due()
            due = self._life.due()
            wait_s = None if due is None else max(_SOON_S, due - self._clock.monotonic())
            try:
                await within(self._clock, wait_s, self._changed.wait())
            except TimeoutError:
                continue

    @property
    def in_use(self) -> bool:
        return self._user is not None

    @property
    def is_open(self) -> bool:
        return self._link is not None

    async def rest(self) -> bool:
        """Close the session so that it can be resumed. Returns False if that isn't possible now."""
        if self.in_use or not self.is_open or self._lock.locked():
            return False
        async with self._lock:
            await self._close_link()
        return True

    async def end(self) -> None:
        if self._running is not None:
            self._running.cancel()
        await self.close()

    async def close(self) -> None:
        """Close all sockets within a limited time."""
        await self._attempts.drop()
        doomed, self._doomed = self._doomed, []
        if self._link is not None:
            doomed.append(self._link)
            self._link = None
        async with asyncio.TaskGroup() as closing:
            for link in doomed:
                closing.create_task(link.close())

    # --- for turns ---
    def suspect(self) -> None:
        """Prepare the session, because a turn may follow."""
        if self._life.suspect(self._clock.monotonic()):
            self._connect_in_advance()
        self._changed.set()

    async def acquire(self, briefing: Briefing, listener: Listener) -> LiveConnection:
        """Return a connection whose events go to `listener`. Raises IntegrationError. The turn must
        call `leave` in any case."""
        now = self._clock.monotonic()
        quiet = self._life.is_quiet(now)
        self._user = listener
        self.history.turn_began()
        self._life.turn_began(now)
        await self._services.client.load()  # the time limit is for the service alone
        try:
            await self._attempts.wait_for_earlier()  # doesn't take the time of the turn's own
            session = self._attempts.session(self._prepare(briefing, quiet))
            link = await within(self._clock, self._timeouts.connect_s, session)
        except TimeoutError:
            raise Unavailable("Gemini could not be reached in time.") from None
        link.attach(listener)
        self._changed.set()
        return link

    def leave(self, listener: Listener, usable: bool, rejected: bool = False) -> None:
        """End a turn's use of the session, which is closed for good if it isn't `usable`.

        `rejected` means that the service declined to answer. After several such turns in a row, the
        session is replaced.
        """
        link = self._link
        if link is not None:
            link.detach(listener)
        if self._user is not listener:
            return
        self._user = None
        self._rejections = self._rejections + 1 if rejected else 0
        if self._rejections >= MAX_REJECTIONS:
            self._rejections, usable = 0, False
        self._refusals = 0 if usable else self._refusals
        self._life.turn_ended(self._clock.monotonic())
        self.counted()
        # If the sentence isn't complete (`active`), the model would answer a fragment, or even act
        # on it, and speech after a false wake would stay in the conversation.
        if link is not None and (link.active or not usable or self._unwanted):
            self._give_up(link, link.handle if usable and not self._unwanted else None)
        self._changed.set()

    def forget(self) -> None:
        """Close the session and erase its conversation, once no turn is using it."""
        self._unwanted = True
        self._changed.set()

    # --- for the connection ---
    def going_away(self, link: LiveConnection, left_s: float) -> None:
        """Prepare for the service to close the connection in `left_s` seconds."""
        if link is self._link:
            _log.info("Gemini closes the connection in %g s", left_s)
            self._life.go_away(self._clock.monotonic(), left_s)
            self._changed.set()

    def lost(self, link: LiveConnection, error: IntegrationError | None) -> None:
        if link is self._link:
            self._link = None
            unusable = isinstance(error, Refused) or self.meter.is_full
            handle = None if unusable else link.handle
            self._life.closed(self._clock.monotonic(), handle)
            self._changed.set()

    def counted(self) -> None:
        """Replace the session between turns if its context is full."""
        if not self.in_use and self.meter.is_full:
            self._life.filled()
            self._changed.set()

    def update_refused(self) -> None:
        """Open a new session for every further change, because the service rejected an update."""
        if self._may_update:
            _log.warning(
                "Gemini refuses changes to a running session, so each change now opens a new one"
            )
        self._may_update = False

    def refused(self, error: Refused) -> IntegrationError:
        """Return what it means that the service has refused to continue a session."""
        self._refusals += 1
        if self._refusals > MAX_REFUSALS:
            self._refusals = 0  # the next turn starts over
            return error
        # Observed when the context is full; resuming fails in the same way (livekit #5985).
        told = f"Gemini ended the session, and a new one is needed: {error}"
        return Stale(told, differs=self._refusals == MAX_REFUSALS)

    def note_search(self) -> None:
        self.searched = True

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._tasks.start(work, name)

    # --- internal ---
    async def _do_what_is_due(self) -> None:
        async with self._lock:
            await self._close_doomed()
            if self._unwanted and self._user is None:
                await self._forget()
            step = self._life.step(self._clock.monotonic())
            if step in (Step.CLOSE, Step.ROTATE):
                await self._close_link()
            elif step is Step.FORGET:
                await self._forget()
        if step in (Step.CONNECT, Step.ROTATE):
            self._connect_in_advance()

    def _connect_in_advance(self) -> None:
        if not self._attempts.under_way:
            self._attempts.begin(self._connect_on_suspicion())

    async def _connect_on_suspicion(self) -> None:
        briefing = await self._services.briefer.brief(owner=self._owner)
        async with self._lock:
            await self._close_doomed()
            if self._link is not None:
                return
            if self._unwanted or self._life.is_quiet(self._clock.monotonic()):
                await self._forget()
            try:
                await self._open_offered(briefing)
            except IntegrationError as error:
                _log.info("no session with Gemini yet: %s", error)
                worth_another = isinstance(error, Unavailable)
                self._life.failed(self._clock.monotonic(), worth_another)
        self._changed.set()

    async def _prepare(self, briefing: Briefing, quiet: bool) -> LiveConnection | IntegrationError:
        setup = self._make_setup(briefing)
        async with self._lock:
            await self._close_doomed()
            if quiet or self._unwanted:
                await self._forget()
            if self._life.must_leave or (self._link is not None and self._link.active):
                await self._close_link()  # if active, an earlier turn hasn't ended its sentence
            elif self._link is not None and not await self._adapt(self._link, setup):
                await self._close_link(resumable=False)
            try:
                return self._link or await self._open_offered(briefing)
            except IntegrationError as error:
                return error

    async def _adapt(self, link: LiveConnection, setup: LiveSetup) -> bool:
        """Update the open session to this set-up. Returns False if a new session is needed."""
        told = link.setup
        same = replace(
            setup,
            instruction=told.instruction,
            declarations=told.declarations,
            vocabulary=told.vocabulary,
        )
        if same != told:
            return False
        changed = (setup.instruction, setup.declarations) != (told.instruction, told.declarations)
        if changed and not (setup.row.context_update and self._may_update):
            return False
        try:
            await link.update(setup)
        except IntegrationError as error:
            _log.warning("the open session did not accept a change: %s", error)
            return False
        return True

    async def _open_offered(self, briefing: Briefing) -> LiveConnection:
        while True:
            setup = self._make_setup(briefing)
            try:
                return await self._open(setup)
            except Retired as error:
                if not await self._services.models.give_up(setup.row, error):
                    raise

    async def _open(self, setup: LiveSetup) -> LiveConnection:
        """Resume the session or, if that isn't possible, open one. Raises IntegrationError."""
        handle = self._life.take_handle(self._clock.monotonic())
        await self._make_room(self, False)
        try:
            link = await self._connect_with_room(setup, handle)
        except IntegrationError as error:
            if handle is None or isinstance(error, _NO_MATTER_HOW):
                raise
            _log.info("the session with Gemini cannot be resumed: %s", error)
            link = await self._connect(setup, None)
        self._link = link
        self.openings += 1
        self._life.opened(self._clock.monotonic())
        return link

    async def _connect_with_room(self, setup: LiveSetup, handle: str | None) -> LiveConnection:
        try:
            return await self._connect(setup, handle)
        except Exhausted:
            if not await self._make_room(self, True):
                raise
            return await self._connect(setup, handle)

    async def _connect(self, setup: LiveSetup, handle: str | None) -> LiveConnection:
        if handle is None:
            self._seeded = self.history.tell_whole()
        # A resumed session keeps its conversation but not its instruction.
        link = LiveConnection(setup, self._seeded, self, self._services)
        told = with_history(setup.instruction, self._seeded)
        sent = replace(setup, instruction=told, handle=handle)
        if handle is None and self._refusals >= MAX_REFUSALS:
            _log.warning("a session with Gemini is opened without the optional parts of its set-up")
            sent = without(sent, suspects(sent))
        limit_s = max(self._timeouts.connect_s, self._timeouts.handshake_s)
        session = await self._services.client.connect(sent, link.take, limit_s)
        self.meter.opened(sent)
        link.begin(session)
        return link

    async def _close_link(self, resumable: bool = True) -> None:
        if self._link is not None:
            self._give_up(self._link, self._link.handle if resumable else None)
            await self._close_doomed()

    def _give_up(self, link: LiveConnection, handle: str | None) -> None:
        """Mark a connection to be closed soon, from code that can't await."""
        self._link = None
        self._life.closed(self._clock.monotonic(), handle)
        self._doomed.append(link)

    async def _close_doomed(self) -> None:
        # A session can't be resumed while its old socket is open.
        while self._doomed:
            link = self._doomed[0]
            await link.close()
            # Remove it only now, because this task can be cancelled while it waits.
            self._doomed = [each for each in self._doomed if each is not link]

    async def _forget(self) -> None:
        await self._close_link(resumable=False)
        self._life.forgot()
        self.talk, self.searched = uuid4().hex, False
        self.history = ConversationHistory()
        self._unwanted = False
