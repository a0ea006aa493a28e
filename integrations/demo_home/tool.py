"""What a tool is: its entry in the menu, the checks of its arguments and what runs behind it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from integrations.demo_home import actions as slots
from integrations.demo_home import intents, schemas
from integrations.demo_home.house import CallerPlace, DemoHouse
from integrations.demo_home.intents import ServiceTool
from integrations.demo_home.schemas import PERCENT, Schema, described

Run = Callable[[DemoHouse, Mapping[str, Any], CallerPlace], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Hints:
    """What the server says of a tool's effect. Home Assistant's are true only for reading tools."""

    destructive: bool = True
    idempotent: bool = False
    open_world: bool = False
    read_only: bool = False


READ = Hints(read_only=True)
READ_LIST = Hints(destructive=False, idempotent=True, read_only=True)
ADD = Hints(destructive=False)
ONCE = Hints()
AGAIN = Hints(idempotent=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of the menu and what runs behind it."""

    name: str
    title: str
    description: str
    input_schema: Schema
    hints: Hints
    slots: slots.Slots | slots.Fields
    run: Run
    needs: str | None = None  # offered only while an entity of this domain is exposed

    @property
    def intent(self) -> str:
        """The name without the integration in front."""
        return self.name.rpartition("__")[2]


def action_tool(
    name: str,
    title: str,
    description: str,
    hints: Hints,
    action: ServiceTool,
    *,
    domain: str | None = None,
    device_classes: tuple[str, ...] = (),
    extra: Schema | None = None,
    checks: Mapping[str, slots.Check] | None = None,
    required: tuple[str, ...] = (),
) -> Tool:
    """A tool that acts on whatever matches name, area, floor, domain and device class."""
    properties = schemas.target(domain, device_classes, any_domain=domain is None)
    known: dict[str, slots.Check] = {
        **dict.fromkeys(("name", "area", "floor"), slots.text),
        # In no schema, but obeyed.
        **dict.fromkeys(("preferred_area_id", "preferred_floor_id"), slots.text),
        "domain": slots.texts((domain,) if domain else ()),
        "device_class": slots.texts(device_classes),
    }
    return Tool(
        name,
        title,
        description,
        schemas.input_schema(properties | (extra or {}), required),
        hints,
        slots.Slots(known | dict(checks or {}), required),
        action,
        domain,
    )


# Tools for media players, as in Home Assistant 2026.11's Assist API.


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
        ServiceTool(
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
