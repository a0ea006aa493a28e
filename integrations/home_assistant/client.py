"""Follow the state of the house over one websocket, which is owned by one task."""

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable, first_of
from integrations.home_assistant.context import Shown
from integrations.home_assistant.house import House, HouseSettings, mapping, read_settings
from integrations.home_assistant.picture import REST_S, Picture, Search, ask_scene
from integrations.home_assistant.registry import REGISTRY_EVENTS, Stale, read_registries, refreshed
from integrations.home_assistant.rest import home_tls
from integrations.home_assistant.websocket import (
    PING_EVERY_S,
    PONG_WITHIN_S,
    UNKNOWN_FORM,
    Connection,
    EventHandler,
    Followed,
    Stream,
    open_connection,
)
from integrations.owner import OwnedTasks

log = logging.getLogger(__name__)

FIRST_PICTURE_S = 10.0  # longest wait for the first state of the house on entering
SIGN_IN_PAUSE_S = 60.0  # long, because Home Assistant logs every attempt with an invalid token
RUNNING = "RUNNING"  # `state` in get_config once every integration is loaded
LOOK_AGAIN_S = 1.0  # interval between checks while Home Assistant is starting
EXPECTED_S = 10.0  # time in which the entities of a call may start to change
LOOK_S = 1.0  # longest wait for a ping, while a person waits
UNTOLD_S = 300.0  # interval for reading the registries if their events are refused


@dataclass(eq=False, slots=True)
class _Waiter:
    entity_ids: frozenset[str]
    predicate: Callable[[House], bool]
    met: asyncio.Event


