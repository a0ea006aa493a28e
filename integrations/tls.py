"""One TLS context for every client of the same service."""

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
