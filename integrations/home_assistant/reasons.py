"""Error messages for connection problems, each naming the setting or page that fixes the problem.

All Home Assistant clients (REST, websocket and MCP) use these messages. `url` is always
`home_assistant.url`; secrets in it are not shown.
"""

import socket
import ssl
from urllib.parse import urlsplit

from integrations.address import host_of, shown
from integrations.errors import (
    IntegrationError,
    Misconfigured,
    Refused,
    SignInAgain,
    Unavailable,
    causes,
)


class CommandRefused(Refused):
    """Home Assistant answered a command with an error."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code

    @property
    def unknown(self) -> bool:
        """True if this Home Assistant does not have the command."""
        return self.code == "unknown_command"


class Unanswered(Unavailable):
    """Home Assistant did not answer a command, which may still have been carried out."""

    def __init__(self, sentence: str, *, timed_out: bool) -> None:
        """`timed_out` is True if the connection is still open, and False if it was lost."""
        super().__init__(sentence)
        self.timed_out = timed_out


# The integration's name in 2026.11 (its manifest). In older releases it had the name in brackets,
# and "Model Context Protocol" was the client, which Hearth does not need.
_INTEGRATION = '"Model Context Protocol" ("Model Context Protocol Server" in older releases)'

# X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL (x509_vfy.h).
_OTHER_NAME = frozenset({62, 64})
_NOT_YET, _EXPIRED = 9, 10  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED


def wrong_token() -> SignInAgain:
    """Return the error for status 401, or for `auth_invalid` on the websocket."""
    return SignInAgain(
        "Home Assistant rejected home_assistant.token: create a new long-lived token on your "
        "profile page, under Security."
    )


def unsendable_token() -> SignInAgain:
    """Return the error for a token with characters that are not allowed in an HTTP header."""
    return SignInAgain(
        "home_assistant.token is not a valid token: it contains a character that is not plain "
        "ASCII."
    )


def no_address(url: str) -> Misconfigured:
    return Misconfigured(
        f"home_assistant.url = {shown(url)!r} is not a valid address; it should look like "
        "http://homeassistant.local:8123."
    )


def by_status(url: str, status: int, text: str = "", location: str = "") -> IntegrationError:
    """Return the error for an unexpected status from a resource that every user may read."""
    if status == 401:
        return wrong_token()
    if status == 403:
        return banned(url)
    if status == 400:
        # nginx says so in its error page
        return wants_tls(url) if "https" in text.lower() else untrusted_proxy(url)
    if status >= 500:
        return behind_proxy(url, status)
    return moved(url, location) if 300 <= status < 400 else something_else(url)


def network(url: str, error: BaseException) -> IntegrationError:
    """Convert a network error from any library (httpx, websockets, ssl or socket)."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            if cause.verify_code in _OTHER_NAME:
                return Misconfigured(
                    f"The certificate of {shown(url)} is for another name: set "
                    "home_assistant.url to the name in the certificate, or "
                    "home_assistant.verify_tls to false."
                )
            if cause.verify_code == _EXPIRED:
                return Misconfigured(
                    f"The certificate of {shown(url)} has expired: renew it in Home "
                    "Assistant, or correct this device's date if that is wrong."
                )
            if cause.verify_code == _NOT_YET:
                return Unavailable(
                    f"The certificate of {shown(url)} is not valid yet on this device's "
                    "date: set the date. Without a network clock, a Raspberry Pi starts with "
                    "a date in the past."
                )
            return Misconfigured(
                f"The certificate of {shown(url)} is not trusted: set home_assistant.ca_file "
                "to the file of its certificate authority, or home_assistant.verify_tls to "
                "false."
            )
        if isinstance(cause, ssl.SSLError):
            return Misconfigured(
                f"{shown(url)} does not use TLS: if Home Assistant is served without TLS, "
                "start home_assistant.url with http://."
            )
        if isinstance(cause, socket.gaierror):
            return Unavailable(
                f"No host named {host_of(url)!r} was found on this network: check "
                "home_assistant.url, or use the host's IP address there."
            )
    return silent(url)


def no_name_server(url: str) -> Unavailable:
    """Return the error for a name server that does not answer."""
    return Unavailable(
        f"The name {host_of(url)!r} could not be looked up because no name server answered: "
        "check the network's DNS, or use the host's IP address in home_assistant.url."
    )


def silent(url: str) -> Unavailable:
    return Unavailable(
        f"Home Assistant does not answer at {shown(url)}: check home_assistant.url "
        "and that it is running."
    )


