"""One thing that can be undone, and what came of undoing it."""

import logging
from dataclasses import dataclass
from typing import Protocol

_log = logging.getLogger(__name__)

# Why something is not as it was: keys of the catalogue.
WHY_NOT_REACHED = "undo.why_not_reached"  # it cannot be reached now
WHY_WAS_AWAY = "undo.why_was_away"  # it could not be reached, so that nobody knows how it was
WHY_NEVER = "undo.why_never"  # a lock, an opener, an alarm and the like
WHY_NOT_KEPT = "undo.why_not_kept"  # the home did not keep it in time
WHY_OPENER = "undo.why_opener"  # meanwhile it has become something that opens
WHY_MEDIA = "undo.why_media"  # another track or channel
WHY_OTHERWISE = "undo.why_otherwise"  # it was asked, and does not show it
WHY_UNKNOWN = "undo.why_unknown"  # nobody knows how


@dataclass(frozen=True, slots=True)
class NotPutBack:
    """One thing that is not as it was."""

    name: str  # as people say it; "" where it has none to tell
    why: str = WHY_OTHERWISE  # key of the catalogue


@dataclass(frozen=True, slots=True)
class UndoneReport:
    """What came of it, by the things' names as people say them ("" where it has none to tell)."""

    put_back: tuple[str, ...] = ()  # seen to be as before
    on_the_way: tuple[str, ...] = ()  # still moving there
    unchanged: tuple[str, ...] = ()  # were as before all the time
    not_put_back: tuple[NotPutBack, ...] = ()

    def __add__(self, other: "UndoneReport") -> "UndoneReport":
        return UndoneReport(
            self.put_back + other.put_back,
            self.on_the_way + other.on_the_way,
            self.unchanged + other.unchanged,
            self.not_put_back + other.not_put_back,
        )


class UndoStep(Protocol):
    """One thing that can be undone once, within `stack.LIFE_S`."""

    async def run(self) -> UndoneReport:
        """Put it back. What cannot be is told in the report."""
        ...

    async def forget(self) -> None:
        """It was run, or never will be: let go of what is kept for it. Called once."""
        ...


UNKNOWN = UndoneReport(not_put_back=(NotPutBack("", WHY_UNKNOWN),))


async def ran(step: UndoStep) -> UndoneReport:
    """Run a step and return its report. One that is broken must not cost the others: never raises
    but for being cancelled."""
    try:
        return await step.run()
    except Exception:
        _log.exception("A change could not be undone")
        return UNKNOWN


async def forgotten(step: UndoStep) -> None:
    """Let go of what is kept for a step. Never raises but for being cancelled."""
    try:
        await step.forget()
    except Exception:
        _log.exception("What was kept for a change could not be let go")
