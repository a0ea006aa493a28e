"""Each failure becomes the error for its recovery, in one sentence without secrets."""

import ssl
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from google.auth.exceptions import RefreshError, TransportError
from google.genai.errors import APIError, ClientError, ServerError
from websockets.datastructures import Headers
from websockets.exceptions import (
    ConnectionClosedError,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
)
from websockets.frames import Close
from websockets.http11 import Response

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
from integrations.gemini.access import Access
from integrations.gemini.faults import fault_of

MODEL = "gemini-3.8-live"
GONE = (
    "models/gemini-2.0-flash-live-001 is not found for API version v1beta, "
    "or is not supported for bidiGenerateContent"
)


def closed(code: int, reason: str = "") -> APIError:
    return APIError(code, reason)


def status(code: int, body: bytes = b"") -> InvalidStatus:
    return InvalidStatus(Response(code, "No", Headers(), body))


def plain(code: int, message: str, word: str) -> APIError:
    answer = {"error": {"code": code, "message": message, "status": word}}
    kind = ClientError if code < 500 else ServerError
    return kind(code, answer)


API = "generativelanguage.googleapis.com"
BARS: list[tuple[BaseException, Bar]] = [
    (closed(1007, "User location is not supported for the API use."), "no_region"),
    (closed(1008, "Your project has been denied access. Please contact support."), "denied"),
    (status(403, b'{"error": {"message": "Consumer has been suspended."}}'), "denied"),
    (
        status(
            403,
            b'{"error": {"message": "Generative Language API has not been used in project 1 before '
            b'or it is disabled.", "status": "PERMISSION_DENIED"}}',
        ),
        "api_off",
    ),
    (closed(1008, "Generative Language API has not been used in project 1 before"), "api_off"),
    (closed(1008, f"Requests to this API {API} method google.ai are blocked."), "key_limits"),
    (closed(1008, f"Requests to this API {API} method google.ai.genera"), "key_limits"),  # cut off
    (
        plain(403, "Requests from referer <empty> are blocked.", "API_KEY_HTTP_REFERRER_BLOCKED"),
        "key_limits",
    ),
    (
        plain(403, "The provided API key has an IP address restriction.", "PERMISSION_DENIED"),
        "key_limits",
    ),
    *(
        (plain(403, "Blocked.", f"API_KEY_{reason}_BLOCKED"), "key_limits")
        for reason in ("SERVICE", "HTTP_REFERRER", "IP_ADDRESS", "ANDROID_APP")
    ),
]


@pytest.mark.parametrize(("error", "why"), BARS)
def test_what_bars_a_key_is_told_apart(error: BaseException, why: Bar) -> None:
    found = fault_of(error, model=MODEL)
    assert isinstance(found, Barred)
    assert found.why == why
    assert ": " in str(found), "each has a mend"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "Unknown name at 'setup.input_audio_transcription': no.",
            "setup.input_audio_transcription",
        ),
        ("Invalid at (setup.tools.function_declarations).", "setup.tools.function_declarations"),
        ("Invalid key AIzaSyA0123456789012345678901234567890", "Invalid key …"),
        ("Bad ya29.a0AfB_byC1234567890_abcdefghijk", "Bad …"),
    ],
)
def test_paths_of_fields_are_quoted_and_secrets_are_not(text: str, kept: str) -> None:
    found = str(fault_of(closed(1007, text), model=MODEL))
    assert kept in found
    assert "AIza" not in found
    assert "ya29" not in found