def not_onboarded(url: str) -> Misconfigured:
    """Return the error for a new installation without user accounts."""
    return Misconfigured(
        f"Home Assistant at {shown(url)} has no user yet: open it in a browser and create your "
        "account first."
    )


def hung_up(url: str) -> Unavailable:
    """Return the error for a connection that was closed without an answer, for example by a server
    that is restarting or expects TLS."""
    return Unavailable(
        f"{shown(url)} closes the connection without answering: it may be restarting; if "
        "Home Assistant is served with TLS, start home_assistant.url with https://."
    )


def wants_tls(url: str) -> Misconfigured:
    """Return the error for status 400 from a web server whose port expects TLS."""
    return Misconfigured(f"{shown(url)} requires TLS: start home_assistant.url with https://.")


def something_else(url: str) -> Misconfigured:
    """Return the error for a response that did not come from Home Assistant."""
    return Misconfigured(
        f"{shown(url)} answers, but it does not seem to be Home Assistant: check "
        "home_assistant.url."
    )


def moved(url: str, location: str) -> Misconfigured:
    """Return the error for a redirect, which is never followed because the token would be sent
    along."""
    if host_of(location) is None:
        return something_else(url)
    parts = urlsplit(location)
    host = parts.netloc.rpartition("@")[2]
    return Misconfigured(
        f"{shown(url)} redirects to {parts.scheme}://{host}: set home_assistant.url to the "
        "address at which Home Assistant itself answers."
    )


def behind_proxy(url: str, status: int) -> Unavailable:
    """Return the error for status 500 or higher."""
    return Unavailable(
        f"Home Assistant at {shown(url)} answered with status {status}: it may still be "
        "starting, so try again in a minute."
    )


def not_ready(url: str, state: str) -> Unavailable:
    """Return the error for a Home Assistant that is starting or shutting down, given the state that
    it reports."""
    going = state in ("STOPPING", "FINAL_WRITE", "STOPPED")
    doing = "shutting down" if going else "still starting"
    return Unavailable(f"Home Assistant at {shown(url)} is {doing}; try again in a minute.")


def recovery_mode(url: str) -> Misconfigured:
    return Misconfigured(
        f"Home Assistant at {shown(url)} is in recovery mode: fix its configuration (see "
        "Settings > System > Logs) and restart it."
    )


def banned(url: str) -> Misconfigured:
    """Return the error for status 403 on every request, which means that Home Assistant has banned
    this device's IP address (components/http/ban.py)."""
    return Misconfigured(
        f"{shown(url)} rejects every request from this device: if Home Assistant has banned "
        "its address after wrong tokens, remove it from ip_bans.yaml and restart Home "
        "Assistant."
    )


def untrusted_proxy(url: str) -> Misconfigured:
    """Return the error for status 400 on a plain GET request, which means that Home Assistant does
    not trust the proxy in front of it (components/http/forwarded.py)."""
    return Misconfigured(
        f"{shown(url)} rejects requests from its proxy: add the proxy to trusted_proxies in "
        "Home Assistant's HTTP settings, or set home_assistant.url to its address on the "
        "local network."
    )


def not_admin() -> SignInAgain:
    """Return the error for status 403 on `/api/mcp` in a release that lacks `/api/mcp/assist`."""
    return SignInAgain(
        "Home Assistant allows only an administrator's token to use its MCP server: update "
        "it to 2026.8 or later, or set home_assistant.token to an administrator's token."
    )


def no_mcp_server(url: str) -> Misconfigured:
    """Return the error for status 404 on all MCP endpoints if the integration is not set up."""
    return Misconfigured(
        f"Home Assistant at {shown(url)} has no MCP server: add the integration {_INTEGRATION} "
        "under Settings > Devices & services."
    )


def mcp_server_off(url: str) -> Misconfigured:
    """Return the error for status 404 on all MCP endpoints if the integration has been removed or
    disabled."""
    return Misconfigured(
        f"The MCP server of Home Assistant at {shown(url)} was removed or disabled: add or enable "
        f"the integration {_INTEGRATION} under Settings > Devices & services."
    )


def too_old(version: str) -> Misconfigured:
    """Return the error for a release before 2025.2, the first release with the MCP integration."""
    return Misconfigured(
        f"Home Assistant {version[:40]} has no MCP server yet: update it to 2025.2 or later under "
        "Settings > System > Updates."
    )
