"""The rules of what is said although nobody asked: it waits, and never cuts a turn short."""

from dataclasses import replace

from assistant.conversation.effects import Effect, OpenTurn
from assistant.conversation.events import Announced
from assistant.conversation.programs import ForAnswer
from assistant.conversation.state import ANNOUNCEMENTS_WAITING, Machine, State

Step = tuple[Machine, list[Effect]]


def waits(machine: Machine, event: Announced) -> Step:
    """It is kept until the conversation rests; of too many the first are left out."""
    waiting = (*machine.announcements, event)[-ANNOUNCEMENTS_WAITING:]
    return replace(machine, announcements=waiting), []


def next_said(machine: Machine, effects: list[Effect]) -> Step:
    """Once the conversation rests, what waits to be announced is said, one after the other."""
    if not machine.rests or not machine.announcements:
        return machine, effects
    first, *others = machine.announcements
    turn = machine.turn + 1
    announcing = replace(
        machine.fresh(),
        state=State.THINKING,
        turn=turn,
        source="announcement",
        announcing=first,
        announcements=tuple(others),
        confirming="ear" if isinstance(first.then, ForAnswer) else None,
    )
    opening = OpenTurn(
        turn,
        "announcement",
        text=first.text,
        language=first.language,
        manner=first.manner,
        then=first.then,
        caller=first.manner.caller if first.then is None else first.then.caller,
    )
    return announcing, [*effects, opening]
