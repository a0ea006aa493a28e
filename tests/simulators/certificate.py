"""A certificate for 127.0.0.1, made at test time because the Gemini client requires TLS.

Its own authority signs the server's certificate, with every extension that Python 3.13's strict
checks require (RFC 5280).
"""

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# unused name (RFC 6761), for clients that reach this machine at another address
NAME = "gemini.test"
LATER, HOUR_AGO = datetime.timedelta(days=30), datetime.timedelta(hours=-1)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Paths of the PEM files."""

    cert_file: Path  # the server's
    key_file: Path  # the server's, without a passphrase
    ca_file: Path  # the authority that the client is to trust
    authority: x509.Certificate
    authority_key: ec.EllipticCurvePrivateKey

    def server_context(self) -> ssl.SSLContext:
        """Return the server's TLS context."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.cert_file, self.key_file)
        return context

    def client_context(self) -> ssl.SSLContext:
        """Return a client's TLS context, which trusts nothing else."""
        return ssl.create_default_context(cafile=str(self.ca_file))


def make_certificate(
    folder: Path, *, expired: bool = False, renewing: Certificate | None = None
) -> Certificate:
    """Write an authority and a certificate for 127.0.0.1, localhost and NAME into `folder`.

    Both are valid from yesterday, so that a clock that is a little off does no harm. `expired`: the
    server's certificate ended an hour ago. `renewing`: another certificate of the same authority.
    """
    folder.mkdir(parents=True, exist_ok=True)
    server_key = ec.generate_private_key(ec.SECP256R1())
    if renewing is None:
        authority_key = ec.generate_private_key(ec.SECP256R1())
        authority = _authority(authority_key)
    else:
        authority_key, authority = renewing.authority_key, renewing.authority
    server = _server(server_key, authority, authority_key, HOUR_AGO if expired else LATER)
    made = Certificate(
        folder / "server.pem",
        folder / "server.key",
        folder / "authority.pem",
        authority,
        authority_key,
    )
    made.ca_file.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    made.cert_file.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    made.key_file.write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("Hearth test authority")
    signer = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        _begin(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(signer, critical=False)
        .sign(key, hashes.SHA256())
    )


def _server(
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    ends: datetime.timedelta,
) -> x509.Certificate:
    here = [
        x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")),
        x509.DNSName("localhost"),
        x509.DNSName(NAME),
    ]
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _begin(_name("127.0.0.1"), authority.subject, key.public_key(), ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .add_extension(own, critical=False)
        .add_extension(signer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _begin(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    ends: datetime.timedelta = LATER,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + ends)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
