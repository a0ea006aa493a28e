"""Why a server cannot be used, as one sentence that names the setting and the mend."""

import asyncio
import ssl
from collections.abc import Iterator

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.mcp.servers import ServerSpec
from integrations.mcp.wire import Trace


def explain(spec: ServerSpec, trace: Trace, error: BaseException) -> IntegrationError:
    """The error for a server that did not open or answer, by what is known of the request."""
    causes = list(_causes(trace.error or error))
    for cause in causes:
        if isinstance(cause, IntegrationError):
            return cause
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return Misconfigured(
            f"The certificate of {spec.address} is not trusted: set {spec.key('ca_file')} to its "
            f"authority, or {spec.key('verify_tls')} to false."
        )
    if any(isinstance(cause, UnicodeEncodeError) for cause in causes):
        secret = spec.key("token" if spec.home_assistant else "headers")
        return SignInAgain(f"A character beyond plain ASCII cannot be sent: check {secret}.")
    if trace.error is not None:
        return Unavailable(
            f"{_title(spec)} does not answer at {spec.address}: check {spec.key('url')} "
            "and that it is running."
        )
    if trace.status is not None:
        return _by_status(spec, trace.status)
    if spec.transport == "stdio" and any(isinstance(cause, OSError) for cause in causes):
        return Misconfigured(
            f"{_title(spec)} cannot be started: check command = {spec.command!r} in {spec.setting}."
        )
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return Unavailable(f"{_title(spec)} did not answer in time: check that it is running.")
    return Unavailable(
        f"{_title(spec)} does not speak MCP as expected ({_kind(causes)}): "
        f"check {spec.key('url' if spec.url else 'command')}."
    )


def _by_status(spec: ServerSpec, status: int) -> IntegrationError:
    title = _title(spec)
    if status == 401:
        if spec.home_assistant:
            return SignInAgain(
                "Home Assistant does not accept home_assistant.token: "
                "make a new long-lived token on your profile page, under Security."
            )
        return SignInAgain(f"{title} does not accept the credential in {spec.key('headers')}.")
    if status == 403:
        if spec.home_assistant:
            return SignInAgain(
                "Home Assistant lets only an administrator's token use its MCP server: update it "
                "to 2026.8 or later, or give home_assistant.token of an administrator."
            )
        return SignInAgain(f"{title} forbids this credential: check {spec.key('headers')}.")
    if status == 404:
        if spec.home_assistant:
            return Misconfigured(
                f"{spec.address} (home_assistant.url) has no MCP server: add the integration "
                '"Model Context Protocol Server" in Home Assistant under Devices & services.'
            )
        return Misconfigured(f"Nothing is at {spec.address}: check {spec.key('url')}.")
    if status >= 500:
        return Unavailable(f"{title} answers with status {status}: it may still be starting.")
    return Misconfigured(
        f"{spec.address} answers with status {status}, not as an MCP server: "
        f"check {spec.key('url')}."
    )


def _title(spec: ServerSpec) -> str:
    return "Home Assistant" if spec.home_assistant else f'The MCP server "{spec.name}"'


def _kind(causes: list[BaseException]) -> str:
    """The innermost error's class; groups and cancellations only carry it."""
    plain = [
        cause
        for cause in causes
        if not isinstance(cause, (BaseExceptionGroup, asyncio.CancelledError))
    ]
    return type((plain or causes)[-1]).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it holds and what caused it, outermost first."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _causes(inner)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield from _causes(cause)
