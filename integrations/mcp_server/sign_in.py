"""OAuth 2 sign-in for Home Assistant's Model Context Protocol client."""

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
# The path of the protected resource may follow.
METADATA = "/.well-known/oauth-authorization-server"
# Home Assistant's redirect targets (`helpers/config_entry_oauth2_flow.py`): its public site or,
# without the integration `my`, this path at the address that the browser uses.
MY_HOME_ASSISTANT = "https://my.home-assistant.io/redirect/oauth"
CALLBACK = "/auth/external/callback"
# parameters that may occur only once (RFC 6749, 3.1)
_ONCE = ("response_type", "redirect_uri", "state")
_LONGEST_STATE = 4_000  # characters; Home Assistant's is a signed object
_HOLDS_S = 30 * 24 * 3600  # lifetime of the token, after which the client sends its secret again

_log = logging.getLogger(__name__)


def sign_in_routes(guard: Guard, callbacks: Collection[str] = ()) -> list[Route]:
    """Return the routes through which Home Assistant's MCP client obtains its token.

    Hearth redirects the browser without asking anybody. Only the client secret, which must be one
    of Hearth's tokens, proves that the client may sign in. The formats follow RFC 6749 and RFC
    8414. `callbacks` are the allowed redirect targets in addition to My Home Assistant; they must
    match exactly.
    """
    # Home Assistant's client accepts no token directly, only OAuth 2 with a client id and secret
    # (`components/mcp`, 2026.11). The paths other than TOKEN need no token and reveal nothing.
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
        # Errors are shown in the browser, and not redirected.
        given = request.query_params
        back, state = given.get("redirect_uri", ""), given.get("state", "")
        if any(len(given.getlist(name)) > 1 for name in _ONCE):
            return problem(400, "bad_request", "Each parameter may be given once.")
        if given.get("response_type") != "code":
            message = (
                "Only Home Assistant signs in here; other programs send their token with each "
                "request."
            )
            return problem(400, "bad_request", message)
        if back not in self._callbacks:
            message = (
                "redirect_uri is not an address that browsers may be sent back to; if it is "
                "your Home Assistant's, add the whole address to http.mcp_callbacks."
            )
            return problem(400, "bad_request", message)
        if len(state) > _LONGEST_STATE:
            return problem(400, "bad_request", "state is too long.")
        query = urlencode({"code": secrets.token_urlsafe(8), "state": state})
        return RedirectResponse(f"{back}?{query}", status_code=302)

    async def token(self, request: Request) -> Response:
        try:
            check_length(request)
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            secret = form.get("client_secret", [""])[0]
            self._guard.admit(_sent_with(request, secret), None)
        except Refused as refused:
            if refused.status != 401:
                return refused.answer()
            _log.warning("a program tried to sign in with a client secret that is not a token")
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        return JSONResponse(
            {
                "access_token": secret,
                "token_type": "Bearer",
                "expires_in": _HOLDS_S,
                # a placeholder: to refresh, the client sends its secret again
                "refresh_token": "by-client-secret",
            }
        )


def _sent_with(request: Request, token: str) -> HTTPConnection:
    # The guard checks the token in the header.
    headers = [row for row in request.scope["headers"] if row[0] != b"authorization"]
    header = (b"authorization", f"Bearer {token}".encode("utf-8", "replace"))
    return HTTPConnection({**request.scope, "headers": [*headers, header]})
