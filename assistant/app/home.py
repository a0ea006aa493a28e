"""Opens the house for one process: the connection to Home Assistant, the tools and the store."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assistant.app.guards import Governed, PolicyContexts, open_governance, rulings_of
from assistant.brains.state_check import StateCheck
from assistant.config.schema import Settings, own_paths
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.events import EventBus
from assistant.domain.tool_call import Mode
from assistant.interfaces.device.registration import HouseDevice
from assistant.journal.audit import Discreet
from assistant.journal.store import Store
from assistant.memory.own_sentences import OwnSentences
from assistant.memory.tools import Memories
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.audit_tools import AuditTools, Marking
from assistant.tools.builtin.box_settings import SetMode
from assistant.tools.builtin.house import find_devices, live_context
from assistant.tools.builtin.protocol import BuiltIn
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.choices import SeenOpening
from assistant.tools.policy.fields import ask_scripts
from assistant.tools.undo.stack import UndoStack
from assistant.tools.undo.tools import Undoing, through
from integrations.errors import IntegrationError
from integrations.home_assistant.assist import Conversation
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.context import read_context
from integrations.home_assistant.house import House, HouseSettings
from integrations.home_assistant.media import Cameras
from integrations.home_assistant.rest import diagnose
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import (
    HOME_ASSISTANT,
    HomeAside,
    ServerSpec,
    home_assistant_server,
)
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from integrations.demo_home.rest import DemoHome

DEMO = "demo"  # a value of home_assistant.url
LEARN_S = 300.0  # seconds between reads of the exposed entities, if no turn reads them
_LEARN_WITHIN_S = 2.0  # seconds to wait for the first read

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HomeContext:
    """The house, its tools and the store, without the parts that listen and speak."""

    store: Store
    client: HomeAssistant  # the connection to the house
    hub: McpHub
    device: HouseDevice  # Hearth's device in Home Assistant
    conversation: Conversation  # Home Assistant's conversation engine
    tools: Toolbox
    policy_contexts: PolicyContexts  # the mode and the owner's ratings
    memories: Memories  # facts that users asked Hearth to remember
    own_sentences: OwnSentences
    catalogue: Catalogue
    cameras: Cameras
    bus: EventBus  # for automations and displays
    demo: "DemoHome | None"  # the simulated house, if `home_assistant.url` is "demo"

    def keeps_words(self) -> bool:
        """Return False in guest mode, in which transcripts are not stored."""
        return self.policy_contexts.modes.current is not Mode.GUEST

    def own_device(self) -> str:
        return self.device.device_id


@asynccontextmanager
async def open_home(
    settings: Settings,
    clock: Clock,
    *,
    resident: bool = False,
    store: Store | None = None,
    catalogue: Catalogue | None = None,
) -> AsyncIterator[HomeContext]:
    """Open the store, Home Assistant and the tool servers. Raises ConfigError and StoreError.

    `resident` is True in the daemon, which holds the data folder's lock. If a `store` is passed, it
    stays open on exit.
    """
    async with AsyncExitStack() as stack:
        demo = await _demo(settings, stack)
        url, token = settings.home_assistant.url, settings.home_assistant.token.get_secret_value()
        if demo is not None:
            url, token = demo.url, demo.person_token
        if store is None:
            store = await stack.enter_async_context(Store(settings.database, clock))
        device = HouseDevice(settings, clock)
        home = HomeAssistant(url, token, *_tls(settings))
        catalogue = catalogue or Catalogue()
        home.on_settings(partial(_follow_settings, clock, catalogue, real=demo is None))
        hub = await stack.enter_async_context(_hub(settings, url, token, device, home))
        # Start this first: if the house is unreachable, both timeouts then run at the same time.
        tasks = await stack.enter_async_context(OwnedTasks())
        if settings.mcp.servers:
            tasks.start(_list(hub), "the tool servers, begun early")
        learning = tasks.start(_learn(hub, home), "what is exposed")
        await stack.enter_async_context(home)
        contexts = PolicyContexts(store, clock, settings)
        await contexts.load()
        own_sentences = OwnSentences(store)
        await own_sentences.load()
        tasks.start(contexts.follow(), "mode and ratings")
        await stack.enter_async_context(SeenOpening(home, store, contexts.ratings, clock))
        governed = await stack.enter_async_context(
            open_governance(settings, store, home, contexts, clock, resident=resident)
        )
        engine = Conversation(home, lambda: device.device_id or None)
        tools = _toolbox(settings, clock, hub, home, engine, store, catalogue, contexts, governed)
        memories = _memories(settings, store, catalogue, clock, contexts)
        _offer(tools, home, store, catalogue, clock, contexts, memories, governed.undo)
        if home.connected:
            await asyncio.wait([learning], timeout=_LEARN_WITHIN_S)
        tasks.start(_keep_learning(hub, home), "what is exposed, again")
        yield HomeContext(
            store,
            home,
            hub,
            device,
            engine,
            tools,
            contexts,
            memories,
            own_sentences,
            catalogue,
            Cameras(url, token, *_tls(settings)),
            EventBus(lambda: not _is_guest(contexts)),
            demo,
        )


def _follow_settings(
    clock: Clock, catalogue: Catalogue, house: HouseSettings, *, real: bool
) -> None:
    catalogue.use_country(house.country)
    if real and isinstance(clock, SystemClock):  # the simulated house is in the machine's time zone
        clock.use_zone(house.time_zone)


async def _demo(settings: Settings, stack: AsyncExitStack) -> "DemoHome | None":
    if settings.home_assistant.url != DEMO:
        return None
    # Import this only if needed: the MCP server package takes as long to import as everything
    # else that a short command needs.
    from integrations.demo_home.rest import DemoHome

    return await stack.enter_async_context(DemoHome())


def _toolbox(
    settings: Settings,
    clock: Clock,
    hub: McpHub,
    home: HomeAssistant,
    engine: Conversation,
    store: Store,
    catalogue: Catalogue,
    contexts: PolicyContexts,
    governed: Governed,
) -> Toolbox:
    return Toolbox(
        hub,
        home,
        Discreet(store, governed.keeps_words),
        catalogue,
        clock,
        area=settings.assistant.area,
        engine=engine,
        check=StateCheck(
            partial(_house, home), lambda: home.age_s, catalogue, settings.assistant.area
        ),
        rulings=rulings_of(settings.policy),
        ask_scripts=partial(ask_scripts, home.command),
        moment=contexts,
        governance=governed.governance,
    )


def _memories(
    settings: Settings,
    store: Store,
    catalogue: Catalogue,
    clock: Clock,
    contexts: PolicyContexts,
) -> Memories:
    return Memories(
        store.memory,
        catalogue,
        clock,
        private=partial(_is_guest, contexts),
        lately=partial(_lately, store),
        area=settings.assistant.area,
    )


def _offer(
    tools: Toolbox,
    home: HomeAssistant,
    store: Store,
    catalogue: Catalogue,
    clock: Clock,
    contexts: PolicyContexts,
    memories: Memories,
    undo: UndoStack,
) -> None:
    house = partial(_house, home)
    tools.offer(find_devices(home, catalogue), live_context(home, catalogue, clock))
    tools.offer(SetMode(contexts.modes, catalogue, clock).tool(), *memories.tools())
    tools.offer(*_undoing(undo, tools, house, catalogue))
    tools.offer(*AuditTools(store, house, catalogue, clock).tools())
    tools.offer(Marking(store.reports, catalogue, clock).tool())


def _undoing(
    stack: UndoStack, tools: Toolbox, house: Callable[[], House], catalogue: Catalogue
) -> tuple[BuiltIn, ...]:
    return Undoing(stack, through(tools), lambda: tools.current_menu, house, catalogue).tools()


def _hub(
    settings: Settings, url: str, token: str, device: HouseDevice, home: HomeAssistant
) -> McpHub:
    why_away = partial(diagnose, url, token, *_tls(settings))
    aside = HomeAside(device.meta, why_away, partial(_here, home))
    return McpHub(_servers(settings, url, token), home=aside)


def _servers(settings: Settings, url: str, token: str) -> list[ServerSpec]:
    verify_tls, ca_file = _tls(settings)
    home = home_assistant_server(url, token, verify_tls=verify_tls, ca_file=ca_file)
    return [home, *_other_servers(settings)]


def _tls(settings: Settings) -> tuple[bool, str]:
    return settings.home_assistant.verify_tls, settings.home_assistant.ca_file


def _house(home: HomeAssistant) -> House:
    return home.house


async def _lately(store: Store) -> str:
    turns = await store.turns_of_people(1)
    return (turns[0].heard if turns else None) or ""


def _is_guest(contexts: PolicyContexts) -> bool:
    return contexts.modes.current is Mode.GUEST


def _here(home: HomeAssistant) -> bool:
    """Return True unless Home Assistant is known to be unreachable."""
    return home.connected or home.problem is None


async def _learn(hub: McpHub, home: HomeAssistant) -> None:
    """Read from Home Assistant's MCP server which entities are exposed to assistants. The entity
    registry doesn't say this for every entity."""
    try:
        home.learn_exposure(read_context(await hub.prompt(HOME_ASSISTANT) or ""))
    except IntegrationError as error:
        _log.info("Could not find out which entities are exposed to the assistant: %s", error)


async def _list(hub: McpHub) -> None:
    """Start the tool servers early, so that the first turn doesn't wait for them."""
    await hub.tools()


async def _keep_learning(hub: McpHub, home: HomeAssistant) -> None:
    while True:
        await asyncio.sleep(LEARN_S)
        await _learn(hub, home)


def _other_servers(settings: Settings) -> list[ServerSpec]:
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    closed = (*map(str, own_paths(settings)), *([credentials] if credentials else []))
    return [
        ServerSpec(
            name=server.name,
            transport=server.transport,
            url=server.url,
            headers={key: value.get_secret_value() for key, value in server.headers.items()},
            command=server.command,
            args=server.args,
            env={key: value.get_secret_value() for key, value in server.env.items()},
            cwd=server.cwd or None,
            folders=server.folders,
            sandbox=server.sandbox,
            closed=closed,
            timeout_s=server.timeout_s,
            verify_tls=server.verify_tls,
            ca_file=server.ca_file,
            trust=server.trust,
            allow=server.allow,
            deny=server.deny,
        )
        for server in settings.mcp.servers
    ]
