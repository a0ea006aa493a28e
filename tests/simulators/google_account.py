"""A service account of Google Cloud, and the server that issues its access tokens.

Sources: "Using OAuth 2.0 for Server to Server Applications" in Google's identity documentation, and
RFC 7523.
"""

import base64
import json
import time
from pathlib import Path

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

EMAIL = "hearth@simulated-project.iam.gserviceaccount.com"
ACCESS_TOKEN = "simulated-access-token"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE = "https://oauth2.googleapis.com/token"  # whatever `token_uri` says
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_TIMEFRAME = (
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
    "Check your iat and exp values in the JWT claim."
)
_LONGEST_S = 3_600  # between the times of an assertion


class ServiceAccount:
    """A service account. With `exists=False`, it was deleted. `uri` is the address that issues its
    tokens."""

    def __init__(self, *, exists: bool = True, ahead_s: float = 0.0) -> None:
        """`ahead_s`: seconds by which Google's clock is ahead of the client's."""
        self._ahead_s = ahead_s
        self.uri = ""
        self.issued = 0  # access tokens
        self._exists = exists
        self._key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    def write_key(self, file: Path) -> None:
        """Write the JSON file that the Google Cloud console creates for a key."""
        pem = self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        key = {
            "type": "service_account",
            "project_id": "simulated-project",
            "private_key_id": "1",
            "private_key": pem.decode(),
            "client_email": EMAIL,
            "client_id": "1",
            "token_uri": self.uri,
        }
        file.write_text(json.dumps(key))
        file.chmod(0o600)

    async def give_token(self, request: web.Request) -> web.Response:
        """Exchange a signed assertion for an access token."""
        form = await request.post()
        problem = self._problem(form.get("grant_type"), str(form.get("assertion", "")))
        if problem:
            told = {"error": "invalid_grant", "error_description": problem}
            return web.json_response(told, status=400)
        self.issued += 1
        given = {"access_token": ACCESS_TOKEN, "expires_in": 3_599, "token_type": "Bearer"}
        return web.json_response(given)

    def _problem(self, grant: object, assertion: str) -> str:
        if grant != _GRANT:
            return "Unsupported grant type."
        if not self._exists:
            return "Invalid grant: account not found"
        signed, _, signature = assertion.rpartition(".")
        key = self._key.public_key()
        try:
            key.verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return "Invalid JWT Signature."
        claims = json.loads(_decoded(signed.partition(".")[2]))
        right = claims["iss"] == EMAIL and claims["aud"] == _AUDIENCE and _SCOPE in claims["scope"]
        now, began, ends = time.time() + self._ahead_s, claims["iat"], claims["exp"]
        if not (began <= now + 60 and now < ends <= began + _LONGEST_S):
            return _TIMEFRAME
        return "" if right else "Invalid JWT: claims"


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
