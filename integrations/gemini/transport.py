"""How plain requests reach Gemini: a connection that does not come about is given up soon."""

from httpx2 import AsyncHTTPTransport, Request, Response

CONNECT_S = 5.0  # for the name and the connection, and once more for TLS; as long as Live has


class PromptTransport(AsyncHTTPTransport):
    """Where nobody answers the SDK would wait as long as for an answer, and so would the person."""

    async def handle_async_request(self, request: Request) -> Response:
        """See AsyncHTTPTransport. Raises ConnectTimeout after CONNECT_S."""
        given = request.extensions.get("timeout", {})
        request.extensions["timeout"] = {**given, "connect": CONNECT_S}
        return await super().handle_async_request(request)
