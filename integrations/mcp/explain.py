"""Why a server cannot be used, as one sentence that names the setting and the mend."""

import asyncio
import ssl

import httpx2

from integrations.causes import causes
from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.home_assistant import reasons
from integrations.mcp.servers import ServerSpec
from integrations.mcp.wire import Trace


def explain(spec: ServerSpec, trace: Trace, error: BaseException) -> IntegrationError:
    """The error for a server that did not open or answer, by what is known of the request."""
    found = list(causes(trace.error or error))
    for cause in found:
        if isinstance(cause, IntegrationError):
            return cause
    if any(isinstance(cause, UnicodeEncodeError) for cause in found):
        if spec.home_assistant:
            return reasons.unsendable_token()
        secret = spec.key("headers")
        return SignInAgain(f"A character beyond plain ASCII cannot be sent: check {secret}.")
    if trace.error is not None:
        return _by_network(spec, trace.error)
    if trace.status is not None:
        return _by_status(spec, trace.status)
    if spec.transport == "stdio" and any(isinstance(cause, OSError) for cause in found):
        return Misconfigured(
            f"{_title(spec)} cannot be started: check command = {spec.command!r} in {spec.setting}."
        )
    if any(isinstance(cause, TimeoutError) for cause in found):
        return Unavailable(f"{_title(spec)} did not answer in time: check that it is running.")
    return Unavailable(
        f"{_title(spec)} does not speak MCP as expected ({_kind(found)}): "
        f"check {spec.key('url' if spec.url else 'command')}."
    )


def leaves_open(trace: Trace) -> bool:
    """Whether somebody else should be asked for the reason: the server answered, but not as MCP.

    A refused token is clear, and Home Assistant notes each use of it; of a broken network nobody
    knows more.
    """
    return trace.connected and trace.error is None and trace.status != 401


def _by_network(spec: ServerSpec, error: httpx2.TransportError) -> IntegrationError:
    if spec.home_assistant:
        return reasons.network(spec.url, error)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes(error)):
        return Misconfigured(
            f"The certificate of {spec.address} is not trusted: set {spec.key('ca_file')} to its "
            f"authority, or {spec.key('verify_tls')} to false."
        )
    return Unavailable(
        f"{_title(spec)} does not answer at {spec.address}: check {spec.key('url')} "
        "and that it is running."
    )


def _by_status(spec: ServerSpec, status: int) -> IntegrationError:
    if spec.home_assistant:
        return _of_home(spec, status)
    title = _title(spec)
    if status == 401:
        return SignInAgain(f"{title} does not accept the credential in {spec.key('headers')}.")
    if status == 403:
        return SignInAgain(f"{title} forbids this credential: check {spec.key('headers')}.")
    if status == 404:
        return Misconfigured(f"Nothing is at {spec.address}: check {spec.key('url')}.")
    if status >= 500:
        return Unavailable(f"{title} answers with status {status}: it may still be starting.")
    return Misconfigured(
        f"{spec.address} answers with status {status}, not as an MCP server: "
        f"check {spec.key('url')}."
    )


def _of_home(spec: ServerSpec, status: int) -> IntegrationError:
    """What the status alone says of Home Assistant; asked over REST it may tell more."""
    if status == 401:
        return reasons.wrong_token()
    if status == 403:
        return reasons.not_admin()
    if status == 404:
        return reasons.no_mcp_server(spec.url)
    if status >= 500:
        return reasons.behind_proxy(spec.url, status)
    return reasons.something_else(spec.url)


def _title(spec: ServerSpec) -> str:
    return "Home Assistant" if spec.home_assistant else f'The MCP server "{spec.name}"'


def _kind(found: list[BaseException]) -> str:
    """The innermost error's class; groups and cancellations only carry it."""
    plain = [
        cause
        for cause in found
        if not isinstance(cause, (BaseExceptionGroup, asyncio.CancelledError))
    ]
    return type((plain or found)[-1]).__name__
