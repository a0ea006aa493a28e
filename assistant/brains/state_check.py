"""Check the engine's answers to state questions against the latest snapshot of the house.

Home Assistant's engine (2026.11) answers "no" for unreachable entities, ignores contact sensors in
questions about doors or windows in general, and answers "yes" if nothing matches.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.domain.tool_call import SentenceMatch
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.answers import HouseAnswers
from assistant.tools.house.names import UNKNOWN
from assistant.tools.house.questions import facts
from assistant.tools.house.targets import find_area
from integrations.home_assistant.house import House

if TYPE_CHECKING:  # slow to import, and not needed for commands
    from assistant.brains.offline.parse import ParsedCommand, Parser

_STATE, _TEMPERATURE = "HassGetState", "HassClimateGetTemperature"


class StateCheck:
    """Replaces the engine's answer to a state question if it can't be trusted.

    `house` returns the latest snapshot, and `age_s` its age in seconds. `area` is this device's
    area.
    """

    def __init__(
        self,
        house: Callable[[], House],
        age_s: Callable[[], float | None],
        catalogue: Catalogue,
        area: str = "",
    ) -> None:
        self._house = house
        self._age_s = age_s
        self._answers = HouseAnswers(catalogue)
        self._catalogue = catalogue
        self._area = area
        self._parser: Parser | None = None
        self._known: object = None  # value of `naming` for which the parser was built

    async def __call__(self, match: SentenceMatch) -> str:
        """Return the answer that replaces the engine's, or "" to keep the engine's answer."""
        if match.intent not in (_STATE, _TEMPERATURE):
            return ""
        house = self._house()
        if match.source != "builtin":  # the owner wrote this sentence and its answer
            return self._of_targets(match, house) if match.targets else ""
        here = find_area(house, self._area) if self._area else None
        command = await asyncio.to_thread(
            self._read, match, house, "" if here is None else here.area_id
        )
        if command is None:
            return self._of_targets(match, house)
        return self._of_command(command, match, house)

    def _read(self, match: SentenceMatch, house: House, here: str) -> "ParsedCommand | None":
        from assistant.brains.offline.names import house_names, naming
        from assistant.brains.offline.parse import ParsedCommand, Parser
        from assistant.brains.offline.settle import settle_target

        known = naming(house)
        if self._parser is None or known != self._known:
            self._parser, self._known = Parser(house_names(house)), known
        command = self._parser.parse(match.text, match.language, here)
        if command is None or command.intent not in (_STATE, _TEMPERATURE):
            return None
        settled = settle_target(command, house, here)
        return settled if isinstance(settled, ParsedCommand) else None

    def _of_command(self, command: "ParsedCommand", match: SentenceMatch, house: House) -> str:
        from assistant.brains.offline.state_answers import answer_state, question_of, room_of

        room = room_of(command, house, match.language)
        if room is None:
            found = facts(question_of(command), house)
            same = {one.entity_id for one in found.asked} == set(match.targets)
            # The engine would say "off" for a contact sensor.
            plain = not any(one.domain == "binary_sensor" for one in found.asked)
            if same and plain and found.asked and found.sure and not found.ajar:
                return ""
        elif not room.sensors:
            return ""
        return answer_state(self._answers, command, house, match.language, self._age_s())

    def _of_targets(self, match: SentenceMatch, house: House) -> str:
        # Only the engine understands the question, so the answer is about the entities that it
        # looked at.
        if match.intent != _STATE:
            return ""
        things = [house.entities[one] for one in match.targets if one in house.entities]
        if not things:
            named = bool(match.slots.get("name"))
            return "" if named else self._catalogue.say("offline.none_there", match.language)
        if all(one.state not in UNKNOWN for one in things):
            return ""
        return self._answers.tell(things, match.language, self._age_s())
