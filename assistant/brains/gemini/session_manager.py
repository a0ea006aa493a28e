"""Keeps one session with Gemini Live: opens, resumes, rotates and closes it when that is due."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

from assistant.brains.briefing.briefer import Briefing
from assistant.brains.briefing.prompt import MAX_EXCHANGES, Exchange, bounded, with_history
from assistant.brains.gemini.calls import UsageMeter, note_of_cut
from assistant.brains.gemini.connection import Listener, LiveConnection, LiveServices
from assistant.brains.gemini.lifecycle import (
    SessionLifecycle,
    Step,
    within,
)
from assistant.domain.brain import ConversationOwner
from integrations.errors import (
    Exhausted,
    IntegrationError,
    Misconfigured,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.gemini.setup import LiveSetup

_log = logging.getLogger(__name__)
_MAX_NOTES = 8
_SOON_S = 0.001  # a moment that rounding puts just ahead must not be waited for in tiny steps
_NO_MATTER_HOW = (Exhausted, Misconfigured, SignInAgain)  # a fresh session would fail as well


# Asked by a session manager before it connects (False), or when that was refused for want of quota
# (True); tells whether another session was closed.
MakeRoom = Callable[["LiveSessionManager", bool], Awaitable[bool]]


class LiveSessionManager:
    """Holds the session of one conversation. Its timers run by themselves, whether or not anything
    arrives."""

    def __init__(
        self, services: LiveServices, owner: ConversationOwner, make_room: MakeRoom
    ) -> None:
        self.meter = UsageMeter()
        self.talk = uuid4().hex  # what a model knows of earlier turns goes by this name
        self.searched = False  # it has read the web in this talk
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
        self._lock = asyncio.Lock()  # one socket is opened or closed at a time
        self._link: LiveConnection | None = None
        self._doomed: list[LiveConnection] = []  # given up, their sockets still to be closed
        self._user: Listener | None = None  # the turn that has or wants the session
        self._may_update = True  # no change of a session was refused yet
        self._changed = asyncio.Event()  # something may be due earlier than thought
        self._exchanges: deque[Exchange] = deque(maxlen=MAX_EXCHANGES)
        self._seeded: tuple[Exchange, ...] = ()  # told to the talk when it last began afresh
        self._late_input_counts = False  # for the newest exchange
        self._notes: deque[str] = deque(maxlen=_MAX_NOTES)
        self._cut: tuple[str, str] | None = None  # the newest answer cut off: turn, words heard
        self._cut_notes: deque[str] = deque(maxlen=1)  # of it, until that was told
        self._unwanted = False  # the talk so far is to be forgotten as soon as no turn is in it

    def begin(self) -> None:
        """Do what is due from now on, in the background, until `end`."""
        self._running = self._tasks.start(self.run(), "gemini-live session")

    async def run(self) -> None:
        """Do what is due, for ever."""
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
        """True while a turn has or wants the session."""
        return self._user is not None

    @property
    def is_open(self) -> bool:
        """True while there is a session."""
        return self._link is not None

    async def rest(self) -> bool:
        """Close the session, to be resumed when it is wanted. False: it is in use, or closed."""
        if self.in_use or not self.is_open or self._lock.locked():
            return False
        async with self._lock:
            await self._close_link()
        return True

    async def end(self) -> None:
        """The conversation is over for good."""
        if self._running is not None:
            self._running.cancel()
        await self.close()

    async def close(self) -> None:
        """Close every socket; bounded in time."""
        doomed, self._doomed = self._doomed, []
        if self._link is not None:
            doomed.append(self._link)
            self._link = None
        async with asyncio.TaskGroup() as closing:
            for link in doomed:
                closing.create_task(link.close())

    # For turns.

    def suspect(self) -> None:
        """A turn may be about to begin: be connected by then."""
        if self._life.suspect(self._clock.monotonic()):
            self._tasks.start(self._connect_on_suspicion(), "gemini-live connect")
        self._changed.set()

    async def acquire(self, briefing: Briefing, listener: Listener) -> LiveConnection:
        """The session for a turn, whose events go to `listener` from now on.

        Raises IntegrationError. The turn calls `leave` in any case.
        """
        now = self._clock.monotonic()
        quiet = self._life.is_quiet(now)
        self._user = listener
        self._late_input_counts = False
        self._life.turn_began(now)
        try:
            return await within(
                self._clock, self._timeouts.connect_s, self._acquire(briefing, listener, quiet)
            )
        except TimeoutError:
            raise Unavailable("Gemini could not be reached in time.") from None

    def leave(self, listener: Listener, usable: bool) -> None:
        """The turn is over. Not `usable`: the session is closed, and nothing resumes it.

        A session that was left in the middle of a sentence is closed as well. To end the sentence
        instead would make the model answer a fragment, and even act on it; and so what was said
        into a false wake does not stay in the talk. Its handle resumes the talk as it was before.
        """
        link = self._link
        if link is not None:
            link.detach(listener)
        if self._user is not listener:
            return
        self._user = None
        self._life.turn_ended(self._clock.monotonic())
        if link is not None and (link.active or not usable or self._unwanted):
            self._give_up(link, link.handle if usable and not self._unwanted else None)
        self._changed.set()

    def forget(self) -> None:
        """The talk so far is not to be known any more; a turn that is under way ends in it.

        Its session is closed, and nothing of it is told to the next one.
        """
        self._unwanted = True
        self._changed.set()

    def remember(self, exchange: Exchange) -> None:
        """A turn that a fresh session is to know of."""
        if self._cut is None or exchange.turn_id != self._cut[0]:
            self._cut_notes.clear()  # the last answer is another one by now
        self._exchanges.append(bounded(self._as_heard(exchange)))
        self._late_input_counts = True

    def cut_off(self, turn_id: str, heard: str) -> None:
        """The answer to that turn was cut off: only these words of it were heard."""
        self._cut = (turn_id, heard)
        self._cut_notes.append(note_of_cut(heard))
        for place, exchange in enumerate(self._exchanges):
            self._exchanges[place] = bounded(self._as_heard(exchange))

    def _as_heard(self, exchange: Exchange) -> Exchange:
        if self._cut is None or exchange.turn_id != self._cut[0]:
            return exchange
        return replace(exchange, answer=self._cut[1], cut=True)

    @contextmanager
    def notes(self) -> Iterator[str]:
        """Yield what the model has missed; told once the block ends without an error."""
        notes, cut = tuple(self._notes), tuple(self._cut_notes)
        self._notes.clear()
        self._cut_notes.clear()
        try:
            yield "\n".join((*notes, *cut))
        except BaseException:
            self._notes.extendleft(reversed(notes))
            self._cut_notes.extend(() if self._cut_notes else cut)
            raise

    # For the link.

    def going_away(self, link: LiveConnection, left_s: float) -> None:
        """The service will close the connection."""
        if link is self._link:
            _log.info("Gemini closes the connection in %g s", left_s)
            self._life.go_away(self._clock.monotonic(), left_s)
            self._changed.set()

    def lost(self, link: LiveConnection, error: IntegrationError | None) -> None:
        """The connection is closed."""
        if link is self._link:
            self._link = None
            handle = None if isinstance(error, Stale) else link.handle
            self._life.closed(self._clock.monotonic(), handle)
            self._changed.set()

    def update_refused(self) -> None:
        """From now on a change makes a fresh session, whatever the model's row says."""
        if self._may_update:
            _log.warning("changes of a running session are refused: from now on it is opened anew")
        self._may_update = False

    def note_search(self) -> None:
        """The model has read the web in this talk."""
        self.searched = True

    def note(self, text: str) -> None:
        """The model has missed something."""
        self._notes.append(text)

    def late_input(self, text: str) -> None:
        """A piece of what was said in the newest exchange."""
        if self._late_input_counts:
            last = self._exchanges[-1]
            self._exchanges[-1] = bounded(replace(last, heard=last.heard + text))

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run something in the background."""
        self._tasks.start(work, name)

    # Within.

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
            await self._connect_on_suspicion()

    async def _connect_on_suspicion(self) -> None:
        briefing = await self._services.briefer.brief(owner=self._owner)
        async with self._lock:
            await self._close_doomed()
            if self._link is not None:
                return
            if self._unwanted or self._life.is_quiet(self._clock.monotonic()):
                await self._forget()
            try:
                await self._open(self._make_setup(briefing))
            except IntegrationError as error:
                _log.info("no session with Gemini yet: %s", error)
                worth_another = isinstance(error, Unavailable)
                self._life.failed(self._clock.monotonic(), worth_another)
        self._changed.set()

    async def _acquire(self, briefing: Briefing, listener: Listener, quiet: bool) -> LiveConnection:
        setup = self._make_setup(briefing)
        async with self._lock:
            await self._close_doomed()
            if quiet or self._unwanted:
                await self._forget()
            if self._life.must_leave or (self._link is not None and self._link.active):
                await self._close_link()  # active: an earlier turn has not left its sentence yet
            elif self._link is not None and not await self._adapt(self._link, setup):
                await self._close_link(resumable=False)
            link = self._link or await self._open(setup)
            link.attach(listener)
        self._changed.set()
        return link

    async def _adapt(self, link: LiveConnection, setup: LiveSetup) -> bool:
        """Tell an open session what has changed; False: only another session can have it."""
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
            _log.warning("the open session took no change: %s", error)
            return False
        return True

    async def _open(self, setup: LiveSetup) -> LiveConnection:
        """Connect: by the handle where there is one, then afresh. Raises IntegrationError."""
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
        """Connect. Where the service takes no further session, another conversation's may go."""
        try:
            return await self._connect(setup, handle)
        except Exhausted:
            if not await self._make_room(self, True):
                raise
            return await self._connect(setup, handle)

    async def _connect(self, setup: LiveSetup, handle: str | None) -> LiveConnection:
        if handle is None:
            self._seeded = tuple(self._exchanges)
            self._cut_notes.clear()  # the exchanges tell it
        # What is resumed remembers what was said in it, but not what its instruction had told.
        link = LiveConnection(setup, self._seeded, self, self._services)
        told = with_history(setup.instruction, self._seeded)
        session = await self._services.client.connect(
            replace(setup, instruction=told, handle=handle),
            link.take,
            self._timeouts.connect_s,
        )
        link.begin(session)
        return link

    async def _close_link(self, resumable: bool = True) -> None:
        if self._link is not None:
            self._give_up(self._link, self._link.handle if resumable else None)
            await self._close_doomed()

    def _give_up(self, link: LiveConnection, handle: str | None) -> None:
        """Close a session as soon as may be, from where nothing can be waited for."""
        self._link = None
        self._life.closed(self._clock.monotonic(), handle)
        self._doomed.append(link)

    async def _close_doomed(self) -> None:
        """Before anything is opened: the service refuses to resume while the old socket is open."""
        while self._doomed:
            link = self._doomed[0]
            await link.close()
            # Not before: whoever waits here may be cancelled.
            self._doomed = [each for each in self._doomed if each is not link]

    async def _forget(self) -> None:
        """The talk is over: the next one begins without it."""
        await self._close_link(resumable=False)
        self._life.forgot()
        self.talk, self.searched = uuid4().hex, False
        self._exchanges.clear()
        self._notes.clear()
        self._cut = None
        self._cut_notes.clear()
        self._late_input_counts = False  # there is nothing left that it could be added to
        self._unwanted = False
