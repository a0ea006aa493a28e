"""Checks of the interface for programs and people: who can reach it, and how one signs in."""

from assistant.app.home import DEMO
from assistant.config.schema import Http, Settings
from assistant.doctor.daemon import Daemon, its_findings
from assistant.doctor.finding import Check, Finding, Found, bad, good, odd
from assistant.doctor.gemini import is_used
from assistant.doctor.scene import Scene
from integrations.web.hosts import is_loopback


def judge_exposure(http: Http) -> Found:
    """By the settings: who can reach it, and whether others can read along."""
    where = f"{http.host or 'every address'}, port {http.port}"
    if http.tls_key and not http.tls_cert:
        return bad(f"{where}: a key without a certificate", "set http.tls_cert too")
    if is_loopback(http.host):
        return good(f"{where}: this machine alone")
    if not http.tls_cert:
        return odd(
            f"{where}, without TLS: who is in that network can read the tokens",
            "set http.tls_cert and http.tls_key, or http.host to 127.0.0.1",
        )
    return good(f"{where}, by TLS")


def judge_console(daemon: Daemon | None) -> Found:
    """By what the running Hearth gives."""
    if daemon is None:
        return good("no Hearth runs that would serve it")
    if not daemon.health:
        return bad(f"not served: {daemon.problem}", "see the check `running`")
    if not daemon.lets_us_in:
        return odd(
            f"{daemon.url}/, but {daemon.problem}", "hearth setup --console-link lets you in"
        )
    if not daemon.console:
        return bad(f"{daemon.url}/ gives no page", "install Hearth again: its page is missing")
    return good(f"{daemon.url}/; hearth setup --console-link gives a link that signs you in")


async def _exposure(scene: Scene) -> Found:
    return judge_exposure(scene.settings.http)


async def _console(scene: Scene) -> Found:
    return judge_console(scene.daemon)


CHECKS: tuple[Check[Scene], ...] = (
    Check("http", _exposure),
    Check("console", _console),
)


# Secrets that a person's command lacks: the service may have them as systemd credentials.


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
