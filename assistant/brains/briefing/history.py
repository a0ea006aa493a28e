"""What was said before, as text for a session that did not hear it.

It is kept in memory alone, bounded in number and length: the oldest exchange goes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.brains.briefing import prompt as rules
from assistant.brains.briefing.prompt import one_line

MAX_EXCHANGES = 8
MAX_HISTORY = 4_000  # characters of all exchanges
_MAX_SIDE = 600  # characters of one sentence or answer
_MAX_KEPT = 2 * _MAX_SIDE  # of the same, before spaces and line breaks are taken out


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn that is over."""

    heard: str  # what the person said; "" where nobody knows
    answer: str  # what we said; of a `cut` one, the words that were heard
    cut: bool = False  # it was cut off
    turn_id: str = ""


def bounded(exchange: Exchange) -> Exchange:
    """The exchange with no more of each side than can ever be told."""
    return replace(exchange, heard=exchange.heard[:_MAX_KEPT], answer=exchange.answer[:_MAX_KEPT])


def with_history(instruction: str, exchanges: Sequence[Exchange]) -> str:
    """The instruction followed by the newest of `exchanges` (given in their order)."""
    kept: list[str] = []
    room = MAX_HISTORY
    for exchange in reversed(exchanges[-MAX_EXCHANGES:]):
        text = _told(exchange)
        room -= len(text) + 1
        if room < 0:
            break
        if text:
            kept.append(text)
    if not kept:
        return instruction
    return f"{instruction}\n\n{rules.HISTORY.format(text=chr(10).join(reversed(kept)))}"


def _told(exchange: Exchange) -> str:
    heard, answer = (_short(one_line(said)) for said in (exchange.heard, exchange.answer))
    if exchange.cut:
        answer = f"{answer} {rules.CUT_OFF}".strip()
    sides = (("Person", heard), ("You", answer))
    return "\n".join(f"{who}: {said}" for who, said in sides if said)


def _short(said: str) -> str:
    return said if len(said) <= _MAX_SIDE else f"{said[: _MAX_SIDE - 2]} …"
