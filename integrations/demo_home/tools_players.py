"""Tools for media players, as in Home Assistant 2026.11's Assist API."""

from collections.abc import Callable, Mapping

from integrations.demo_home import intents, schemas, slots
from integrations.demo_home.intents import Action
from integrations.demo_home.schemas import PERCENT, Schema, described
from integrations.demo_home.tool import AGAIN, ONCE, Hints, Tool, action_tool


def _player_tool(
    name: str,
    title: str,
    description: str,
    hints: Hints,
    service: str,
    *,
    features: int = 0,
    state: str | None = "playing",
    data: Callable[[intents.Values], intents.Values] = lambda values: {},
    extra: Schema | None = None,
    checks: Mapping[str, slots.Check] | None = None,
    required: tuple[str, ...] = (),
) -> Tool:
    """A tool for media players, most of them only for those that play."""
    return action_tool(
        f"media_player__{name}",
        title,
        description,
        hints,
        Action(
            "media_player",
            service,
            data,
            required_domains=("media_player",),
            features=features,
            states=(state,) if state else (),
        ),
        domain="media_player",
        device_classes=schemas.PLAYER,
        extra=extra,
        checks=checks,
        required=required,
    )


_MUTED: Schema = {
    "is_volume_muted": {"description": "Whether the media player should be muted or unmuted"}
}

PLAYER_TOOLS = (
    _player_tool(
        "HassMediaUnpause",
        "Resume media",
        "Goes on playing what was paused",
        ONCE,
        "media_play",
        state="paused",
    ),
    _player_tool(
        "HassMediaPause", "Pause media", "Pauses what plays", AGAIN, "media_pause", features=1
    ),
    _player_tool(
        "HassMediaNext",
        "Next track",
        "Goes to the next item",
        ONCE,
        "media_next_track",
        features=32,
    ),
    _player_tool(
        "HassMediaPrevious",
        "Previous track",
        "Goes back to the item before",
        ONCE,
        "media_previous_track",
        features=16,
    ),
    _player_tool(
        "HassSetVolume",
        "Set volume",
        "Sets how loud a media player is, in percent",
        AGAIN,
        "volume_set",
        features=4,
        data=lambda values: {"volume_level": values["volume_level"] / 100},
        extra={"volume_level": described(PERCENT, "Percent from 0 to 100")},
        checks={"volume_level": slots.integer(0, 100)},
        required=("volume_level",),
    ),
    Tool(
        "media_player__HassSetVolumeRelative",
        "Change volume",
        "Makes a media player louder or quieter",
        schemas.input_schema(
            {
                "volume_step": {
                    "anyOf": [
                        schemas.choice("up", "down"),
                        {"type": "integer", "minimum": -100, "maximum": 100},
                    ]
                },
                **schemas.target(),
            },
            ("volume_step",),
        ),
        ONCE,
        slots.Slots(
            {
                "volume_step": slots.volume_step,
                **dict.fromkeys(("name", "area", "floor"), slots.text),
            },
            ("volume_step",),
        ),
        intents.change_volume,
        "media_player",
    ),
    _player_tool(
        "HassMediaPlayerMute",
        "Mute player",
        "Mutes a media player",
        AGAIN,
        "volume_mute",
        features=8,
        state=None,
        data=lambda values: {"is_volume_muted": values.get("is_volume_muted", True)},
        extra=_MUTED,
        checks={"is_volume_muted": slots.anything},
    ),
    _player_tool(
        "HassMediaPlayerUnmute",
        "Unmute player",
        "Lets a muted media player be heard again",
        AGAIN,
        "volume_mute",
        features=8,
        state=None,
        data=lambda values: {"is_volume_muted": values.get("is_volume_muted", False)},
        extra=_MUTED,
        checks={"is_volume_muted": slots.anything},
    ),
)
