"""Convert every Gemini failure to an IntegrationError whose class says how to recover.

This is based on the errors of google-genai 3.4.0, and on close reasons reported on GitHub. One
close code can have several causes, so the text of the reason is checked before the code.
"""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from integrations.cleaning import one_line
from integrations.errors import (
    AccountRejected,
    Bar,
    Barred,
    Blocked,
    Exhausted,
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.gemini.access import KEY_PAGE, Access, Way
from integrations.gemini.models import MODELS

_LONG_WORD = re.compile(r"\S{24,}")
# A field or method, such as "google.ai.generativelanguage.v1beta.ModelService"; a key has digits.
_FIELD_PATH = re.compile(r"[A-Za-z]+(?:[._](?:[A-Za-z]+|v1(?:alpha|beta)?))*")
_READ = 4_000  # characters of a reason to read
_QUOTED = 160  # characters to quote
_TOLD = 1_000  # characters of `IntegrationError.told`
_LONG_NUMBER = re.compile(r"\d{6,}")  # of the user's project
_DOWN = "Gemini cannot be reached: check the network connection."
_LATE = "Gemini did not answer in time: check the network connection."
_CHECK_CLOCK = (
    "check the date and time. Without a network clock, a Raspberry Pi starts with a date in the "
    "past."
)
_NOBODY = Access("")
_SIGN_IN: Mapping[Way, str] = {
    "key": f"Gemini rejected gemini.api_key: create a new key at {KEY_PAGE} and set it.",
    "token": (
        "Gemini rejected the ephemeral token in gemini.api_key, which is valid only for a while "
        "and for a few sessions: create a new one, or set an API key."
    ),
    "vertex": (
        "Vertex AI rejected gemini.vertex_credentials_file: check that the account still exists "
        "and has the role Vertex AI User in gemini.vertex_project."
    ),
}
_EXHAUSTED = (
    "The quota of gemini.api_key is used up: wait until it resets, or raise the limit at "
    "https://aistudio.google.com."
)
_VERTEX_EXHAUSTED = (
    "The quota of gemini.vertex_project is used up: wait until it resets, or raise the limit at "
    "https://console.cloud.google.com/iam-admin/quotas."
)

# What to do if Google refuses to serve the key at all. The pages are Google's own consoles.
_BARS: Mapping[Bar, str] = {
    "no_region": (
        "Gemini is not available in this country: remove gemini-live and gemini-once "
        "from brain.order."
    ),
    "denied": (
        "Google has denied the project of gemini.api_key access to Gemini: see the project at "
        "https://aistudio.google.com, or use a key of another project."
    ),
    "api_off": (
        "The Generative Language API is switched off in the project of gemini.api_key: enable it "
        "at https://console.cloud.google.com/apis/library/generativelanguage.googleapis.com."
    ),
    "key_limits": (
        "The restrictions of gemini.api_key exclude the Gemini API or this device: change them at "
        "https://console.cloud.google.com/apis/credentials, or create a key without restrictions."
    ),
}
_VERTEX_BARS: Mapping[Bar, str] = {
    **_BARS,
    "denied": (
        "Google has denied gemini.vertex_project access to Gemini: see the project at "
        "https://console.cloud.google.com, or use another project."
    ),
    "api_off": (
        "The Vertex AI API is switched off in gemini.vertex_project: enable it at "
        "https://console.cloud.google.com/apis/library/aiplatform.googleapis.com."
    ),
}
# Parts of the service's text (lower case) and their meaning; the first match counts.
_TELLING = (
    ("location is not supported", "no_region"),
    ("denied access", "denied"),  # "Your project has been denied access. Please contact support."
    ("has been suspended", "denied"),  # CONSUMER_SUSPENDED
    ("consumer_suspended", "denied"),
    ("has not been used in project", "api_off"),  # "... before or it is disabled"
    ("service_disabled", "api_off"),
    # "Requests to this API ... are blocked.", "Requests from referer <empty> are blocked."
    ("are blocked.", "key_limits"),
    ("requests to this api", "key_limits"),  # the end is cut off in a close reason of 123 bytes
    ("ip address restriction", "key_limits"),
    ("_service_blocked", "key_limits"),
    ("_referrer_blocked", "key_limits"),
    ("_address_blocked", "key_limits"),
    ("_app_blocked", "key_limits"),
    ("quota", "exhausted"),
    ("resource_exhausted", "exhausted"),
    ("resource has been exhausted", "exhausted"),
    ("billing", "exhausted"),
    ("prepayment credits", "exhausted"),
    ("api key", "sign_in"),  # "API key not valid", "... expired", "... was reported as leaked"
    ("api_key", "sign_in"),
    ("unregistered callers", "sign_in"),
    ("permission denied", "sign_in"),
    ("permission 'aiplatform", "sign_in"),  # Vertex AI: "... denied on resource '//aiplatform..."
    # Ephemeral tokens, as measured by a public project in September 2026 (both with 1011).
    ("token has been used too many times", "sign_in"),
    ("token has expired", "sign_in"),
    ("permission_denied", "sign_in"),
    ("unauthenticated", "sign_in"),
    # The key is another kind of token, such as "AQ." (Kilo-Org/kilocode #11763).
    ("oauth 2 access token", "sign_in"),
    ("invalid authentication credentials", "sign_in"),
    ("session not found", "stale"),
    ("session expired", "stale"),
    ("not found for api version", "retired"),
    ("not supported for bidigeneratecontent", "retired"),
    ("not supported for generatecontent", "retired"),
    ("no longer available", "retired"),
    # Vertex AI: "Publisher Model `projects/…` was not found or your project does not have access to
    # it." (pollinations/pollinations #6148); the end is cut off in a close reason.
    ("publisher model", "retired"),
    ("prohibited content", "blocked"),
    ("prohibited_content", "blocked"),
    ("blocked due to", "blocked"),
    ("due to safety", "blocked"),
    ("operation is not implemented", "down"),  # intermittent, around tool calls: livekit #4545
)
_WRONG_TIME = (9, 10)  # OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and _HAS_EXPIRED
_BY_CODE = {  # close codes (RFC 6455) and HTTP statuses
    1002: "refused",
    1003: "refused",
    1007: "refused",
    1008: "refused",
    1009: "refused",
    400: "refused",
    401: "sign_in",
    403: "sign_in",
    404: "address",
    413: "refused",
    422: "refused",
    429: "exhausted",
}


@dataclass(frozen=True, slots=True)
class _Told:
    code: int
    text: str
    closed: bool = True  # True: a close code; False: an HTTP status


def fault_of(
    error: BaseException,
    *,
    model: str,
    resuming: bool = False,
    setting: str = "gemini.model",
    access: Access = _NOBODY,
) -> IntegrationError:
    """Convert any exception from a Gemini request to an IntegrationError.

    `resuming` is True if the request contained a resumption handle. `setting` is the name of the
    setting that chose `model`. `access` is how Hearth signed in; its key is removed from quoted
    text.
    """
    if isinstance(error, IntegrationError):
        return error
    if isinstance(error, TimeoutError):  # checked first: it can occur before the SDK is imported
        return Unavailable(_LATE)
    told = _told(error)
    if told is None:
        return _without_words(error, access.way)
    meaning = _meaning(told)
    if resuming and meaning == "refused":
        meaning = "stale"  # 1007 on a resume: Google's developer forum, 186392
    fault = _worded(meaning, told, _Names(model, setting, access))
    cleaned = _cleaned(told.text, access.api_key)[:_TOLD]
    fault.told = f"{told.code} {_LONG_NUMBER.sub('…', cleaned)}".strip()
    return fault


def _told(error: BaseException) -> _Told | None:
    from google.genai.errors import APIError
    from websockets.exceptions import ConnectionClosed, InvalidStatus

    # While the SDK is receiving or connecting, any close raises APIError with the close code.
    # Sending on a closed socket raises ConnectionClosed, and a refused upgrade raises
    # InvalidStatus.
    if isinstance(error, APIError):
        said = (error.message, error.status, error.details)
        text = " ".join(part for part in said if isinstance(part, str))
        code = error.code if isinstance(error.code, int) else 0
        return _Told(code, text, closed=code >= 1000)
    if isinstance(error, ConnectionClosed):
        frame = error.rcvd
        return _Told(frame.code, frame.reason) if frame else _Told(1006, "")
    if isinstance(error, InvalidStatus):
        body = (error.response.body or b"")[:2_000].decode(errors="replace")
        return _Told(error.response.status_code, body, closed=False)
    return None


def _meaning(told: _Told) -> str:
    text = told.text.lower()
    for part, meaning in _TELLING:
        if part in text:
            return meaning
    if not told.closed and 300 <= told.code < 400:
        return "address"
    return _BY_CODE.get(told.code, "down")


@dataclass(frozen=True, slots=True)
class _Names:
    model: str
    setting: str
    access: Access


def _worded(meaning: str, told: _Told, names: _Names) -> IntegrationError:
    secret, vertex = names.access.api_key, names.access.way == "vertex"
    match meaning:
        case "sign_in":
            return _rejected(names.access.way)
        case "exhausted":
            return Exhausted(_VERTEX_EXHAUSTED if vertex else _EXHAUSTED)
        case "no_region" | "denied" | "api_off" | "key_limits":
            return Barred((_VERTEX_BARS if vertex else _BARS)[meaning], meaning)
        case "retired":
            return Retired(_gone(names), certain=not vertex)
        case "address":
            return Misconfigured(
                f"The Gemini server answered with status {told.code}: check gemini.base_url "
                "and gemini.api_version."
            )
        case "stale":
            return Stale("The Gemini session has expired: start a new one.")
        case "blocked":
            return Blocked("Gemini declined to answer this.")
        case "refused":
            return Refused(
                "Gemini rejected the request "
                f"({told.code}{_quoted(told.text, secret)}): check {names.setting} = "
                f'"{names.model}" and gemini.api_version.'
            )
        case _:
            return Unavailable(
                f"Gemini reported an error ({told.code}{_quoted(told.text, secret)}): "
                "try again in a moment."
            )


def _rejected(way: Way) -> SignInAgain:
    return (SignInAgain if way == "key" else AccountRejected)(_SIGN_IN[way])


def _gone(names: _Names) -> str:
    if names.access.way == "vertex":
        return (
            f'Vertex AI has no model called "{names.model}" in {names.access.location}, or '
            f"gemini.vertex_project has no access to it: choose another {names.setting} or "
            "gemini.vertex_location."
        )
    row = MODELS.get(names.model)
    successor = row.successor if row else None
    if successor:
        mend = f'set {names.setting} = "{successor}"'
    else:
        mend = f"choose another {names.setting} from https://ai.google.dev/gemini-api/docs/models"
    return f'Gemini has no model called "{names.model}" (any more): {mend}.'


def _quoted(text: str, secret: str) -> str:
    short = _cleaned(text, secret)[:_QUOTED].rstrip(" .")
    return f', "{short}"' if short else ""


def _cleaned(text: str, secret: str) -> str:
    if secret:
        text = text.replace(secret, "…")
    # Field paths such as 'setup.input_audio_transcription' are kept, because they name the cause.
    return _LONG_WORD.sub(_unless_path, one_line(text, _READ))


def _unless_path(word: re.Match[str]) -> str:
    return word[0] if _FIELD_PATH.fullmatch(word[0].strip("'\"():,.")) else "…"


def _without_words(error: BaseException, way: Way) -> IntegrationError:
    from google.auth.exceptions import GoogleAuthError
    from google.auth.exceptions import TransportError as AuthTransportError
    from httpx2 import InvalidURL, TimeoutException, TransportError
    from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidURI

    doubts = [each for each in _causes(error) if isinstance(each, ssl.SSLCertVerificationError)]
    if any(getattr(doubt, "verify_code", 0) in _WRONG_TIME for doubt in doubts):
        return Unavailable(
            f"The Gemini server's certificate is not valid on this device's date: {_CHECK_CLOCK}"
        )
    if doubts:
        return Misconfigured(
            "The Gemini server's certificate is not trusted: set gemini.ca_file to the file "
            "of its certificate authority, or leave gemini.base_url empty."
        )
    if isinstance(error, (InvalidURI, InvalidURL)):
        return Misconfigured(
            "gemini.base_url is not a valid address: leave it empty to use Google's own."
        )
    if isinstance(error, TimeoutException):
        return Unavailable(_LATE)
    if isinstance(error, GoogleAuthError):  # from Google's server for access tokens
        if isinstance(error, AuthTransportError) or error.retryable:
            return Unavailable(_DOWN)
        # "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable
        # timeframe. Check your iat and exp values in the JWT claim." (Google's OAuth server)
        if "reasonable timeframe" in str(error):
            return Unavailable(f"Google rejected this device's time: {_CHECK_CLOCK}")
        return _rejected(way)
    # InvalidMessage: an incomplete response
    if isinstance(error, (OSError, TransportError, InvalidMessage)):
        return Unavailable(_DOWN)
    if isinstance(error, InvalidHandshake):
        return Misconfigured(
            "The server at gemini.base_url does not speak the expected protocol: check "
            "gemini.base_url."
        )
    return Unavailable(
        f"Gemini sent an answer that Hearth does not understand ({type(error).__name__})."
    )


def _causes(error: BaseException) -> list[BaseException]:
    causes = [error]
    while (before := causes[-1].__cause__ or causes[-1].__context__) and before not in causes:
        causes.append(before)
    return causes
