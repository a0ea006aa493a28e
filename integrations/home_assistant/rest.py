"""What is asked of Home Assistant over REST, where a plain HTTP status tells most."""

import ssl
from dataclasses import dataclass

import httpx

from integrations.errors import Misconfigured, SignInAgain, Unavailable
from integrations.tls import tls_context

TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Instance:
    """The Home Assistant that answered."""

    version: str  # e.g. "2026.11.0"
    state: str  # "RUNNING", or on its way there
    name: str  # the home's


async def check(url: str, token: str, verify_tls: bool = True, ca_file: str = "") -> Instance:
    """Ask who answers at `url`. Raises Misconfigured, SignInAgain or Unavailable."""
    tls: ssl.SSLContext | bool = False
    if url.startswith("https:"):
        tls = tls_context(verify=verify_tls, ca_file=ca_file, setting="home_assistant.ca_file")
    try:
        async with httpx.AsyncClient(verify=tls, timeout=TIMEOUT_S, trust_env=False) as client:
            answer = await client.get(
                f"{url.rstrip('/')}/api/config", headers={"Authorization": f"Bearer {token}"}
            )
    except (httpx.UnsupportedProtocol, httpx.InvalidURL):
        raise Misconfigured(
            f"home_assistant.url = {url!r} is no address; "
            "it looks like http://homeassistant.local:8123."
        ) from None
    except UnicodeEncodeError:  # its message would show the token
        raise SignInAgain(
            "home_assistant.token is no token: it holds a character beyond plain ASCII."
        ) from None
    except httpx.TransportError as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):  # httpx passes on nothing but the text
            raise Misconfigured(
                f"The certificate of {url} is not trusted: set home_assistant.ca_file to its "
                "authority, or home_assistant.verify_tls to false."
            ) from error
        raise Unavailable(
            f"Home Assistant does not answer at {url}: "
            "check home_assistant.url and that it is running."
        ) from error
    return _read(url, answer)


def _read(url: str, answer: httpx.Response) -> Instance:
    if answer.status_code in (401, 403):
        raise SignInAgain(
            "Home Assistant does not accept home_assistant.token: "
            "make a new long-lived token on your profile page, under Security."
        )
    if answer.status_code >= 500:
        raise Unavailable(f"Home Assistant at {url} is still starting; try again in a minute.")
    try:
        config = answer.json()
        return Instance(config["version"], config["state"], config.get("location_name", ""))
    except (KeyError, TypeError, ValueError):
        raise Misconfigured(
            f"{url} answers, but not as Home Assistant does: check home_assistant.url."
        ) from None
