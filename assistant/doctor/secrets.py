"""Secrets that a person's command lacks: the service may have them as systemd credentials."""

from assistant.app.home import DEMO
from assistant.config.schema import Settings
from assistant.doctor.daemon import its_findings
from assistant.doctor.finding import Finding
from assistant.doctor.gemini import is_used
from assistant.doctor.scene import Scene

_HOUSE = ("home assistant", "token", "tools", "live picture", "device", "area")


def lacking(settings: Settings) -> set[str]:
    """Of what is set up, the parts ("house", "gemini", "broker") whose secret is not here."""
    lacks = set()
    home, mqtt = settings.home_assistant, settings.mqtt
    if home.url != DEMO and not home.token.get_secret_value():
        lacks.add("house")
    if is_used(settings) and not settings.gemini.api_key.get_secret_value().strip():
        lacks.add("gemini")
    if mqtt.host and mqtt.username and not mqtt.password.get_secret_value():
        lacks.add("broker")
    return lacks


def part_of(check: str) -> str:
    """Which of these parts a check is about, "" for none."""
    if check in _HOUSE or check.startswith("server "):
        return "house"
    if check.startswith("gemini"):
        return "gemini"
    return "broker" if check == "broker" else ""


async def by_the_daemon(scene: Scene) -> dict[str, list[Finding]]:
    """What the Hearth that runs finds of the parts that we cannot look at; empty where there are
    none, or it does not tell."""
    parts = lacking(scene.settings)
    daemon = scene.daemon
    if not (parts and scene.may.ask_daemon and daemon is not None and daemon.lets_us_in):
        return {}
    found: dict[str, list[Finding]] = {}
    for one in await its_findings(scene.settings, daemon):
        if part_of(one.check) in parts:
            found.setdefault(part_of(one.check), []).append(one)
    return found