CASES: list[tuple[BaseException, type[IntegrationError]]] = [
    # closes of the socket, with reasons that people have reported
    (closed(1007, "Request contains an invalid argument."), Refused),
    (closed(1007, "Thinking level is not supported for this model"), Refused),
    (closed(1007, "Cannot extract voices from a non-audio request."), Refused),
    (closed(1007, "API key not valid. Please pass a valid API key."), SignInAgain),
    (closed(1008, "API key expired. Please renew the API key."), SignInAgain),
    (closed(1008, "Method doesn't allow unregistered callers"), SignInAgain),
    (closed(1008, "Permission denied"), SignInAgain),
    (closed(1008, GONE), Retired),
    (closed(1008, "This model is no longer available to new users."), Retired),
    (closed(1008, "BidiGenerateContent session not found"), Stale),
    (closed(1008, "BidiGenerateContent session expired"), Stale),
    (closed(1008, "Operation is not implemented, or supported, or enabled."), Unavailable),
    (closed(1008, "Something else"), Refused),
    (closed(1007, "The prompt was blocked due to PROHIBITED_CONTENT"), Blocked),
    (closed(1011, "You exceeded your current quota, please check your plan"), Exhausted),
    (closed(1011, "Resource has been exhausted (e.g. check quota)."), Exhausted),
    (closed(1011, "Internal error encountered."), Unavailable),
    (closed(1011, "Deadline expired before operation could complete."), Unavailable),
    (closed(1011, "keepalive ping timeout"), Unavailable),
    (closed(1006, "abnormal closure [internal]"), Unavailable),
    (closed(1000), Unavailable),
    (closed(1001), Unavailable),
    (closed(1009, "message too big"), Refused),
    (ConnectionClosedError(Close(1008, "session not found"), None), Stale),
    (ConnectionClosedError(None, None), Unavailable),
    # refused upgrades
    (status(400), Refused),
    (status(400, b'{"error": {"message": "API key not valid."}}'), SignInAgain),
    (status(401), SignInAgain),
    (status(403), SignInAgain),
    (status(404), Misconfigured),
    (status(302), Misconfigured),
    (status(429), Exhausted),
    (status(500), Unavailable),
    (status(503), Unavailable),
    # responses to plain requests
    (
        plain(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
        SignInAgain,
    ),
    (plain(400, "Invalid value at 'tools'", "INVALID_ARGUMENT"), Refused),
    (
        closed(
            1008, "Request had invalid authentication credentials. Expected OAuth 2 access token"
        ),
        SignInAgain,
    ),
    (plain(404, "models/x is not found for API version v1beta", "NOT_FOUND"), Retired),
    (plain(404, "nothing here", "NOT_FOUND"), Misconfigured),
    (plain(429, "slow down", "RESOURCE_EXHAUSTED"), Exhausted),
    (plain(500, "An internal error has occurred.", "INTERNAL"), Unavailable),
    (plain(503, "The model is overloaded.", "UNAVAILABLE"), Unavailable),
    # no answer from the service
    (TimeoutError(), Unavailable),
    (ConnectionRefusedError(111, "refused"), Unavailable),
    (OSError("no route"), Unavailable),
    (InvalidMessage("did not receive a valid HTTP response"), Unavailable),
    (InvalidHandshake("odd"), Misconfigured),
    (InvalidURI("nonsense", "isn't an address"), Misconfigured),
    (ssl.SSLCertVerificationError("self-signed"), Misconfigured),
    (ssl.SSLError("wrong version number"), Unavailable),
    (httpx2.ConnectTimeout("late"), Unavailable),
    (httpx2.ConnectError("refused"), Unavailable),
    (httpx2.RemoteProtocolError("gone"), Unavailable),
    (httpx2.InvalidURL("bad"), Misconfigured),
    (TypeError("'<=' not supported"), Unavailable),
    (ValueError("Failed to parse response"), Unavailable),
]


@pytest.mark.parametrize(("error", "kind"), CASES, ids=lambda value: str(value)[:40])
def test_each_failure_has_its_way_on(error: BaseException, kind: type[IntegrationError]) -> None:
    fault = fault_of(error, model=MODEL)
    assert type(fault) is kind
    text = str(fault)
    assert text.endswith(".")
    assert "\n" not in text
    assert "Traceback" not in text


def test_an_error_of_ours_stays() -> None:
    error = Exhausted("used up")
    assert fault_of(error, model=MODEL) is error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (closed(1007, "Request contains an invalid argument."), Stale),
        (closed(1008, "BidiGenerateContent session not found"), Stale),
        (closed(1008, GONE), Retired),
        (closed(1007, "API key not valid."), SignInAgain),
        (closed(1011, "Internal error encountered."), Unavailable),
    ],
)
def test_while_resuming_a_refusal_is_the_handles(
    error: BaseException, kind: type[IntegrationError]
) -> None:
    assert type(fault_of(error, model=MODEL, resuming=True)) is kind


@pytest.mark.parametrize("code", [9, 10])  # not yet valid, expired (OpenSSL's x509_vfy.h)
def test_a_device_that_does_not_know_the_date_is_no_wrong_setting(code: int) -> None:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_code = code
    fault = fault_of(error, model=MODEL)
    assert type(fault) is Unavailable
    assert "date" in str(fault)


def test_a_certificate_below_another_error_counts() -> None:
    error = httpx2.ConnectError("failed")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    assert isinstance(fault_of(error, model=MODEL), Misconfigured)


