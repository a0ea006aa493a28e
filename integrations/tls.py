"""One TLS context for every client of the same service, and one for a server of ours."""

import ssl
from pathlib import Path

from integrations.errors import Misconfigured


def tls_context(*, verify: bool = True, ca_file: str = "", setting: str = "") -> ssl.SSLContext:
    """A client context that trusts the system's authorities, or those of `ca_file` (PEM) instead.

    `setting` is the configuration key to name when the file cannot be used; raises Misconfigured.
    Building a context costs about 30 ms, so callers keep it.
    """
    try:
        context = ssl.create_default_context(
            cafile=str(Path(ca_file).expanduser()) if ca_file else None
        )
    except OSError as error:  # ssl.SSLError is one too: a file that is no PEM
        reason = error.strerror or "it holds no certificate"
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
    """The context for this URL, None where its scheme is not https; else as `tls_context`."""
    if not url.lower().startswith("https:"):
        return None
    return tls_context(verify=verify, ca_file=ca_file, setting=setting)


def server_context(cert_file: str, key_file: str) -> ssl.SSLContext:
    """A server's context with this certificate and its key (PEM). Raises Misconfigured."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(
            Path(cert_file).expanduser(),
            Path(key_file).expanduser() if key_file else None,
            password=lambda: "",  # without it a key with a password would be asked for on stdin
        )
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = "they are no certificate and its key without a password, as PEM"
        if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
            reason = error.strerror or reason
        raise Misconfigured(
            f"http.tls_cert = {cert_file!r} and http.tls_key = {key_file!r} cannot be used: "
            f"{reason}."
        ) from None
    return context
