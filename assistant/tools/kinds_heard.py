"""The kinds of thing that a person's own words name: lights, locks, blinds."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from assistant.tools.openers import is_opener
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity


@dataclass(frozen=True, slots=True)
class Kind:
    """Things that people call by the same words."""

    words: frozenset[str]
    domains: frozenset[str]
    opener: bool | None = None  # of covers: only those that let someone in, or only the others

    def holds(self, entity: Entity) -> bool:
        """Whether the entity is one of them."""
        if entity.domain not in self.domains:
            return False
        return entity.domain != "cover" or self.opener is None or self.opener is is_opener(entity)


def _kind(words: str, domains: str, opener: bool | None = None) -> Kind:
    return Kind(frozenset(words.split()), frozenset(domains.split()), opener)


_KINDS = (
    _kind("light lights lamp lamps bulb bulbs lighting", "light"),
    _kind(
        "luz luces luzes lampara lamparas bombilla bombillas licht lichter lampe lampen", "light"
    ),
    _kind("lumiere lumieres lampes", "light"),
    _kind("blind blinds shade shades curtain curtains drape drapes awning awnings", "cover", False),
    _kind("persiana persianas cortina cortinas estor estores toldo toldos", "cover", False),
    _kind("shutter shutters rollladen rollo volet volets store stores", "cover", False),
    _kind("lock locks cerradura cerraduras cerrojo cerrojos schloss serrure", "lock"),
    _kind("door doors puerta puertas porta portas tur turen porte portes", "lock cover", True),
    _kind("gate gates porton portones verja cancela", "lock cover", True),
    _kind("switch switches interruptor interruptores schalter", "switch input_boolean"),
    _kind("plug plugs outlet outlets socket sockets enchufe enchufes steckdose prise", "switch"),
    _kind("oven ovens stove hob horno placa", "switch climate"),
    _kind("sprinkler sprinklers irrigation riego aspersores", "switch valve"),
    _kind("fan fans ventilador ventiladores ventilator", "fan"),
    _kind("heating heater heaters thermostat thermostats radiator radiators", "climate"),
    _kind("calefaccion termostato termostatos radiador radiadores heizung chauffage", "climate"),
    _kind("music tv television speaker speakers radio player players", "media_player"),
    _kind("musica tele altavoz altavoces reproductor musik fernseher musique", "media_player"),
    _kind("valve valves valvula valvulas tap faucet grifo", "valve"),
    _kind("alarm alarms alarma alarmas", "alarm_control_panel siren"),
    _kind("siren sirens sirena sirenas", "siren"),
    _kind("script scripts guion rutina routine", "script"),
    _kind("scene scenes escena escenas", "scene"),
    _kind("button buttons boton botones pulsador", "button input_button"),
    _kind("automation automations automatizacion automatizaciones", "automation"),
    _kind("vacuum aspiradora aspirador staubsauger", "vacuum switch"),
    _kind("mower lawnmower cortacesped", "lawn_mower switch"),
    _kind("boiler calentador termo", "water_heater switch"),
    _kind("humidifier humidifiers dehumidifier humidificador deshumidificador", "humidifier"),
)


def kinds_in(heard: str) -> list[Kind]:
    """The kinds that the words name."""
    words = set(_words(heard))
    return [kind for kind in _KINDS if kind.words & words]


def wants_open(heard: str) -> bool:
    """Whether the words ask for something to be opened, unlocked or disarmed."""
    return mentions("opening", heard) or mentions("unlocks", heard)


def is_said(heard: str, names: Iterable[str]) -> bool:
    """Whether one of these names stands in the words."""
    text = f" {' '.join(_words(heard))} "
    return any((said := " ".join(_words(name))) and f" {said} " in text for name in names)


def _words(text: str) -> list[str]:
    """Lower-case words without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"\w+", "".join(one for one in plain if not unicodedata.combining(one)))
