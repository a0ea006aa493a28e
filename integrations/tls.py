"""TLS contexts for clients and for Hearth's own server, and a check of download URLs."""

import ipaddress
import ssl
from pathlib import Path

import httpx

from integrations.errors import Misconfigured, Refused

# A download must never be redirected from https to http.


def next_address(current: httpx.URL, location: str, first: str) -> httpx.URL:
    """Return the URL to which `current` redirects. `first` is the URL of the download. Raises
    Refused if the redirect is not allowed."""
    try:
        url = current.join(location)
    except httpx.InvalidURL:
        raise Refused(
            f"{first} redirects to an invalid address: find another source for it."
        ) from None
    address_allowed(str(url), first)
    return url


def address_allowed(url: str, first: str) -> None:
    """Raise Refused unless the URL uses https. http is allowed only if both `url` and `first`, the
    URL of the download, are on this machine."""
    target = httpx.URL(url)
    plain = target.scheme == "http" and is_loopback(target.host)
    if target.scheme == "https" or (plain and is_loopback(httpx.URL(first).host)):
        return
    raise Refused(
        f"The download from {httpx.URL(first).host} redirects to "
        f"{target.scheme}://{target.host}, which is not encrypted, so it was stopped: find "
        "another source for it."
    )


def is_loopback(host: str) -> bool:
    """Return True for "localhost" and for loopback addresses."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def tls_context(*, verify: bool = True, ca_file: str = "", setting: str = "") -> ssl.SSLContext:
    """Return a client context that trusts the system's authorities, or only those in `ca_file`
    (PEM).

    Without `verify`, it accepts any certificate. Creating a context takes about 30 ms, so callers
    should keep it. Raises Misconfigured, naming `setting`, if the file cannot be used.
    """
    try:
        context = ssl.create_default_context(
            cafile=str(Path(ca_file).expanduser()) if ca_file else None
        )
    except OSError as error:  # including ssl.SSLError if the file is not PEM
        reason = error.strerror or "it contains no certificate"
        raise Misconfigured(
            f"{setting or 'ca_file'} = {ca_file!r} cannot be used as a certificate file: {reason}."
        ) from None
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def tls_for(
    url: str, *, verify: bool = True, ca_file: str = "", setting: str = ""
) -> ssl.SSLContext | None:
    """Return the client context (see `tls_context`) for this URL, or None if the URL doesn't use
    https."""
    if not url.lower().startswith("https:"):
        return None
    return tls_context(verify=verify, ca_file=ca_file, setting=setting)


def server_context(cert_file: str, key_file: str) -> ssl.SSLContext:
    """Return a server context with this certificate and key (PEM). Raises Misconfigured."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(
            Path(cert_file).expanduser(),
            Path(key_file).expanduser() if key_file else None,
            password=lambda: "",  # otherwise OpenSSL would ask for a password on stdin
        )
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = "they must be a PEM certificate and its key, without a password"
        if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
            reason = error.strerror or reason
        raise Misconfigured(
            f"http.tls_cert = {cert_file!r} and http.tls_key = {key_file!r} cannot be used: "
            f"{reason}."
        ) from None
    return context
