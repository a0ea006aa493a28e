"""Errors of a chat server, as sentences that say what to change.

Errors are recognised by texts of these servers: Ollama (ollama/ollama#14795, #18107), llama.cpp
(ggml-org/llama.cpp#15780, #17968, #19774) and vLLM (vllm-project/vllm#3485, #9986, #20409).
"""

from typing import Any

import httpx

from integrations.address import shown
from integrations.cleaning import one_line
from integrations.errors import (
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Unavailable,
)

_TOLD = 200  # characters of the server's own message
_NO_TOOLS = ("does not support tools", "--jinja", "tool-call-parser")
_NO_MODEL = ("not found", "does not exist")
# Ollama says the last one after it has cut the person's sentence away (#18107).
_TOO_LONG = ("context size", "context length", "context window", "no user query found")


class Malformed(IntegrationError):
    """The model's answer can't be used, but another try of the same request can succeed."""


class Endless(IntegrationError):
    """The model didn't stop."""


def refusal(url: str, model: str, status: int, told: str, secret: str) -> IntegrationError:
    """Return the error for a response with this HTTP status.

    `told` is the server's message. `secret` is removed from it.
    """
    told = one_line(told.replace(secret, "…") if secret else told, _TOLD)
    text = told.casefold()
    quoted = f' It says: "{told}"' if told else ""
    if status in (401, 403):
        return SignInAgain(
            f"The local model's server at {shown(url)} rejected local.api_key: check the key."
        )
    if any(mark in text for mark in _NO_TOOLS):
        return Misconfigured(
            f"{model} can't call tools on this server: choose a model that supports tools, and "
            "start llama.cpp with --jinja, or vLLM with --enable-auto-tool-choice and "
            f"--tool-call-parser.{quoted}"
        )
    if any(mark in text for mark in _TOO_LONG):
        return Misconfigured(
            f"The request doesn't fit into {model}'s context: start the server with a context of "
            f"8192 tokens or more.{quoted}"
        )
    if "model" in text and any(mark in text for mark in _NO_MODEL):
        return Retired(
            f"The server at {shown(url)} has no model {model}: download it there, or change "
            "local.model."
        )
    if status in (404, 405):
        return Misconfigured(
            f"There is no chat API at {shown(url)}: check local.url, which ends in /v1 for most "
            "servers."
        )
    if status == 429 or status >= 500:
        return Unavailable(
            f"The local model's server at {shown(url)} can't answer now (HTTP {status}).{quoted}"
        )
    return Refused(f"The local model's server refused the request (HTTP {status}).{quoted}")


def network_error(url: str, error: Exception) -> IntegrationError:
    """Return the error for an exception of httpx, or for TimeoutError."""
    if isinstance(error, TimeoutError | httpx.ReadTimeout):
        return Unavailable("The local model didn't answer in time.")
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return Unavailable(
            f"The local model's server at {shown(url)} can't be reached: check that it is running, "
            "that it listens on the network, and that local.url is right."
        )
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return Misconfigured(f"local.url = {shown(url)} is not a valid address.")
    return Unavailable(
        f"The connection to the local model's server at {shown(url)} broke "
        f"({type(error).__name__})."
    )


def message_in(body: Any) -> str | None:
    """Return the server's message if `body` reports an error, or None if it doesn't.

    Servers write an error as an object with a message, as a text, or as the whole body.
    """
    if not isinstance(body, dict):
        return None
    error = body.get("error")
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        return str(error.get("message", ""))
    if body.get("object") == "error":
        return str(body.get("message", ""))
    detail = body.get("detail")  # FastAPI, which vLLM is built on
    return None if detail is None else str(detail)


def status_in(body: Any) -> int:
    """Return the HTTP status of an error that arrives within a stream."""
    error = body.get("error")
    code = error.get("code") if isinstance(error, dict) else body.get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else 500