class HomeAssistant:
    """A connection to one Home Assistant. Inside the context, `house` is the state of the house.

    If Home Assistant is unreachable, entering the context still succeeds: `connected` is then
    False, and `problem` gives the reason. While the connection is down, `house` keeps its last
    value.
    """

    def __init__(
        self,
        url: str,
        token: str,
        verify_tls: bool = True,
        ca_file: str = "",
        *,
        pause_s: tuple[float, float] = (0.5, 5.0),
        settle_s: float = 0.3,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`url` is the base URL ("http://host:8123"). `pause_s` is the shortest and the longest
        pause before a retry. Registry changes are collected for `settle_s` before they are read."""
        self._url = url
        self._token = token
        self._verify_tls = verify_tls
        self._ca_file = ca_file
        self._pause_s = pause_s
        self._settle_s = settle_s
        self._monotonic = monotonic
        # when the house stopped being up to date; None if it was never read
        self._lost_s: float | None = None
        self._tell_settings: Callable[[HouseSettings], None] | None = None
        self.openings = 0  # successful sign-ins since the start
        self._picture = Picture()
        self._connection: Connection | None = None
        self._problem: IntegrationError | None = None
        self._again = asyncio.Event()  # ends the pause before the next attempt
        self._settled = asyncio.Event()  # set after the first attempt, successful or not
        self._stale = Stale()
        self._behind = False  # a registry has changed since it was read, or is incomplete
        self._starting = False  # Home Assistant is starting and does not have all entities yet
        self._to_search = asyncio.Event()
        self._followed: set[Followed] = set()
        self._expected_until = 0.0  # by the event loop's clock
        self._tell_opening: Callable[[Mapping[str, frozenset[str]]], None] | None = None
        self._observers: list[Callable[[str | None], None]] = []
        self._waiters: set[_Waiter] = set()
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._own(), "home-assistant")
        try:
            async with asyncio.timeout(FIRST_PICTURE_S):
                await self._settled.wait()
        except TimeoutError:
            log.warning(
                "Home Assistant has not answered within %.0f s; starting without it.",
                FIRST_PICTURE_S,
            )
        except BaseException:  # cancelled: `__aexit__` will not be called
            await self.__aexit__(*sys.exc_info())
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, traceback)
        self._connection = None

    @property
    def house(self) -> House:
        return self._picture.house

    @property
    def connected(self) -> bool:
        return self._connection is not None

    @property
    def age_s(self) -> float | None:
        """Seconds since `house` was last up to date: 0.0 while connected, and None if it was never
        read."""
        if self.connected:
            return 0.0
        return None if self._lost_s is None else self._monotonic() - self._lost_s

    async def look(self) -> float | None:
        """Ping Home Assistant, waiting at most LOOK_S (1 s), and return the age of `house` in
        seconds. Without an answer, return the longest time for which a lost connection can go
        unnoticed."""
        connection = self._connection
        if connection is None or await connection.answers(LOOK_S):
            return self.age_s
        return PING_EVERY_S + PONG_WITHIN_S

    @property
    def problem(self) -> IntegrationError | None:
        return self._problem

    def hurry(self) -> bool:
        """Connect again now instead of after the pause. Returns False after a rejected token,
        because Home Assistant can ban an address that sends it repeatedly."""
        if isinstance(self._problem, SignInAgain):
            return False
        self._again.set()
        return True

    def on_settings(self, tell: Callable[[HouseSettings], None]) -> None:
        """Call `tell` with the house's settings whenever they become known or change. Call this
        before entering the context."""
        self._tell_settings = tell

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send a websocket command and return its result. Raises IntegrationError."""
        return await self._connected().command(kind, **fields)

    @asynccontextmanager
    async def stream(self, kind: str, **fields: Any) -> AsyncIterator[Stream]:
        """Send a command and yield a stream of its events, to which bytes can be sent. Raises
        IntegrationError."""
        async with self._connected().stream(kind, **fields) as stream:
            yield stream

    def follow(self, handler: EventHandler, kind: str, **fields: Any) -> Callable[[], None]:
        """Subscribe now and on every new connection, and return a function that unsubscribes.

        `kind` and `fields` are the subscribing command. `handler` gets each event in order and must
        be quick. A refused subscription is logged and retried on the next connection.
        """
        followed = Followed(handler, kind, fields)
        self._followed.add(followed)
        if self._connection is not None:
            self._owner.start(followed.begin(self._connection), f"follow {kind}")

        def end() -> None:
            if followed in self._followed:
                self._followed.discard(followed)
                followed.stop()
                if self._connection is not None:
                    self._owner.start(followed.unsubscribe(self._connection), f"unfollow {kind}")

        return end

    def learn_exposure(self, shown: Sequence[Shown]) -> None:
        """Apply the MCP server's list of exposed entities; () means that there is no list. The list
        applies to entities whose registry entry does not set their exposure, until the next list
        arrives."""
        if self._picture.learn(shown):
            self._wake(None)

    def learn_openings(
        self,
        known: Mapping[str, frozenset[str]],
        tell: Callable[[Mapping[str, frozenset[str]]], None] | None = None,
    ) -> None:
        """Restore earlier observations of which switches open something (`House.seen_opening`).

        New observations are passed to `tell`, which must be quick and must not raise.
        """
        self._picture.recall(known)
        self._tell_opening = tell or self._tell_opening

    def observe(self, observer: Callable[[str | None], None]) -> Callable[[], None]:
        """Call `observer` with the id of each entity that has changed, or with None if anything may
        have changed, and return a function that ends this. It must be quick and must not raise."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def expect(self, entity_ids: Collection[str]) -> None:
        """Announce a call to these entities, so that the changes it causes aren't attributed to a
        switch."""
        self._picture.switches.expect(entity_ids)
        self._expected_until = asyncio.get_running_loop().time() + EXPECTED_S

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        """Wait until `predicate(house)` is true, checking it whenever one of `entity_ids` changes.
        Returns False after `timeout_s`, or immediately if there is no connection."""
        if not self.connected:
            return False
        if predicate(self.house):
            return True
        waiter = _Waiter(frozenset(entity_ids), predicate, asyncio.Event())
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(timeout_s):
                await waiter.met.wait()
        except TimeoutError:
            return False
        finally:
            self._waiters.discard(waiter)
        return True

    def _connected(self) -> Connection:
        if self._connection is None:
            raise self._problem or Unavailable("Home Assistant is not connected.")
        return self._connection

    async def _own(self) -> None:
        pause_s = self._pause_s[0]
        while True:
            self._again.clear()
            try:
                await self._follow()
            except* IntegrationError as group:
                self._problem = first_of(group)
            if self.connected:
                pause_s = self._pause_s[0]
                self._lost_s = self._monotonic()
            self._connection = None
            self._settled.set()
            log.warning("%s", self._problem)
            rejected = isinstance(self._problem, SignInAgain)
            with suppress(TimeoutError):
                async with asyncio.timeout(SIGN_IN_PAUSE_S if rejected else pause_s):
                    await self._again.wait()
            pause_s = min(pause_s * 2, self._pause_s[1])

    async def _follow(self) -> None:
        tls = home_tls(self._url, self._verify_tls, self._ca_file)
        async with (
            open_connection(self._url, self._token, tls) as connection,
            asyncio.TaskGroup() as group,
        ):
            group.create_task(connection.read(), name="home-assistant-reader")
            await connection.subscribe(
                self._on_state_changed, "subscribe_events", event_type="state_changed"
            )
            untold = [
                event
                for event in REGISTRY_EVENTS
                if not await self._subscribe_registry(connection, event)
            ]
            started = await self._is_running(connection)
            self._starting = not started
            await self._load(connection)
            self._connection = connection
            self.openings += 1
            self._problem = None
            self._settled.set()
            for followed in list(self._followed):
                await followed.begin(connection)
            group.create_task(self._search(connection), name="home-assistant-search")
            if not started:
                group.create_task(self._await_running(connection), name="home-assistant-boot")
            await self._keep(connection, again_s=UNTOLD_S if untold else None)

    async def _keep(self, connection: Connection, again_s: float | None) -> None:
        """Read registry entries when they change, or everything after `again_s` without events."""
        while True:
            try:
                async with asyncio.timeout(again_s):
                    await self._stale.came.wait()
            except TimeoutError:
                self._stale.note_everything()
            await asyncio.sleep(self._settle_s)
            stale = self._stale.take()
            registries = await refreshed(connection, self._picture.registries, stale)
            if registries is None:
                await self._is_running(connection)
                await self._load(connection)
                continue
            self._picture.refresh(registries, None if stale.places else stale.entity_ids)
            self._was_read()

    async def _subscribe_registry(self, connection: Connection, event: str) -> bool:
        try:
            await connection.subscribe(
                partial(self._on_registry, event), "subscribe_events", event_type=event
            )
        except Refused as error:
            log.info("Changed names and rooms will be noticed only after a few minutes: %s", error)
            return False
        return True

    async def _load(self, connection: Connection) -> None:
        self._stale.take()
        self._picture.begin_load()
        registries = await read_registries(connection)
        try:
            self._picture.end_load(registries, await connection.command("get_states"))
        except (AttributeError, KeyError, TypeError) as error:
            raise Unavailable(UNKNOWN_FORM) from error
        self._was_read()

    def _was_read(self) -> None:
        self._behind = self._starting or self._stale.came.is_set()
        self._to_search.set()
        self._wake(None)

    async def _await_running(self, connection: Connection) -> None:
        """Wait until Home Assistant has started, then have everything read once more.

        This polls, because Home Assistant sends its start event only to administrators.
        """
        running = False
        while not running:
            await asyncio.sleep(LOOK_AGAIN_S)
            running = await self._is_running(connection)
        self._starting = False
        self._stale.note_everything()

    async def _search(self, connection: Connection) -> None:
        picture = self._picture
        picture.forget_asked()
        reach = (self._url, self._token, self._verify_tls, self._ca_file)
        search = Search(connection, picture, partial(ask_scene, reach))
        while True:
            await self._to_search.wait()
            self._to_search.clear()
            while picture.unsearched and not self._behind:
                await search.go_on()
                self._wake(None)
            await asyncio.sleep(REST_S)

    def _on_registry(self, kind: str, event: Mapping[str, Any]) -> None:
        if not self._behind:
            self._behind = True
            self._picture.doubt_effects()
        self._stale.note(kind, event)

    def _on_state_changed(self, event: Mapping[str, Any]) -> None:
        if asyncio.get_running_loop().time() > self._expected_until:
            self._picture.switches.expect(())
        entity_id = self._picture.change(event)
        if self._tell_opening is not None and (fresh := self._picture.switches.take_fresh()):
            self._tell_opening(fresh)
        if entity_id in self._picture.unsearched:
            self._to_search.set()
        self._wake(entity_id)

    def _wake(self, entity_id: str | None) -> None:
        for observer in self._observers:
            observer(entity_id)
        for waiter in self._waiters:
            if (entity_id is None or entity_id in waiter.entity_ids) and waiter.predicate(
                self.house
            ):
                waiter.met.set()

    async def _is_running(self, connection: Connection) -> bool:
        config = mapping(await connection.command("get_config"))
        settings = read_settings(config)
        if self._picture.set_settings(settings) and self._tell_settings is not None:
            self._tell_settings(settings)
        return bool(config.get("state", RUNNING) == RUNNING)
