"""Keep what was said last in a conversation, so that the next sentence can refer to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.brains.offline.frames import Ask
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.targets import Target, members
from assistant.tools.house.intents import INTENTS
from integrations.home_assistant.house import House

TALK_S = 180.0  # seconds after which the last command no longer explains a sentence


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation's last commands and its pending question."""

    commands: tuple[ParsedCommand, ...] = ()
    before: tuple[ParsedCommand, ...] = ()  # the commands before those
    asked: Ask | None = None
    others: tuple[ParsedCommand, ...] = ()  # commands that wait with the question
    asks_room: bool = False  # the last command was not run, because its room is unknown
    at: float = 0.0  # monotonic time

    def recent(self, house: House) -> tuple[str, ...]:
        """Return the ids of the devices that the last commands were about."""
        return _ids_of(self.commands, house)

    def names_one(self, house: House) -> bool:
        """Return True if the last command named a device in the singular."""
        if len(self.commands) != 1 or len(self.recent(house)) != 1:
            return False
        words = (self.commands[0].name or self.commands[0].text).split()
        return not any(len(word) > 3 and word.endswith("s") for word in words)

    def earlier(self, house: House) -> tuple[str, ...]:
        """Return the ids of the devices that the commands before the last ones were about."""
        return _ids_of(self.before, house)


def _ids_of(commands: Sequence[ParsedCommand], house: House) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for said in commands:
        command = said.later or said
        known = [one for one in command.entity_ids if one in house.entities]
        if not known and (domain := domain_of(command, "")):
            target = Target((), domain, command.area_id, command.floor_id)
            known = [one.entity_id for one in members(target, house)]
        found |= dict.fromkeys(known)
    return tuple(found)


def domain_of(command: ParsedCommand, default: str = "light") -> str:
    """Return the domain of the command's devices, or the default if it can be any."""
    intent = INTENTS.get(command.intent)
    own = next(iter(intent.domains)) if intent and intent.domains else ""
    own = "climate" if command.intent == "HassClimateGetTemperature" else own
    ids = [one.partition(".")[0] for one in command.entity_ids]
    return str(command.slots.get("domain") or next(iter(ids), own) or default)
