"""Checks of the interface for programs and people: who can reach it, and how one signs in."""

from assistant.config.schema import Http
from assistant.doctor.daemon import Daemon
from assistant.doctor.finding import Check, Found, bad, good, odd
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
