"""Holds the engine's answers to questions about states against the live picture.

Home Assistant's engine (2026.11) takes what is out of reach for a "no", knows no contact sensor
when doors or windows in general are asked about, and answers "yes" where nothing at all is meant:
"are all windows closed" over no window. Where it looked at other things than the question is about,
or where one of them is not known, Hearth's own answer counts.
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

if TYPE_CHECKING:  # templates and their library take long to load, and a command needs none
    from assistant.brains.offline.parse import ParsedCommand, Parser

_STATE, _TEMPERATURE = "HassGetState", "HassClimateGetTemperature"


class StateCheck:
    """Gives Hearth's own answer where the engine's is not to be trusted."""

    def __init__(
        self,
        house: Callable[[], House],
        age_s: Callable[[], float | None],
        catalogue: Catalogue,
        area: str = "",
    ) -> None:
        """`house`, `age_s`: the newest picture and the seconds since it was live; `area`: the room
        of this box."""
        self._house = house
        self._age_s = age_s
        self._answers = HouseAnswers(catalogue)
        self._catalogue = catalogue
        self._area = area
        self._parser: Parser | None = None
        self._known: object = None  # the names that the parser is made of

    async def __call__(self, match: SentenceMatch) -> str:
        """Return the answer that is to be given instead of the engine's, "" where that counts."""
        if match.intent not in (_STATE, _TEMPERATURE):
            return ""
        house = self._house()
        if match.source != "builtin":  # its owner wrote the sentence and what is answered to it
            return self._of_targets(match, house) if match.targets else ""
        here = find_area(house, self._area) if self._area else None
        command = await asyncio.to_thread(
            self._read, match, house, "" if here is None else here.area_id
        )
        if command is None:
            return self._of_targets(match, house)
        return self._of_command(command, match, house)

    def _read(self, match: SentenceMatch, house: House, here: str) -> "ParsedCommand | None":
        """The question as Hearth understands it; None where it does not, or where it is not sure
        what is meant."""
        from assistant.brains.offline.calls import Problem, settle_target
        from assistant.brains.offline.names import house_names, naming
        from assistant.brains.offline.parse import Parser

        known = naming(house)
        if self._parser is None or known != self._known:
            self._parser, self._known = Parser(house_names(house)), known
        command = self._parser.parse(match.text, match.language, here)
        if command is None or command.intent not in (_STATE, _TEMPERATURE):
            return None
        settled = settle_target(command, house, here)
        return None if isinstance(settled, Problem) else settled

    def _of_command(self, command: "ParsedCommand", match: SentenceMatch, house: House) -> str:
        from assistant.brains.offline.answers import answer_state, question_of, room_of

        room = room_of(command, house)
        if room is None:
            found = facts(question_of(command), house)
            same = {one.entity_id for one in found.asked} == set(match.targets)
            # Of a contact it says "off".
            plain = not any(one.domain == "binary_sensor" for one in found.asked)
            if same and plain and found.asked and found.sure and not found.ajar:
                return ""
        elif not room.sensors:
            return ""
        return answer_state(self._answers, command, house, match.language, self._age_s())

    def _of_targets(self, match: SentenceMatch, house: House) -> str:
        """Of a question that only the engine understands nothing is known but what it looks at."""
        if match.intent != _STATE:
            return ""
        things = [house.entities[one] for one in match.targets if one in house.entities]
        if not things:
            named = bool(match.slots.get("name"))
            return "" if named else self._catalogue.say("offline.none_there", match.language)
        if all(one.state not in UNKNOWN for one in things):
            return ""
        return self._answers.tell(things, match.language, self._age_s())
