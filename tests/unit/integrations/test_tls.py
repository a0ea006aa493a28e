"""TLS settings for each address."""

import ssl

import pytest

from integrations.tls import tls_for


@pytest.mark.parametrize("url", ["https://home", "HTTPS://home"])
def test_a_certificate_is_verified_however_the_scheme_is_written(url: str) -> None:
    context = tls_for(url)
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_nothing_is_built_for_an_address_without_tls() -> None:
    assert tls_for("http://https", ca_file="/not/there") is None
