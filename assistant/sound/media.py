"""Lowering of the room's media players during a conversation.

While Hearth is preparing an answer, the players are back at their usual volume, because "louder"
must start from the volume that the user knows. Their previous volumes are stored before they are
changed, so that the next process can restore them if this one dies.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Literal, Self

from assistant.config.sound import Media
from assistant.confirmation.witness import playing
from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError
from assistant.tools.house.targets import find_area, has_features
from audio.timing import Alarm
from integrations.errors import IntegrationError
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House, texts
from integrations.home_assistant.reasons import Unanswered
from integrations.home_assistant.services import Services
from integrations.owner import OwnedTasks

Means = Literal["lower", "pause"]

NAME = "media_lowered"  # key in the store
CALL_S = 2.0  # seconds to wait for one response from Home Assistant
LOOK_S = 1.0  # seconds between checks of the room; turns are noticed immediately
WATCH_S = 0.25  # the same while a player has yet to show a requested change
TRIES = 3  # attempts to restore a player
KEEP = timedelta(hours=24)  # a player that is off for this long is no longer restored

_LOWERED = frozenset(
    {State.WAKING, State.LISTENING, State.SPEAKING, State.CONFIRMING, State.FOLLOW_UP}
)
_log = logging.getLogger(__name__)
# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _VOLUME_SET, _PLAY = 1, 4, 16384
_PLAYING = ("playing", "buffering")
_AWAY = ("unavailable", "unknown")
_SAME = 0.011  # volumes this close are equal, because some players have only 100 steps
_ROUNDED = 0.04  # largest rounding error of players with few steps


@dataclass(frozen=True, slots=True)
class Touched:
    """A player that Hearth has lowered or paused."""

    entity_id: str
    was: float | None  # previous volume, 0 to 1; None if the player was paused instead
    put: float | None  # the volume that Hearth set, later as the player shows it
    took: bool = False  # True once the player has shown the change

    @property
    def paused(self) -> bool:
        return self.was is None

    def action(self, *, back: bool) -> tuple[str, Mapping[str, Any]]:
        """Return the Home Assistant action that lowers the player, or restores it if `back` is
        True, and the action's data."""
        if self.paused:
            return "media_play" if back else "media_pause", {}
        return "volume_set", {"volume_level": self.was if back else self.put}


class PlayerVerdict(Enum):
    """State of a player that Hearth has lowered or paused."""

    OURS = auto()  # as Hearth set it
    PENDING = auto()  # the change is not visible yet
    BACK = auto()  # as it was before
    CHANGED = auto()  # somebody has changed it, so Hearth leaves it alone
    UNKNOWN = auto()  # off or unavailable


def playing_in(house: House, area_id: str, own_device: str = "") -> list[Entity]:
    """Return the area's audible players, with groups replaced by their members. The player of
    Hearth's own device, whose id is `own_device`, is left out."""
    found: dict[str, Entity] = {}
    for player in playing(house, area_id):
        for one in _members(house, player):
            aloud = one.attributes.get("is_volume_muted") is not True and volume_of(one) != 0.0
            if aloud and not (own_device and one.device_id == own_device):
                found[one.entity_id] = one
    # Leave out players that a `universal` player represents, because it sets their volume.
    stood_for = {str(one.attributes.get("active_child")) for one in found.values()}
    return [one for one in found.values() if one.entity_id not in stood_for]


def touches(players: list[Entity], means: Means, lower_to: float) -> list[Touched]:
    """Decide which of the players to lower or pause, and how. `lower_to` is a fraction of the
    current volume."""
    if means == "pause":
        able = [one for one in players if has_features(one, _PAUSE | _PLAY)]
        ids = {one.entity_id for one in able}
        # Joined players share one stream, so pausing their leader pauses all of them.
        return [
            Touched(one.entity_id, None, None)
            for one in able
            if _leader(one) == one.entity_id or _leader(one) not in ids
        ]
    lowered = []
    for one in players:
        volume = volume_of(one)
        if volume is not None and has_features(one, _VOLUME_SET):
            put = round(volume * lower_to, 2)
            if volume - put > _SAME:
                lowered.append(Touched(one.entity_id, volume, put))
    return lowered


def judge(touched: Touched, now: Entity | None, *, restoring: bool = False) -> PlayerVerdict:
    """Compare a player's current state with what Hearth did to it. `restoring` is True if Hearth
    has already asked the player to return to its previous state."""
    if now is None or now.state in _AWAY:
        return PlayerVerdict.UNKNOWN
    if touched.paused:
        return _judge_paused(touched, now, restoring=restoring)
    volume = volume_of(now)
    if volume is None or touched.was is None or touched.put is None:
        return PlayerVerdict.UNKNOWN
    if abs(volume - touched.was) <= _SAME and (touched.took or restoring):
        return PlayerVerdict.BACK
    if abs(volume - touched.put) <= (_SAME if touched.took else _ROUNDED):
        return PlayerVerdict.OURS
    return PlayerVerdict.PENDING if abs(volume - touched.was) <= _SAME else PlayerVerdict.CHANGED


