"""The embedded house as a stage: put back before each sentence, looked at after it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.app import App
from assistant.tools.outcome import Decision
from assistant.turn.log import FinishedTurn
from integrations.demo_home.house import DemoHouse, Snapshot
from integrations.home_assistant.house import House
from integrations.home_assistant.snapshots import is_snapshot

FOLDER = Path(__file__).parent
_SETTLE_S = 2.0  # longest journey of a cover or a lock, and of its news
_ON_ITS_WAY = frozenset({"opening", "closing", "locking", "unlocking", "returning"})


@dataclass(frozen=True, slots=True)
class Wish:
    """One sentence and all that it must lead to.

    `changes`: "entity" or "entity.attribute" to the values that are right; no other entity may
    change. `answer`: a pattern for the spoken answer, `refused`: what the refused call names.
    """

    sentence: str
    changes: Mapping[str, tuple[str, ...]]
    given: Mapping[str, str]  # states that differ from the house's first ones
    answer: str = ""
    refused: str = ""

    @property
    def is_talk(self) -> bool:
        """Must nothing come of it?"""
        return not (self.changes or self.answer or self.refused)


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one sentence."""

    woken: bool
    heard: str = ""
    answer: str = ""
    calls: tuple[str, ...] = ()  # all that were made, as text
    denied: tuple[str, ...] = ()  # those of them that were refused
    changes: Mapping[str, str] | None = None  # "entity" and "entity.attribute" to the new value

    @property
    def changed(self) -> set[str]:
        """The entities that are different now."""
        return {".".join(key.split(".")[:2]) for key in self.changes or {}}


def meets(wish: Wish, seen: Seen, now: Mapping[str, str]) -> bool:
    """Is that exactly what was wished? `now`: states and attributes after the sentence."""
    if wish.answer:
        return not seen.calls and bool(re.search(wish.answer, seen.answer, re.IGNORECASE))
    if wish.refused:
        return not seen.changed and any(wish.refused in call.casefold() for call in seen.denied)
    wanted = {".".join(key.split(".")[:2]) for key in wish.changes}
    return seen.changed == wanted and all(
        now[key] in values for key, values in wish.changes.items()
    )


def house_commands() -> list[Wish]:
    """The table of commands: sentence, what it must lead to, and the states that it needs."""
    lines = (FOLDER / "house_commands.tsv").read_text(encoding="utf-8").splitlines()
    return [_wish(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def house_talk() -> list[str]:
    """Sentences that must lead to nothing."""
    text = (FOLDER / "house_talk.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _wish(sentence: str, right: str, given: str = "") -> Wish:
    states = {key: value for key, _, value in (word.partition("=") for word in given.split())}
    for kind in ("answer", "refused"):
        if right.startswith(f"{kind}:"):
            return Wish(sentence, {}, states, **{kind: right.partition(":")[2]})
    pairs = (word.partition("=") for word in right.split())
    return Wish(sentence, {key: tuple(value.split("|")) for key, _, value in pairs}, states)


_NOT_RUN = (Decision.DENIED, Decision.NEEDS_CONFIRMATION)


class Stage:
    """Puts the embedded house of an app back, and says what is different."""

    def __init__(self, app: App) -> None:
        assert app.bridge.demo is not None
        self.app = app
        self._house: DemoHouse = app.bridge.demo.house
        self._first = self._house.all()
        self._before: dict[str, str] = {}

    async def reset(self, given: Mapping[str, str]) -> None:
        """Every entity as in the beginning, except the given states; Hearth has seen it."""
        self._house.stop()
        self._house.remembered.clear()
        for items in self._house.todo.values():
            items.clear()
        for first in self._first:
            state = given.get(first.entity_id, first.state)
            self._house.write(first.entity_id, state, **first.attributes)
        if not await self._wait(lambda house: _same(house, self._first_now())):
            raise RuntimeError("Hearth does not see the house as it was put back")
        self._before = self.now()

    async def look(self, turn: FinishedTurn | None) -> Seen:
        """What the turn did, once everything has arrived."""
        await self._wait(lambda _: not any(s.state in _ON_ITS_WAY for s in self._house.all()))
        now = self.now()
        changes = {key: now[key] for key in now if self._before.get(key) != now[key]}
        if turn is None:
            return Seen(False, changes=changes)
        calls = [(f"{call.name} {json.dumps(call.arguments)}", call) for call in turn.outcomes]
        return Seen(
            True,
            turn.record.heard or "",
            turn.record.answer or "",
            tuple(text for text, _ in calls),
            tuple(text for text, call in calls if call.decision in _NOT_RUN),
            changes,
        )

    def _first_now(self) -> list[Snapshot]:
        return [self._house.get(first.entity_id) for first in self._first]

    def now(self) -> dict[str, str]:
        """Every state and attribute as text."""
        shown = self._house.all()
        return _flat(one for one in shown if not is_snapshot(one.entity_id))

    async def _wait(self, predicate: Callable[[House], bool]) -> bool:
        ids = [first.entity_id for first in self._first]
        return await self.app.bridge.home.wait_for(ids, predicate, _SETTLE_S)


def _flat(snapshots: Iterable[Snapshot]) -> dict[str, str]:
    flat: dict[str, str] = {}
    for snapshot in snapshots:
        flat[snapshot.entity_id] = snapshot.state
        for key, value in snapshot.attributes.items():
            flat[f"{snapshot.entity_id}.{key}"] = _text(value)
    return flat


def _text(value: object) -> str:
    """A value as the table writes it: 21 for 21.0, 255,0,0 for a colour."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _same(house: House, snapshots: Iterable[Snapshot]) -> bool:
    """Does Hearth's picture hold these states and attributes?"""
    for snapshot in snapshots:
        entity = house.entities.get(snapshot.entity_id)
        if entity is None:
            continue
        if entity.state != snapshot.state:
            return False
        if json.dumps(dict(entity.attributes)) != json.dumps(dict(snapshot.attributes)):
            return False
    return True
