"""Checks of a key: by its form, and by asking Google for a model's description.

That request carries the key and the model's name, nothing of the house.
"""

import asyncio
import re

from integrations.gemini.access import KEY_PAGE, Access, LazyClient
from integrations.gemini.faults import fault_of

TRY_S = 10.0
# Google's keys are "AIza" with 35 more, newer ones "AQ." with some fifty; others may come, so a
# form that is not known is doubted, not refused.
_KNOWN = re.compile(r"AIza[0-9A-Za-z_-]{35}|AQ\.[0-9A-Za-z_.-]{20,}")
_POSSIBLE = re.compile(r"[!-~]{20,200}")


def impossible(key: str) -> str:
    """One sentence why this can be no key, "" where it can."""
    if _POSSIBLE.fullmatch(key):
        return ""
    return f"That is no key: it is one word of 20 letters and more. Copy it again from {KEY_PAGE}."


def doubtful(key: str) -> str:
    """One sentence where the form is not that of Google's keys, "" where it is."""
    if _KNOWN.fullmatch(key):
        return ""
    return "It does not look like a key of Google's, which begin with AIza or AQ."


async def try_key(access: Access, model: str, within_s: float = TRY_S) -> None:
    """Ask for the description of `model`. Raises IntegrationError: why the key will not do.

    To be called after the person's yes alone: it goes to Google.
    """
    client = LazyClient(access)
    try:
        async with asyncio.timeout(within_s):
            sdk = await client.get()
            await sdk.aio.models.get(model=model)
    except Exception as error:
        raise fault_of(error, model=model, secret=access.api_key) from error
    finally:
        await client.close()
