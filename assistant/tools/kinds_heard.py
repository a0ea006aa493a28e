"""The kinds of thing that a person's own words name: lights, locks, blinds."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from assistant.tools.openers import is_opener
from assistant.tools.vocabulary import fold, mentions, mentions_one_of
from integrations.home_assistant.house import Entity

# Topics of what has a lamp of its own, which is not meant by "the lights".
_APPLIANCES = ("cooking", "keeps_running")
_PLAIN = frozenset({"input_boolean", "switch"})  # of which the name tells what they switch


@dataclass(frozen=True, slots=True)
class Kind:
    """Things that people call by the same words: those of a topic of the vocabulary."""

    topic: str
    domains: frozenset[str]
    # Domains of which only what is called so by its name, alias or device class is one of them.
    named: frozenset[str] = frozenset()
    opener: bool | None = None  # of covers: only those that let someone in, or only the others

    def holds(self, entity: Entity) -> bool:
        """Whether the entity is one of them."""
        if entity.domain in self.named and self._is_called(entity):
            return True
        if entity.domain not in self.domains:
            return False
        if entity.domain != "cover" or self.opener is None:
            return True
        window = entity.device_class == "window"
        return self.opener is is_opener(entity) and not window

    def _is_called(self, entity: Entity) -> bool:
        if self.topic == "lights" and any(mentions(one, *entity.names) for one in _APPLIANCES):
            return False
        return mentions(self.topic, entity.device_class or "", *entity.names)


def _kind(
    topic: str, domains: str = "", *, named: Iterable[str] = (), opener: bool | None = None
) -> Kind:
    return Kind(topic, frozenset(domains.split()), frozenset(named), opener)


LIGHTS = _kind("lights", "light", named=_PLAIN)
# Heating and hot water are meant by their own words, also where they must run.
HEATING = _kind("heating", "climate", named=_PLAIN)
BOILERS = _kind("boilers", "water_heater", named=(*_PLAIN, "climate"))
KINDS = (
    LIGHTS,
    _kind("kind_blinds", "cover", opener=False),
    _kind("kind_windows", named=["cover"]),
    _kind("locks", "lock"),
    _kind("doors", "lock cover", opener=True),
    _kind("outer_gates", named=["cover", "lock", *_PLAIN]),
    _kind("kind_garages", named=["cover", "lock", *_PLAIN]),
    _kind("switches", "switch input_boolean"),
    _kind("plugs", "switch"),
    _kind("cooking", named=(*_PLAIN, "climate")),
    _kind("irrigation", "valve", named=_PLAIN),
    _kind("fans", "fan", named=_PLAIN),
    HEATING,
    _kind("players", "media_player", named=(*_PLAIN, "remote")),
    _kind("valves", "valve", named=_PLAIN),
    _kind("alarms", "alarm_control_panel siren"),
    _kind("sirens", "siren"),
    _kind("scripts", "script"),
    _kind("scenes", "scene"),
    _kind("buttons", "button input_button"),
    _kind("automations", "automation"),
    _kind("vacuums", "vacuum", named=_PLAIN),
    _kind("mowers", "lawn_mower", named=_PLAIN),
    BOILERS,
    _kind("humidity", "humidifier", named=_PLAIN),
)


@lru_cache(64)
def kinds_in(heard: str) -> tuple[Kind, ...]:
    """The kinds that the words name."""
    return tuple(kind for kind in KINDS if mentions(kind.topic, heard))


def wants_open(heard: str) -> bool:
    """Whether the words ask for something to be opened, unlocked or disarmed."""
    return mentions_one_of(("opening", "unlocks", "asks_to_open"), heard)


def is_said(heard: str, names: Iterable[str]) -> bool:
    """Whether one of these names stands in the words."""
    text = f" {fold(heard)} "
    return any((said := fold(name)) and f" {said} " in text for name in names)
