"""Calls of commands, as `Turn.done` shows them."""

LIVING_ROOM_LAMP = '{"area": "Living Room", "domain": ["light"], "name": "Lamp"}'
BEDROOM_LAMP = '{"area": "Bedroom", "domain": ["light"], "name": "Lamp"}'


def on(name: str, domain: str = "light") -> str:
    return f'HassTurnOn {{"domain": ["{domain}"], "name": "{name}"}}'


def off(name: str, domain: str = "light") -> str:
    return f'HassTurnOff {{"domain": ["{domain}"], "name": "{name}"}}'


def in_area(intent: str, area: str, domain: str = "light") -> str:
    return f'{intent} {{"area": "{area}", "domain": ["{domain}"]}}'


def lit(name: str, percent: int) -> str:
    return f'HassLightSet {{"brightness": {percent}, "domain": ["light"], "name": "{name}"}}'


def fast(name: str, percent: int) -> str:
    return f'HassFanSetSpeed {{"domain": ["fan"], "name": "{name}", "percentage": {percent}}}'


def robot(intent: str) -> str:
    return f'{intent} {{"domain": ["vacuum"], "name": "Snorbit"}}'


def paused(name: str) -> str:
    return f'HassMediaPause {{"domain": ["media_player"], "name": "{name}"}}'


def placed(name: str, percent: int) -> str:
    return f'HassSetPosition {{"domain": ["cover"], "name": "{name}", "position": {percent}}}'


def warm(name: str, degrees: int) -> str:
    return f'HassClimateSetTemperature {{"name": "{name}", "temperature": {degrees}}}'


def kelvin(name: str, value: int) -> str:
    return f'HassLightSet {{"domain": ["light"], "name": "{name}", "temperature": {value}}}'
