"""Build briefings for cloud models from current facts about the home."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from assistant.brains.briefing.home_text import QUIET, around
from assistant.brains.briefing.prompt import (
    MAX_HOME,
    STAY_SILENT_WHEN,
    Circumstances,
    build_instruction,
)
from assistant.config.schema import Settings
from assistant.config.sections import Profile
from assistant.domain.brain import PEOPLE, ConversationOwner
from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.speech.identify import led_by
from assistant.tools.builtin.date_and_weather import DATE_AND_TIME
from assistant.tools.builtin.house import FIND_DEVICES
from assistant.tools.catalog.menu import Menu, MenuEntry
from assistant.tools.catalog.small_menu import Uses, small_menu
from assistant.tools.house.targets import find_area
from assistant.tools.policy.choices import may_use
from integrations.cleaning import one_line
from integrations.errors import IntegrationError
from integrations.gemini.declarations import Declaration
from integrations.home_assistant.context import Shown, read_context
from integrations.home_assistant.house import Entity, House
from integrations.owner import OwnedTasks

# Names in this home, as a hint for transcription.


MAX_NAMES = 200
MAX_CHARACTERS = 4_000  # characters of all names in total
_LONGEST = 60  # characters; longer names are never spoken
_FIRST = ("person", "todo")  # people and lists: there are few, and they are hard to recognise


def vocabulary(house: House, area: str = "") -> tuple[str, ...]:
    """Return names and aliases of exposed entities, and of their rooms and floors.

    Names in `area` come first. There are at most MAX_NAMES names, with MAX_CHARACTERS characters in
    total.
    """
    names: dict[str, str] = {}
    room = MAX_CHARACTERS
    for written in _names(house, area):
        name = one_line(written, _LONGEST + 1)
        key = name.casefold()
        if key in names or len(name) > _LONGEST or not re.search(r"[^\W\d_]{2}", name):
            continue
        room -= len(name)
        if room < 0 or len(names) == MAX_NAMES:
            break
        names[key] = name
    return tuple(names.values())


def _names(house: House, area: str) -> Iterator[str]:
    # The names that are most likely to be spoken come first.
    here = find_area(house, area) if area else None
    here_id = here.area_id if here else None
    things = sorted(house.exposed(), key=lambda entity: _rank(entity, here_id))
    if here is not None:
        yield from (here.name, *here.aliases)
    ours = [entity for entity in things if here_id and entity.area_id == here_id]
    yield from _all(entity.names for entity in ours)
    lived_in = {entity.area_id for entity in things}
    areas = [place for place in house.areas.values() if place.area_id in lived_in]
    yield from _all((place.name, *place.aliases) for place in areas)
    floors = {place.floor_id for place in areas}
    levels = [level for level in house.floors.values() if level.floor_id in floors]
    yield from _all((level.name, *level.aliases) for level in levels)
    yield from _all(entity.names for entity in things)


def _rank(entity: Entity, here_id: str | None) -> tuple[bool, bool]:
    # Entities with equal keys keep Home Assistant's order.
    return entity.domain in QUIET, entity.domain not in _FIRST


def _all(groups: Iterable[Iterable[str]]) -> Iterator[str]:
    for group in groups:
        yield from group


_log = logging.getLogger(__name__)
STAY_SILENT = "StaySilent"
WAIT_S = 1.5  # seconds to wait for the home; after that, the last known state is used
FIRST_S = 4.0  # the same for the first briefing, because a model without tools can do nothing
# Seconds for which a result is reused: connecting in advance and the turn both need a briefing.
FRESH_S = 3.0

_SILENT = Declaration(STAY_SILENT, STAY_SILENT_WHEN, None, ())


# Takes the request and True if it comes from a program. Returns remembered facts. Never raises.
MemoriesFor = Callable[[str, bool], Awaitable[tuple[str, ...]]]
UsesSince = Callable[[datetime], Awaitable[Uses]]  # raises StoreError
USES_DAYS = timedelta(days=30)  # in which uses are counted


@dataclass(frozen=True, slots=True)
class Briefing:
    """A session's instruction, tools and settings."""

    instruction: str
    declarations: tuple[Declaration, ...]
    vocabulary: tuple[str, ...]  # names, as a hint for transcription
    language_codes: tuple[str, ...]  # BCP-47
    thinking: str  # "", "low", "medium" or "high"
    voice: str  # the model's own voice; "" lets the service choose
    note: str = ""  # a note about this turn, for the model


@dataclass(frozen=True, slots=True)
class _SentTools:
    """The tools that are sent to the model, and the facts on which their choice depends."""

    menu: Menu
    uses: Uses
    depends_on: tuple[object, ...]
    declarations: tuple[Declaration, ...]
    entries: Sequence[MenuEntry]


