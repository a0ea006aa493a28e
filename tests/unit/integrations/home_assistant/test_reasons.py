"""The sentences behind errors of the network."""

import ssl

import pytest

from integrations.errors import Misconfigured
from integrations.home_assistant import reasons


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        (10, "has expired: renew it"),
        (18, "home_assistant.ca_file"),  # self-signed
        (62, "for another name"),  # of the host
        (64, "for another name"),  # of its address
    ],
)
def test_why_a_certificate_is_refused(code: int, mend: str) -> None:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_code = code
    reason = reasons.network("https://house.example:8123", error)
    assert isinstance(reason, Misconfigured)
    assert mend in str(reason)
    assert "https://house.example:8123" in str(reason)
