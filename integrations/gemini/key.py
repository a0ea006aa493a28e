"""Check an API key, first by its format and then by requesting a model's description from Google.

The request contains the key and the model's name, but nothing about the house.
"""

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from integrations.errors import IntegrationError, Retired
from integrations.gemini.access import KEY_PAGE, Access, LazyClient
from integrations.gemini.faults import fault_of

if TYPE_CHECKING:
    from google.genai import Client

TRY_S = 10.0
# Google's keys are "AIza" and 35 more characters; newer keys are "AQ." and about fifty. Google may
# introduce other formats, so an unknown format causes only a warning.
_KNOWN = re.compile(r"AIza[0-9A-Za-z_-]{35}|AQ\.[0-9A-Za-z_.-]{20,}|auth_tokens/[0-9A-Za-z_-]{20,}")
_POSSIBLE = re.compile(r"[!-~]{20,200}")


def impossible(key: str) -> str:
    """Return a message that explains why this cannot be a key, or "" if it could be one."""
    if _POSSIBLE.fullmatch(key):
        return ""
    return f"A key is one word of at least 20 characters. Copy yours again from {KEY_PAGE}."


def doubtful(key: str) -> str:
    """Return a warning if this does not look like a Google key, or "" if it does."""
    if _KNOWN.fullmatch(key):
        return ""
    return "This does not look like a Google key: those begin with AIza or AQ."


async def try_key(access: Access, models: tuple[str, ...], within_s: float = TRY_S) -> str:
    """Test the key by requesting the description of a model, and return the first that exists.

    Raises IntegrationError if the key cannot be used. It sends the key to Google, so call it only
    with the user's consent.
    """
    if access.way == "token":
        raise IntegrationError("An ephemeral token can't be tested without opening a session.")
    client = LazyClient(access)
    *others, last = models
    try:
        async with asyncio.timeout(within_s):
            sdk = await client.get()
            for model in others:
                with suppress(Retired):
                    return await _described(sdk, model, access)
            return await _described(sdk, last, access)
    except Exception as error:
        raise fault_of(error, model=last, access=access) from error
    finally:
        await client.close()


async def _described(sdk: "Client", model: str, access: Access) -> str:
    try:
        await sdk.aio.models.get(model=model)
    except Exception as error:
        raise fault_of(error, model=model, access=access) from error
    return model


async def live_models(client: "Client") -> list[str]:
    """Return the names of the models that the key can use for Live sessions.

    Raises google-genai's errors.
    """
    pages = await client.aio.models.list()
    return [
        (model.name or "").removeprefix("models/")
        async for model in pages
        if "bidiGenerateContent" in (model.supported_actions or ())
    ]
