"""Effects of scripts, automations and scenes, and which way each action of Home Assistant goes."""

from collections.abc import Mapping
from dataclasses import dataclass

from integrations.home_assistant.house import Way


@dataclass(frozen=True, slots=True)
class Effects:
    """All that one script, automation or scene touches, or the part of it that is known."""

    touched: Mapping[str, Way]  # by entity id
    reasons: tuple[str, ...] = ()  # why there may be more; none: this is all of it
    # Sentences that an automation waits for; None where its configuration was not read.
    sentences: tuple[str, ...] | None = None
    told: bool = True  # False: Home Assistant refuses to tell

    @property
    def complete(self) -> bool:
        """True if nothing else is touched."""
        return not self.reasons


_ARMING = ("arm_away", "arm_home", "arm_night", "arm_vacation", "disarm", "trigger")
_BRIGHTNESS = ("brightness_decrease", "brightness_increase")


def _each(domain: str, way: Way, *services: str) -> dict[str, Way]:
    return {f"{domain}.{service}": way for service in services}


def _switching(*domains: str) -> dict[str, Way]:
    found: dict[str, Way] = {}
    for domain in domains:
        found |= _each(domain, "on", "turn_on") | _each(domain, "off", "turn_off")
        found |= _each(domain, "either", "toggle")
    return found


# Actions that do no more than switch or set the things that they name (2026.11, `services.yaml` of
# each domain). What is missing here may do anything: a shell or REST command, a message to a broker
# or a phone, a sentence said to Assist, an infrared code. To stop a cover or a valve opens nothing.
WAYS: Mapping[str, Way] = {
    **_switching("automation", "camera", "climate", "fan", "homeassistant", "humidifier"),
    **_switching("input_boolean", "light", "media_player", "remote", "script", "siren", "switch"),
    **_switching("water_heater"),
    **_each("alarm_control_panel", "on", "alarm_arm_away", "alarm_arm_custom_bypass"),
    **_each("alarm_control_panel", "on", "alarm_arm_home", "alarm_arm_night", "alarm_arm_vacation"),
    **_each("alarm_control_panel", "off", "alarm_disarm"),
    **_each("alarm_control_panel", "either", "alarm_trigger"),
    **_each("automation", "on", "trigger"),
    **_each("button", "on", "press"),
    **_each("climate", "either", "set_fan_mode", "set_humidity", "set_hvac_mode"),
    **_each("climate", "either", "set_preset_mode", "set_swing_horizontal_mode", "set_swing_mode"),
    **_each("climate", "either", "set_temperature"),
    **_each("counter", "either", "decrement", "increment", "reset", "set_value"),
    **_each("cover", "on", "open_cover", "open_cover_tilt"),
    **_each("cover", "off", "close_cover", "close_cover_tilt", "stop_cover", "stop_cover_tilt"),
    **_each("cover", "either", "set_cover_position", "set_cover_tilt_position"),
    **_each("cover", "either", "toggle", "toggle_cover_tilt"),
    **_each("date", "either", "set_value"),
    **_each("datetime", "either", "set_value"),
    **_each("fan", "either", "decrease_speed", "increase_speed", "oscillate", "set_direction"),
    **_each("fan", "either", "set_percentage", "set_preset_mode"),
    **_each("humidifier", "either", "set_humidity", "set_mode"),
    **_each("input_button", "on", "press"),
    **_each("input_datetime", "either", "set_datetime"),
    **_each("input_number", "either", "decrement", "increment", "set_value"),
    **_each("input_select", "either", "select_first", "select_last", "select_next"),
    **_each("input_select", "either", "select_option", "select_previous"),
    **_each("input_text", "either", "set_value"),
    **_each("lawn_mower", "on", "start_mowing"),
    **_each("lawn_mower", "off", "dock", "pause"),
    **_each("lock", "on", "lock"),
    **_each("lock", "off", "open", "unlock"),
    **_each("media_player", "either", "clear_playlist", "join", "media_next_track", "media_pause"),
    **_each("media_player", "either", "media_play", "media_play_pause", "media_previous_track"),
    **_each("media_player", "either", "media_seek", "media_stop", "play_media", "repeat_set"),
    **_each("media_player", "either", "select_sound_mode", "select_source", "shuffle_set"),
    **_each("media_player", "either", "unjoin", "volume_down", "volume_mute", "volume_set"),
    **_each("media_player", "either", "volume_up"),
    **_each("number", "either", "set_value"),
    **_each("scene", "on", "turn_on"),
    **_each("select", "either", "select_first", "select_last", "select_next", "select_option"),
    **_each("select", "either", "select_previous"),
    **_each("text", "either", "set_value"),
    **_each("time", "either", "set_value"),
    **_each("timer", "either", "cancel", "change", "finish", "pause", "start"),
    **_each("todo", "either", "add_item", "get_items", "remove_completed_items", "remove_item"),
    **_each("todo", "either", "update_item"),
    **_each("tts", "either", "speak"),
    **_each("vacuum", "on", "clean_area", "clean_spot", "start"),
    **_each("vacuum", "off", "locate", "pause", "return_to_base", "stop"),
    **_each("vacuum", "either", "set_fan_speed"),
    **_each("valve", "on", "open_valve"),
    **_each("valve", "off", "close_valve", "stop_valve"),
    **_each("valve", "either", "set_valve_position", "toggle"),
}
# Actions that change no thing, whatever they name.
QUIET = frozenset(
    {
        *("calendar.get_events", "homeassistant.update_entity", "logbook.log"),
        *("persistent_notification.create", "persistent_notification.dismiss"),
        *("persistent_notification.dismiss_all", "scene.create", "scene.delete"),
        *("system_log.write", "weather.get_forecasts"),
    }
)
# The actions behind the types of device actions (`device_action.py` of each domain), where the name
# is another one.
_RENAMED: Mapping[str, str] = {
    **{f"alarm_control_panel.{one}": f"alarm_control_panel.alarm_{one}" for one in _ARMING},
    **{f"cover.{one}": f"cover.{one}_cover" for one in ("close", "open", "stop")},
    **{f"cover.{one}_tilt": f"cover.{one}_cover_tilt" for one in ("close", "open")},
    "cover.set_position": "cover.set_cover_position",
    "cover.set_tilt_position": "cover.set_cover_tilt_position",
    **{f"light.{one}": "light.turn_on" for one in ("flash", *_BRIGHTNESS)},
    "vacuum.clean": "vacuum.start",
    "vacuum.dock": "vacuum.return_to_base",
}


def way_on_device(domain: str, kind: str) -> Way | None:
    """Which way a device action of that domain and type goes; None for one that is not known."""
    action = f"{domain}.{kind}"
    return WAYS.get(_RENAMED.get(action, action))