def seen(touched: Touched, now: Entity | None) -> Touched:
    """Return `touched` updated with the player's actual volume, once the player shows
    the change."""
    if touched.took or judge(touched, now) is not PlayerVerdict.OURS or now is None:
        return touched
    return replace(touched, took=True, put=None if touched.paused else volume_of(now))


def volume_of(player: Entity) -> float | None:
    """Return a player's volume from 0 to 1, or None if it reports none, for instance while off."""
    volume = player.attributes.get("volume_level")
    if isinstance(volume, bool) or not isinstance(volume, int | float):
        return None
    return float(volume)


def _judge_paused(touched: Touched, now: Entity, *, restoring: bool) -> PlayerVerdict:
    if now.state == "paused":
        return PlayerVerdict.OURS
    if now.state not in _PLAYING:
        return PlayerVerdict.CHANGED
    if restoring:
        return PlayerVerdict.BACK
    return PlayerVerdict.CHANGED if touched.took else PlayerVerdict.PENDING


def _members(house: House, player: Entity) -> list[Entity]:
    """Return a group's playing members in the same area, or the player itself if it isn't a group.
    Setting a group's volume would make all members equally loud."""
    found = (house.entities.get(name) for name in texts(player.attributes.get("entity_id")))
    members = [one for one in found if one is not None]
    if not members:
        return [player]
    here = (None, player.area_id)
    return [one for one in members if one.state in _PLAYING and one.area_id in here]


def _leader(player: Entity) -> str:
    joined = texts(player.attributes.get("group_members"))
    return joined[0] if joined else player.entity_id


@dataclass(slots=True)
class _Held:
    touched: Touched
    since: datetime
    asked_s: float = 0.0  # monotonic time of the last attempt to restore it
    tries: int = 0  # attempts to restore it; 0 while it is lowered

    def judge(self, house: House) -> PlayerVerdict:
        now = house.entities.get(self.touched.entity_id)
        return judge(self.touched, now, restoring=self.tries > 0)

    def as_row(self) -> dict[str, Any]:
        one = self.touched
        since = self.since.isoformat()
        return {"entity_id": one.entity_id, "was": one.was, "put": one.put, "since": since}

    def look_at(self, house: House) -> None:
        if not self.tries:
            self.touched = seen(self.touched, house.entities.get(self.touched.entity_id))

    def lower_again(self) -> None:
        self.touched, self.tries = replace(self.touched, took=False), 0

    def ask_back(self, now_s: float) -> None:
        self.tries += 1
        self.asked_s = now_s


