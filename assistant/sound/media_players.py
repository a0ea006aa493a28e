"""Which media players of a room are made quieter while somebody speaks, and what became of each.

Pure: a picture of the house in, decisions out. `assistant.sound.media` does what they say.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Literal

from assistant.confirmation.witness import playing
from assistant.tools.house.targets import has_features
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.shapes import texts

Means = Literal["lower", "pause"]

# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _VOLUME_SET, _PLAY = 1, 4, 16384
_PLAYING = ("playing", "buffering")
_AWAY = ("unavailable", "unknown")
_SAME = 0.011  # of a volume; a player may know a hundred steps only
_ROUNDED = 0.04  # from what was asked to what a player with few steps makes of it


@dataclass(frozen=True, slots=True)
class Touched:
    """One player that we have made quieter."""

    entity_id: str
    was: float | None  # its volume before, 0 to 1; None: it was paused instead
    put: float | None  # the volume that we gave it, as it shows it once it is seen
    took: bool = False  # it was seen to be so

    @property
    def paused(self) -> bool:
        """It was paused; else its volume was lowered."""
        return self.was is None


class PlayerVerdict(Enum):
    """How a player that we touched stands now."""

    OURS = auto()  # as we set it
    PENDING = auto()  # it does not show yet that we set it
    BACK = auto()  # as it was before
    CHANGED = auto()  # somebody has set it otherwise: it is theirs
    UNKNOWN = auto()  # off or away, it does not tell


def playing_in(house: House, area_id: str, own_device: str = "") -> list[Entity]:
    """The players of the area that play aloud, each sound once.

    `own_device`: id of this box in the house; what belongs to it is no other player's.
    """
    found: dict[str, Entity] = {}
    for player in playing(house, area_id):
        for one in _members(house, player):
            if _aloud(one) and not (own_device and one.device_id == own_device):
                found[one.entity_id] = one
    # A player that stands for another one (`universal`) sets that one's volume as its own.
    stood_for = {str(one.attributes.get("active_child")) for one in found.values()}
    return [one for one in found.values() if one.entity_id not in stood_for]


def touches(players: list[Entity], means: Means, lower_to: float) -> list[Touched]:
    """What to do to them; those that can do neither are left. `lower_to`: a part of the volume."""
    if means == "pause":
        able = [one for one in players if has_features(one, _PAUSE | _PLAY)]
        ids = {one.entity_id for one in able}
        # Players that are joined play one sound: the first of them pauses it for all.
        return [
            Touched(one.entity_id, None, None)
            for one in able
            if _leader(one) == one.entity_id or _leader(one) not in ids
        ]
    lowered = (_lowered(one, lower_to) for one in players if has_features(one, _VOLUME_SET))
    return [one for one in lowered if one is not None]


def judge(touched: Touched, now: Entity | None, *, restoring: bool = False) -> PlayerVerdict:
    """How it stands. `restoring`: it was asked to be as before."""
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
    """The same with what the player made of it, once it shows that."""
    if touched.took or judge(touched, now) is not PlayerVerdict.OURS or now is None:
        return touched
    return replace(touched, took=True, put=None if touched.paused else volume_of(now))


def volume_of(player: Entity) -> float | None:
    """0 to 1; None where it does not tell, as one that is off."""
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
    """A group's members, since setting the group's volume makes all of theirs equal; else itself.

    A member that stands in another room is left out.
    """
    found = (house.entities.get(name) for name in texts(player.attributes.get("entity_id")))
    members = [one for one in found if one is not None]
    if not members:
        return [player]
    here = (None, player.area_id)
    return [one for one in members if one.state in _PLAYING and one.area_id in here]


def _aloud(player: Entity) -> bool:
    return player.attributes.get("is_volume_muted") is not True and volume_of(player) != 0.0


def _lowered(player: Entity, lower_to: float) -> Touched | None:
    volume = volume_of(player)
    if volume is None:
        return None
    put = round(volume * lower_to, 2)
    return Touched(player.entity_id, volume, put) if volume - put > _SAME else None


def _leader(player: Entity) -> str:
    joined = texts(player.attributes.get("group_members"))
    return joined[0] if joined else player.entity_id
