"""Tests of which players are lowered, and of how their states are read afterwards."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.sound.media import PlayerVerdict, Touched, judge, playing_in, seen, touches
from integrations.home_assistant.house import Entity, House

ABLE = 1 | 4 | 16384


def player(
    name: str, state: str = "playing", volume: Any = 0.8, area: str | None = "kitchen", **more: Any
) -> Entity:
    attributes = {"volume_level": volume, "supported_features": ABLE, **more}
    return Entity(
        f"media_player.{name}",
        name,
        state,
        area_id=area,
        attributes=attributes,
        features=attributes["supported_features"],
    )


def house(*entities: Entity) -> House:
    return House({}, {}, {one.entity_id: one for one in entities})


def names(found: list[Entity]) -> list[str]:
    return [one.entity_id.partition(".")[2] for one in found]


@pytest.mark.parametrize(
    ("players", "expected"),
    [
        ([player("radio"), player("tv", "buffering")], ["radio", "tv"]),
        ([player("radio", "paused"), player("off", "off"), player("on", "on")], []),
        ([player("far", area="bedroom"), player("nowhere", area=None)], []),
        ([player("muted", is_volume_muted=True), player("silent", volume=0.0)], []),
        ([player("unknown", volume=None)], ["unknown"]),
        (
            [
                player("all", entity_id=["media_player.left", "media_player.right"]),
                player("left", area=None),
                player("right"),
            ],
            ["left", "right"],
        ),
        (
            [
                player("all", entity_id=["media_player.near", "media_player.far"]),
                player("near", area=None),
                player("far", area="bedroom"),
            ],
            ["near"],
        ),
        ([player("all", entity_id=["media_player.unheard_of"])], ["all"]),
        (
            [player("office", active_child="media_player.walkman"), player("walkman")],
            ["office"],
        ),
    ],
)
def test_each_sound_of_the_room_once(players: list[Entity], expected: list[str]) -> None:
    assert names(playing_in(house(*players), "kitchen")) == expected


def test_our_own_player_is_none() -> None:
    mine = replace(player("hearth"), device_id="box")
    assert playing_in(house(mine), "kitchen", "box") == []
    assert names(playing_in(house(mine), "kitchen")) == ["hearth"]


@pytest.mark.parametrize(
    ("one", "lower_to", "put"),
    [
        (player("a", volume=0.8), 0.3, 0.24),
        (player("a", volume=0.55), 0.3, 0.17),
        (player("a", volume=1), 0.0, 0.0),
        (player("a", volume=0.5), 1.0, None),
        (player("a", volume=0.01), 0.5, None),
        (player("a", volume=None), 0.3, None),
        (player("a", volume="loud"), 0.3, None),
        (player("a", volume=True), 0.3, None),
        (player("a", supported_features=1 | 16384), 0.3, None),
    ],
)
def test_how_far_it_is_lowered(one: Entity, lower_to: float, put: float | None) -> None:
    found = touches([one], "lower", lower_to)
    was = one.attributes["volume_level"]
    assert found == ([] if put is None else [Touched(one.entity_id, was, put)])


def test_joined_players_are_paused_once() -> None:
    joined: dict[str, Any] = {"group_members": ["media_player.left", "media_player.right"]}
    left, right = player("left", **joined), player("right", **joined)
    alone, able = player("alone"), player("tuner", supported_features=4)
    assert touches([left, right, alone, able], "pause", 0.3) == [
        Touched("media_player.left", None, None),
        Touched("media_player.alone", None, None),
    ]
    assert touches([right], "pause", 0.3) == [Touched("media_player.right", None, None)]
    assert len(touches([left, right], "lower", 0.3)) == 2  # each has a volume of its own


LOWERED = Touched("media_player.a", 0.8, 0.24)
TOOK = replace(LOWERED, took=True)
PAUSED = Touched("media_player.a", None, None)


@pytest.mark.parametrize(
    ("touched", "now", "restoring", "verdict"),
    [
        (LOWERED, player("a", volume=0.8), False, PlayerVerdict.PENDING),
        (LOWERED, player("a", volume=0.26), False, PlayerVerdict.OURS),  # a player of few steps
        (LOWERED, player("a", volume=0.5), False, PlayerVerdict.CHANGED),
        (TOOK, player("a", volume=0.24), False, PlayerVerdict.OURS),
        (
            TOOK,
            player("a", "paused", volume=0.24),
            False,
            PlayerVerdict.OURS,
        ),  # only its volume is ours
        (TOOK, player("a", volume=0.27), False, PlayerVerdict.CHANGED),
        (TOOK, player("a", volume=0.8), False, PlayerVerdict.BACK),
        (TOOK, player("a", volume=0.24), True, PlayerVerdict.OURS),
        (LOWERED, player("a", volume=0.8), True, PlayerVerdict.BACK),
        (TOOK, player("a", "off", volume=None), False, PlayerVerdict.UNKNOWN),
        (TOOK, player("a", "unavailable"), False, PlayerVerdict.UNKNOWN),
        (TOOK, None, False, PlayerVerdict.UNKNOWN),
        (PAUSED, player("a"), False, PlayerVerdict.PENDING),
        (PAUSED, player("a", "paused"), False, PlayerVerdict.OURS),
        (replace(PAUSED, took=True), player("a"), False, PlayerVerdict.CHANGED),
        (replace(PAUSED, took=True), player("a"), True, PlayerVerdict.BACK),
        (replace(PAUSED, took=True), player("a", "off"), False, PlayerVerdict.CHANGED),
        (replace(PAUSED, took=True), player("a", "unavailable"), False, PlayerVerdict.UNKNOWN),
    ],
)
def test_how_it_stands(
    touched: Touched, now: Entity | None, restoring: bool, verdict: PlayerVerdict
) -> None:
    assert judge(touched, now, restoring=restoring) is verdict


def test_what_a_player_of_few_steps_made_of_it_is_ours() -> None:
    stepped = seen(LOWERED, player("a", volume=0.2667))
    assert (stepped.took, stepped.put) == (True, 0.2667)
    assert seen(LOWERED, player("a", volume=0.8)) is LOWERED
    assert seen(LOWERED, player("a", volume=0.5)) is LOWERED
    assert seen(LOWERED, None) is LOWERED
    assert seen(PAUSED, player("a", "paused")) == replace(PAUSED, took=True)