class RoomMedia:
    """Lowers and restores the media players of one room. Use it as a context manager, and pass
    `stand` to the conversation runner as an observer."""

    def __init__(
        self,
        home: HomeAssistant,
        services: Services,
        kept: SmallValues,
        clock: Clock,
        settings: Media,
        area: str,
        own_device: Callable[[], str] = lambda: "",
        on_plays: Callable[[bool], None] = lambda plays: None,
    ) -> None:
        """`area` is the setting `assistant.area`; if it is empty, no player is touched.
        `own_device` returns the id of Hearth's own device, whose player is left alone. `on_plays`
        is called when media starts or stops playing in the room, and must not block."""
        self._home = home
        self._services = services
        self._kept = kept
        self._clock = clock
        self._settings = settings
        self._area = area
        self._own_device = own_device
        self._held: dict[str, _Held] = {}  # by entity id
        self._written: list[dict[str, Any]] = []  # rows in the store
        self._wanted = self._lowered = False
        self._alarm = Alarm(clock)  # wakes the task when players must be lowered or restored
        self._seen: House | None = None  # the snapshot from which `plays` was derived
        self.plays = False  # media is playing in the room, lowered or not; at most a second old
        self._on_plays = on_plays
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._follow(), "media of the room")
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._owner.__aexit__(*error)
        self._alarm.close()
        with suppress(TimeoutError):  # if it takes longer, the next process restores them
            async with asyncio.timeout(CALL_S):
                await self._put_back(last=True)

    def stand(self, standing: Standing) -> None:
        """Handle a change of the conversation's state. Returns immediately."""
        wanted = standing.state in _LOWERED and self._settings.during_turn != "leave"
        if wanted is not self._wanted:
            self._wanted = wanted
            self._alarm.ring()

    async def _follow(self) -> None:
        await self._load()
        while True:
            self._look()
            if self._wanted and not self._lowered:
                self._lowered = True
                await self._lower()
            elif self._wanted:
                await self._write()  # save the volumes that the players have set
            else:
                self._lowered = False
                await self._put_back()
            moving = any(not one.touched.took or one.tries for one in self._held.values())
            pause_s = WATCH_S if moving else LOOK_S
            await self._alarm.wait(self._clock.monotonic() + pause_s)

    def _look(self) -> None:
        house, before = self._home.house, self.plays
        if not self._home.connected:
            self.plays, self._seen = False, None
        elif house is not self._seen:
            self._seen = house
            self.plays = bool(self._players(house))
        if self.plays is not before:
            self._on_plays(self.plays)
        for held in self._held.values():
            held.look_at(house)

    def _players(self, house: House) -> list[Entity]:
        area = find_area(house, self._area) if self._area else None
        return playing_in(house, area.area_id, self._own_device()) if area else []

    async def _lower(self) -> None:
        """Lower or pause the players that are playing now. A player that starts later was started
        on purpose."""
        means = self._settings.during_turn
        if not self._home.connected or means == "leave":
            return
        house = self._home.house
        begun = self._taken_up(house)
        for touched in touches(self._players(house), means, self._settings.lower_to):
            if touched.entity_id not in self._held:
                held = self._held[touched.entity_id] = _Held(touched, self._clock.now())
                begun.append(held)
        await self._write()  # must be saved before anything is lowered
        for one in await self._ask(begun, back=False):
            self._held.pop(one.touched.entity_id, None)

    def _taken_up(self, house: House) -> list[_Held]:
        again = []
        for name, held in list(self._held.items()):
            verdict = held.judge(house)
            is_back = verdict is PlayerVerdict.BACK and not held.tries
            if is_back or verdict is PlayerVerdict.CHANGED:
                del self._held[name]
            elif held.tries and verdict is not PlayerVerdict.UNKNOWN:
                held.lower_again()
                again.append(held)
        return again

    async def _put_back(self, last: bool = False) -> None:
        """Restore the players, except those that somebody has changed in the meantime. `last` is
        True if the process is ending."""
        if self._held and not self._home.connected:
            return
        house, now = self._home.house, self._clock.monotonic()
        asked: list[_Held] = []
        for name, held in list(self._held.items()):
            verdict = held.judge(house)
            waits = held.tries and now - held.asked_s < CALL_S
            if verdict is PlayerVerdict.UNKNOWN:
                if self._clock.now() - held.since > KEEP:
                    del self._held[name]
            elif verdict in (PlayerVerdict.BACK, PlayerVerdict.CHANGED):
                del self._held[name]
            elif held.tries >= TRIES and not waits:
                _log.warning("%s could not be restored; set it by hand", name)
                del self._held[name]
            elif not waits or last:
                held.ask_back(now)
                asked.append(held)
        refused = await self._ask(asked, back=True)
        for one in asked if last else ():
            if one not in refused:
                self._held.pop(one.touched.entity_id, None)
        await self._write()

    async def _ask(self, asked: Sequence[_Held], *, back: bool) -> list[_Held]:
        """Call the action on all players concurrently. Returns the players on which it certainly
        had no effect."""
        done = await asyncio.gather(*(self._call(one.touched, back=back) for one in asked))
        return [one for one, may_be in zip(asked, done, strict=True) if not may_be]

    async def _call(self, touched: Touched, *, back: bool) -> bool:
        (action, data), name = touched.action(back=back), touched.entity_id
        try:
            async with asyncio.timeout(CALL_S):
                await self._services.call("media_player", action, data, entities=[name])
        except (IntegrationError, TimeoutError) as error:
            _log.info("%s %s: %s", action, name, str(error) or "no answer in time")
            return isinstance(error, Unanswered | TimeoutError)
        return True

    async def _load(self) -> None:
        try:
            self._written = await self._kept.kept(NAME) or []
        except StoreError as error:
            _log.error("could not read which players were lowered: %s", error)
        for row in self._written:
            try:
                touched = Touched(str(row["entity_id"]), row["was"], row["put"], took=True)
                since = datetime.fromisoformat(row["since"])
            except (KeyError, TypeError, ValueError) as error:
                _log.warning("the saved state of a lowered player cannot be read: %s", error)
                continue
            self._held[touched.entity_id] = _Held(touched, since)

    async def _write(self) -> None:
        """Store the players to restore, in case the process dies. Errors are logged."""
        rows = [one.as_row() for one in self._held.values()]
        if rows == self._written:
            return
        try:
            await (self._kept.keep(NAME, rows) if rows else self._kept.drop_kept(NAME))
            self._written = rows
        except StoreError as error:
            _log.error("could not save which players are lowered: %s", error)