class Briefer:
    """Builds briefings from the tools and the text of Home Assistant's MCP server.

    `menu` lists the current tools. `prompt` returns the server's text, and raises IntegrationError
    while Home Assistant is unreachable. `learn` receives the exposed entities found in each text.
    `memories` returns remembered facts. `uses` counts the calls of each tool; it is called about
    once a day, so that the menu rarely changes. `tasks` owns requests that take longer than a
    briefing waits.
    """

    def __init__(
        self,
        menu: Callable[[], Awaitable[Menu]],
        prompt: Callable[[], Awaitable[str | None]],
        house: Callable[[], House],
        settings: Settings,
        clock: Clock,
        tasks: OwnedTasks,
        *,
        learn: Callable[[Sequence[Shown]], None] | None = None,
        memories: MemoriesFor | None = None,
        own_sentences: Callable[[], tuple[str, ...]] = tuple,
        uses: UsesSince | None = None,
        wait_s: float = WAIT_S,
        first_s: float = FIRST_S,
    ) -> None:
        self._menu_source = menu
        self._prompt_source = prompt
        self._house = house
        self._settings = settings
        self._clock = clock
        self._learn = learn
        self._memories = memories
        self._own_sentences = own_sentences
        self._uses_source = uses
        self._uses: Uses = {}
        self._uses_of: date | None = None  # the day on which they were counted
        self._wait_s = first_s  # applies until the first request has ended, successfully or not
        self._later_s = wait_s
        self._menu = Menu()
        self._sent: _SentTools | None = None
        # Last text; None if Home Assistant is unreachable or hasn't been asked yet.
        self._home: str | None = None
        self._shown: list[Shown] = []  # parsed from `_shown_in`
        self._shown_in = ""
        self._asked: asyncio.Task[bool] | None = None
        self._asked_s = 0.0  # monotonic time at which the last request ended
        self._tasks = tasks

    async def brief(
        self, profile: str = "", said: str = "", owner: ConversationOwner = PEOPLE
    ) -> Briefing:
        """Return the current briefing. Never raises.

        It waits at most `wait_s` for Home Assistant's answers, or `first_s` the first time.
        `profile` is a name in `[profiles]`; "" or an unknown name means no profile. `said` is the
        request, if it is already known.
        """
        await asyncio.wait([self._asking()], timeout=self._wait_s)
        memories: tuple[str, ...] = ()
        if self._memories is not None and owner.recalls:
            memories = await self._memories(said, not owner.is_people)
        settings = self._settings
        chosen = settings.profiles.get(profile) or Profile()
        languages = led_by(chosen.language, settings.assistant.languages)
        house, area = self._house(), settings.assistant.area
        sent = self._tools_for(chosen.tools, house)
        return Briefing(
            instruction=build_instruction(
                Circumstances(
                    name=settings.assistant.name,
                    languages=languages,
                    now=self._clock.now(),
                    home=self._home,
                    silent_tool=STAY_SILENT,
                    clock_tool=_named(DATE_AND_TIME, sent.entries),
                    find_tool=_named(FIND_DEVICES, sent.entries),
                    persona=chosen.persona or settings.assistant.persona,
                    place=settings.assistant.place,
                    area=area,
                    around=around(house, find_area(house, area) if area else None),
                    memories=memories,
                    own_sentences=self._own_sentences(),
                    settings=house.settings,
                )
            ),
            declarations=(*sent.declarations, _SILENT),
            vocabulary=vocabulary(house, area),
            language_codes=languages,
            thinking=chosen.thinking or settings.gemini.thinking,
            voice=chosen.voice or settings.gemini.voice,
        )

    def _tools_for(self, allowed: Sequence[str], house: House) -> _SentTools:
        large = len(self._home or "") > MAX_HOME
        kinds = frozenset((one.domain, one.device_class) for one in house.exposed())
        depends_on = tuple(allowed), large, bool(house.floors), kinds
        # Choosing the tools again in every turn would be the slowest part of a briefing.
        last = self._sent
        if (
            last is not None
            and (last.menu is self._menu and last.uses is self._uses)
            and last.depends_on == depends_on
        ):
            return last
        offered = [
            entry
            for entry in self._menu.offered()
            if entry.always_allowed or may_use(entry.allowed_as, allowed)
        ]
        menu = small_menu(offered, house, self._uses, large=large)
        declared = tuple(one for one in menu if one.name != STAY_SILENT)
        names = {one.name for one in declared}
        entries = [entry for entry in offered if entry.declaration.name in names]
        self._sent = _SentTools(self._menu, self._uses, depends_on, declared, entries)
        return self._sent

    def _asking(self) -> asyncio.Task[bool]:
        # Use the request that is running or has just succeeded.
        task = self._asked
        if task is not None:
            age_s = self._clock.monotonic() - self._asked_s
            if not task.done() or (task.result() and age_s < FRESH_S):
                return task
        self._asked = self._tasks.start(self._ask(), "briefing")
        return self._asked

    async def _ask(self) -> bool:
        try:
            await self._ask_uses()
            well = await asyncio.gather(self._ask_menu(), self._ask_prompt())
        finally:
            self._asked_s = self._clock.monotonic()
            self._wait_s = self._later_s
        return all(well)

    async def _ask_menu(self) -> bool:
        try:
            self._menu = await self._menu_source()
        except Exception:  # the person must get an answer even if this fails
            _log.exception("The tools could not be listed")
            return False
        return True

    async def _ask_uses(self) -> None:
        today = self._clock.now().date()
        if self._uses_source is None or today == self._uses_of:
            return
        try:
            self._uses = await self._uses_source(self._clock.now() - USES_DAYS)
            self._uses_of = today
        except StoreError as error:
            _log.info("The tools' uses could not be counted: %s", error)

    async def _ask_prompt(self) -> bool:
        try:
            self._home = await self._prompt_source() or ""
        except IntegrationError as error:
            _log.info("The home's prompt could not be fetched: %s", error)
            self._home = None
            return False
        except Exception:
            _log.exception("The home's prompt could not be fetched")
            self._home = None
            return False
        await self._teach(self._home)
        return True

    async def _teach(self, home: str) -> None:
        if self._learn is None:
            return
        # A text that hasn't changed isn't parsed again.
        if home != self._shown_in:
            # In a thread, because parsing 5,000 entities takes 30 ms.
            self._shown, self._shown_in = await asyncio.to_thread(read_context, home), home
        self._learn(self._shown)


def _named(suffix: str, offered: Sequence[MenuEntry]) -> str:
    return next((entry.declaration.name for entry in offered if entry.suffix == suffix), "")