@pytest.mark.parametrize(
    ("model", "setting", "mend"),
    [
        ("gemini-2.0-flash-live-001", "gemini.model", 'gemini.model = "gemini-3.8-live"'),
        ("gemini-3.7-flash", "gemini.once_model", 'gemini.once_model = "gemini-3.8-flash"'),
        ("gemini-9", "gemini.model", "another gemini.model from https://ai.google.dev"),
        ("gemini-3.8-live", "gemini.model", "another gemini.model from https://ai.google.dev"),
    ],
)
def test_a_retired_model_names_its_successor(model: str, setting: str, mend: str) -> None:
    fault = fault_of(closed(1008, GONE), model=model, setting=setting)
    assert mend in str(fault)
    assert model in str(fault)


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (closed(1007, "API key not valid."), "https://aistudio.google.com/apikey"),
        (closed(1007, "API key not valid."), "gemini.api_key"),
        (closed(1011, "quota"), "gemini.api_key"),
        (closed(1007, "Thinking level is not supported"), "Thinking level is not supported"),
        (closed(1007), 'gemini.model = "gemini-3.8-live"'),
        (status(404), "gemini.base_url"),
        (ssl.SSLCertVerificationError("x"), "gemini.ca_file"),
    ],
)
def test_the_sentence_names_the_mend(error: BaseException, named: str) -> None:
    assert named in str(fault_of(error, model=MODEL))


LONG_KEY = "AIzaSyA0123456789012345678901234567890"


@pytest.mark.parametrize(
    ("reason", "secret"),
    [
        (f"bad request for {LONG_KEY}", ""),
        (f"bad request https://host/path?key={LONG_KEY}", ""),
        ("bad request for short-key", "short-key"),
        ("bad\r\nrequest\x1b[31m " + "very " * 100, ""),
    ],
)
@pytest.mark.parametrize("code", [1007, 1011])
def test_what_is_quoted_is_short_and_without_secrets(code: int, reason: str, secret: str) -> None:
    text = str(fault_of(closed(code, reason), model=MODEL, access=Access(secret)))
    assert LONG_KEY not in text
    assert not secret or secret not in text
    assert text.isprintable()
    assert len(text) < 320


def test_the_whole_reason_is_kept_without_secrets() -> None:
    reason = f"Bad {'field ' * 60}in project 123456789012 for {LONG_KEY} and s3cret."
    told = fault_of(closed(1007, reason), model=MODEL, access=Access("s3cret")).told
    assert told == f"1007 Bad {'field ' * 60}in project … for … and …."
    assert fault_of(OSError(), model=MODEL).told == ""


@pytest.mark.parametrize("details", [None, {}, {"odd": 1}, [1, 2]])
def test_an_answer_of_any_form(details: Any) -> None:
    assert isinstance(fault_of(APIError(1011, details), model=MODEL), Unavailable)


VERTEX = Access("", project="p", location="us-east1")
CUT_OFF = (
    "Publisher Model `projects/p/locations/us-east1/publishers/google/models/gemini-3.8-live` was"
)


def test_on_vertex_a_missing_model_can_be_one_without_access() -> None:
    fault = fault_of(closed(1008, CUT_OFF), model=MODEL, access=VERTEX)
    assert isinstance(fault, Retired)
    assert not fault.certain
    assert str(fault) == (
        'Vertex AI has no model called "gemini-3.8-live" in us-east1, or gemini.vertex_project has '
        "no access to it: choose another gemini.model or gemini.vertex_location."
    )


lost: Callable[..., Exception] = TransportError
rejected: Callable[..., Exception] = RefreshError


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (lost("no network"), Unavailable, "check the network"),
        (rejected("busy", retryable=True), Unavailable, "check the network"),
        (rejected("invalid_grant: account not found"), AccountRejected, "Vertex AI User"),
        (
            rejected(
                "invalid_grant: Invalid JWT: Token must be a short-lived token (60 minutes) and in "
                "a reasonable timeframe. Check your iat and exp values in the JWT claim.",
                {"error": "invalid_grant"},
            ),
            Unavailable,
            "check the date and time",
        ),
    ],
)
def test_an_access_token_that_is_not_given(error: Exception, kind: type, words: str) -> None:
    fault = fault_of(error, model=MODEL, access=VERTEX)
    assert type(fault) is kind
    assert words in str(fault)
