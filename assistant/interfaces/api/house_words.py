"""Words about a device for the console: its state, and sentences that work for it."""

from collections.abc import Sequence

from assistant.brains.offline.taps import actions_of, sentence
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.answers import HouseAnswers
from assistant.tools.house.names import UNKNOWN, brightness_percent
from integrations.home_assistant.house import Entity, House

# Their states say nothing to people: the time of the last use, "off" while no appointment is due.
_STATELESS = frozenset({"automation", "button", "calendar", "input_button", "scene"})
_OPENED = frozenset({"door", "garage_door", "opening", "window"})  # classes of binary sensors
_HALF = 50  # percent
_USUAL_DEGREES = {"°F": 68}
_DEGREES = 20  # °C


class HouseWords:
    def __init__(self, say: Catalogue) -> None:
        self._say = say
        self._answers = HouseAnswers(say)

    def state(self, entity: Entity, house: House, language: str) -> str:
        """Return the state in a few words ("on, 40 %", "21 °C, set to 20 °C"), or "" if it says
        nothing."""
        if entity.state == "unavailable":
            return self._say.say("tap.away", language)
        if entity.domain in _STATELESS or entity.state in UNKNOWN:
            return ""
        if entity.domain == "script":
            return "" if entity.state == "off" else self._answers.word(entity, language)
        if entity.domain == "weather":
            return self._weather(entity, language)
        if entity.domain == "climate":
            return self._thermostat(entity, house, language)
        word = self._answers.word(entity, language)
        detail = _detail(entity)
        return f"{word}, {detail}" if detail else word

    def examples(self, entity: Entity, house: House, language: str) -> Sequence[str]:
        """Return one or two sentences that work for this device."""

        def said(key: str, **values: object) -> str:
            return sentence(key, entity, house, self._say, language, **values)

        match entity.domain:
            case "lock":
                return [said("lock"), said("is_locked")]
            case "climate":
                degrees = _USUAL_DEGREES.get(house.settings.temperature, _DEGREES)
                return [said("warmth", degrees=degrees)]
            case "light" if entity.attributes.get("supported_color_modes") not in (None, ["onoff"]):
                return [said("on"), said("percent", percent=_HALF)]
            case "binary_sensor" if entity.device_class in _OPENED:
                return [said("is_open")]
            case "sensor":
                return [said("what_is")]
            case "todo":
                return [said("items")]
            case "weather":
                return [self._say.say("tap.weather", language)]
        return [said(action) for action in actions_of(entity)]

    def _weather(self, entity: Entity, language: str) -> str:
        key = f"weather.is_{entity.state}"
        known = key in self._say.keys(self._say.own(language))
        word = self._say.say(key, language) if known else ""
        degrees = entity.attributes.get("temperature")
        unit = entity.attributes.get("temperature_unit", "")
        warmth = f"{degrees:g} {unit}" if isinstance(degrees, int | float) else ""
        return ", ".join(filter(None, (word, warmth)))

    def _thermostat(self, entity: Entity, house: House, language: str) -> str:
        unit = house.settings.temperature or "°"
        now, wanted = (
            f"{value:g} {unit}" if isinstance(value, int | float) else ""
            for value in map(entity.attributes.get, ("current_temperature", "temperature"))
        )
        if entity.state == "off":
            return ", ".join(filter(None, (self._answers.word(entity, language), now)))
        if now and wanted:
            return self._say.say("tap.now", language, now=now, wanted=wanted)
        return now or wanted or self._answers.word(entity, language)


def _detail(entity: Entity) -> str:
    """Return how bright a lamp, how fast a fan or how far open a cover is, in percent."""
    attributes = entity.attributes
    percent: object = None
    match entity.domain, entity.state:
        case "light", "on":
            percent = brightness_percent(entity)
        case "fan", "on":
            percent = attributes.get("percentage")
        case (("cover" | "valve"), _) if attributes.get("current_position") not in (0, 100):
            percent = attributes.get("current_position")
    return f"{round(percent)} %" if isinstance(percent, int | float) else ""
