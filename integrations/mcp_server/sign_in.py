"""Sign-in of Home Assistant's client of the Model Context Protocol, by OAuth 2."""

import logging
import secrets
from collections.abc import Collection
from urllib.parse import parse_qs, urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from integrations.web.guard import Guard
from integrations.web.problems import Refused, check_length, problem

AUTHORIZE, TOKEN = "/mcp/authorize", "/mcp/token"
METADATA = "/.well-known/oauth-authorization-server"  # with the path of what it guards behind it
# Where Home Assistant has people sent back (`helpers/config_entry_oauth2_flow.py`): by way of its
# own site, or without its integration `my` to this path below the address that the browser has.
MY_HOME_ASSISTANT = "https://my.home-assistant.io/redirect/oauth"
CALLBACK = "/auth/external/callback"
_ONCE = ("response_type", "redirect_uri", "state")  # parameters (RFC 6749, 3.1)
_LONGEST_STATE = 4_000  # characters; Home Assistant's is a signed object
_HOLDS_S = 30 * 24 * 3600  # after which the secret is asked for again

_log = logging.getLogger(__name__)


def sign_in_routes(guard: Guard, callbacks: Collection[str] = ()) -> list[Route]:
    """Routes by which Home Assistant's client of the Model Context Protocol comes to its token.

    That client takes no token by hand: it knows OAuth 2 with a client id and secret, which a person
    types into Home Assistant, and nothing else (`components/mcp`, 2026.11). So the secret is the
    token. The browser's way round is answered at once and proves nothing; the secret, which Home
    Assistant sends to the last of these paths itself, does. All but the last need no token and tell
    nothing. Formats: RFC 6749 and RFC 8414.

    `callbacks`: where a browser may be sent back beside My Home Assistant, compared sign by sign.
    """
    sign_in = _SignIn(guard, frozenset({MY_HOME_ASSISTANT, *callbacks}))
    return [
        Route(METADATA, sign_in.metadata, methods=["GET"]),
        Route(f"{METADATA}/mcp", sign_in.metadata, methods=["GET"]),
        Route(AUTHORIZE, sign_in.authorize, methods=["GET"]),
        Route(TOKEN, sign_in.token, methods=["POST"]),
    ]


class _SignIn:
    def __init__(self, guard: Guard, callbacks: frozenset[str]) -> None:
        self._guard = guard
        self._callbacks = callbacks

    async def metadata(self, request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        return JSONResponse(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}{AUTHORIZE}",
                "token_endpoint": f"{base}{TOKEN}",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        )

    async def authorize(self, request: Request) -> Response:
        """Back to Home Assistant at once. Whatever is wrong is said here, and sends nobody on."""
        given = request.query_params
        back, state = given.get("redirect_uri", ""), given.get("state", "")
        if any(len(given.getlist(name)) > 1 for name in _ONCE):
            return problem(400, "bad_request", "Each parameter may be given once.")
        if given.get("response_type") != "code":
            message = "Only Home Assistant signs in here; other programs send their token."
            return problem(400, "bad_request", message)
        if back not in self._callbacks:
            message = (
                "redirect_uri is none of the addresses that a browser is sent back to; if it is "
                "your Home Assistant's, put the whole of it into http.mcp_callbacks."
            )
            return problem(400, "bad_request", message)
        if len(state) > _LONGEST_STATE:
            return problem(400, "bad_request", "state is too long.")
        query = urlencode({"code": secrets.token_urlsafe(8), "state": state})
        return RedirectResponse(f"{back}?{query}", status_code=302)

    async def token(self, request: Request) -> Response:
        """The client's secret, which must be a token of ours, as its access token."""
        try:
            check_length(request)
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            secret = form.get("client_secret", [""])[0]
            self._guard.admit(_sent_with(request, secret), None)
        except Refused as refused:
            if refused.status != 401:
                return refused.answer()
            _log.warning("a program tried to sign in with a client secret that is no token")
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        return JSONResponse(
            {
                "access_token": secret,
                "token_type": "Bearer",
                "expires_in": _HOLDS_S,
                "refresh_token": "by-client-secret",  # that is what it is asked for again
            }
        )


def _sent_with(request: Request, token: str) -> HTTPConnection:
    """The same request as if it had this token in its header: one guard looks at all of them."""
    headers = [row for row in request.scope["headers"] if row[0] != b"authorization"]
    header = (b"authorization", f"Bearer {token}".encode("utf-8", "replace"))
    return HTTPConnection({**request.scope, "headers": [*headers, header]})
