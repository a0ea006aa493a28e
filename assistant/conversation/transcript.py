"""The words of an answer, as the service that hears it transcribes them."""

import asyncio
import logging

from assistant.conversation.speculative_turn import SpeculativeTurn

_log = logging.getLogger(__name__)
# After the end of the answer a service's transcript is waited for so long, and its further pieces.
TRANSCRIPT_S = 2.5
# A further piece of it follows the one before within this time; less will do where this machine
# hears the whole sound too, and both must agree.
PIECES_S = 1.0
PIECES_CHECKED_S = 0.4
PIECES_MOST_S = 4.0
SEND_S = 6.0  # a service that has not the whole sound by then is not waited for


async def transcript_of(held: SpeculativeTurn | None, *, checked: bool) -> str | None:
    """What a service has heard; "" for nothing that can be relied on.

    None: no service hears it, or its words came too late. `checked`: this device must agree.
    """
    if held is None:
        return None
    try:
        async with asyncio.timeout(SEND_S):
            await held.sent()
        async with asyncio.timeout(TRANSCRIPT_S):
            await held.words()
    except TimeoutError:
        _log.info("no transcript of the answer came in time")
        return "" if held.heard else None  # words of half the sound may lack the "not"
    try:
        async with asyncio.timeout(PIECES_MOST_S):
            await held.quiet(PIECES_CHECKED_S if checked else PIECES_S)
    except TimeoutError:
        return ""  # it has no end: nobody says yes like that
    # What the device heard itself is no second witness.
    return None if held.serving == "offline" else held.heard
