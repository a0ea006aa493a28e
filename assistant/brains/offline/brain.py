"""The offline brain, which understands commands and questions about the house without a network."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.brains.choice import Grasp
from assistant.brains.offline.listen import Listener, Understood
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.plan import Plan, grasp_of, plan
from assistant.brains.offline.state_answers import StateAnswers
from assistant.brains.offline.talk import TALK_S, Talk
from assistant.brains.offline.turn import OfflineTurn
from assistant.domain.brain import ConversationOwner, TurnRequest
from assistant.domain.clock import Clock
from assistant.domain.tool_call import SentenceMatch
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu
from audio.recognize.protocol import Recognizer
from integrations.home_assistant.house import House

_PLACES = frozenset({"area", "floor", "name", "preferred_area_id", "preferred_floor_id"})
_MOST_NOTED = 12  # devices of one sentence that are kept for the next
# Takes a sentence, and True if it was spoken. If the sentence answers the pending question of
# `remember`, returns that tool's arguments and the question's language, otherwise None.
Expected = Callable[[str, bool], Awaitable[tuple[Mapping[str, Any], str] | None]]


async def _nothing(text: str, spoken: bool) -> None:
    return None


async def _live() -> float | None:
    return 0.0


# Takes a sentence and a language. Returns what Home Assistant's engine would do, or None.
Match = Callable[[str, str], Awaitable[SentenceMatch | None]]


async def _unmatched(text: str, language: str) -> SentenceMatch | None:
    return None


@dataclass(frozen=True, slots=True)
class Considered:
    """A sentence that was read before its turn began, and the tools at that time."""

    turn_id: str
    understood: Understood
    menu: Menu


class OfflineBrain:
    """Understands complete commands and questions about the house.

    `house` returns the latest snapshot, and `menu` the current tools. `area` is this device's area.
    Typed sentences can be in any of `languages`. `connected` returns True while Home Assistant is
    reachable. `look` returns the snapshot's age in seconds: 0.0 while it is live, None if there is
    no snapshot. `match` returns what Home Assistant's engine would do with a sentence.
    `meant` returns what the household means by a sentence of its own.
    """

    def __init__(
        self,
        house: Callable[[], House],
        menu: Callable[[], Awaitable[Menu]],
        recognizer: Recognizer,
        catalogue: Catalogue,
        clock: Clock,
        area: str = "",
        languages: Sequence[str] = ("en",),
        *,
        expected: Expected = _nothing,
        connected: Callable[[], bool] = lambda: False,
        look: Callable[[], Awaitable[float | None]] = _live,
        match: Match = _unmatched,
        meant: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.house = house
        self.menu = menu
        self.languages = tuple(languages)
        self.listener = Listener(recognizer, meant)
        self.catalogue = catalogue
        self.clock = clock
        self.expected = expected
        self.connected = connected
        self.look = look
        self.match = match
        self.questions = StateAnswers(catalogue, clock)
        self._area = area.casefold()
        self._talks: dict[ConversationOwner, Talk] = {}
        self._considered: Considered | None = None  # of the last turn

    def talk(self, owner: ConversationOwner) -> Talk:
        """Return the owner's conversation, which is empty after TALK_S without a command."""
        known = self._talks.get(owner, Talk())
        return known if self.clock.monotonic() - known.at < TALK_S else Talk()

    def forget(self) -> None:
        """Forget all conversations."""
        self._talks.clear()

    def note(self, owner: ConversationOwner, match: SentenceMatch) -> None:
        """Add a sentence that Home Assistant's engine has carried out to the conversation."""
        slots = {key: value for key, value in match.slots.items() if key not in _PLACES}
        house = self.house()
        said = ParsedCommand(match.intent, match.text, slots)
        known = [house.entities[one] for one in match.targets if one in house.entities]
        commands = [
            replace(
                said,
                entity_ids=(one.entity_id,),
                name=one.name,
                slots={"domain": one.domain, **slots},
            )
            for one in known[:_MOST_NOTED]
        ]
        self.keep(owner, Talk(tuple(commands) or (said,), self.talk(owner).commands))

    def keep(self, owner: ConversationOwner, talk: Talk) -> None:
        """Keep an owner's conversation for the next sentence."""
        now = self.clock.monotonic()
        others = {key: one for key, one in self._talks.items() if now - one.at < TALK_S}
        self._talks = others | {owner: replace(talk, at=now)}

    @property
    def name(self) -> str:
        return "offline"

    def begin(self, request: TurnRequest) -> OfflineTurn:
        return OfflineTurn(self, request)

    def anticipate(self) -> None:
        """Do nothing. The grammar and the models are prepared while the person is speaking."""

    async def read(self, text: str, language: str, owner: ConversationOwner) -> Understood:
        """Read a sentence in one of the configured languages, `language` first."""
        house, talk = self.house(), self.talk(owner)
        area_id = self.area_id(house)
        for code in dict.fromkeys((language, *self.languages)):
            understood = await self.listener.read(text, code, house, area_id, talk)
            if understood.commands or understood.dropped:
                return understood
        return Understood(text, language)

    def plan(self, understood: Understood, menu: Menu, age_s: float | None = 0.0) -> Plan:
        """Return what would be done, without doing it."""
        house = self.house()
        return plan(
            understood.commands,
            house,
            self.area_id(house),
            menu,
            self.questions,
            understood.language,
            age_s,
            self.clock.now(),
        )

    async def consider(
        self, request: TurnRequest, text: str, language: str, *, keep: bool
    ) -> Grasp:
        """Return how well the grammar understands a sentence.

        With `keep`, the turn itself uses this reading, too. A transcript by this device's own
        recogniser isn't kept, because the recogniser hears the house's commands better.
        """
        menu = await self.menu()
        understood = await self.read(text, language, request.owner)
        if keep:
            self._considered = Considered(request.turn_id, understood, menu)
        return self.grasp(understood, menu)

    def grasp(self, understood: Understood, menu: Menu) -> Grasp:
        if not understood.commands:
            return Grasp.SURE if understood.dropped else Grasp.NONE
        return grasp_of(self.plan(understood, menu), understood.language)

    def considered(self, request: TurnRequest) -> "Considered | None":
        """Return what `consider` has kept for this turn, if anything."""
        kept = self._considered
        return kept if kept is not None and kept.turn_id == request.turn_id else None

    async def prepare(self) -> None:
        """Build the grammar for the current house and load the models, so that the first turn is
        fast."""
        house = self.house()
        await self.listener.prepare(house, self.area_id(house))

    async def warm(self) -> None:
        """Prepare the reader, so that the first typed sentence is answered without delay."""
        house = self.house()
        for language in self.languages:
            await self.listener.read("hello", language, house, self.area_id(house))

    def close(self) -> None:
        self.listener.close()

    def area_id(self, house: House) -> str:
        """Return the id of this device's area, or "" if it is unset or unknown."""
        if not self._area:
            return ""
        for area in house.areas.values():
            names = (area.area_id, area.name, *area.aliases)
            if self._area in (name.casefold() for name in names):
                return area.area_id
        return ""
